"""Token counts of the Messages API, gathered over an answer and told in the library's one meaning."""

from __future__ import annotations

from thinkaloud.protocols.fields import JsonObject, count_field, object_field
from thinkaloud.protocols.tolerant import Tolerated
from thinkaloud.usage import Usage

# Every count of the wire that we read, by the object inside `usage` that it lies in.
_COUNTS = {
    "": ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
    "cache_creation": ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens"),
    "output_tokens_details": ("thinking_tokens",),
}
_GENERATED = frozenset({"output_tokens", "thinking_tokens"})


class Counts:
    """The counts of one answer, the last value of each.

    output_is_final: the numbers of generated tokens count; those of the opening event are never the last word.
    """

    def __init__(self) -> None:
        self.output_is_final = False
        self._counts: dict[str, int] = {}

    def take(self, usage: JsonObject, tolerated: Tolerated, *, final: bool) -> None:
        """Put the counts that have come in the place of the earlier ones.

        tolerated: reads a field, and passes over one of a wrong type. final: they come with the end of the answer.
        """
        for holder, names in _COUNTS.items():
            data = tolerated(object_field, usage, holder) if holder else usage
            for name in names:
                count = tolerated(count_field, data, name) if data and name in data else None
                if count is not None:
                    self._counts[name] = count
        if final and isinstance(usage.get("output_tokens"), int):
            self.output_is_final = True

    def usage(self) -> Usage:
        """What is known of the tokens. The input leaves out on the wire what was read from or written to a cache."""
        counts = self._counts
        if not self.output_is_final:
            counts = {name: count for name, count in counts.items() if name not in _GENERATED}
        written = counts.get("cache_creation_input_tokens")
        if written is None:
            parts = [counts.get("ephemeral_5m_input_tokens"), counts.get("ephemeral_1h_input_tokens")]
            known = [part for part in parts if part is not None]
            written = sum(known) if known else None
        fresh, read = counts.get("input_tokens"), counts.get("cache_read_input_tokens")
        return Usage(
            input=None if fresh is None else fresh + (written or 0) + (read or 0),
            output=counts.get("output_tokens"),
            reasoning=counts.get("thinking_tokens"),
            cache_read=read,
            cache_write=written,
            cache_write_1h=counts.get("ephemeral_1h_input_tokens"),
        )
