"""A sentence is compared only with the rules that share something with it, to the same effect."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest

from ctxcore.facts.ledger import Ledger
from ctxcore.facts.superseding import RuleIndex, taken_back
from ctxcore.facts.values import Fact
from tests.effort import calls_made
from tests.unit.facts import examples
from tests.unit.facts.speech import facts, folded, held

_SYLLABLES: Final = [one + two for one, two in product("bdfgklmnprstvz", "aeiou")]
_PAIRS: Final = [*examples.CHANGED, *examples.MENTIONED]


def _rules() -> list[Fact]:
    said = [fact for rule, _ in _PAIRS for fact in facts(rule) if fact.kind == "instruction"]
    return list({rule.key: rule for rule in said if rule.effect != "revokes"}.values())


@pytest.mark.parametrize("later", [later for _, later in _PAIRS] + ["Forget that rule."])
def test_the_rules_that_are_near_are_all_that_are_taken_back(later: str) -> None:
    rules = _rules()
    index, places = RuleIndex(rules), {rule.key: at for at, rule in enumerate(rules)}
    every = [(at, rule) for at, rule in enumerate(rules)]

    for fact in facts(later):
        if fact.kind == "instruction":
            near = [every[places[key]] for key in index.near(fact)]

            assert near == sorted(near, key=lambda said: said[0])
            assert taken_back(fact, 99, near, reversed(every)) == taken_back(fact, 99, every)


def test_a_rule_that_is_gone_is_near_no_more() -> None:
    index = RuleIndex(_rules())
    fact = next(
        fact
        for fact in facts("Write the minutes in Dutch from now on.")
        if fact.kind == "instruction"
    )
    before = index.near(fact)

    index.remove(before[0])

    assert index.near(fact) == before[1:]


def _word(number: int, salt: int) -> str:
    number = number * 7 + salt * 1_009
    return "".join(_SYLLABLES[number // 70**place % 70] for place in range(3))


def _unrelated(count: int) -> list[tuple[Fact, ...]]:
    return [
        tuple(facts(f"Always mention the {_word(at, 1)} before the {_word(at, 2)}."))
        for at in range(count)
    ]


def _keep(said: list[tuple[Fact, ...]]) -> None:
    ledger = Ledger()
    for seq, found in enumerate(said, 1):
        ledger.add(seq, found)


def test_rules_that_share_nothing_cost_no_more_the_more_there_are() -> None:
    few, many = _unrelated(50), _unrelated(400)
    _keep(many)  # what texts speak of is known then

    assert calls_made(_keep, many) < 10 * calls_made(_keep, few)  # eight times as many


@pytest.mark.parametrize(
    ("rule", "later"),
    [
        (
            "Never restart the database without asking me.",
            "Update to the rule: at night you may restart the database without asking.",
        ),
        ("备份之前必须先问我。", "规则更新：晚上备份可以不问我。"),
    ],
)
def test_a_rule_that_is_given_anew_is_a_rule(rule: str, later: str) -> None:
    assert held(folded(rule, later), "instruction") == [later]
    assert [fact.effect for fact in facts(later) if fact.kind == "instruction"] == ["updates"]
