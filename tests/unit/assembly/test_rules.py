"""Legality rules: each is found by `lint` and repaired or refused; people may add their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.rules.registry import RULES, register_rule
from ctxcore.assembly.rules.values import (
    Conversation,
    EachMessage,
    Finding,
    Neighbours,
    Note,
    Refusing,
    Rule,
)
from ctxcore.errors import MessageError
from ctxcore.messages.values import Message, Text
from ctxcore.reasons.codes import RepairCode
from ctxcore.tokens.families import Provider

BY_NAME = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


def found_rules(rule: Rule, provider: Provider) -> set[str]:
    """What `lint` finds in the rule's own example."""
    found = lint(rule.broken, provider, tools=rule.broken_tools)
    return {violation.rule for violation in found}


@BY_NAME
def test_a_rule_has_a_check_and_either_a_repair_or_a_refuse(rule: Rule) -> None:
    assert callable(rule.check)
    assert (rule.repair is None) != (rule.refuse is None)
    assert rule.broken


@BY_NAME
def test_a_rule_finds_what_breaks_it_for_its_providers_alone(rule: Rule) -> None:
    minding = tuple(one for one in PROVIDERS if rule.name in found_rules(rule, one))

    assert minding == tuple(one for one in PROVIDERS if one in rule.providers)


@BY_NAME
def test_what_breaks_a_rule_is_repaired_or_refused(rule: Rule) -> None:
    if rule.refuse:
        with pytest.raises(MessageError):
            fit(rule.broken, tools=rule.broken_tools, max_tokens=10_000)
        return

    context = fit(rule.broken, tools=rule.broken_tools, max_tokens=10_000)

    tools = context.sent_tools(rule.broken_tools)
    assert context.repairs
    assert {one: lint(context.messages, one, tools=tools) for one in PROVIDERS} == {
        one: [] for one in PROVIDERS
    }


@pytest.mark.parametrize("refuse", [None, "building"])
def test_a_rule_with_neither_or_with_both_is_none(refuse: Refusing | None) -> None:
    with pytest.raises(ValueError, match="'loud' needs either a repair or a refuse"):
        replace(LOUD, repair=LOUD.repair if refuse else None, refuse=refuse)


def find_loud(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        if "!" in message.text:
            yield at, "it is loud"


def quieten(message: Message, note: Note) -> Message:
    if "!" not in message.text:
        return message
    note(RepairCode.BY_RULE(rule="quiet"))
    return replace(message, content=(Text(text=message.text.replace("!", ".")),))


LOUD = Rule(name="loud", check=find_loud, repair=EachMessage(quieten))
SHOUT = [{"role": "user", "content": "Fire!"}]


@pytest.fixture(autouse=True)
def _own_rules_go() -> Iterator[None]:
    with RULES.restored():
        yield


def test_a_registered_rule_is_checked_and_repairs_contexts() -> None:
    register_rule(LOUD)

    context = fit(SHOUT, max_tokens=1_000)

    found = lint(SHOUT, "openai")
    assert [(one.rule, one.at, one.detail) for one in found] == [("loud", 0, "it is loud")]
    assert context.messages == [{"role": "user", "content": "Fire."}]
    assert [repair.reason for repair in context.repairs] == [RepairCode.BY_RULE(rule="quiet")]


def test_a_change_that_a_rule_does_not_tell_is_told_as_its_own() -> None:
    silent = EachMessage(lambda message, _: quieten(message, lambda _: None))
    register_rule(replace(LOUD, repair=silent))

    context = fit(SHOUT, max_tokens=1_000)

    assert [repair.reason for repair in context.repairs] == [RepairCode.BY_RULE(rule="loud")]


def test_a_registered_rule_may_refuse_a_context() -> None:
    register_rule(replace(LOUD, repair=None, refuse="building"))

    with pytest.raises(MessageError, match="message 0: it is loud"):
        fit(SHOUT, max_tokens=1_000)


def test_one_rule_alone_joins_neighbours() -> None:
    joining = Neighbours(lambda items, bench: [])

    with pytest.raises(ValueError, match="'alternation' does that"):
        register_rule(replace(LOUD, repair=joining))
