"""What kind of thing a question asks for, and which messages state one."""

from __future__ import annotations

import pytest

from ctxcore.recalling.answers import states, wanted_by


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When did we go camping?", "time"),
        ("Which year was the barn built?", "time"),
        ("How long did the crossing take?", "time"),
        ("他什么时候来？", "time"),
        ("小宝的生日是哪天？", "time"),
        ("How many canoes did we rent?", "number"),
        ("What port does the relay use?", "number"),
        ("修船花了多少钱？", "number"),
        ("一共请了几个人？", "number"),
        ("Who paid for the canoe?", None),
        ("那家面馆在哪里？", None),
        ("", None),
    ],
)
def test_a_question_asks_for_a_time_or_a_number_or_neither(
    question: str, wanted: str | None
) -> None:
    assert wanted_by(question) == wanted


@pytest.mark.parametrize(
    "text",
    ["We left last night.", "on 7 May", "in 2019", "two weeks ago", "上周三去的", "六月十四号"],
)
def test_times_are_stated_by_dates_and_by_words(text: str) -> None:
    assert states(text, "time")


@pytest.mark.parametrize("text", ["It cost 40 crowns.", "three canoes", "十二公斤", "两只狗"])
def test_numbers_are_stated_in_digits_and_in_words(text: str) -> None:
    assert states(text, "number")


@pytest.mark.parametrize("text", ["The canoe is red.", "", "那只船是红的"])
def test_what_states_neither(text: str) -> None:
    assert not states(text, "time")
    assert not states(text, "number")
