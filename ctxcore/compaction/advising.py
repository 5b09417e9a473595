"""Advises on a conversation without changing it: how full it is, and whether tool calls fit.

Sizes are the larger of the `truncate-or-summarize` design's count and the model's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.strategies import Method, Uses, choose
from ctxcore.compaction.triggers import Measure, measure
from ctxcore.messages.shapes.reading import Given
from ctxcore.messages.values import text_chars
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy, Preference
from ctxcore.reasons.values import Reason

Urgency = Literal["low", "medium", "high", "critical"]

TOOL_CALL_TOKENS = 500
"""Room for each planned call. Chosen: the `truncate-or-summarize` design keeps 2,000 tokens for the
reply and all tool calls, and names no number for one."""

_URGENCIES: tuple[tuple[float, Urgency], ...] = (
    (0.95, "critical"),
    (0.80, "high"),
    (0.60, "medium"),
)
"""Least usage of each urgency. Source: the `truncate-or-summarize` design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation(Plain):
    """The recommended way to shorten a conversation, and how urgent that is."""

    strategy: Method
    reason: Reason
    usage_ratio: float
    """Input divided by what is available for it."""
    urgency: Urgency
    needs_optimization: bool
    """Whether the input is larger than what is available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSafety(Plain):
    """Whether the results of planned tool calls fit the budget."""

    is_safe: bool
    over_by: int
    """How many tokens are missing; 0 if it is safe."""
    message: str


def recommend(
    messages: Given,
    *,
    max_tokens: int,
    preference: Preference = "balanced",
    model: str | None = None,
    knowledge: Mapping[str, str] | None = None,
    state: CompactionState | str | None = None,
    has_summarizer: bool = True,
    on_mismatch: OnMismatch = "raise",
    count_factor: float = 1.0,
) -> Recommendation:
    """Recommends to truncate or to summarize `messages`; nothing is changed.

    Args:
        messages: the whole conversation.
        max_tokens: the model's limit, of which 2,000 stay free for the reply and tool calls; at
            most half of it.
        preference: what weighs more: `fast`, `balanced` or `quality`.
        model: whose tokens count beside the design's own rule.
        knowledge: retrieved texts by name; they count.
        state: earlier compactions of this conversation.
        has_summarizer: whether a summarizer is available.
        on_mismatch: what to do where `state` was made from other messages: "raise" or "rebuild".
        count_factor: what the provider counts for one of our tokens, where they are estimates; the
            budget is divided by it.

    Raises:
        MessageError: one of `messages` is not a chat message.
        StateError: `state` was made from other messages.
    """
    policy = Policy.preset("truncate-or-summarize", preference=preference)
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=None,
        knowledge=knowledge,
        state=state,
        on_mismatch=on_mismatch,
        count_factor=count_factor,
    )
    measured = measure(prepared.view, prepared.call, prepared.state.active)
    choice = choose(
        messages=measured.uncovered_messages + measured.system_messages,
        chars=_chars(prepared),
        uses=Uses.of(prepared.state, has_summarizer=has_summarizer),
        preference=preference,
        max_summaries=policy.max_summaries,
    )
    ratio = larger_input_tokens(measured, count_factor) / max(1, _available(prepared))
    return Recommendation(
        strategy=choice.method,
        reason=choice.reason,
        usage_ratio=ratio,
        urgency=next((name for least, name in _URGENCIES if ratio >= least), "low"),
        needs_optimization=ratio > 1,
    )


def check_tool_safety(
    messages: Given,
    *,
    max_tokens: int,
    tools_count: int,
    model: str | None = None,
    count_factor: float = 1.0,
) -> ToolSafety:
    """Checks whether `tools_count` planned calls and their results fit the budget.

    Args:
        messages: the whole conversation, with or without the planned calls.
        max_tokens: the model's limit, as for `recommend`.
        tools_count: how many calls are planned.
        model: whose tokens count beside the design's own rule.
        count_factor: as for `recommend`.

    Raises:
        MessageError: one of `messages` is not a chat message.
    """
    policy = Policy.preset("truncate-or-summarize")
    prepared = prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=None,
        knowledge=None,
        state=None,
        count_factor=count_factor,
    )
    measured = measure(prepared.view, prepared.call, None)
    return tool_safety(
        larger_input_tokens(measured, count_factor), _available(prepared), tools_count
    )


def tool_safety(input_tokens: int, available: int, tools_count: int) -> ToolSafety:
    """Does what `check_tool_safety` does for an input that is already measured."""
    planned = tools_count * TOOL_CALL_TOKENS
    over_by = max(0, input_tokens + planned - available)
    calls = "1 tool call needs" if tools_count == 1 else f"{tools_count} tool calls need"
    message = f"the input takes {input_tokens:,} tokens and {calls} {planned:,} of {available:,}"
    message += f": {over_by:,} too many" if over_by else ""
    return ToolSafety(is_safe=not over_by, over_by=over_by, message=message)


def larger_input_tokens(measured: Measure, count_factor: float = 1.0) -> int:
    """Returns the larger of the input sizes by the model's counter and the policy's own rule."""
    return max(int(measured.input_tokens * count_factor), measured.ruling.input_tokens)


def _available(prepared: Prepared) -> int:
    """Returns the tokens for the input, as the model counts."""
    budget = prepared.call.budget
    assert budget is not None  # a limit is always given
    return int(budget.usable_tokens * budget.count_factor)


def _chars(prepared: Prepared) -> int:
    """Returns the characters of all messages that no compaction covers."""
    view, active = prepared.view, prepared.state.active
    covered = active.covered_until if active else 0
    rows = view.get(range(covered + 1, view.count() + 1))
    early = [row for row in view.get(view.anchors().system) if row.seq <= covered]
    return sum(text_chars(row.message) for row in (*early, *rows))
