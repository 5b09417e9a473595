"""Owns the allowed range of every field of a policy; a value outside it is refused by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, get_args

from ctxcore.errors import PolicyError
from ctxcore.policy.names import STRATEGIES, unknown_strategies
from ctxcore.policy.values import (
    Policy,
    Preference,
    SummaryForm,
    SummaryPlace,
    TaskType,
)
from ctxcore.reasons.allowed import AllowedCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.counting import Counting

Rule = tuple[Callable[[Any], bool], Reason]

_LEAST_LIMIT = 40  # tokens of a tool's output
_ROUNDING = 1e-9  # 0.35 + 0.65 may come out a little over 1


def check(policy: Policy) -> None:
    """Refuses a policy with a value outside its range.

    Raises:
        PolicyError: the first such field, its value and what is allowed.
    """
    for field in RULES:
        check_value(field, getattr(policy, field))
    _check_shares(policy)


def check_value(field: str, value: object, *, source: Reason | None = None) -> None:
    """Refuses a value outside the range of `field`, whatever the other fields are.

    Raises:
        PolicyError: the field, its value, what is allowed, and the `source` of the value.
    """
    is_valid, allowed = RULES[field]
    if not is_valid(value):
        if field in ("strategies", "direct_strategies"):
            allowed = unknown_strategies(value) or allowed
        raise PolicyError(field=field, value=value, allowed=allowed, source=source)


def _check_shares(policy: Policy) -> None:
    """Summary and recent messages are shares of one budget, so together they are at most all."""
    summary, recent = policy.summary_history_ratio or 0.0, policy.recent_history_ratio or 0.0
    if summary + recent > 1 + _ROUNDING:
        raise PolicyError(
            field="summary_history_ratio",
            value=summary,
            allowed=AllowedCode.BESIDE(high=1 - recent, recent=recent),
        )


def _whole(low: int) -> Rule:
    def is_valid(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value >= low

    return is_valid, AllowedCode.WHOLE(low=low)


def _optional(rule: Rule) -> Rule:
    is_valid, allowed = rule
    or_none = AllowedCode.OR_NONE(allowed=allowed)
    return lambda value: value is None or is_valid(value), or_none


def _share(low: float, high: float) -> Rule:
    def is_valid(value: Any) -> bool:
        return (
            isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high
        )

    return is_valid, AllowedCode.NUMBER(low=low, high=high)


def _one_of(*names: str) -> Rule:
    return lambda value: value in names, AllowedCode.ONE_OF(names=names)


def _yes_or_no() -> Rule:
    return lambda value: isinstance(value, bool), AllowedCode.YES_OR_NO()


def _strategies(*, least: int) -> Rule:
    def is_valid(value: Any) -> bool:
        return _names(value) and len(value) >= least and all(name in STRATEGIES for name in value)

    return is_valid, AllowedCode.LIST_OF(names=tuple(STRATEGIES))


def _falling(value: Any) -> bool:
    """Whether these are whole numbers, each smaller than the one before."""
    if not (isinstance(value, tuple) and value and all(_is_count(one) for one in value)):
        return False
    return all(later < one for one, later in pairwise(value))


def _steps(value: Any) -> bool:
    """Whether these are (messages, turns), the messages falling from pair to pair."""
    if not isinstance(value, tuple):
        return False
    pairs = [one for one in value if isinstance(one, tuple) and len(one) == 2]
    counts = tuple(messages for messages, _ in pairs)
    is_whole = len(pairs) == len(value) and all(_is_count(turns) for _, turns in pairs)
    return is_whole and (not counts or _falling(counts))


def _limits(value: Any) -> bool:
    """Whether these are (tool, tokens), each tool once."""
    if not isinstance(value, tuple):
        return False
    pairs = [one for one in value if isinstance(one, tuple) and len(one) == 2]
    is_least = all(_is_count(tokens) and tokens >= _LEAST_LIMIT for _, tokens in pairs)
    names = tuple(name for name, _ in pairs)
    is_whole = len(pairs) == len(value) and _names(names)
    return is_whole and is_least and len(set(names)) == len(names)


def _names(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) and one for one in value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _text(low: int) -> Rule:
    return (
        lambda value: isinstance(value, str) and len(value) >= low,
        AllowedCode.TEXT(low=low),
    )


RULES: dict[str, Rule] = {
    "name": _text(1),
    "window_tokens": _optional(_whole(1)),
    "fallback_window_tokens": _optional(_whole(1)),
    "usable_ratio": _share(0.01, 1),
    "reserve_tokens": _whole(0),
    "reserve_window_ratio": _share(0, 1),
    "system_estimate_tokens": _whole(0),
    "history_ratio": _share(0, 1),
    "router_tokens": _optional(_whole(1)),
    "counting": _one_of(*get_args(Counting)),
    "check_at": _one_of("background", "after_answer", "before_message", "before_send"),
    "trigger_on": _one_of("input", "history"),
    "trigger_base": _one_of("usable", "window"),
    "trigger_ratio": _optional(_share(0.01, 10)),
    "upper_tokens": _optional(_whole(1)),
    "remaining_ratio": _optional(_share(0.01, 1)),
    "max_messages": _optional(_whole(1)),
    "max_turns": _optional(_whole(1)),
    "summary_marker": _optional(_text(3)),
    "min_messages": _whole(0),
    "first_min_messages": _whole(0),
    "next_min_messages": _whole(0),
    "next_min_ratio": _share(0, 100),
    "lookback_messages": _optional(_whole(1)),
    "lookback_target_messages": _whole(0),
    "requires_confirmation": _yes_or_no(),
    "is_shadow": _yes_or_no(),
    "rebuild_after": _optional(_whole(1)),
    "max_failures": _whole(1),
    "strategies": _strategies(least=1),
    "direct_strategies": _strategies(least=0),
    "task_type": _optional(_one_of(*get_args(TaskType))),
    "fold_as": _one_of("summary", "truncation", "choice"),
    "preference": _one_of(*get_args(Preference)),
    "max_summaries": _optional(_whole(0)),
    "target_ratio": _share(0.01, 1),
    "lower_tokens": _optional(_whole(1)),
    "keep_turns": (_falling, AllowedCode.FALLING()),
    "keep_turns_by_messages": (_steps, AllowedCode.TURNS_BY_MESSAGES()),
    "keep_messages": _whole(1),
    "importance_threshold": _share(0, 5),
    "keep_others": _whole(0),
    "chunk_turns": _whole(1),
    "min_fold_messages": _whole(1),
    "min_gain_ratio": _share(0, 1),
    "recent_ratio": _share(0, 1),
    "recent_min_tokens": _whole(0),
    "recent_max_tokens": _whole(0),
    "recent_history_ratio": _optional(_share(0, 1)),
    "skips_chains": _yes_or_no(),
    "max_message_chars": _optional(_whole(100)),
    "goal_max_tokens": _whole(0),
    "is_interactive": _yes_or_no(),
    "max_memories": _whole(0),
    "working_state_ratio": _optional(_share(0.001, 0.5)),
    "facts_ratio": _optional(_share(0.001, 0.5)),
    "summary_model": _optional(_text(1)),
    "summary_form": _one_of(*get_args(SummaryForm)),
    "summary_place": _one_of(*get_args(SummaryPlace)),
    "summary_max_tokens": _whole(1),
    "summary_usable_ratio": _optional(_share(0.001, 1)),
    "summary_history_ratio": _optional(_share(0, 1)),
    "summary_source_ratio": _share(0.001, 1),
    "summary_chars_ratio": _optional(_share(0.01, 1)),
    "summary_min_chars": _whole(1),
    "summary_asked_chars": _optional(_whole(10)),
    "summary_max_chars": _optional(_whole(10)),
    "shorten_over_tokens": _whole(40),
    "shortens_always": _yes_or_no(),
    "fresh_turns": _whole(0),
    "oversize_ratio": _optional(_share(0.01, 1)),
    "tool_limits": (_limits, AllowedCode.TOOL_LIMITS(low=_LEAST_LIMIT)),
    "protected_tools": (_names, AllowedCode.TOOL_NAMES()),
    "offers_expand": _yes_or_no(),
    "tool_call_tokens": _whole(0),
}
