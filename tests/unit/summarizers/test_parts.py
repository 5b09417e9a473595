"""The parts of the offline summarizer: languages, sentences, terms, cues and lines."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import text_message, tool_result
from ctxcore.summarizers.cues import cue_factor
from ctxcore.summarizers.language import detect_language
from ctxcore.summarizers.lines import parse_lines, render_lines
from ctxcore.summarizers.sentences import MAX_SENTENCE_CHARS, split_sentences
from ctxcore.summarizers.terms import TermReader, weigh


def sentences(text: str) -> list[str]:
    return [span.text for span in split_sentences(text)]


def terms_of(text: str) -> tuple[str, ...]:
    return TermReader().terms_of(text)


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


def test_identifiers_count_whole_and_in_parts() -> None:
    assert terms_of("parseConfig in src/app_main.py") == (
        "parseconfig",
        "parse",
        "config",
        "src/app_main.py",
        "src",
        "app",
        "main",
        "py",
    )


def test_chinese_is_read_in_overlapping_pairs_without_grammar() -> None:
    assert terms_of("我们的故宫门票") == ("的故", "故宫", "宫门", "门票")


def test_small_talk_has_no_terms() -> None:
    assert terms_of("Well, okay, that's really great!") == ()


def test_a_rare_term_weighs_more_than_a_frequent_one() -> None:
    weights = weigh([("turbine", "report"), ("report",), ("report",)])

    assert weights["turbine"] > weights["report"]


def test_instructions_count_from_a_user_but_not_from_an_assistant() -> None:
    rule = "Never use tabs."

    assert cue_factor(rule, "user") > cue_factor(rule, "assistant")


def test_telling_is_not_instructing() -> None:
    assert cue_factor("It was never used", "user") == 1.0
    assert cue_factor("他是一个特别的人", "user") == 1.0


def test_lines_are_read_back_as_they_were_written() -> None:
    summary = "user: One. … Three.\ntool grep: src/a.py:1; src/b.py:2\nA remark."
    lines = parse_lines(summary)

    shown = render_lines([(line, _shown(line.spans)) for line in lines], language="en")

    assert shown == summary


def _shown(spans: tuple[object, ...]) -> list[int]:
    return [place for place, span in enumerate(spans) if getattr(span, "text", "") != "…"]
