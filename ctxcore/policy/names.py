"""The names of strategies that a policy may hold, and of policy fields that were removed.

The strategies themselves are in `ctxcore.compaction`; `ctxcore.register_strategy` adds others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import QuoteCode, Reason, quoted
from ctxcore.registries import At, Registry

StrategyName: TypeAlias = str

_BUILT_IN = (
    "shorten_tool_outputs",
    "keep_by_worth",
    "fold_oldest",
    "fold_to_tail",
    "fold_to_lower",
    "keep_turns",
    "fold_to_fit",
    "truncate",
    "sliding_window",
    "importance",
    "key_events",
    "incremental",
    "full_summary",
)
STRATEGIES: Registry[object] = Registry(
    "strategy", {name: At(f"ctxcore.compaction.strategies:{name}") for name in _BUILT_IN}
)


def unknown_strategies(value: object) -> Reason | None:
    """The reason to refuse `value` for the unknown strategies in it; None if it has none."""
    names = value if isinstance(value, tuple) else ()
    unknown = tuple(
        QuoteCode.VALUE(value=quoted(name))
        for name in names
        if isinstance(name, str) and name not in STRATEGIES
    )
    return AllowedCode.STRATEGIES(names=tuple(STRATEGIES), unknown=unknown) if unknown else None


REMOVED: Mapping[str, str] = {
    "keep_others": "0.1.0",
    "lookback_target_messages": "0.1.0",
    "max_failures": "0.1.0",
    "max_memories": "0.1.0",
    "max_messages": "0.1.0",
    "recent_max_tokens": "0.1.0",
    "recent_min_tokens": "0.1.0",
    "summary_min_chars": "0.1.0",
    "tool_call_tokens": "0.1.0",
}
"""Removed fields, each with the release that dropped it; ADR 0032 names what replaces it."""


MOST_TRIGGER_RATIO = 1.0
"""Where automatic compaction is off; more could be stored before, and meant the same."""


def renewed(stored: Mapping[str, JsonValue]) -> tuple[JsonObject, tuple[str, ...]]:
    """Stored fields as this release has them, and the names of those that were removed."""
    kept = {name: value for name, value in stored.items() if name not in REMOVED}
    trigger = kept.get("trigger_ratio")
    if isinstance(trigger, int | float) and trigger > MOST_TRIGGER_RATIO:
        kept["trigger_ratio"] = MOST_TRIGGER_RATIO
    return kept, tuple(name for name in stored if name in REMOVED)
