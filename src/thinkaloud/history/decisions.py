"""The table of a switch: what becomes of a block by its kind, and by where it was made, seen from its target.

A signature verifies only in the realm where it was made (`thinkaloud.models.signing`). One table decides by the kind
of a block and by where it was made: here, on another host of the same realm, by the same protocol elsewhere, or on
another protocol. Whatever is not kept as it is gets a notice (`thinkaloud.history.switching`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from thinkaloud.checked import one_of
from thinkaloud.content import AssistantBlock, Opaque, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, Origin, StopReason
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.signing import CLAUDE, signing_realm


@frozen(kw_only=True)
class SwitchPolicy:
    """What a call does with a history that another model made, or that lacks results.

    foreign_thinking: "omit" leaves thinking out that cannot be verified by the model; "text" sends what is readable of
        it as plain text of the answer, without any tags.
    orphans: "error" refuses a history in which a call has no result; "synthesize" sends a result that says so. In an
        answer that was cut off such calls are left out, whatever is said here.

    Raises ConfigurationError for other words.
    """

    foreign_thinking: Literal["omit", "text"] = field(default="omit", validator=one_of("omit", "text"))
    orphans: Literal["error", "synthesize"] = field(default="error", validator=one_of("error", "synthesize"))


# The table

Kind = Literal["text", "thinking", "signed", "withheld", "redacted", "call", "opaque", "opaque_thinking"]

# Where a block was made, seen from where it goes: in the target's own realm, there but on a host with another
# protocol, by the same protocol in another realm, or on another protocol.
Place = Literal["own", "host", "kin", "foreign"]


@frozen
class Decision:
    """What becomes of a block.

    outcome: "kept" as it is, "bare" without signature and provider fields, "downgraded" to plain text, or "omitted".
    reason: a stable word. text: the reason for people, where something is lost.
    """

    outcome: Literal["kept", "bare", "downgraded", "omitted"]
    reason: str = ""
    text: str = ""


_KEPT = Decision("kept")
_BARE = Decision("bare", "foreign", "it was made elsewhere, and verifies only there")
_FOREIGN = Decision("omitted", "foreign", "thinking verifies only where it was made")
_AS_TEXT = Decision("downgraded", "foreign", "thinking that verifies only where it was made is sent as plain text")
_NO_FORM = Decision("omitted", "foreign", "only the protocol that it came from has a form for it")
_SERVICE = Decision("omitted", "foreign", "only the service that made it takes it")
CUT_OFF = Decision("omitted", "cut_off", "it was cut off")
_NAMELESS = Decision("omitted", "nameless", "a call without a name")
ORPHAN = Decision("omitted", "orphan", "a call of an answer that was cut off, and it has no result")

_TABLE: Mapping[Kind, Mapping[Place, Decision]] = {
    "text": {"own": _KEPT, "host": _KEPT, "kin": _BARE, "foreign": _BARE},
    "call": {"own": _KEPT, "host": _KEPT, "kin": _BARE, "foreign": _BARE},
    # The hosts of one realm write payloads in two encodings: the encoders translate them.
    "signed": {"own": _KEPT, "host": _KEPT, "kin": _FOREIGN, "foreign": _FOREIGN},
    "withheld": {"own": _KEPT, "host": _KEPT, "kin": _FOREIGN, "foreign": _FOREIGN},
    "redacted": {"own": _KEPT, "host": _KEPT, "kin": _FOREIGN, "foreign": _FOREIGN},
    "thinking": {"own": _KEPT, "host": _KEPT, "kin": _FOREIGN, "foreign": _FOREIGN},
    "opaque_thinking": {"own": _KEPT, "host": _NO_FORM, "kin": _FOREIGN, "foreign": _NO_FORM},
    "opaque": {"own": _KEPT, "host": _NO_FORM, "kin": _SERVICE, "foreign": _NO_FORM},
}

# What a target differs in, whoever made the block. Realms before protocols.
_NO_REDACTED = Decision("omitted", "no_form", "this protocol has no redacted thinking")
_UNSIGNED = Decision("omitted", "unsigned", "thinking without a signature is refused")
_OF_TARGETS: Mapping[tuple[str, Kind, Place], Decision] = {
    (CLAUDE, "thinking", "own"): _UNSIGNED,  # Anthropic's documentation: "signature: Field required"
    (CLAUDE, "thinking", "host"): _UNSIGNED,
    ("bedrock-converse", "thinking", "own"): _UNSIGNED,  # some vendors take it, and some leak it into the answer
    ("gemini", "redacted", "own"): _NO_REDACTED,
    ("openai-responses", "redacted", "own"): _NO_REDACTED,
    ("gemini", "opaque", "kin"): _KEPT,  # its encoder tells apart what both surfaces take
    ("openai-chat", "opaque", "kin"): _KEPT,  # parts of a content list: any endpoint may have them
}

# What the dialect of a target never takes back.
_NEVER = Decision("omitted", "not_taken", "this endpoint takes no thinking back")
_PAST = Decision("omitted", "not_taken", "this endpoint takes thinking back only in the open tool loop")
_THINKING: frozenset[Kind] = frozenset({"thinking", "signed", "withheld", "redacted", "opaque_thinking"})

# Answers that ended so offer no call for running: those without results are left out of the next request.
_CUT = frozenset({StopReason.ERROR, StopReason.ABORTED, StopReason.REFUSAL, StopReason.CONTENT_FILTER})


def is_cut(message: AssistantMessage) -> bool:
    """Whether an answer was cut off, failed or refused, so that its calls need no results.

    One that a parser made and that has no stop reason is the snapshot of an answer that was still on its way.
    """
    return message.stop_reason in _CUT or (message.stop_reason is None and bool(message.origin.protocol))


def kind_of(block: AssistantBlock) -> Kind:
    """The kind that the table knows a block by."""
    match block:
        case Thinking():
            if block.redacted_data is not None:
                return "redacted"
            if block.signature is not None:
                return "signed" if block.text else "withheld"
            return "thinking"
        case ToolCall():
            return "call"
        case Opaque():
            return "opaque_thinking" if block.kind.startswith("reasoning.") else "opaque"
        case _:
            return "text"


@frozen
class Target:
    """Where a history goes, as far as the table asks."""

    model: Model
    realm: str
    dialect: Dialect
    policy: SwitchPolicy

    @classmethod
    def of(cls, model: Model, dialect: Dialect | None, policy: SwitchPolicy) -> Target:
        """The target that a model is, with its protocol known."""
        realm = signing_realm(model.protocol or "", model.provider, model.facts_id)
        return cls(model, realm, dialect or model.dialect or Dialect(), policy)

    def place_of(self, origin: Origin) -> Place:
        """Where an answer was made. One without an origin was built by hand for this very model."""
        protocol = self.model.protocol or ""
        if not origin.protocol or origin == Origin(protocol, self.model.provider, self.model.id):
            return "own"
        # Not every answer names its model and its provider: a captured one is taken for what it is sent to.
        alike = origin.protocol == protocol
        model = origin.model or (self.model.facts_id if alike else "")
        provider = origin.provider or (self.model.provider if alike else "")
        same_realm = signing_realm(origin.protocol, provider, model) == self.realm
        if origin.protocol == protocol:
            return "own" if same_realm else "kin"
        return "host" if same_realm else "foreign"

    def decide(self, block: AssistantBlock, place: Place, *, in_loop: bool = True) -> Decision:
        """What becomes of a block that was made in a place. in_loop: its answer stands after all that the user said."""
        if not block.complete:
            return _NAMELESS if isinstance(block, ToolCall) and not block.name else CUT_OFF
        kind = kind_of(block)
        protocol = self.model.protocol or ""
        if isinstance(block, Opaque) and place in ("own", "kin") and block.protocol != protocol:
            place = "foreign"
        decision = _TABLE[kind][place]
        for name in (self.realm, protocol):
            decision = _OF_TARGETS.get((name, kind, place), decision)
        if kind in _THINKING and decision is _KEPT and protocol == "openai-chat":
            if self.dialect.replay == "never":
                return _NEVER
            if self.dialect.replay_turns == "loop" and not in_loop:
                return _PAST
        if decision is _FOREIGN and self.policy.foreign_thinking == "text" and isinstance(block, Thinking):
            return _AS_TEXT if block.text.strip() and block.redacted_data is None else decision
        return decision
