"""The rules of a history: which hold, what ended the others, and whether a call says them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.verdicts import Run
from ctxcore.compaction.rules_in_force import ended_rules, missed_rules, rules_in_force
from ctxcore.facts.rule_edits import RuleEdit, RuleEditKind, RuleEdits
from ctxcore.messages.values import Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.signals.finding import find_in_request
from ctxcore.signals.seen import Seen
from ctxcore.tokens.count import counter_by_id
from tests.histories import assistant, user

COUNTER = counter_by_id("estimate:o200k")
BAN, FRENCH = "Never restart db-7 on Mondays.", "From now on answer in French."
GERMAN = "From now on answer in German instead."
FREE = "You may restart db-7 on Mondays again."
CALL = Call(policy=Policy(), counter=COUNTER)
SAID: list[Message] = [
    user(f"{BAN} {FRENCH}"),
    assistant("Bien."),
    user(GERMAN),
    assistant("Gut."),
    user(FREE),
]


def history(said: list[Message]) -> ListHistory:
    return ListHistory(said, COUNTER)


def test_a_rule_holds_until_one_takes_it_back_or_takes_its_place() -> None:
    view = history(SAID)
    context = build_context(view, CALL, None)

    held = [(rule.text, rule.seqs, rule.is_said) for rule in rules_in_force(view, context)]
    ended = [(rule.text, rule.ended_by, rule.replaced_by) for rule in ended_rules(view)]

    assert held == [(GERMAN, (3,), True), (FREE, (5,), True)]
    assert ended == [(BAN, 5, FREE), (FRENCH, 3, GERMAN)]


def test_what_people_ask_of_each_other_is_told_as_such() -> None:
    letters = [user("Anna: I prefer window seats."), assistant("Ben: I see.")]
    asked = [user("I prefer window seats."), assistant("I see.")]

    of_letters, of_chat = (
        rules_in_force(view, build_context(view, CALL, None))
        for view in map(history, (letters, asked))
    )

    assert [(rule.is_said, rule.is_for_others) for rule in of_letters] == [(True, True)]
    assert [(rule.is_said, rule.is_for_others) for rule in of_chat] == [(True, False)]


def test_without_rules_there_is_nothing() -> None:
    view = history([user("How far is it?"), assistant("Nine miles.")])

    assert rules_in_force(view, build_context(view, CALL, None)) == []
    assert ended_rules(view) == []


def test_what_the_next_call_does_not_say_is_told() -> None:
    view = history([user(BAN), assistant("As you wish. " * 200), user("Go on, please.")])
    context = build_context(view, CALL, None)
    without = tuple(group for group in context.made_of if BAN not in group.message.text)

    (rule,) = rules_in_force(view, replace(context, made_of=without))

    assert (rule.text, rule.is_said) == (BAN, False)


@pytest.mark.parametrize(
    ("kinds", "is_noticed"), [([], False), (["add"], True), (["add", "dismiss"], False)]
)
def test_a_rule_that_was_added_is_noticed_when_it_is_said_again_though_folded(
    kinds: list[RuleEditKind], is_noticed: bool
) -> None:
    order = "The dogs sleep below deck."
    between = [message for _ in range(12) for message in (user("And the tide?"), assistant("Low."))]
    said = [user(order), *between, user(order)]
    edits = RuleEdits.of(RuleEdit(kind=kind, seq=1, text=order) for kind in kinds[-1:])
    folded = Run(
        first=0,
        last=0,
        verdict="summarized",
        reason=VerdictCode.FOLDED(),
        before_tokens=9,
        after_tokens=0,
    )

    found = find_in_request(
        ListHistory(said, COUNTER, rule_edits=edits), len(said), said[-1], Seen([folded])
    )

    assert [signal.kind for signal in found] == ["repeated"] * is_noticed


def test_sentences_with_the_words_are_offered_unless_they_are_rules() -> None:
    said = [user(f"Hello. {BAN}"), assistant("The restart of db-7 takes a minute. Fine.")]

    offered = missed_rules(history(said), COUNTER, "restart db-7")

    assert offered == [(2, "The restart of db-7 takes a minute.")]
    assert missed_rules(history(said), COUNTER, " ") == []
