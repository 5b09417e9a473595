"""What people say of rules, as a value on the facts of messages."""

from __future__ import annotations

import pytest

from ctxcore.facts.finding import find_facts
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdit, RuleEdits
from tests.histories import user

RULE = "Never deploy on Fridays."
SAID = find_facts(user(f"{RULE} The ticket is OPS-12."))


def rules(edits: RuleEdits, seq: int = 1) -> list[str]:
    found = [fact for fact in edits.apply(seq, SAID) if fact.kind == "instruction"]
    return [fact.text for fact in found if fact.effect != "revokes"]


def test_without_edits_the_facts_are_the_same_object() -> None:
    assert NO_EDITS.apply(1, SAID) is SAID
    assert RuleEdits.of([RuleEdit(kind="add", seq=9, text="x y z")]).apply(1, SAID) is SAID


def test_a_dismissed_rule_is_none_there_and_where_it_is_said_again() -> None:
    edits = RuleEdits.of([RuleEdit(kind="dismiss", seq=3, text="never deploy on fridays")])

    assert rules(edits, seq=2) == [RULE]
    assert rules(edits, seq=3) == []
    assert rules(edits, seq=8) == []


def test_other_facts_of_the_message_stay() -> None:
    edits = RuleEdits.of([RuleEdit(kind="dismiss", seq=1, text=RULE)])

    assert "OPS-12" in [fact.text for fact in edits.apply(1, SAID)]


def test_an_added_rule_is_a_rule_of_a_person_whatever_it_reads_like() -> None:
    text = "The ticket is OPS-12."
    edits = RuleEdits.of([RuleEdit(kind="add", seq=1, text=text)])

    assert rules(NO_EDITS) == [RULE]
    [fact] = [
        fact for fact in edits.apply(1, SAID) if fact.text == text and fact.kind == "instruction"
    ]

    assert (fact.kind, fact.role, fact.effect) == ("instruction", "user", "states")
    assert edits.apply(1, edits.apply(1, SAID)) == edits.apply(1, SAID)


def test_the_value_and_its_digest_do_not_depend_on_the_order() -> None:
    one = RuleEdit(kind="dismiss", seq=3, text=RULE)
    other = RuleEdit(kind="add", seq=5, text="Ship on Mondays.")

    assert RuleEdits.of([one, other]) == RuleEdits.of([other, one])
    assert RuleEdits.of([one, other]).digest == RuleEdits.of([other, one]).digest
    assert RuleEdits.of([one]).digest != RuleEdits.of([other]).digest
    assert RuleEdits.of([one, other]).begin == 3
    assert RuleEdits.of([]) is NO_EDITS


@pytest.mark.parametrize("text", ["回答一律用中文。", "Ship it. Then rest.", "x" * 900])
def test_whatever_is_added_is_one_rule(text: str) -> None:
    edits = RuleEdits.of([RuleEdit(kind="add", seq=1, text=text)])

    assert len(rules(edits)) == 2
