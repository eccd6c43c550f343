"""A model that answers from a script: one reply for each request, as real wire bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from thinkaloud.content import AssistantBlock
from thinkaloud.jsontext import loads_exact
from thinkaloud.testing.delivery import Delivery
from thinkaloud.testing.encoding import HttpError, ThinkingIn, WireEncoder, json_bytes
from thinkaloud.testing.reply import Failure, NoAnswer, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.verifying import Verifier, can_come_back
from thinkaloud.testing.wires import ENCODERS, encoder_at

if TYPE_CHECKING:
    from thinkaloud.testing.memory import MemoryTransport

Said = str | Reply | Failure | NoAnswer | AssistantBlock | Iterable[str | AssistantBlock]
"""What a script may hold for one request; text and blocks stand for a Reply with that content."""

Script = Sequence[Said | Callable[[RecordedRequest], Said]]


@frozen(kw_only=True)
class Answer:
    """An HTTP answer as plain data, ready to travel.

    events: the body: one item per wire event, or a single one where it is not streamed.
    """

    status: int
    headers: Mapping[str, str]
    events: Sequence[bytes] = field(repr=False)
    streamed: bool = False
    delivery: Delivery = Delivery()


class Scripted:
    """A scripted model: gives out its replies one by one, in order, on whichever wire it is asked.

        scripted = Scripted(["Hello", Reply([Thinking.signed("Hm.", "c2ln"), "Done."]), Failure(RateLimited)])
        client = Client(transport=scripted.transport())

    replies: what to answer to each request: text, blocks, a Reply, a Failure, NoAnswer, or a function of the request
        that gives one of these.
    repeat_last: go on with the last reply when the script has run out; otherwise that is a ScriptError.
    thinking_in: where answers on the chat wire put thinking.
    delivery: how the bytes travel, where a reply does not say it itself.
    verify_signatures: refuse a history that does not give back what was issued as its provider wants it: thinking,
        signatures and encrypted items that are missing, edited, reordered, moved or foreign give a 400 in the
        provider's own shape, and the script does not go on. What a provider tolerates passes.
    """

    def __init__(
        self,
        replies: Script,
        *,
        repeat_last: bool = False,
        thinking_in: ThinkingIn = "reasoning_content",
        delivery: Delivery = Delivery(),
        verify_signatures: bool = False,
    ) -> None:
        if isinstance(replies, str):
            raise TypeError("a script is a list of replies: [text], not text")
        self.requests: list[RecordedRequest] = []
        """Every request that came, in order."""
        self._replies = tuple(replies)
        self._given = 0
        self._repeat_last = repeat_last
        self._thinking_in: ThinkingIn = thinking_in
        self._delivery = delivery
        self._verifier = Verifier() if verify_signatures else None

    @property
    def verifies_signatures(self) -> bool:
        """Whether histories are verified."""
        return self._verifier is not None

    def transport(self) -> MemoryTransport:
        """A transport that answers from this script in memory: for `Client(transport=...)`."""
        from thinkaloud.testing.memory import MemoryTransport

        return MemoryTransport(self)

    def answer(self, request: RecordedRequest) -> Answer | NoAnswer:
        """Record a request and give its answer.

        Raises ScriptError if the script has run out, or asks for what the wire cannot say.
        """
        self.requests.append(request)
        encoder = encoder_at(request.path)
        if encoder is None:
            return _not_found(request)
        if not _is_object(request):
            return self._failed(encoder, Failure(400, "the body of the request is no JSON object"))
        if self._verifier is not None and (refused := self._verifier.refusal(encoder.protocol, request)) is not None:
            return self._failed(encoder, refused)
        said = self._next(request)
        if isinstance(said, NoAnswer):
            return said
        return self._failed(encoder, said) if isinstance(said, Failure) else self._said(encoder, said, request)

    def refusal(self, request: RecordedRequest, error: ScriptError) -> Answer:
        """Tell a fault of the script to whoever sent the request, as an error that is not worth a retry."""
        encoder = encoder_at(request.path)
        assert encoder is not None
        return self._failed(encoder, Failure(400, f"fault in the script: {error}"))

    def _next(self, request: RecordedRequest) -> Reply | Failure | NoAnswer:
        place = self._given
        if place >= len(self._replies):
            if not (self._repeat_last and self._replies):
                raise ScriptError(f"the script has {len(self._replies)} replies, and one more request came")
            place = len(self._replies) - 1
        self._given += 1
        entry = self._replies[place]
        return _as_reply(entry(request) if callable(entry) else entry)

    def _said(self, encoder: WireEncoder, reply: Reply, request: RecordedRequest) -> Answer:
        asked = evolve(encoder.asked(request, self._given), thinking_in=self._thinking_in)
        if reply.error is not None and not asked.stream:
            return self._failed(encoder, reply.error)
        events = encoder.stream(reply, asked) if asked.stream else [encoder.whole(reply, asked)]
        if self._verifier is not None:
            issued = loads_exact(encoder.whole(can_come_back(reply), asked))
            self._verifier.remember(encoder.protocol, request, issued)
        return Answer(
            status=200,
            headers={
                "content-type": encoder.stream_type if asked.stream else "application/json",
                **self._named(encoder),
                **reply.headers,
            },
            events=events,
            streamed=asked.stream,
            delivery=reply.delivery or self._delivery,
        )

    def _failed(self, encoder: WireEncoder, failure: Failure) -> Answer:
        error: HttpError = encoder.failure(failure, self._given)
        return Answer(
            status=error.status,
            headers={"content-type": _type_of(failure.body), **self._named(encoder), **error.headers},
            events=[error.body],
            delivery=failure.delivery or self._delivery,
        )

    def _named(self, encoder: WireEncoder) -> dict[str, str]:
        return {encoder.request_id_header: f"req_scripted_{self._given}"}


def _as_reply(said: Any) -> Reply | Failure | NoAnswer:
    return said if isinstance(said, Reply | Failure | NoAnswer) else Reply(said)


def _type_of(body: Any) -> str:
    """The content type of a failure's body: text and bytes that are no JSON come from proxies."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    return "text/html" if isinstance(text, str) and not text.lstrip().startswith(("{", "[")) else "application/json"


def _is_object(request: RecordedRequest) -> bool:
    try:
        return isinstance(request.json, dict)
    except ValueError:
        return False


def _not_found(request: RecordedRequest) -> Answer:
    paths = " or ".join(encoder.path.pattern.removesuffix(r"\Z") for encoder in ENCODERS.values())
    message = f"nothing is served at {request.path}; paths that are served end in {paths}"
    return Answer(
        status=404,
        headers={"content-type": "application/json"},
        events=[json_bytes({"error": {"type": "not_found_error", "message": message}})],
    )
