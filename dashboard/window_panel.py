"""The window panel: how full the window is, and how far the next compaction is.

A policy may compare the whole input or only the history, by the model's counter or its own rule.
A share of the trigger is always computed from the number that the trigger compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.verdicts import Breakdown
from ctxcore.budget import TokenBudget
from ctxcore.compaction.triggers import measure
from ctxcore.engine.services import CallTarget
from dashboard import numbers
from dashboard.texts import t
from dashboard.window_chart import (
    outside_tokens,
    window_bar,
    window_table,
    with_reply,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerLevel:
    """What the trigger of a policy compares."""

    tokens: int
    compares: Literal["input", "history"] = "input"
    counting: str = "model"

    @property
    def is_plain(self) -> bool:
        """Whether it is the input by the model's counts, as every context tells it."""
        return self.compares == "input" and self.counting == "model"

    def plus(self, tokens: int) -> TriggerLevel:
        """The same with so many tokens more."""
        return replace(self, tokens=self.tokens + tokens)


def trigger_level(target: CallTarget) -> TriggerLevel:
    """What the trigger compares now, nothing of the history left out."""
    policy = target.call.policy
    measured = measure(target.view, target.call, target.record).ruling
    of_history = policy.trigger_on == "history"
    return TriggerLevel(
        tokens=measured.history_tokens if of_history else measured.input_tokens,
        compares=policy.trigger_on,
        counting=policy.counting,
    )


def level_text(filling: TriggerLevel) -> str:
    """Whose count the trigger compares; empty where it is the one that is shown anyway."""
    if filling.counting != "model":
        return t(f"compact.compares.{filling.compares}.by_rule", rule=filling.counting)
    return t("compact.compares.history") if filling.compares == "history" else ""


def segment_label(name: str) -> str:
    """The words for a segment or a mark on the bar."""
    return t(f"common.segment.{name}")


# the window


def window_panel(
    context: Context, filling: TriggerLevel | None = None, *, reply_tokens: int = 0
) -> None:
    """How full the window is: numbers, bar and table; `reply_tokens` of a running answer added.

    `filling` is what the policy's trigger compares; without it, the input that the context tells.
    """
    breakdown = with_reply(context.breakdown, reply_tokens)
    is_exact = context.is_exact and not reply_tokens
    outside = outside_tokens(context)
    waiting = filling or TriggerLevel(tokens=context.breakdown.input_tokens + outside)
    waiting = waiting.plus(reply_tokens)
    st.markdown(_headline(breakdown, context.budget, waiting, is_exact=is_exact))
    how = t("compact.counted", how=numbers.exactness(is_exact))
    said = (_distance(waiting.tokens, context.budget), level_text(waiting), how)
    st.caption(" · ".join(filter(None, said)))
    if outside:
        st.caption(f":material/warning: {t('compact.outside', tokens=numbers.tokens(outside))}")
    st.html(window_bar(breakdown, context.budget, segment_label))
    st.html(window_table(breakdown, segment_label, is_exact=is_exact))


def _headline(
    breakdown: Breakdown, budget: TokenBudget | None, waiting: TriggerLevel, *, is_exact: bool
) -> str:
    """What is used, of the window and of the trigger; `waiting` is what the trigger counts."""
    used = numbers.tokens(breakdown.input_tokens, is_exact=is_exact)
    if budget is None:
        return t("compact.used_unknown", used=used)
    return t(
        "compact.used",
        used=used,
        usable=numbers.tokens(budget.usable_tokens),
        of_window=numbers.percent(breakdown.input_tokens, budget.window_tokens),
        of_trigger=numbers.percent(waiting.tokens, _trigger_tokens(budget)),
    )


def _trigger_tokens(budget: TokenBudget) -> int:
    """Where the next compaction starts by itself: what is above usable cannot be sent as it is."""
    return min(budget.trigger_tokens, budget.usable_tokens)


def _distance(waiting: int, budget: TokenBudget | None) -> str:
    """How far the next compaction is, in words, so that no colour is needed to read it."""
    if budget is None:
        return t("compact.no_window")
    left = _trigger_tokens(budget) - waiting
    if left <= 0:
        return t("compact.over_trigger", over=numbers.tokens(-left))
    return t("compact.to_trigger", left=numbers.tokens(left))
