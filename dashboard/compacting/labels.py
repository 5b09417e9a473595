"""Owns the words for what a compaction record names: rules, strategies, outcomes."""

from __future__ import annotations

from dashboard.compacting.rows import RECORDED_BY, CompactionRow
from dashboard.texts import t
from dashboard.wording import words_for


def trigger_label(row: CompactionRow) -> str:
    """Why a compaction was made, with the numbers that were compared."""
    numbers = ", ".join(f"{value:,}" for _, value in row.numbers)
    rule = rule_label(row.trigger)
    return f"{rule} ({numbers})" if numbers else rule


def rule_label(rule: str) -> str:
    """A rule in the page's language, where it is one of the library's own."""
    if rule.startswith(RECORDED_BY):
        return t("compaction.recorded_by", product=rule.removeprefix(RECORDED_BY))
    return words_for("compact.rule", rule)


def strategy_label(name: str) -> str:
    """A strategy in the page's language."""
    return words_for("compaction.strategy", name)


def outcome_label(outcome: str) -> str:
    """What came of a step, or why nothing did, in the page's language."""
    return words_for("compaction.outcome", outcome)
