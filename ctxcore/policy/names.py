"""Owns the names of strategies that a policy may hold; the strategies are in `compaction`.

`ctxcore.register_strategy` adds to them, so that a policy can name a plug-in's own.
"""

from __future__ import annotations

from typing import TypeAlias

from ctxcore.reasons.allowed import AllowedCode
from ctxcore.reasons.quoting import QuoteCode, quoted
from ctxcore.reasons.values import Reason
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
    """What is allowed where `value` names strategies that there are not; None: that is not why."""
    names = value if isinstance(value, tuple) else ()
    unknown = [name for name in names if isinstance(name, str) and name not in STRATEGIES]
    if not unknown:
        return None
    told = tuple(QuoteCode.VALUE(value=quoted(name)) for name in unknown)
    return AllowedCode.STRATEGIES(names=tuple(STRATEGIES), unknown=told)
