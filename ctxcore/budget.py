"""The token arithmetic of a context window: usable tokens, trigger and target, all integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ctxcore.plain import Plain

SMALL_TOKENS: Final = 1_000
"""A window or a target in which few messages stay whole; chosen: half a page."""
ASSUMED_WINDOW_TOKENS = 32_000
"""Chosen: what small models accept, where policies are compared and no window is known."""
_RULES_TOKENS = 256  # chosen: a dozen sentences, more than most conversations lay down
_RULES_PART = 6  # chosen: a sixth of a small window leaves room for the messages themselves
_RULE_TOKENS = 64  # chosen: one sentence and its frame, or half of a smaller window


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBudget(Plain):
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
    """The separate budget of a router that takes the history as text."""
    count_factor: float = 1.0
    """What the model's tokenizer takes for one counted token. All sizes but the reserve are in
    counted tokens: the model's own divided by it."""
    count_error_ratio: float | None = None
    """The share by which nine of ten calls differ from that; None where it is not known."""
    is_assumed: bool = False
    """Whether the window is that of the model's family, because its own is not listed."""

    @property
    def carried_tokens(self) -> int:
        """What facts and working state may take together beside the summary."""
        return self.facts_tokens + self.working_state_tokens

    @property
    def min_instruction_tokens(self) -> int:
        """What standing instructions may take even where `facts_tokens` is less."""
        if not self.facts_tokens:
            return 0
        single_rule = min(_RULE_TOKENS, self.usable_tokens // 2)
        return max(single_rule, min(_RULES_TOKENS, self.usable_tokens // _RULES_PART))


def clamp(value: int, low: int, high: int) -> int:
    """`value` moved into low … high."""
    return max(low, min(value, high))
