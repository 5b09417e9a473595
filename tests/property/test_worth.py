"""What always holds for units, their worth and the choice among them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.messages.values import Role, text_message
from ctxcore.worth.choosing import choose_units, rank_units
from ctxcore.worth.scoring import score_units
from ctxcore.worth.units import Unit, UnitKind, split_message

_WORDS = """cello Lund AB-12 src/a.py never always you I 12 the ? . [x] { é \ud83d
    地址 在 吗 不要 ？ 。 ，"""
WORDS = st.sampled_from(_WORDS.split())
TEXTS = st.one_of(st.text(max_size=80), st.lists(WORDS, max_size=60).map(" \n".join))
ROLES: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "system"])
KINDS: st.SearchStrategy[UnitKind] = st.sampled_from(["talk", "call", "output"])
UNITS = st.lists(
    st.builds(
        Unit,
        seq=st.integers(0, 5),
        place=st.integers(0, 2),
        text=TEXTS,
        role=ROLES,
        kind=KINDS,
        tokens=st.integers(0, 40),
    ),
    max_size=12,
)


@given(text=TEXTS.map(lambda text: text * 9), tokens=st.integers(0, 4_000))
def test_the_units_of_a_message_joined_are_the_message(text: str, tokens: int) -> None:
    units = split_message(text_message("user", text), seq=0, tokens=tokens)

    assert "".join(unit.text for unit in units) == text
    assert all(unit.tokens >= 1 for unit in units)
    assert sum(unit.tokens for unit in units) <= max(tokens, len(units)) + len(units)


@given(units=UNITS)
def test_every_unit_has_a_finite_worth_of_at_least_nothing(units: list[Unit]) -> None:
    worths = score_units(units)

    assert len(worths) == len(units)
    assert all(worth.talk >= 0 and math.isfinite(worth.total) for worth in worths)


@given(units=UNITS)
def test_every_unit_has_one_rank(units: list[Unit]) -> None:
    assert sorted(rank_units(units, score_units(units))) == list(range(len(units)))


@given(units=UNITS, budget=st.integers(0, 400), more=st.integers(0, 100))
def test_a_larger_budget_keeps_what_a_smaller_one_keeps(
    units: list[Unit], budget: int, more: int
) -> None:
    worths = score_units(units)

    small = choose_units(units, worths, budget)
    large = choose_units(units, worths, budget + more)

    assert set(small) <= set(large)


@given(units=UNITS, budget=st.integers(0, 400), fill=st.booleans())
def test_what_is_kept_is_within_the_budget_and_in_order(
    units: list[Unit], budget: int, fill: bool
) -> None:
    kept = choose_units(units, score_units(units), budget, fill=fill)

    assert sum(units[at].tokens for at in kept) <= budget
    assert kept == sorted(set(kept))


@given(units=UNITS, budget=st.integers(0, 400))
def test_filling_never_keeps_less(units: list[Unit], budget: int) -> None:
    worths = score_units(units)

    assert set(choose_units(units, worths, budget)) <= set(
        choose_units(units, worths, budget, fill=True)
    )
