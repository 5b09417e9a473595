"""What always holds for units, their worth and the choice among them."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.messages.values import Role, text_message
from ctxcore.salience.ranking import Group, Ranking, Step, score_units
from ctxcore.salience.units import Unit, UnitKind, split_message

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
    saliences = score_units(units)

    assert len(saliences) == len(units)
    assert all(salience.talk >= 0 and math.isfinite(salience.total) for salience in saliences)


GROUPS = st.lists(
    st.builds(
        lambda units, loose, tokens: Group(
            units=tuple(units),
            loose=frozenset(at for at in loose if at < len(units)),
            tokens=tokens,
            gap_tokens=1,
        ),
        units=UNITS,
        loose=st.sets(st.integers(0, 11)),
        tokens=st.integers(0, 60),
    ),
    max_size=6,
)


@given(groups=GROUPS)
def test_every_unit_that_may_be_left_out_comes_at_most_once(groups: list[Group]) -> None:
    ranking = Ranking(groups)
    seen: list[tuple[int, int]] = []
    opened: list[int] = []
    for step in ranking.steps():
        if ranking.chosen[step.group] is None:
            opened.append(step.group)
        ranking.take(step)
        seen += [(step.group, unit) for unit in step.loose]

    assert len(seen) == len(set(seen))
    assert len(opened) == len(set(opened))
    assert all(unit in groups[at].loose for at, unit in seen)


@given(groups=GROUPS, most=st.integers(0, 80))
def test_the_same_groups_come_in_the_same_order(groups: list[Group], most: int) -> None:
    def steps() -> list[Step]:
        ranking, taken = Ranking(groups, most_tokens=most), []
        for step in ranking.steps():
            ranking.take(step)
            taken.append(step)
        return taken

    assert steps() == steps()
