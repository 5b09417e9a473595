"""The parts of the offline summarizer: languages, sentences, standing rules and lines."""

from __future__ import annotations

import pytest

from ctxcore.facts.rules import lays_down_rule
from ctxcore.messages.values import text_message, tool_result
from ctxcore.summarizers.lines import parse_lines, quotes_of
from ctxcore.text.languages import detect_language
from ctxcore.text.sentences import MAX_SENTENCE_CHARS, split_sentences


def sentences(text: str) -> list[str]:
    return [span.text for span in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please check the order.", "en"),
        ("请帮我查一下 order_service 的 error log", "zh"),
        ("The sign says 出口.", "en"),
        ("", "en"),
    ],
)
def test_a_language_is_told_by_its_share_of_words(text: str, language: str) -> None:
    assert detect_language([text_message("user", text)]) == language


def test_tool_outputs_do_not_decide_the_language() -> None:
    log = tool_result("c1", "GET /index.html 200 OK " * 500)

    assert detect_language([text_message("user", "查看日志"), log]) == "zh"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Lee, e.g. here. Yes.", ["Dr. Lee, e.g. here.", "Yes."]),
        ("See v1.2.3 at a.b/c?d=1. Done", ["See v1.2.3 at a.b/c?d=1.", "Done"]),
        ("好的。请稍等！谢谢", ["好的。", "请稍等！", "谢谢"]),
        ("他说：“走吧。”然后走了", ["他说：“走吧。”", "然后走了"]),
        ("1. first\n2. second", ["1. first", "2. second"]),
        ("", []),
    ],
)
def test_a_text_is_split_into_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_an_endless_sentence_is_split_at_a_clause() -> None:
    pieces = sentences("a clause of words, " * 100)

    assert all(len(piece) <= MAX_SENTENCE_CHARS for piece in pieces)
    assert all(piece.endswith(",") for piece in pieces)


def test_instructions_stand_from_a_user_but_not_from_an_assistant() -> None:
    rule = "Never use tabs."

    assert lays_down_rule(rule, "user")
    assert not lays_down_rule(rule, "assistant")


def test_telling_is_not_instructing() -> None:
    assert not lays_down_rule("It was never used", "user")
    assert not lays_down_rule("他是一个特别的人", "user")


@pytest.mark.parametrize(
    "summary",
    [
        "user: One. … Three.\n- ran grep (TODO): src/a.py:2; src/b.py:4\n- Two files have one.",
        "用户：查一下。\n- 调用 grep（TODO）：src/a.py:2\n- 有两个。",
        "user: Look.\n- ran read (a.py; b.py)\n\n- ran read (c.py)\n- Done with c.\n\nuser: Go on.",
        "user: Try f(x).\n- ran eval (f(x): 1): 2\n- ran out of memory.",
        "A remark.\n\n- ran grep: nothing",
    ],
)
def test_an_account_is_read_back_as_it_was_written(summary: str) -> None:
    lines = [(line, _shown(line.spans)) for line in parse_lines(summary)]
    language = detect_language([text_message("user", summary)])

    assert "".join(map("".join, quotes_of(lines, language))) == summary


def test_what_earlier_versions_wrote_is_read_as_an_account() -> None:
    lines = parse_lines("user: One.\nassistant: Two.\ntool grep: src/a.py:1")

    told = quotes_of([(line, _shown(line.spans)) for line in lines], "en")

    assert "".join(map("".join, told)) == "user: One.\n- Two.\n- ran grep: src/a.py:1"


def _shown(spans: tuple[object, ...]) -> list[int]:
    return [place for place, span in enumerate(spans) if getattr(span, "text", "") != "…"]
