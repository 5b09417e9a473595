"""The codes of reports over many calls: alerts, and hints at what costs tokens for nothing."""

from __future__ import annotations

from ctxcore.reasons.values import Code


class AlertCode(Code):
    """What an operator asked to be told."""

    BUDGET_DAY = (
        "alert.budget_day",
        "the calls of {user} cost {spent} on {period}, more than {limit}",
    )
    BUDGET_MONTH = (
        "alert.budget_month",
        "the calls of {user} cost {spent} in {period}, more than {limit}",
    )
    FAILED_SUMMARY = "alert.failed_summary", "a summary failed: {why}"
    RULES_LOST = "alert.rules_lost", "a compaction lost {count:,} standing instructions: {rules}"
    RULES_LOST_COUNT = "alert.rules_lost_count", "a compaction lost {count:,} standing instructions"


class AlertProblem(Code):
    """Why rules for alerts cannot be saved."""

    LIMIT = "alert.limit", "a budget is a number of US dollars above 0, not {value}"


class HintCode(Code):
    """What cost tokens, and where."""

    OUTPUT_STAYED = (
        "hint.output_stayed",
        "the output of {tool} ({what}) stayed in {calls:,} calls: {size:,} tokens each",
    )
    READ_AGAIN = (
        "hint.read_again",
        "the file {path} was read again {times:,} times, unchanged and still in the context",
    )
    TOOLS_UNUSED = (
        "hint.tools_unused",
        "{count:,} of {defined:,} tools were never called in {calls:,} calls; their definitions "
        "take {size:,} tokens: {names}",
    )
    CLOCK = (
        "hint.clock",
        "a time in the system prompt changed {times:,} times, and each time the prompt cache was "
        "lost",
    )
    FOLD_UNPAID = (
        "hint.fold_unpaid",
        "a compaction saved less than it cost: {calls:,} calls followed, and it pays from "
        "{needed:,} on",
    )
