"""The answer of a chat completion, streamed or whole, into stream events: chunks, choices, and how they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from thinkaloud.errors import MalformedStream, ProviderError, ServerError, TruncatedStream
from thinkaloud.jsontext import loads, loads_exact
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext, Parser, decoded
from thinkaloud.protocols.openai_chat.delta import DeltaReader
from thinkaloud.protocols.openai_chat.errors import error, is_failure, tells_error
from thinkaloud.protocols.openai_chat.fields import Fields, Object
from thinkaloud.protocols.openai_chat.stop_reasons import FAILURES, PLACEHOLDER, UNKNOWN, stop_reason, weight
from thinkaloud.protocols.openai_chat.usage import read_usage

# Where gateways put a whole completion one level deeper (seen at OpenRouter: under `provider`).
_NESTED_IN = ("provider", "data", "response", "result")

_FILTERED = frozenset({StopReason.CONTENT_FILTER, StopReason.REFUSAL})


class OpenAIChatParser(Parser):
    """Reads chat completions of OpenAI and of every endpoint that is compatible with it."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._fields = Fields(lambda code, text, path: self.builder.notice(code, text, path=path))
        self._deltas = DeltaReader(self.builder, self._fields, context.dialect, self._made_id)
        self._chunk: Object = {}  # what is being read
        self._source: str | None = None  # the same, undecoded; None for a whole body
        self._exact: dict[int, Object] | None = None  # its deltas and messages with all digits, once they are needed
        self._id = ""
        self._model = ""
        self._usage: Object = {}
        self._finish: str | None = None
        self._weight = weight(None)
        self._went_on = False  # the answer went on after its finish reason
        self._calls_went_on = False
        self._filter: Object = {}
        self._saw_delta = False
        self._message: tuple[Object, Object, str | None] | None = None
        self._broken: ProviderError | None = None
        self._sources: Any = None

    def read(self, event: AnyServerEvent) -> None:
        """Read one server event: a chunk, an error or the end marker."""
        data = event.data
        if event.event == "error":
            raise self._failure(_decoded_or_text(data))
        if data.startswith("[DONE]"):
            self._end(marked=True)
            return
        chunk = decoded(data)
        if type(chunk) is not dict:
            if is_failure(chunk):
                raise self._failure(chunk)
            self._fields.odd("event", chunk)
            return
        if "error" in chunk or "choices" not in chunk:
            self._look_for_failure(chunk)
        self._source = data
        self._read_chunk(chunk)

    def read_end(self) -> None:
        """Finish the answer at the end of the body."""
        self._end(marked=self.context.dialect.lenient_end)

    def read_whole(self, body: Any) -> None:
        """Read an answer that was not streamed."""
        if is_failure(body):
            raise self._failure(body)
        if type(body) is not dict:
            raise MalformedStream("the body is not a JSON object")
        if type(body.get("choices")) is not list:
            nested = (body[name] for name in _NESTED_IN if type(body.get(name)) is dict)
            body = next((inner for inner in nested if type(inner.get("choices")) is list), body)
            self._look_for_failure(body)
        if not self._fields.objects(body, "choices"):
            text = "the answer has no choices: nothing was generated"
            raise ServerError(text, provider=self.context.origin.provider or None, code="no_choices", body=body)
        self._read_chunk(body)
        self._end(marked=True)

    def pending(self) -> Sequence[Callable[[], object]]:
        """What is held back, and what belongs to the open blocks besides their text."""
        return (self._let_go, self._deltas.seal)

    # the end

    def _end(self, *, marked: bool) -> None:
        self._let_go()
        finished = self._weight > PLACEHOLDER
        if not marked and (not finished or (self._weight == UNKNOWN and self._went_on)):
            raise TruncatedStream("the body ended without a finish reason and without [DONE]")
        if not finished and self._deltas.half_call():
            raise TruncatedStream("the answer ended inside a tool call, without a finish reason")
        self._deltas.leftovers()
        self._deltas.seal()
        reason = stop_reason(self._finish, called=self.builder.saw_call, refused=self._deltas.saw_refusal)
        if reason is StopReason.LENGTH and not self._deltas.saw_text:
            self.builder.notice("answer_truncated", "the token limit was reached before any text of the answer")
        detail = {"content_filter_results": self._filter} if self._filter and reason in _FILTERED else None
        # A finish reason does not cover what comes after it; without the marker, more may have been on its way.
        cut = self._calls_went_on or (not marked and self._deltas.half_call(free_text=False))
        self.builder.finish(reason, raw=self._finish, detail=detail, cut=cut)

    def _let_go(self) -> None:
        if self._sources is not None:
            self._deltas.cite(self._cited(self._sources))
            self._sources = None
        if self._message is not None and not self._saw_delta:
            (message, self._chunk, self._source), self._message = self._message, None
            self._exact = None
            self._deltas.read(message, self._exactly)
        self._deltas.let_go()

    # errors

    def _look_for_failure(self, chunk: Object) -> None:
        if is_failure(chunk):
            self._read_usage(chunk)
            raise self._failure(chunk)

    def _failure(self, body: Any) -> ProviderError:
        return error(ErrorResponse(body=body, provider=self.context.origin.provider or None))

    # chunks

    def _read_chunk(self, chunk: Object) -> None:
        self._chunk, self._exact = chunk, None
        if not self._id or chunk.get("model") != self._model:
            self._identify(chunk)
        choices = chunk.get("choices")
        if type(choices) is list:
            for choice in choices:
                if type(choice) is dict:
                    self._read_choice(choice)
                else:
                    self._fields.odd("choices[]", choice)
        elif choices is not None:
            self._fields.odd("choices", choices)
        if chunk.get("usage") or "x_groq" in chunk:
            self._read_usage(chunk)
        if "citations" in chunk or "search_results" in chunk:
            # Sources of the whole answer (seen at Perplexity); each chunk repeats them.
            self._sources = chunk.get("search_results") or chunk.get("citations") or self._sources
        if self._broken is not None:
            raise self._broken

    def _identify(self, chunk: Object) -> None:
        self._id = self._id or self._fields.text(chunk, "id")
        self._model = self._fields.text(chunk, "model") or self._model
        self.builder.response(id=self._id, model=self._model)

    def _read_choice(self, choice: Object) -> None:
        if choice.get("index") and self._fields.index(choice):
            self._fields.once("choice_omitted", "only the first of several choices is kept", "choices[]")
            return
        delta = choice.get("delta")
        if delta:
            if type(delta) is dict:
                self._saw_delta = True
                if self._weight > PLACEHOLDER:
                    self._note_late(delta)
                self._deltas.read(delta, self._exactly)
            else:
                self._fields.odd("delta", delta)
        elif "message" in choice:
            # In a stream it is cumulative (seen at Perplexity): the last one counts, and only where no delta comes.
            self._message = (self._fields.object(choice, "message"), self._chunk, self._source)
        if "usage" in choice:  # seen at Moonshot
            self._count(self._fields.object(choice, "usage"))
        if "content_filter_results" in choice:
            found = self._fields.object(choice, "content_filter_results")
            self._filter = self._fields.kept("content_filter_results", found) or self._filter
        if choice.get("finish_reason") is not None or "error" in choice:
            self._note_finish(choice)

    def _note_finish(self, choice: Object) -> None:
        word = self._fields.text(choice, "finish_reason")
        if tells_error(choice):  # OpenRouter
            self._broken = self._failure(choice)
        elif word in FAILURES:
            message = f"the answer failed: finish_reason {word!r}"
            self._broken = self._failure({"error": {"message": message, "code": word}, "choices": [choice]})
        elif weight(word) > self._weight:  # a placeholder is still the provider's word where no other comes
            self._finish, self._weight, self._went_on = word, weight(word), False

    def _note_late(self, delta: Object) -> None:
        """Note that the answer goes on though it has a finish reason."""
        if delta.get("tool_calls") or delta.get("function_call"):
            self._calls_went_on = True
        if any(value for name, value in delta.items() if name != "role"):
            self._went_on = True

    def _read_usage(self, chunk: Object) -> None:
        usage = self._fields.object(chunk, "usage")
        beside = self._fields.object(chunk, "x_groq")
        if beside.get("error"):
            raise self._failure(beside)
        self._count(usage or self._fields.object(beside, "usage"))

    def _count(self, usage: Object) -> None:
        if usage and usage != self._usage:
            self._usage = usage
            self.builder.update_usage(read_usage(usage, self._fields))

    def _cited(self, sources: Any) -> list[Object]:
        if type(sources) is list:
            sources = [{"url": source} if type(source) is str else source for source in sources]
        found = self._fields.objects({"citations": sources}, "citations")
        return [self._fields.kept("citations[]", source) for source in found]

    def _exactly(self, part: Object) -> Object:
        """A delta or message of the chunk, decoded again with all digits of its integers."""
        if self._exact is None:
            self._exact = dict(self._decoded_again())
        return self._exact.get(id(part), part)

    def _decoded_again(self) -> Iterator[tuple[int, Object]]:
        """The deltas and messages of the chunk, each with the identity of the one that was decoded fast."""
        if self._source is None:
            return
        try:
            again = loads_exact(self._source)
        except ValueError:  # nested more deeply than the standard library reads
            return
        for choice, exact in zip(self._chunk["choices"], again["choices"], strict=True):
            if type(choice) is dict:
                for name in ("delta", "message"):
                    if type(choice.get(name)) is dict:
                        yield id(choice[name]), exact[name]

    def _made_id(self, number: int) -> str:
        """An id for a call without one: the same whenever the same answer is read, and another for each answer."""
        seed = f"{self._id}\n{self.context.prefix_digest or ''}\n{number}"
        return f"call_{sha256(seed.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _decoded_or_text(data: str) -> Any:
    try:
        return loads(data)
    except ValueError:
        return data
