from __future__ import annotations

from collections.abc import Sequence

from ctxcore.salience.ranking import Group, Ranking, Salience, is_prose
from ctxcore.salience.units import Unit
from tests.unit.salience.building import said


def unit(tokens: int, text: str) -> Unit:
    return Unit(seq=0, text=text, role="user", tokens=tokens)


def alone(units: Sequence[Unit]) -> list[Group]:
    """Each unit as a group of its own."""
    return [Group(units=(one,), tokens=one.tokens) for one in units]


def order(units: Sequence[Unit], saliences: Sequence[Salience] | None = None) -> list[int]:
    """The units in the order in which they are kept."""
    ranking = Ranking(
        alone(units), None if saliences is None else [[salience] for salience in saliences]
    )
    kept = []
    for step in ranking.steps():
        ranking.take(step)
        kept.append(step.group)
    return kept


def test_the_most_worth_per_token_is_kept_first() -> None:
    units = [unit(10, "a"), unit(20, "b"), unit(10, "c")]

    assert order(units, [Salience(talk=1.0), Salience(talk=4.0), Salience(talk=3.0)]) == [2, 1, 0]


def test_of_equal_units_the_newer_is_kept_first() -> None:
    assert order([unit(10, "a"), unit(10, "b")], [Salience(talk=1.0)] * 2) == [1, 0]


def test_what_is_worth_nothing_is_never_kept() -> None:
    assert order([unit(10, "a"), unit(10, "b")], [Salience(talk=0.0), Salience(talk=1.0)]) == [1]


def test_a_literal_pays_once() -> None:
    units = [unit(10, "AB-12 here"), unit(10, "AB-12 there"), unit(10, "CD-34")]
    saliences = [
        Salience(talk=0.0, literals=(("AB-12", 2.0),)),
        Salience(talk=0.0, literals=(("AB-12", 2.0),)),
        Salience(talk=0.0, literals=(("CD-34", 1.0),)),
    ]

    assert order(units, saliences) == [1, 2]


def test_a_long_text_said_again_does_not_pay_again() -> None:
    text = "The whole list of guests, the menu and the order of the speeches is as follows."
    units = [unit(10, text), unit(10, text), unit(10, "Short.")]

    assert order(units, [Salience(talk=2.0), Salience(talk=2.0), Salience(talk=1.0)]) == [1, 2]


def test_a_short_answer_pays_each_time() -> None:
    units = [unit(10, "It is free."), unit(10, "It is free."), unit(10, "Short.")]

    assert order(units, [Salience(talk=2.0), Salience(talk=2.0), Salience(talk=1.0)]) == [1, 0, 2]


def test_what_is_not_taken_is_passed_over_and_covers_nothing() -> None:
    units = [unit(10, "AB-12 here"), unit(10, "AB-12 there")]
    salience = Salience(talk=0.0, literals=(("AB-12", 2.0),))
    ranking = Ranking(alone(units), [[salience], [salience]])

    assert [step.group for step in ranking.steps()] == [1, 0]
    assert [step.group for step in ranking.steps()] == [1, 0]


def test_a_group_is_opened_with_what_makes_it_worth_most_per_token() -> None:
    units = (unit(4, "frame"), unit(10, "rich"), unit(10, "good"), unit(40, "weak"))
    saliences = [Salience(talk=0.0), Salience(talk=5.0), Salience(talk=3.0), Salience(talk=1.0)]
    group = Group(units=units, loose=frozenset({1, 2, 3}), tokens=20)
    ranking = Ranking([group], [saliences])
    steps = []

    for step in ranking.steps():
        ranking.take(step)
        steps.append(step.loose)

    assert steps == [(1, 2), (3,)]  # 5/30 < 8/40 > 9/80 a token


def test_pieces_of_a_group_that_was_not_taken_do_not_come() -> None:
    units = (unit(10, "rich"), unit(40, "weak"))
    group = Group(units=units, loose=frozenset({0, 1}), tokens=5)

    steps = list(Ranking([group], [[Salience(talk=5.0), Salience(talk=1.0)]]).steps())

    assert [step.loose for step in steps] == [(0,)]


def test_a_group_that_must_take_more_than_the_most_is_never_opened() -> None:
    big = Group(units=(unit(50, "a"),), tokens=50)

    assert not list(Ranking([big], [[Salience(talk=9.0)]], most_tokens=49).steps())


def test_only_what_counts_is_worth_anything() -> None:
    output = Unit(seq=0, text="AB-12", role="tool", kind="output", tokens=2)
    ranking = Ranking(
        alone([unit(9, "talk"), output]), [[Salience(talk=1.0)], [Salience(talk=9.0)]]
    )

    assert [step.group for step in ranking.steps(is_prose)] == [0]
    assert [step.group for step in ranking.steps()] == [1, 0]


def test_the_facts_of_a_conversation_outlive_its_small_talk() -> None:
    units = said(
        "Hey, how are you doing today?",
        "Great, thanks! What have you been up to?",
        "I adopted a grey cat named Milo from the shelter in Lund on Tuesday.",
        "Wow, that is so lovely, congratulations to you!",
        "Thank you so much, you are always so kind!",
        "You're welcome. Have a great day!",
    )

    assert order(units)[0] == 2
