"""Owns the words for what a compaction names: why it was made, and by which strategies."""

from __future__ import annotations

from ctxcore.reasons.values import Reason
from dashboard.tell import tell
from dashboard.wording import words_for

JOINED = " + "  # how the library writes several strategies that took part in one compaction


def reason_label(recorded: Reason | None) -> str:
    """A recorded reason in the page's language; nothing where none was recorded."""
    return "" if recorded is None else tell(recorded)


def strategy_label(names: str) -> str:
    """One strategy, or several that took part, in the page's language."""
    return JOINED.join(words_for("fact.strategy", name) for name in names.split(JOINED))
