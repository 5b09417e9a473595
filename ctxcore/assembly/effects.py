"""What a compaction changes: the next call without it and with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from ctxcore.assembly.context import Context
from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import JsonValue
from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEffect(Plain):
    """The next call without a compaction and with it; all sizes in tokens."""

    without_tokens: int
    """The input that would be sent without it: what has no room in the window is no part of it."""
    with_tokens: int
    """The input that is sent with it."""
    unseen_tokens: int = 0
    """The messages that have no room in the call without it and do not wait outside the window
    with it any more."""
    summary_tokens: int = 0
    """The summary that stands for what is folded; 0 without one."""
    is_exact: bool = True
    """Whether the sizes were counted with the model's own vocabulary, not estimated or scaled."""

    @property
    def saved_tokens(self) -> int:
        """How much smaller the next call is; negative where it is larger."""
        return self.without_tokens - self.with_tokens

    @property
    def saved_ratio(self) -> float:
        """The same as a share of the call without it; 0 where that is empty."""
        return self.saved_tokens / self.without_tokens if self.without_tokens else 0.0


def effect_of(without: Context, with_it: Context, record: Compaction) -> CompactionEffect:
    """The effect of `record`, given the contexts of the next call without it and with it."""
    return CompactionEffect(
        without_tokens=without.tokens,
        with_tokens=with_it.tokens,
        unseen_tokens=max(0, without.outside_tokens - with_it.outside_tokens),
        summary_tokens=record.summary_tokens if record.summary else 0,
        is_exact=without.is_exact and with_it.is_exact,
    )


def load_effect(stored: JsonValue) -> CompactionEffect | None:
    """The effect that its `to_dict` wrote; None where there is none."""
    if not isinstance(stored, dict):
        return None
    return CompactionEffect(**cast("dict[str, Any]", stored))
