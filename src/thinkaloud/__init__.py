"""Stream a reasoning model's thinking and its answer as typed events, and keep the thinking for the next turn."""
