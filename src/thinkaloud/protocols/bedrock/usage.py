"""Token counts of Converse, read into the library's one meaning."""

from __future__ import annotations

from thinkaloud.protocols.fields import JsonObject, as_object, count_field, list_field
from thinkaloud.protocols.tolerant import Tolerated
from thinkaloud.usage import Usage


def read_usage(data: JsonObject, tolerated: Tolerated) -> Usage:
    """Read one usage object. The input leaves out on the wire what was read from or written to a cache.

    tolerated: reads a field, and passes over one of a wrong type.
    """

    def count(*names: str) -> int | None:
        for name in names:
            number: int | None = tolerated(count_field, data, name)
            if number is not None:
                return number
        return None

    fresh, output = count("inputTokens"), count("outputTokens")
    read = count("cacheReadInputTokens", "cacheReadInputTokenCount")
    written = count("cacheWriteInputTokens", "cacheWriteInputTokenCount")
    return Usage(
        input=None if fresh is None else fresh + (read or 0) + (written or 0),
        output=output,
        cache_read=read,
        cache_write=written,
        cache_write_1h=tolerated(_written_for_an_hour, data, "cacheDetails"),
    )


def _written_for_an_hour(data: JsonObject, name: str) -> int | None:
    entries = [as_object(entry, name) for entry in list_field(data, name)]
    found = [count_field(entry, "inputTokens") for entry in entries if entry.get("ttl") == "1h"]
    known = [count for count in found if count is not None]
    return sum(known) if known else None
