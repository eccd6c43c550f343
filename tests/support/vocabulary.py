"""One example of every block, message, event and notice with all its fields set, and generators of any others."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import (
    AssistantMessage,
    Conversation,
    LevelChoice,
    Message,
    Origin,
    StopReason,
    Timing,
    ToolResult,
    UserMessage,
)
from thinkaloud.notices import Notice
from thinkaloud.usage import Cost, Usage

SIGNATURE = "EqQBCgIYAhIkZm9v/+bar==" * 40
DETAIL: dict[str, Any] = {"a": [1, 2.5, None, True, {"b": "c"}], "big": 10**30}

TEXT = Text("hello", signature=SIGNATURE, citations=({"url": "https://a.example"},), complete=False, extra=DETAIL)
THINKING = Thinking("hm\n", signature=SIGNATURE, complete=False, extra=DETAIL)
REDACTED = Thinking.redacted_payload(SIGNATURE)
CALL = ToolCall("call_1", name="look", arguments_json='{"q": 1}', signature=SIGNATURE, complete=False, extra=DETAIL)
IMAGE = Image("aGVsbG8=" * 40, media_type="image/png", extra=DETAIL)
DOCUMENT = Document("aGVsbG8=" * 40, media_type="application/pdf", text="t", url="u", name="n", extra=DETAIL)
OPAQUE = Opaque("anthropic-messages", kind="fallback", data=DETAIL, complete=False)
BLOCKS: tuple[Block, ...] = (TEXT, THINKING, REDACTED, CALL, IMAGE, DOCUMENT, OPAQUE)

NOTICE = Notice("level_clamped", "max became high", "reasoning", {"asked": "max", "sent": "high"})
ORIGIN = Origin("anthropic-messages", "anthropic", "claude-test")
LEVEL = LevelChoice(ThinkingLevel.MAX, ThinkingLevel.HIGH)
USAGE = Usage(100, 50, 30, 20, 10, 5, 0.25)
COST = Cost(0.5, 0.25, 0.125, None)
ASSISTANT = AssistantMessage(
    (THINKING, REDACTED, TEXT, CALL, OPAQUE),
    origin=ORIGIN,
    stop_reason=StopReason.TOOL_USE,
    raw_stop_reason="tool_use",
    stop_detail=DETAIL,
    usage=USAGE,
    cost=COST,
    response_id="msg_1",
    level=LEVEL,
    prefix_digest="v1:ab",
    content_digest="v1:cd",
    notices=(NOTICE,),
    timing=Timing(0.5, 1.25, 2.0),
)
USER = UserMessage((TEXT, IMAGE, DOCUMENT, OPAQUE))
RESULT = ToolResult("call_1", (TEXT, IMAGE), name="look", is_error=True)
MESSAGES: tuple[Message, ...] = (USER, ASSISTANT, RESULT)
CONVERSATION = Conversation(MESSAGES, system="Be brief.")

EVENTS: tuple[StreamEvent, ...] = (
    NOTICE,
    StreamStart("msg_1", ORIGIN, LEVEL, "v1:ab"),
    ThinkingStart(0),
    ThinkingDelta(0, "hm"),
    ThinkingEnd(0, THINKING),
    TextStart(1),
    TextDelta(1, "hello"),
    TextEnd(1, TEXT),
    ToolCallStart(2, "call_1", "look"),
    ToolCallDelta(2, '{"q": 1}'),
    ToolCallEnd(2, CALL),
    OpaqueBlock(3, OPAQUE),
    UsageUpdate(USAGE, COST),
    Progress(12),
    StreamEnd(StopReason.TOOL_USE, "tool_use", DETAIL, ASSISTANT),
)

VALUES: tuple[Any, ...] = (*BLOCKS, NOTICE, ORIGIN, USAGE, COST, *MESSAGES, CONVERSATION, *EVENTS[1:])

# Any text, lone surrogates too; but no high one before a low one, which JSON cannot tell from their character.
texts = st.text(st.characters(exclude_categories=()) | st.sampled_from('"\\\n{}é😀\ud83d'), max_size=12).filter(
    lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
)
opaque_texts = st.text("ABCabc019+/=-_", min_size=1, max_size=80)
signatures = st.none() | opaque_texts
numbers = st.none() | st.integers(0, 10**20)
money = st.none() | st.floats(0, 1e6)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)

text_blocks = st.builds(
    Text,
    texts,
    signature=signatures,
    citations=st.lists(json_objects, max_size=2),
    complete=st.booleans(),
    extra=json_objects,
)
thinking_blocks = st.builds(
    Thinking, texts, signature=signatures, redacted_data=signatures, complete=st.booleans(), extra=json_objects
)
calls = st.builds(
    ToolCall,
    texts,
    name=texts,
    arguments_json=texts,
    signature=signatures,
    complete=st.booleans(),
    extra=json_objects,
)
images = st.builds(Image, signatures, media_type=st.none() | texts, url=st.none() | texts, extra=json_objects)
documents = st.builds(
    Document,
    signatures,
    media_type=st.none() | texts,
    text=st.none() | texts,
    url=st.none() | texts,
    name=st.none() | texts,
    extra=json_objects,
)
opaque_blocks = st.builds(Opaque, texts, kind=texts, data=json_objects, complete=st.booleans())
assistant_blocks = st.one_of(text_blocks, thinking_blocks, calls, opaque_blocks)
user_blocks = st.one_of(text_blocks, images, documents, opaque_blocks)

notices = st.builds(Notice, texts, texts, texts, json_objects)
origins = st.builds(Origin, texts, texts, texts)
levels = st.none() | st.sampled_from(ThinkingLevel)
level_choices = st.builds(LevelChoice, levels, levels)
usages = st.builds(Usage, numbers, numbers, numbers, numbers, numbers, numbers, money)
costs = st.builds(Cost, money, money, money, money)
stop_reasons = st.sampled_from(StopReason)
assistant_messages = st.builds(
    AssistantMessage,
    st.lists(assistant_blocks, max_size=3),
    origin=origins,
    stop_reason=st.none() | stop_reasons,
    raw_stop_reason=st.none() | texts,
    stop_detail=st.none() | json_objects,
    usage=usages,
    cost=st.none() | costs,
    response_id=st.none() | texts,
    level=level_choices,
    prefix_digest=signatures,
    content_digest=signatures,
    notices=st.lists(notices, max_size=2),
    timing=st.builds(Timing, money, money, money),
)
user_messages = st.builds(UserMessage, st.lists(user_blocks, max_size=3))
tool_results = st.builds(
    ToolResult, texts, st.lists(user_blocks, max_size=2), name=st.none() | texts, is_error=st.booleans()
)
messages = st.one_of(user_messages, assistant_messages, tool_results)
conversations = st.builds(Conversation, st.lists(messages, max_size=3), system=st.none() | texts)

_indexes = st.integers(0, 1000)
events: st.SearchStrategy[StreamEvent] = st.one_of(
    notices,
    st.builds(StreamStart, st.none() | texts, origins, level_choices, signatures),
    st.builds(ThinkingStart, _indexes),
    st.builds(ThinkingDelta, _indexes, texts),
    st.builds(ThinkingEnd, _indexes, thinking_blocks),
    st.builds(TextStart, _indexes),
    st.builds(TextDelta, _indexes, texts),
    st.builds(TextEnd, _indexes, text_blocks),
    st.builds(ToolCallStart, _indexes, texts, texts),
    st.builds(ToolCallDelta, _indexes, texts),
    st.builds(ToolCallEnd, _indexes, calls),
    st.builds(OpaqueBlock, _indexes, opaque_blocks),
    st.builds(UsageUpdate, usages, st.none() | costs),
    st.builds(Progress, st.integers(0, 10**9)),
    st.builds(StreamEnd, stop_reasons, st.none() | texts, st.none() | json_objects, st.none() | assistant_messages),
)
