"""The legality rules there are, in the order in which contexts are repaired."""

from __future__ import annotations

from ctxcore.assembly.rules.alternation import ALTERNATION
from ctxcore.assembly.rules.arguments import ARGUMENTS
from ctxcore.assembly.rules.call_ids import CALL_ID, CALL_ID_FORM
from ctxcore.assembly.rules.first_role import FIRST_ROLE
from ctxcore.assembly.rules.pairing import MISSING_RESULT, ORPHAN_RESULT
from ctxcore.assembly.rules.tool_names import TOOL_NAME
from ctxcore.assembly.rules.unread import FORMAT
from ctxcore.assembly.rules.values import Neighbours, Rule
from ctxcore.assembly.rules.words import EMPTY_WORDS, NAME
from ctxcore.registries import Registry

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


def register_rule(rule: Rule) -> None:
    """Adds a rule: `lint` checks it, and contexts are repaired by it or refused.

    Raises:
        NameTakenError: there is a rule of this name.
        ValueError: it joins neighbours, which one rule alone can do.
    """
    if isinstance(rule.repair, Neighbours):
        raise ValueError(f"rule {rule.name!r} joins neighbours; the rule 'alternation' does that")
    RULES.register(rule.name, rule)
