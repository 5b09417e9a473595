"""Owns the words for what a compaction names: rules, strategies, outcomes, reasons."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.compaction.triggers import ASKED
from ctxcore.engine.exchange import RECORDED_BY
from dashboard.compacting.reasons import Reason, parse_reason, parse_trigger
from dashboard.compacting.rows import CompactionRow
from dashboard.said import said
from dashboard.texts import t
from dashboard.wording import words_for

JOINED = " + "  # how the library writes several strategies that took part in one compaction


def trigger_label(row: CompactionRow) -> str:
    """Why a compaction was made, with the numbers that were compared."""
    return with_numbers(row.trigger, [f"{value:,}" for _, value in row.numbers])


def told_trigger_label(told: str) -> str:
    """The same, of a trigger that was recorded as one line."""
    return with_numbers(*parse_trigger(told))


def with_numbers(rule: str, numbers: Sequence[str]) -> str:
    """A rule in the page's language, with the numbers that it compared; a person compares none."""
    label = rule_label(rule)
    return f"{label} ({' / '.join(numbers)})" if numbers and rule != ASKED else label


def rule_label(rule: str) -> str:
    """A rule in the page's language, where it is one of the library's own."""
    if rule.startswith(RECORDED_BY):
        return t("compaction.recorded_by", product=rule.removeprefix(RECORDED_BY))
    return words_for("compact.rule", rule)


def strategy_label(names: str) -> str:
    """One strategy, or several that took part, in the page's language."""
    return JOINED.join(words_for("fact.strategy", name) for name in names.split(JOINED))


def outcome_label(outcome: str) -> str:
    """What came of a step, in the page's language."""
    kind, _, why = outcome.partition(": ")
    label = words_for("compaction.outcome", kind)
    return f"{label}: {reason_label(why)}" if why else label


def reason_label(recorded: str) -> str:
    """Why something was done, or nothing, in the page's language."""
    return reason_words(parse_reason(recorded))


def reason_words(reason: Reason) -> str:
    """The same of a reason that was taken apart already."""
    if reason.kind is None:
        return said(reason.text)
    facts = {
        name: said(value) if name == "problem" else value for name, value in reason.facts.items()
    }
    return t(f"compaction.why.{reason.kind}", **facts)
