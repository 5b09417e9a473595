"""Owns the arithmetic of a window: what is usable, when compaction starts, where it stops.

One function per number, integers only; every page, trigger and table reads the same `TokenBudget`.
"""

from __future__ import annotations

from dataclasses import dataclass

RULES_TOKENS = 256  # a dozen sentences: more than most people lay down in a conversation
RULES_PART = 6
RULE_TOKENS = 64  # one sentence and its frame; of the smallest windows half


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget:
    """Window, reserve and thresholds of one model under one policy, all in tokens."""

    window_tokens: int
    """What the model accepts, input plus reply."""
    reserve_tokens: int
    """Kept free for the reply."""
    usable_tokens: int
    """Window minus reserve: no context is ever larger."""
    history_tokens: int
    """What summary and messages may take together."""
    summary_tokens: int
    """The longest summary."""
    recent_tokens: int
    """How much of the newest part stays verbatim."""
    trigger_tokens: int
    """Where automatic compaction starts."""
    target_tokens: int
    """Where a compaction stops."""
    facts_tokens: int = 0
    """What facts of folded messages may take beside the summary."""
    working_state_tokens: int = 0
    """What pinned passages, memories, tasks and changes may take beside the summary."""
    router_tokens: int | None = None
    """What a router that takes the history as text has for it."""

    @property
    def carried_tokens(self) -> int:
        """All that may be carried beside a summary."""
        return self.facts_tokens + self.working_state_tokens

    @property
    def least_rules_tokens(self) -> int:
        """What standing instructions may take even where the share of facts is less."""
        if not self.facts_tokens:
            return 0
        one = min(RULE_TOKENS, self.usable_tokens // 2)
        return max(one, min(RULES_TOKENS, self.usable_tokens // RULES_PART))


def reserve_for(
    window_tokens: int, *, wanted_tokens: int, max_output_tokens: int | None, window_ratio: float
) -> int:
    """The reply's share: what is wanted, at most the model's output and a share of the window."""
    limits = [wanted_tokens, int(window_tokens * window_ratio)]
    if max_output_tokens is not None:
        limits.append(max_output_tokens)
    return min(limits)


def clamp(value: int, low: int, high: int) -> int:
    """`value` moved into low … high."""
    return max(low, min(value, high))
