"""Owns advice that changes nothing: how full a conversation is, and whether tools may be called.

Both count as the `truncate-or-summarize` design does and as the model does; the larger one wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ctxcore.assembly.binding import OnMismatch
from ctxcore.assembly.fitting import Prepared, prepare
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.strategies import Method, Uses, choose
from ctxcore.compaction.triggers import Measure, measure
from ctxcore.messages.values import Message, text_chars
from ctxcore.policy.values import Policy, Preference
from ctxcore.reasons.values import Reason

Urgency = Literal["low", "medium", "high", "critical"]

TOOL_CALL_TOKENS = 500
"""Room that each planned call must find. Ours: the third design keeps 2,000 tokens for the reply
and tool calls together and names no number for one."""

_URGENCIES: tuple[tuple[float, Urgency], ...] = (
    (0.95, "critical"),
    (0.80, "high"),
    (0.60, "medium"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What could be done about a conversation, and how urgent it is."""

    strategy: Method
    reason: Reason
    usage_ratio: float
    """Input over the budget."""
    urgency: Urgency
    needs_optimization: bool
    """Whether the input is larger than the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSafety:
    """Whether planned tool calls find room for what they return."""

    is_safe: bool
    over_by: int
    """How many tokens are missing; 0 where it is safe."""
    message: str


def recommend(
    messages: Iterable[Mapping[str, object] | Message],
    *,
    max_tokens: int,
    preference: Preference = "balanced",
    model: str | None = None,
    state: CompactionState | str | None = None,
    has_summarizer: bool = True,
    on_mismatch: OnMismatch = "raise",
) -> Recommendation:
    """Whether to truncate or to summarize `messages`, and how urgent it is; nothing is done.

    Args:
        messages: the whole conversation.
        max_tokens: the input budget.
        preference: what weighs more: `fast`, `balanced` or `quality`.
        model: whose tokens count beside the design's own rule.
        state: what was done in this conversation so far.
        has_summarizer: whether there is anything that could write a summary.
        on_mismatch: what to do where `state` was made from other messages: "raise" or "rebuild".

    Raises:
        MessageError: one of `messages` is not a chat message.
        StateError: `state` was made from other messages.
    """
    policy = Policy.preset("truncate-or-summarize", preference=preference)
    prepared = _prepare(messages, policy, max_tokens, model, state, on_mismatch)
    measured = measure(prepared.view, prepared.call, prepared.state.active)
    choice = choose(
        messages=measured.uncovered_messages + measured.system_messages,
        chars=_chars(prepared),
        uses=Uses.of(prepared.state, has_summarizer=has_summarizer),
        preference=preference,
        max_summaries=policy.max_summaries,
    )
    ratio = larger_input(measured) / max(1, max_tokens)
    return Recommendation(
        strategy=choice.method,
        reason=choice.reason,
        usage_ratio=ratio,
        urgency=next((name for least, name in _URGENCIES if ratio >= least), "low"),
        needs_optimization=ratio > 1,
    )


def check_tool_safety(
    messages: Iterable[Mapping[str, object] | Message],
    *,
    max_tokens: int,
    tools_count: int,
    model: str | None = None,
) -> ToolSafety:
    """Whether `tools_count` planned calls fit the budget with what they will return.

    Args:
        messages: the whole conversation, the planned calls among it or not.
        max_tokens: the input budget.
        tools_count: how many calls are planned.
        model: whose tokens count beside the design's own rule.

    Raises:
        MessageError: one of `messages` is not a chat message.
    """
    policy = Policy.preset("truncate-or-summarize")
    prepared = _prepare(messages, policy, max_tokens, model, None, "raise")
    measured = measure(prepared.view, prepared.call, None)
    return tool_safety(larger_input(measured), max_tokens, tools_count)


def tool_safety(input_tokens: int, max_tokens: int, tools_count: int) -> ToolSafety:
    """`check_tool_safety` for an input that is measured already."""
    planned = tools_count * TOOL_CALL_TOKENS
    over_by = max(0, input_tokens + planned - max_tokens)
    calls = "1 tool call needs" if tools_count == 1 else f"{tools_count} tool calls need"
    told = f"the input takes {input_tokens:,} tokens and {calls} {planned:,} of {max_tokens:,}"
    message = f"{told}: {over_by:,} too many" if over_by else told
    return ToolSafety(is_safe=not over_by, over_by=over_by, message=message)


def larger_input(measured: Measure) -> int:
    """The whole input by the model's counter or the policy's own rule, whichever says more."""
    return max(measured.input_tokens, measured.ruling.input_tokens)


def _prepare(
    messages: Iterable[Mapping[str, object] | Message],
    policy: Policy,
    max_tokens: int,
    model: str | None,
    state: CompactionState | str | None,
    on_mismatch: OnMismatch,
) -> Prepared:
    return prepare(
        messages,
        policy=policy,
        max_tokens=max_tokens,
        model=model,
        tools=None,
        knowledge=None,
        state=state,
        on_mismatch=on_mismatch,
    )


def _chars(prepared: Prepared) -> int:
    """How many characters the messages have that no compaction covers."""
    view, active = prepared.view, prepared.state.active
    covered = active.covered_until if active else 0
    rows = view.get(range(covered + 1, view.count() + 1))
    early = [row for row in view.get(view.anchors().system) if row.seq <= covered]
    return sum(text_chars(row.message) for row in (*early, *rows))
