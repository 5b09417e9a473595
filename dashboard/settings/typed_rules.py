"""Owns what a threshold may be as its input takes it: shares as percentages, lists as typed."""

from __future__ import annotations

from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Code, Fact, Reason
from dashboard.settings.fields import Field


class TypedCode(Code):
    """What inputs allow in words of their own, where files are written another way."""

    BESIDE = (
        "typed.beside",
        "at most {high}, since summary and recent messages are shares of one budget",
    )
    FALLING = (
        "typed.falling",
        "whole numbers, each smaller than the one before, such as “3, 2, 1”",
    )
    TURNS_BY_MESSAGES = (
        "typed.turns_by_messages",
        "messages and turns, the messages falling, such as “50: 4, 30: 6”",
    )
    TOOL_LIMITS = (
        "typed.tool_limits",
        "tools with their tokens, each at least {low} and no tool twice, such as "
        "“bash: 400, read: 800”",
    )
    TOOL_NAMES = "typed.tool_names", "names of tools, such as “plan, read”"


_TYPED: dict[str, TypedCode] = {
    AllowedCode.BESIDE: TypedCode.BESIDE,
    AllowedCode.FALLING: TypedCode.FALLING,
    AllowedCode.TURNS_BY_MESSAGES: TypedCode.TURNS_BY_MESSAGES,
    AllowedCode.TOOL_LIMITS: TypedCode.TOOL_LIMITS,
    AllowedCode.TOOL_NAMES: TypedCode.TOOL_NAMES,
}


def as_typed(allowed: Reason, field: Field | None) -> Reason:
    """What is allowed, as the input of `field` takes it."""
    if field is None:
        return allowed
    facts = {name: _typed(fact, field) for name, fact in allowed.facts.items()}
    return Reason(_TYPED.get(allowed.code, allowed.code), facts)


def _typed(fact: Fact, field: Field) -> Fact:
    if isinstance(fact, Reason):
        return as_typed(fact, field)
    if field.kind == "percent" and isinstance(fact, (int, float)):
        return f"{fact * 100:g} %"
    return fact
