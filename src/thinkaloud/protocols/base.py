"""What every wire protocol provides, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol

from attrs import field, frozen

from thinkaloud.block_builder import BlockBuilder
from thinkaloud.errors import MalformedStream, ProviderError, ThinkaloudError
from thinkaloud.events import StreamEvent
from thinkaloud.jsontext import Json, loads
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import LevelChoice, Message, Origin
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.structured import Output, OutputSchema
from thinkaloud.tools import ServerTool, Tool, ToolChoice
from thinkaloud.usage import Cost, Usage

Display = Literal["summarized", "omitted"]
Cache = Literal["auto", "1h"]


@frozen(kw_only=True)
class Call:
    """One call in neutral terms, checked and ready to be encoded.

    Histories are valid by now, and what may not be sent to this model has been left out: it stands as an empty block
    that was cut off. drop_stale: the server may leave out thinking whose prefix has changed.

    output: the structured output that is wanted; output_schema: what is sent of it as the protocol's own output format,
    None where a tool gives the answer.
    """

    model: Model
    messages: tuple[Message, ...]
    system: str | None = None
    tools: tuple[Tool | ServerTool, ...] = ()
    tool_choice: ToolChoice | None = None
    reasoning: ThinkingLevel | None = None
    display: Display | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    cache: Cache | None = None
    options: Any = None
    dialect: Dialect = Dialect()
    stream: bool = True
    drop_stale: bool = False
    output: Output | None = None
    output_schema: OutputSchema | None = None


@frozen
class Encoded:
    """A call in the terms of a wire.

    path: what comes after the base URL, with its leading slash.
    headers: headers of the protocol itself; no credentials.
    body: the JSON body.
    level: the thinking level that was really sent; None: nothing was sent.
    notices: every deviation from what was asked.
    """

    path: str
    body: dict[str, Json]
    headers: Mapping[str, str] = field(factory=dict)
    level: ThinkingLevel | None = None
    notices: tuple[Notice, ...] = ()


@frozen
class Amended:
    """A call that can be sent again after a refusal.

    call: the call without what the endpoint refused.
    notice: tells what was changed; its code names the kind, and each kind is amended at most once in a call.
    """

    call: Call
    notice: Notice


@frozen(kw_only=True)
class ParseContext:
    """What a parser must know beforehand.

    origin: protocol, provider, and the model as it was asked for.
    level, prefix_digest: told in StreamStart.
    price: tells the cost of an answer from its usage; None: no prices are known.
    """

    origin: Origin
    dialect: Dialect = Dialect()
    level: LevelChoice = LevelChoice()
    prefix_digest: str | None = None
    price: Callable[[Usage], Cost | None] | None = None


@frozen(kw_only=True)
class ErrorResponse:
    """A provider's failure as it came: an HTTP answer, or an error object inside a 200 stream.

    status: the HTTP status; None inside a stream.
    headers: names in lower case.
    body: the decoded JSON, or the text where it is not JSON.
    """

    body: Any
    status: int | None = None
    headers: Mapping[str, str] = field(factory=dict)
    provider: str | None = None


class AnyServerEvent(Protocol):
    """What a parser reads of a server event; httpx-sse's class fits as well as ours."""

    @property
    def event(self) -> str: ...
    @property
    def data(self) -> str: ...


class Parser(ABC):
    """Turns the server events of one answer into stream events. Subclasses read; this class keeps the life cycle.

    After an error the parser is dead and raises the same error again. `abandon()` closes what is open, for every way
    out that is not a success.
    """

    def __init__(self, context: ParseContext) -> None:
        self.context = context
        self.builder = BlockBuilder(
            context.origin, level=context.level, prefix_digest=context.prefix_digest, price=context.price
        )
        self.error: ThinkaloudError | None = None

    def feed(self, event: AnyServerEvent) -> list[StreamEvent]:
        """Take in one server event. What comes after the end of the answer is passed over.

        Raises a ProviderError that the stream carries, or MalformedStream.
        """
        if self.error is not None:
            raise self.error
        if self.builder.ended:
            return []
        try:
            self.read(event)
        except ThinkaloudError as error:
            self.error = error
            raise
        return self.builder.take()

    def close(self) -> list[StreamEvent]:
        """Take in the end of the body. Raises TruncatedStream if the terminal signal is missing."""
        if self.error is not None:
            raise self.error
        if self.builder.ended:
            return []
        try:
            self.read_end()
        except ThinkaloudError as error:
            self.error = error
            raise
        return self.builder.take()

    def whole(self, body: Any) -> list[StreamEvent]:
        """Take in the decoded body of an answer that was not streamed, through the same builder.

        Raises as feed() does.
        """
        try:
            self.read_whole(body)
        except ThinkaloudError as error:
            self.error = error
            raise
        return self.builder.take()

    def abandon(self) -> list[StreamEvent]:
        """Close what is open as incomplete and hand over what is left: after a failure of any kind.

        Raises nothing: what is pending and turns out to be faulty as well is left out.
        """
        if not self.builder.ended:
            for bring_in in self.pending():
                with suppress(ThinkaloudError):
                    bring_in()
        self.builder.abandon()
        return self.builder.take()

    def pending(self) -> Sequence[Callable[[], object]]:
        """What brings in all that had come and stands in no block yet, each part for itself: for a failure."""
        return ()

    @abstractmethod
    def read(self, event: AnyServerEvent) -> None:
        """Read one server event into the builder."""

    @abstractmethod
    def read_end(self) -> None:
        """Finish the builder, or raise TruncatedStream."""

    @abstractmethod
    def read_whole(self, body: Any) -> None:
        """Read a whole body into the builder, and finish it."""


def decoded(data: str) -> Any:
    """Decode the payload of a server event. Raises MalformedStream."""
    try:
        return loads(data)
    except ValueError as error:
        raise MalformedStream(f"an event's data is not JSON: {error}") from None


@frozen
class WireProtocol:
    """A wire protocol, as the four files of its folder make it.

    framing: how its streamed bytes are cut into events.
    options: the class of its native options.
    response_id_header: the header that names an answer, where the body does not.
    control: how a model is steered, as its facts say, or else its family or its endpoint; pure, None for not at all.
    takes_output: whether a model is known to take an output schema together with thinking and with tools; pure.
    amend: what can be changed about a call that was refused before it gave any event; pure, None where nothing can.
    """

    id: str
    framing: Literal["sse", "awsevents"]
    options: type
    parser: Callable[[ParseContext], Parser]
    encode: Callable[[Call], Encoded]
    error: Callable[[ErrorResponse], ProviderError]
    response_id_header: str | None = None
    control: Callable[[Model, Dialect], ThinkingControl | None] | None = None
    takes_output: Callable[[Model, OutputSchema, Sequence[Tool | ServerTool]], bool] | None = None
    amend: Callable[[Call, ProviderError], Amended | None] | None = None
