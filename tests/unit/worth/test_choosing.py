from __future__ import annotations

from ctxcore.worth.choosing import choose_units, rank_units
from ctxcore.worth.scoring import Worth, score_units
from ctxcore.worth.units import Unit
from tests.unit.worth.building import said, utterance


def unit(tokens: int, text: str) -> Unit:
    return Unit(seq=0, text=text, role="user", tokens=tokens)


def test_the_most_worth_per_token_is_kept() -> None:
    units = [unit(10, "a"), unit(20, "b"), unit(10, "c")]
    worths = [Worth(talk=1.0), Worth(talk=4.0), Worth(talk=3.0)]

    assert list(rank_units(units, worths)) == [2, 1, 0]
    assert choose_units(units, worths, 30) == [1, 2]


def test_of_equal_units_the_newer_is_kept() -> None:
    units = [unit(10, "a"), unit(10, "b")]

    assert choose_units(units, [Worth(talk=1.0)] * 2, 10) == [1]


def test_a_literal_pays_once() -> None:
    units = [unit(10, "AB-12 here"), unit(10, "AB-12 there"), unit(10, "CD-34")]
    worths = [
        Worth(talk=0.0, literals=(("AB-12", 2.0),)),
        Worth(talk=0.0, literals=(("AB-12", 2.0),)),
        Worth(talk=0.0, literals=(("CD-34", 1.0),)),
    ]

    assert list(rank_units(units, worths)) == [1, 2, 0]


def test_a_long_text_said_again_does_not_pay_again() -> None:
    text = "The whole list of guests, the menu and the order of the speeches is as follows."
    units = [unit(10, text), unit(10, text), unit(10, "Short.")]

    assert list(rank_units(units, [Worth(talk=2.0), Worth(talk=2.0), Worth(talk=1.0)]))[:2] == [
        1,
        2,
    ]


def test_a_short_answer_pays_each_time() -> None:
    units = [unit(10, "It is free."), unit(10, "It is free."), unit(10, "Short.")]

    assert list(rank_units(units, [Worth(talk=2.0), Worth(talk=2.0), Worth(talk=1.0)]))[2] == 2


def test_what_is_left_is_filled_only_when_asked() -> None:
    units = [unit(10, "a"), unit(50, "b"), unit(10, "c")]
    worths = [Worth(talk=9.0), Worth(talk=20.0), Worth(talk=1.0)]

    assert choose_units(units, worths, 30) == [0]
    assert choose_units(units, worths, 30, fill=True) == [0, 2]


def test_nothing_fits_no_budget() -> None:
    assert choose_units([unit(1, "a")], [Worth(talk=1.0)], 0) == []


def test_the_facts_of_a_conversation_outlive_its_small_talk() -> None:
    units = said(
        "Hey, how are you doing today?",
        "Great, thanks! What have you been up to?",
        "I adopted a grey cat named Milo from the shelter in Lund on Tuesday.",
        "Wow, that is so lovely, congratulations to you!",
        "Thank you so much, you are always so kind!",
        "You're welcome. Have a great day!",
    )

    assert choose_units(units, score_units(units), 25) == [2]


def test_an_utterance_without_tokens_is_free() -> None:
    units = [Unit(seq=0, text="", role="user", tokens=0), utterance("I sold the boat.")]

    assert choose_units(units, score_units(units), 8) == [0, 1]
