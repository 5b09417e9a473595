"""Owns the words for the strategies that a compaction names."""

from __future__ import annotations

from dashboard.wording import words_for

JOINED = " + "  # how the library writes several strategies that took part in one compaction


def strategy_label(names: str) -> str:
    """One strategy, or several that took part, in the page's language."""
    return JOINED.join(words_for("fact.strategy", name) for name in names.split(JOINED))
