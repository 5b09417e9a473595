"""Owns the words for the strategies that a compaction names."""

from __future__ import annotations

from ctxcore.compaction.plans import joined
from dashboard.wording import words_for


def strategy_label(*names: str) -> str:
    """One strategy, or several that took part, in the page's language."""
    return joined([words_for("fact.strategy", name) for name in names])
