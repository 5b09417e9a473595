"""Owns the log lines of a model call: what was sent of what there is.

Ids and numbers only: messages are people's words. Source: the `dual-threshold` design, section 5.
"""

from __future__ import annotations

import logging

from ctxcore.assembly.context import Context
from ctxcore.engine.desk import Subject

logger = logging.getLogger(__name__)


def log_call(subject: Subject, context: Context) -> None:
    """Tells what a call is sent: at once where everything is, else with budgets and reduction."""
    if not logger.isEnabledFor(logging.INFO):
        return
    session, parts, budget = subject.session.id, context.breakdown, context.budget
    whole = subject.view.totals()
    shown, recent = _shown(context), parts.recent + parts.kept + parts.recalled
    if budget is not None and shown < whole.messages:
        remaining = budget.usable_tokens - parts.system - parts.tools
        logger.info(
            "context optimized session=%s window=%d target_ratio=%.1f%% usable=%d system=%d "
            "remaining=%d original_messages=%d original_tokens=%d summary_budget=%d "
            "recent_budget=%d",
            session,
            budget.window_tokens,
            100 * budget.usable_tokens / budget.window_tokens,
            budget.usable_tokens,
            parts.system,
            remaining,
            whole.messages,
            whole.tokens,
            budget.summary_tokens,
            budget.recent_tokens,
        )
        sent = parts.summary + recent
        reduction = 1 - sent / whole.tokens if whole.tokens else 0.0
        logger.info(
            "context reduced session=%s messages=%d tokens=%d reduction=%.1f%%",
            session,
            shown,
            sent,
            100 * reduction,
        )
    logger.info(
        "context built session=%s system=%dt summary=%dt recent=%dt (%d/%d messages) total=%dt",
        session,
        parts.system,
        parts.summary,
        recent,
        shown,
        whole.messages,
        context.tokens,
    )
    logger.info(
        "sending to the model session=%s messages=%d tokens=%d",
        session,
        len(context.messages),
        context.tokens,
    )


def _shown(context: Context) -> int:
    """How many messages of the history, system messages left out, are in the context."""
    kinds = ("kept", "compressed", "recalled")
    shown = sum(run.last - run.first + 1 for run in context.runs if run.verdict in kinds)
    return shown - sum(message["role"] == "system" for message in context.messages[:1])
