"""Cues that cannot be found, or cannot matter, are left out; what the others weigh is the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.facts import chinese_rules, english_changes, english_rules
from ctxcore.facts.cues import TOO_LITTLE, Classes, Cue, Cues

CLASSES = Classes("a: a\nb: b\nc: c\nd: d", "ends: b c")
CUES = CLASSES.cues(
    """
one: 1.5 0.5 a
row: 0.7 -0.3 a b
group: -1.1 0 (?:a|b d)[ends]*c
either: 2.0 1.0 ^[a d]*b|c.*d|(?:a b){2}
none: 0.4 0.4 a?b*
not: -0.6 0.2 a(?!b)[^c]
first: 0.3 0 ^.{2,3}$
"""
)
ENGLISH = english_rules.CLASSES.cues(english_rules._CUES)
CHINESE = chinese_rules.CHINESE.cues
CHANGES = english_changes.CLASSES.cues(english_changes._SIGNS)


def sentence(cues: list[Cue]) -> st.SearchStrategy[str]:
    known = sorted(frozenset[str]().union(*(need for cue in cues for need in cue.needs)))
    return st.text(st.sampled_from(known), min_size=1, max_size=30)


def plain(cues: list[Cue], letters: str) -> list[float]:
    found = [cue.weights for cue in cues if cue.pattern.search(letters)]
    return [sum(one for one, _ in found), sum(other for _, other in found)]


@pytest.mark.parametrize("cues", [CUES, ENGLISH, CHINESE, CHANGES])
@given(data=st.data())
def test_cues_weigh_what_a_search_for_each_of_them_finds(
    cues: list[Cue], data: st.DataObject
) -> None:
    letters = data.draw(sentence(cues))

    assert Cues(cues).weigh(letters, (0.0, 0.0)) == pytest.approx(plain(cues, letters))


@pytest.mark.parametrize("cues", [CUES, ENGLISH, CHANGES])
@given(data=st.data(), least=st.integers(-6, 6))
def test_only_what_stays_below_the_least_is_not_weighed(
    cues: list[Cue], data: st.DataObject, least: int
) -> None:
    letters = data.draw(sentence(cues))
    wanted = plain(cues, letters)

    weighed = Cues(cues).weigh(letters, (0.03, 0.03), least=least)

    if max(wanted) + 0.03 >= least:
        assert weighed == pytest.approx([weight + 0.03 for weight in wanted])
    else:
        assert weighed == TOO_LITTLE or max(weighed) < least
