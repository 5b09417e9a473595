"""What may stand as a summary, whoever wrote it."""

from __future__ import annotations

import pytest

from ctxcore.errors import SummarizerError
from ctxcore.summarizers.checks import check_summary, cut_at_sentence


class Words:
    """A token a word; a Chinese character is a word."""

    id = "words"
    is_exact = True

    def count(self, text: str) -> int:
        return len(text.split()) + sum("\u4e00" <= char <= "\u9fff" for char in text)


def check(text: str, *, source_tokens: int = 100, max_tokens: int = 50) -> str:
    return check_summary(text, source_tokens=source_tokens, counter=Words(), max_tokens=max_tokens)


def test_a_good_summary_passes_stripped() -> None:
    assert check("  The guest booked room 12.\n") == "The guest booked room 12."


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(SummarizerError, match="empty"):
        check(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "search", "arguments": {"q": "x"}}',
        '```json\n[{"name": "search", "arguments": "{}"}]\n```',
        '{"tool_calls": []}',
        "<tool_call>search</tool_call>",
    ],
)
def test_a_tool_call_is_refused(text: str) -> None:
    with pytest.raises(SummarizerError, match="tool call"):
        check(text)


@pytest.mark.parametrize(
    "text",
    [
        "Error: connection refused",
        "Traceback (most recent call last):\n  File",
        '{"error": {"message": "overloaded"}}',
        '{"detail": "Internal Server Error"}',
        '{"status": 400, "title": "Bad Request", "traceId": "b1"}',
        "openai.RateLimitError: slow down",
        "错误：请求超时",
    ],
)
def test_an_error_text_is_refused(text: str) -> None:
    with pytest.raises(SummarizerError, match="error"):
        check(text)


def test_a_summary_about_errors_passes() -> None:
    text = "The build failed with Error: missing key, which was then added."

    assert check(text) == text


def test_a_summary_as_long_as_its_source_is_refused() -> None:
    with pytest.raises(SummarizerError, match="is not shorter"):
        check("one two three", source_tokens=3)


def test_a_summary_that_is_too_long_is_cut_at_a_sentence() -> None:
    assert check("One two three. Four five six.", max_tokens=5) == "One two three."


@pytest.mark.parametrize(
    ("text", "max_tokens", "cut"),
    [
        ("One two. Three four.", 9, "One two. Three four."),
        ("One two. Three four.", 3, "One two."),
        ("First line\nsecond line", 2, "First line"),
        ("今天下雨。明天晴。", 6, "今天下雨。"),
        ("one two three", 2, "one two"),
        ("天地玄黄", 2, "天"),
        ("共计三百二十", 5, "共计"),
        ("三百二十", 2, ""),
        ("one", 0, ""),
    ],
)
def test_a_cut_ends_at_the_last_sentence_word_or_character_that_fits(
    text: str, max_tokens: int, cut: str
) -> None:
    assert cut_at_sentence(text, max_tokens, Words()) == cut


@pytest.mark.parametrize(
    ("text", "max_chars", "cut"),
    [
        ("Ada is here. Bob is not.", 24, "Ada is here. Bob is not."),
        ("Ada is here. Bob is not.", 23, "Ada is here."),
        ("今天下雨。明天晴。", 8, "今天下雨。"),
        ("First point\nSecond point", 15, "First point"),
        ("Ada is here", 8, "Ada is"),
        ("今天下雨", 2, "今天"),
        ("Ada", 0, ""),
    ],
)
def test_a_summary_is_cut_at_a_sentence_within_its_characters(
    text: str, max_chars: int, cut: str
) -> None:
    assert cut_at_sentence(text, 99, Words(), max_chars=max_chars) == cut


def test_the_stricter_of_two_limits_cuts() -> None:
    text = "One two three. Four five six."

    assert cut_at_sentence(text, 3, Words(), max_chars=99) == "One two three."
    assert cut_at_sentence(text, 99, Words(), max_chars=14) == "One two three."


def test_a_summary_of_which_nothing_fits_is_refused() -> None:
    with pytest.raises(SummarizerError, match="no part of it fits in 50 tokens and 0 characters"):
        check_summary("Ada.", source_tokens=9, counter=Words(), max_tokens=50, max_chars=0)
