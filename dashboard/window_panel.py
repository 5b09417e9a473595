"""The window panel: how full the window is, and how far the next compaction is.

A policy may compare the whole input or only the history, by the model's counter or its own rule.
A share of the trigger is always computed from the number that the trigger compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.effects import CompactionEffect
from ctxcore.assembly.verdicts import Breakdown
from ctxcore.budget import TokenBudget
from ctxcore.compaction.triggers import measure
from ctxcore.engine.services import CallTarget
from dashboard import numbers
from dashboard.texts import about, language, t
from dashboard.window_chart import (
    window_bar,
    window_table,
    with_reply,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerLevel:
    """The tokens that the trigger of a policy compares, and how they are counted."""

    tokens: int
    compares: Literal["input", "history"] = "input"
    counting: str = "model"

    @property
    def is_plain(self) -> bool:
        """Whether it is the whole input by the model's counter, as every context has it."""
        return self.compares == "input" and self.counting == "model"


def trigger_level(target: CallTarget) -> TriggerLevel:
    """What the trigger compares now, with nothing of the history left out."""
    policy = target.call.policy
    measured = measure(target.view, target.call, target.record).ruling
    of_history = policy.trigger_on == "history"
    return TriggerLevel(
        tokens=measured.history_tokens if of_history else measured.input_tokens,
        compares=policy.trigger_on,
        counting=policy.counting,
    )


def level_text(level: TriggerLevel) -> str:
    """What the trigger compares; empty if it is the number shown anyway."""
    if level.counting != "model":
        return t(f"compact.compares.{level.compares}.by_rule", rule=level.counting)
    return t("compact.compares.history") if level.compares == "history" else ""


def segment_label(name: str) -> str:
    """The text for a segment or a mark on the bar."""
    return t(f"common.segment.{name}")


def effect_text(effect: CompactionEffect | None) -> str:
    """What a compaction changes in the next call, in one or two sentences."""
    if effect is None:
        return t("compact.effect.unknown")
    is_smaller, is_exact = effect.saved_tokens >= 0, effect.is_exact
    sentences = [
        t(
            "compact.effect" if is_smaller else "compact.effect.larger",
            without=numbers.tokens(effect.without_tokens, is_exact=is_exact),
            with_it=numbers.tokens(effect.with_tokens, is_exact=is_exact),
            change=numbers.tokens(abs(effect.saved_tokens), is_exact=is_exact),
            share=numbers.percent(abs(effect.saved_tokens), effect.without_tokens),
        )
    ]
    if effect.unseen_tokens:
        key = "compact.unseen.summary" if effect.summary_tokens else "compact.unseen.dropped"
        unseen = numbers.tokens(effect.unseen_tokens, is_exact=is_exact)
        summary = numbers.tokens(effect.summary_tokens, is_exact=is_exact)
        sentences.append(t(key, unseen=unseen, summary=summary))
    return about(language()).between_sentences.join(sentences)


def window_panel(
    context: Context, level: TriggerLevel | None = None, *, reply_tokens: int = 0
) -> None:
    """Draws how full the window is: numbers, bar and table.

    `level` is what the trigger compares, by default the whole input. `reply_tokens` are those of a
    running answer; they are added.
    """
    breakdown = with_reply(context.breakdown, reply_tokens)
    is_exact = context.is_exact and not reply_tokens
    outside = context.outside_tokens
    level = level or TriggerLevel(tokens=context.breakdown.input_tokens + outside)
    level = replace(level, tokens=level.tokens + reply_tokens)
    st.markdown(_headline(breakdown, context.budget, is_exact=is_exact))
    how = t("compact.counted", how=numbers.exactness(is_exact))
    distance = _distance(level.tokens, context.budget, outside)
    parts = (distance, level_text(level), how)
    lines = [" · ".join(filter(None, parts)), *_true_sizes(breakdown, context.budget)]
    if outside:
        lines.append(f":material/warning: {t('compact.outside', tokens=numbers.tokens(outside))}")
    # One element however many lines: a redraw with fewer would leave the last table twice.
    st.caption("\n\n".join(lines))
    bar = window_bar(breakdown, context.budget, segment_label)
    st.html(bar + window_table(breakdown, segment_label, is_exact=is_exact))


def _true_sizes(breakdown: Breakdown, budget: TokenBudget | None) -> Iterator[str]:
    """What the sizes are worth: in the model's own tokens, and in which window."""
    if budget is None:
        return
    if budget.count_error_ratio is not None:
        used = numbers.corrected(breakdown.input_tokens, budget)
        usable = numbers.tokens(round(budget.usable_tokens * budget.count_factor))
        yield t("compact.corrected", used=used, usable=usable)
    if budget.is_assumed:
        yield f":material/help: {t('compact.assumed')}"


def _headline(breakdown: Breakdown, budget: TokenBudget | None, *, is_exact: bool) -> str:
    """The tokens used, with their share of the window."""
    used = numbers.tokens(breakdown.input_tokens, is_exact=is_exact)
    if budget is None:
        return t("compact.used_unknown", used=used)
    return t(
        "compact.used",
        used=used,
        usable=numbers.tokens(budget.usable_tokens),
        of_window=numbers.percent(breakdown.input_tokens, budget.window_tokens),
    )


def _trigger_tokens(budget: TokenBudget) -> int:
    """Where automatic compaction starts: at the latest at what is usable."""
    return min(budget.trigger_tokens, budget.usable_tokens)


def _distance(tokens: int, budget: TokenBudget | None, outside: int) -> str:
    """The distance to the next compaction in words, so that colour is not needed to read it."""
    if budget is None:
        return t("compact.no_window")
    left = _trigger_tokens(budget) - tokens
    if left <= 0 and outside:
        return t("compact.due_outside", outside=numbers.tokens(outside))
    if left <= 0:
        return t("compact.due")
    return t("compact.to_trigger", left=numbers.tokens(left))
