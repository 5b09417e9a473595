"""The codes of what a setting or a field may be."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class AllowedCode(Code):
    """What is allowed where something else was given."""

    WHOLE = "allowed.whole", "a whole number of at least {low:,}"
    NUMBER = "allowed.number", "a number from {low:g} to {high:g}"
    TEXT = "allowed.text", "a text of at least {low} characters"
    ONE_OF = "allowed.one_of", "one of {names}"
    NAMES = "allowed.names", "{names}"
    YES_OR_NO = "allowed.yes_or_no", "yes or no"
    OR_NONE = "allowed.or_none", "{allowed}, or none"
    REMOVED = "allowed.removed", "nothing, since {since} has no such field any more"
    LIST_OF = "allowed.list_of", "a list of {names}"
    STRATEGIES = (
        "allowed.strategies",
        "a list of {names}; there is no {unknown}: the plug-in that brings it may be missing",
    )
    FALLING = "allowed.falling", "a list of whole numbers, each smaller than the one before"
    TURNS_BY_MESSAGES = (
        "allowed.turns_by_messages",
        "a list of (messages, turns), the messages falling",
    )
    TOOL_LIMITS = (
        "allowed.tool_limits",
        "a list of (tool, tokens), the tokens from {low} on, no tool twice",
    )
    TOOL_NAMES = "allowed.tool_names", "a list of names of tools"
    BESIDE = (
        "allowed.beside",
        "at most {high:.6g} beside a recent_history_ratio of {recent:g}; the two are shares of one "
        "budget",
    )
    FIELDS_ONLY = "allowed.fields_only", "fields only; {reason}"
    CONTRADICTION = (
        "allowed.contradiction",
        "{value!r}, as {source} says, or only one of the two",
    )
    TEXTS_OR_NONE = "allowed.texts_or_none", "a tuple of texts, or None"
    TEXTS = "allowed.texts", "texts alone"
    TEXT_OR_NONE = "allowed.text_or_none", "a text, or None"
