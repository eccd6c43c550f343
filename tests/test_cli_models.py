"""`thinkaloud models`, `thinkaloud levels` and `thinkaloud ask --dry-run`: what the program knows, and would send."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.program import clean_environment
from thinkaloud.cli import main

SHARED = os.environ.get("THINKALOUD_SHARED")
TABLE = Path(SHARED or "") / "catalog" / "models.json"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in set(os.environ) - set(clean_environment()):
        monkeypatch.delenv(name)


def printed(capsys: Capture, *arguments: str) -> list[str]:
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out.splitlines()


def cells(lines: list[str], count: int) -> list[list[str]]:
    return [line.split(maxsplit=count - 1) for line in lines]


# models


def test_models_are_listed_one_a_line_with_sizes_and_prices(capsys: Capture) -> None:
    heading, *lines = printed(capsys, "models", "anthropic")
    assert heading.split() == ["MODEL", "NAME", "CONTEXT", "OUTPUT", "$", "IN", "$", "OUT", "THINKING"]
    assert len(lines) == 25
    assert [line.split() for line in lines if line.startswith("anthropic/claude-opus-4-5 ")] == [
        ["anthropic/claude-opus-4-5", "Claude", "Opus", "4.5", "(latest)", "200000", "64000", "5", "25", "budget"]
    ]


def test_all_models_are_listed_where_no_provider_is_named(capsys: Capture) -> None:
    assert len(printed(capsys, "models")) >= 343


def test_a_model_that_does_not_think_and_a_missing_price_show(capsys: Capture) -> None:
    [line] = [line for line in printed(capsys, "models", "openai") if line.startswith("openai/gpt-4o ")]
    assert line.endswith("none")
    [line] = [line for line in printed(capsys, "models", "zai") if line.startswith("zai/glm-5.3-highspeed ")]
    assert line.split()[-3:] == ["-", "-", "effort"]


def test_an_unknown_provider_is_wrong_use(capsys: Capture) -> None:
    assert main(["models", "nobody"]) == 2
    assert "UnknownModel: provider 'nobody'" in capsys.readouterr().err


# levels


def test_the_levels_of_a_model_show_what_becomes_of_each(capsys: Capture) -> None:
    assert printed(capsys, "levels", "anthropic/claude-sonnet-5-5") == [
        "anthropic/claude-sonnet-5-5: adaptive; thinks when no level is asked",
        "ASKED    SENT    AS",
        "off      off     between_tools",
        "minimal  low     low",
        "low      low     low",
        "medium   medium  medium",
        "high     high    high",
        "xhigh    xhigh   xhigh",
        "max      max     max",
    ]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("bedrock/zai.glm-5", "thinks as it likes; no level steers it"),
        ("openai/gpt-4o", "does not think; levels are passed over"),
    ],
)
def test_a_model_without_levels_is_told_in_one_line(capsys: Capture, model: str, told: str) -> None:
    assert printed(capsys, "levels", model) == [f"{model}: {told}"]


def test_an_unknown_model_shows_the_levels_of_its_family(capsys: Capture) -> None:
    first, *rows = printed(capsys, "levels", "anthropic/claude-unheard-of")
    assert first.endswith("nothing is known of it; these are the levels of its family or its endpoint")
    assert len(rows) == 8


@pytest.mark.parametrize("arguments", [["levels"], ["levels", "openai/gpt-5.2", "--all"]])
def test_levels_wants_a_model_or_all(capsys: Capture, arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == "thinkaloud: give a model, or --all\n"


def test_all_levels_are_a_table_of_all_models(capsys: Capture) -> None:
    heading, *lines = printed(capsys, "levels", "--all")
    assert heading.split() == ["MODEL", "THINKING", "LEVELS"]
    table = {model: (mode, levels) for model, mode, levels in cells(lines, 3)}
    assert table["openai/gpt-5.2"] == ("effort", "off low medium high xhigh")
    assert table["bedrock/deepseek.r1-v1:0"] == ("always_on", "-")
    assert table["groq/llama-3.1-8b-instant"] == ("none", "-")


@pytest.mark.skipif(
    SHARED is None or not TABLE.is_file(), reason="THINKALOUD_SHARED does not name a folder with the table of models"
)
def test_the_table_of_levels_is_that_of_the_catalog_row_by_row(capsys: Capture) -> None:
    expected = [
        [f"{row['provider']}/{row['id']}", row["thinking"]["mode"], " ".join(row["thinking"]["levels"]) or "-"]
        for row in json.loads(TABLE.read_text("utf-8"))["models"]
    ]
    assert cells(printed(capsys, "levels", "--all")[1:], 3) == expected


# a dry run


def test_a_dry_run_prints_the_request_and_needs_no_key(capsys: Capture) -> None:
    lines = printed(capsys, "ask", "--dry-run", "-m", "openai/gpt-5.2", "-r", "max", "Why?")
    assert lines[:5] == [
        "POST https://api.openai.com/v1/responses",
        "content-type: application/json",
        "accept: text/event-stream",
        "authorization: ***",
        "",
    ]
    end = lines.index("}")
    body = json.loads("\n".join(lines[5 : end + 1]))
    assert body["model"] == "gpt-5.2"
    assert body["reasoning"] == {"effort": "xhigh", "summary": "auto"}
    assert lines[end + 1 :] == [
        "",
        "level: max asked, xhigh sent",
        "notice: this model has no level 'max'; 'xhigh' was sent in its place (level_clamped)",
    ]


def test_a_dry_run_never_shows_the_key(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests-0123456789")
    lines = printed(capsys, "ask", "--dry-run", "-m", "anthropic/claude-opus-5", "Why?")
    assert "x-api-key: ***" in lines
    assert "key-for-tests" not in "\n".join(lines)


def test_a_dry_run_as_json_is_one_object(capsys: Capture) -> None:
    [line] = printed(capsys, "ask", "--dry-run", "--json", "-m", "anthropic/claude-unheard-of", "-r", "high", "Why?")
    told = json.loads(line)
    assert told["method"] == "POST"
    assert told["url"] == "https://api.anthropic.com/v1/messages"
    assert told["headers"]["x-api-key"] == "***"
    assert told["body"]["model"] == "claude-unheard-of"
    assert told["level"] == {"asked": "high", "sent": "high"}
    assert [notice["code"] for notice in told["notices"]] == ["unknown_model"]


def test_a_dry_run_refuses_what_a_call_would_refuse(capsys: Capture) -> None:
    assert main(["ask", "--dry-run", "-m", "nobody/x", "Why?"]) == 2
    assert "UnknownModel" in capsys.readouterr().err
