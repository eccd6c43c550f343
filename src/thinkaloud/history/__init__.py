"""What may be sent back: the rules of a history, and what becomes of each block when the model changes."""
