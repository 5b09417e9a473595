"""The offline summarizer where a form or a length in characters is asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxcore.messages.values import Message, text_message
from ctxcore.policy.values import SummaryForm
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.lines import Line, parse_lines, quotes_of
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.text.languages import Language
from tests.words import Quarters

JAN_15 = datetime(2026, 1, 15, 9, tzinfo=UTC)
JAN_16 = datetime(2026, 1, 16, 9, tzinfo=UTC)
BOOKED = text_message("user", "Book seat 12A for Ada.")
PAID = text_message("assistant", "Seat 12A is booked and paid.")
RAIN = text_message("user", "Take an umbrella to Bergen on Friday.")


def summarize(
    *messages: Message,
    previous: str = "",
    form: SummaryForm = "dated_points",
    dates: tuple[datetime | None, ...] = (),
    max_tokens: int = 500,
    asked_chars: int | None = None,
    max_chars: int | None = None,
    language: Language = "en",
) -> str:
    request = SummaryRequest(
        messages=messages,
        previous=previous,
        form=form,
        dates=dates,
        max_tokens=max_tokens,
        asked_chars=asked_chars,
        max_chars=max_chars,
        language=language,
    )
    return ExtractiveSummarizer(Quarters()).summarize(request)


def test_points_are_numbered_and_dated_where_the_date_is_known() -> None:
    assert summarize(BOOKED, PAID, dates=(JAN_15, None)) == (
        "1. 2026-01-15 user: Book seat 12A for Ada.\n2. assistant: Seat 12A is booked and paid."
    )


def test_points_of_a_compacted_compaction_keep_their_dates_and_are_numbered_anew() -> None:
    first = summarize(BOOKED, PAID, dates=(JAN_15, JAN_15))

    second = summarize(RAIN, previous=first, dates=(JAN_16,))

    assert second == f"{first}\n3. 2026-01-16 user: Take an umbrella to Bergen on Friday."


def test_points_that_a_model_wrote_are_carried_on_as_points() -> None:
    previous = "1. 2026-01-15 创建了 5 个会议日程\n2. 用户偏好简洁的回复"

    assert summarize(RAIN, previous=previous, dates=(JAN_16,), language="zh") == (
        f"{previous}\n3. 2026-01-16 用户：Take an umbrella to Bergen on Friday."
    )


def test_other_forms_keep_the_dates_of_points_but_not_their_numbers() -> None:
    points = "1. 2026-01-15 user: Book seat 12A for Ada."

    assert summarize(RAIN, previous=points, form="plain", dates=(JAN_16,)) == (
        "2026-01-15 user: Book seat 12A for Ada.\nuser: Take an umbrella to Bergen on Friday."
    )


def test_a_numbered_list_in_prose_is_no_list_of_points() -> None:
    prose = "1. Open the valve.\n2. Wait."

    assert summarize(previous=prose, form="plain") == prose


def test_points_are_read_back_as_they_were_written() -> None:
    points = "1. 2026-01-15 user: One. … Three.\n2. ran grep (a b): src/a.py:1\n3. 2026-01-16 A."
    lines = parse_lines(points, as_points=True)

    assert [line.date for line in lines] == ["2026-01-15", None, "2026-01-16"]
    told = quotes_of([_quoted(line) for line in lines], "en", as_points=True)
    assert "".join(map("".join, told)) == points


def _quoted(line: Line) -> tuple[Line, list[int]]:
    return line, [place for place, span in enumerate(line.spans) if span.text != "…"]


@pytest.mark.parametrize("form", ["layered", "third_person", "progressive", "plain"])
def test_other_forms_are_its_lines_as_they_are(form: SummaryForm) -> None:
    assert summarize(BOOKED, form=form, dates=(JAN_15,)) == "user: Book seat 12A for Ada."


def many(language: Language) -> list[Message]:
    if language == "zh":
        return [text_message("user", f"第{n}号箱子运到{n % 13}号码头。请确认。") for n in range(60)]
    return [text_message("user", f"Crate {n} goes to dock {n % 13}. Please do.") for n in range(60)]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("chars", [40, 100, 300, 800])
def test_characters_limit_a_summary_at_sentence_ends(language: Language, chars: int) -> None:
    for form in ("plain", "dated_points"):
        summary = summarize(*many(language), form=form, max_chars=chars, language=language)

        assert chars // 2 < len(summary) <= chars
        assert summary[-1] in ".。"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_length_that_is_asked_for_is_about_reached_and_not_exceeded(language: Language) -> None:
    summary = summarize(*many(language), form="plain", asked_chars=200, language=language)

    assert 120 < len(summary) <= 200


def test_a_sentence_longer_than_what_is_asked_for_is_kept_whole() -> None:
    sentence = "The warehouse in Rotterdam holds four hundred crates of spare turbine parts."

    assert summarize(text_message("user", sentence), form="plain", asked_chars=20) == (
        f"user: {sentence}"
    )


def test_a_hard_limit_of_characters_cuts_even_the_only_sentence() -> None:
    sentence = "The warehouse in Rotterdam holds four hundred crates of spare turbine parts."

    assert summarize(text_message("user", sentence), form="plain", max_chars=20) == (
        "user: The warehouse"
    )


def test_tokens_limit_it_where_they_are_fewer() -> None:
    summary = summarize(*many("en"), form="plain", max_tokens=20, asked_chars=5_000)

    assert 10 < Quarters().count(summary) <= 20
