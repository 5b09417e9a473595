"""The registry of legality rules, and the rule that every entry of a list is a message."""

from __future__ import annotations

from ctxcore.assembly.rules.calls import (
    ARGUMENTS,
    CALL_ID,
    CALL_ID_FORM,
    MISSING_RESULT,
    ORPHAN_RESULT,
)
from ctxcore.assembly.rules.roles import ALTERNATION, FIRST_ROLE
from ctxcore.assembly.rules.values import Neighbours, Rule
from ctxcore.assembly.rules.words import EMPTY_WORDS, NAME, TOOL_NAME
from ctxcore.registries import Registry

FORMAT = Rule(
    name="format",
    check=lambda conversation, _: conversation.unread,
    refuse="reading",
    broken=[{"content": "hi"}],
)

RULES: Registry[Rule] = Registry(
    "legality rule",
    {
        rule.name: rule
        for rule in (
            FORMAT,
            ARGUMENTS,
            TOOL_NAME,
            CALL_ID_FORM,
            CALL_ID,
            MISSING_RESULT,
            ORPHAN_RESULT,
            NAME,
            EMPTY_WORDS,
            FIRST_ROLE,
            ALTERNATION,
        )
    },
)
BUILT_IN = frozenset(RULES)


def register_rule(rule: Rule) -> None:
    """Adds a rule: `lint` checks it, and contexts are repaired by it or refused.

    Raises:
        NameTakenError: there is a rule of this name.
        ValueError: it joins neighbours, which one rule alone can do.
    """
    if isinstance(rule.repair, Neighbours):
        raise ValueError(f"rule {rule.name!r} joins neighbours; the rule 'alternation' does that")
    RULES.register(rule.name, rule)
