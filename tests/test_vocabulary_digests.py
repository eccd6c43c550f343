"""The content digest tells an edited, dropped or moved signed block, and does not mind any other edit."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.vocabulary import assistant_blocks
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.digests import Edit, content_digest, edit_of
from thinkaloud.messages import AssistantMessage

SIGNED = Thinking.signed("because", "c2ln")
REDACTED = Thinking.redacted_payload("cGF5bG9hZA==")
WITHHELD = Thinking("", signature="b21pdHRlZA==")
SIGNED_TEXT = Text("sky", signature="dGV4dA==")
SIGNED_CALL = ToolCall("1", name="look", arguments_json='{"a": 1}', signature="Y2FsbA==")
UNSIGNED: tuple[AssistantBlock, ...] = (
    Text("plain"),
    Thinking("plain"),
    ToolCall("2", name="look", arguments_json="{}"),
    Opaque("anthropic-messages", kind="fallback", data={}),
)
BLOCKS: tuple[AssistantBlock, ...] = (SIGNED, Text("plain"), REDACTED, WITHHELD, SIGNED_TEXT, SIGNED_CALL)


def test_without_signed_blocks_there_is_no_digest() -> None:
    assert content_digest(()) is None
    assert content_digest(UNSIGNED) is None


def test_the_digest_says_its_version() -> None:
    digest = content_digest(BLOCKS)
    assert digest is not None
    version, _, rest = digest.partition(":")
    assert version == "v2"
    assert [entry.partition("-")[0] for entry in rest.split(".")] == ["0", "2", "3", "4", "5"]
    assert len(rest) == 5 * (1 + 1 + 16) + 4


def test_the_digest_of_version_two_never_changes() -> None:
    assert content_digest((SIGNED, Text("plain"))) == "v2:0-720af3d4a32527d9"


def test_a_digest_of_version_one_is_still_checked() -> None:
    told = "v1:4011c339819e8ddb84408c2d64bd8fc111ef81f747fee6be83d84d4274a21b64"
    message = AssistantMessage((SIGNED, Text("plain")), content_digest=told)
    assert edit_of(message) is None
    assert edit_of(attrs.evolve(message, content=(attrs.evolve(SIGNED, text="why"),))) == Edit(None)
    assert edit_of(attrs.evolve(message, content=())) == Edit(None)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (BLOCKS, "as it was"),
        ((*BLOCKS[:2], attrs.evolve(REDACTED, redacted_data="eA=="), *BLOCKS[3:]), 2),
        ((*BLOCKS[:4], attrs.evolve(SIGNED_TEXT, signature=None), SIGNED_CALL), 4),
        ((*BLOCKS[:3], *BLOCKS[4:]), 3),
        ((*BLOCKS[:3], SIGNED_TEXT, WITHHELD, SIGNED_CALL), 3),
        ((Text("new"), *BLOCKS), 0),
        ((*BLOCKS, SIGNED), 6),
        (BLOCKS[:5], None),
        ((), None),
    ],
)
def test_the_first_block_that_is_not_as_it_was_is_told(content: tuple[AssistantBlock, ...], place: object) -> None:
    edit = edit_of(AssistantMessage(content, content_digest=content_digest(BLOCKS)))
    assert edit == (None if place == "as it was" else Edit(place))  # type: ignore[arg-type]


@pytest.mark.parametrize("told", ["v2:x", "v2:0", "v2:-", "v2:0-.0-", "v2:" + "9" * 5000 + "-a", "v2:\u0663-a"])
def test_a_digest_that_is_none_is_an_edit_of_nobody_knows_what(told: str) -> None:
    assert edit_of(AssistantMessage((Text("plain"),), content_digest=told)) in (Edit(None), Edit(0))


@pytest.mark.parametrize("told", [None, "", "v9:0-a", "whatever"])
def test_a_digest_of_an_unknown_version_is_not_checked(told: str | None) -> None:
    assert edit_of(AssistantMessage((SIGNED,), content_digest=told)) is None


@pytest.mark.parametrize(
    ("place", "changed"),
    [
        (0, attrs.evolve(SIGNED, text="because!")),
        (0, attrs.evolve(SIGNED, signature="c2lm")),
        (0, attrs.evolve(SIGNED, signature=None)),
        (2, attrs.evolve(REDACTED, redacted_data="cGF5bG9hZB==")),
        (3, attrs.evolve(WITHHELD, text="made up")),
        (3, attrs.evolve(WITHHELD, signature=None, redacted_data="b21pdHRlZA==")),
        (4, attrs.evolve(SIGNED_TEXT, text="sea")),
        (4, attrs.evolve(SIGNED_TEXT, signature=None)),
        (5, attrs.evolve(SIGNED_CALL, arguments_json='{"a": 2}')),
        (5, attrs.evolve(SIGNED_CALL, arguments_json='{"a":1}')),
        (5, attrs.evolve(SIGNED_CALL, id="3")),
        (5, attrs.evolve(SIGNED_CALL, name="find")),
    ],
)
def test_an_edit_of_a_signed_block_changes_the_digest(place: int, changed: AssistantBlock) -> None:
    edited = (*BLOCKS[:place], changed, *BLOCKS[place + 1 :])
    assert content_digest(edited) != content_digest(BLOCKS)


@pytest.mark.parametrize("place", [0, 2, 3, 4, 5])
def test_dropping_a_signed_block_changes_the_digest(place: int) -> None:
    assert content_digest(BLOCKS[:place] + BLOCKS[place + 1 :]) != content_digest(BLOCKS)


@pytest.mark.parametrize("place", range(5))
def test_moving_a_signed_block_changes_the_digest(place: int) -> None:
    moved = [*BLOCKS[:place], *BLOCKS[place + 1 :], BLOCKS[place]]
    assert content_digest(moved) != content_digest(BLOCKS)


def test_a_block_put_before_a_signed_one_moves_it() -> None:
    assert content_digest((Text("new"), *BLOCKS)) != content_digest(BLOCKS)


@pytest.mark.parametrize("unsigned", UNSIGNED, ids=lambda block: type(block).__name__)
def test_an_edit_of_an_unsigned_block_does_not_matter(unsigned: AssistantBlock) -> None:
    other = Opaque("p", kind="k", data={}) if isinstance(unsigned, Opaque) else attrs.evolve(unsigned, extra={"a": 1})
    assert content_digest((SIGNED, unsigned, REDACTED)) == content_digest((SIGNED, other, REDACTED))
    assert content_digest((SIGNED, unsigned, REDACTED)) == content_digest((SIGNED, Text("edited"), REDACTED))


def test_unsigned_blocks_may_come_and_go_after_the_last_signed_one() -> None:
    assert content_digest((*BLOCKS, *UNSIGNED)) == content_digest(BLOCKS)


def test_provider_fields_of_a_signed_block_do_not_matter() -> None:
    assert content_digest((attrs.evolve(SIGNED, extra={"id": "rs_1"}),)) == content_digest((SIGNED,))


def test_texts_that_meet_differently_have_different_digests() -> None:
    assert content_digest((Thinking.signed("ab", "c"),)) != content_digest((Thinking.signed("a", "bc"),))


def test_half_a_surrogate_pair_can_be_digested() -> None:
    assert content_digest((Thinking.signed("\ud83d", "s"),)) != content_digest((Thinking.signed("\ude00", "s"),))


@given(st.lists(assistant_blocks, max_size=4))
def test_equal_blocks_have_equal_digests(blocks: list[AssistantBlock]) -> None:
    assert content_digest(blocks) == content_digest(tuple(attrs.evolve(block) for block in blocks))
