"""What was changed, left out or seen on the way (Notice), and what is wrong with a history (Issue)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from thinkaloud.checked import instance_of
from thinkaloud.jsontext import Json, copied_object
from thinkaloud.stored import Stored


@frozen(match_args=False)
class Notice(Stored):
    """Tells that a request or an answer is not what was asked or expected. It is an event, and it stays on the message.

    code: a stable word, such as "level_clamped" or "unknown_event".
    text: one sentence for people.
    path: what it is about, such as `messages[3].content[1]` or a field name; "" for the whole.
    detail: further facts as JSON.
    """

    code: str = field(validator=instance_of(str))
    text: str = field(default="", validator=instance_of(str))
    path: str = field(default="", validator=instance_of(str))
    detail: Mapping[str, Json] = field(factory=dict, converter=copied_object, hash=False, repr=False)


@frozen
class Issue:
    """A fault in a history, found before any call.

    code: a stable word, such as "call_without_result".
    path: where, such as `messages[3].content[1]`.
    text: what is wrong and how to mend it.
    """

    code: str = field(validator=instance_of(str))
    path: str = field(validator=instance_of(str))
    text: str = field(validator=instance_of(str))
