"""Says where the prompt cache was lost between two calls, and why, by what the provider counted."""

from __future__ import annotations

from ctxcore.formats.values import RecordedUsage
from ctxcore.reasons.codes import BreakCode
from ctxcore.reasons.values import Reason

_REUSED_RATIO = 0.5  # chosen: what is sent anew in a turn is far less, a lost prefix is nearly all
_SHORT_MINUTES = 5  # how long providers keep a prefix, unless it is paid for an hour
_HOUR_MINUTES = 60


def break_between(
    before: RecordedUsage, call: RecordedUsage, *, is_compacted: bool
) -> Reason | None:
    """Why the cache was lost between two calls; None where it was not, or nothing was in it.

    It was lost where less than half of the input of the call before came from the cache.
    `is_compacted` says whether a compaction lies between them.
    """
    was_cached = before.cache_read_tokens + before.cache_write_tokens
    if not was_cached or call.cache_read_tokens >= before.total_input_tokens * _REUSED_RATIO:
        return None
    if is_compacted:
        return BreakCode.COMPACTION()
    if before.model != call.model:
        return BreakCode.MODEL()
    if before.recorded_at is not None and call.recorded_at is not None:
        minutes = (call.recorded_at - before.recorded_at).total_seconds() / 60
        if minutes > (_HOUR_MINUTES if before.cache_hour_tokens else _SHORT_MINUTES):
            return BreakCode.EXPIRED(minutes=round(minutes))
    return BreakCode.FRONT_CACHED() if call.cache_read_tokens else BreakCode.NONE_CACHED()


def resent_tokens(before: RecordedUsage, call: RecordedUsage) -> int:
    """The tokens of the call before that a cache would have held, and were paid again."""
    return max(0, min(before.total_input_tokens, call.total_input_tokens) - call.cache_read_tokens)
