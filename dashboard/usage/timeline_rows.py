"""Rows of the timeline: a point for each call, with what it sent and what changed before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.engine.cache_breaks import break_seen
from ctxcore.reasons.values import Reason
from ctxcore.store.values import CallInfo, ImportedCompaction
from dashboard.usage.rows import Source, call_parts, is_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPoint:
    """One call for an answer; numbers count from 1."""

    number: int
    call: CallInfo
    turn: int | None
    parts: Mapping[str, int]
    """What it sent, by segment or by what the provider counted; empty where that is not known."""
    is_compacted: bool = False
    """Whether a compaction was made since the call before."""
    cache_break: Reason | None = None
    """Why the prompt cache was lost, where it was."""

    @property
    def sent_tokens(self) -> int:
        """Its input; 0 where that is not known."""
        return sum(self.parts.values())

    @property
    def cached_ratio(self) -> float | None:
        """The share of the input that the provider took from its cache."""
        if self.call.cached_tokens is None or not self.call.input_tokens:
            return None
        return self.call.cached_tokens / self.call.input_tokens


def call_points(
    calls: Iterable[CallInfo],
    *,
    source: Source,
    starts: Sequence[int] = (),
    imported: Sequence[ImportedCompaction] = (),
) -> list[CallPoint]:
    """The calls for answers in their order; requests for summaries are left out.

    Args:
        calls: of one session.
        source: whose count the parts are.
        starts: the sequence numbers of the user messages, which begin the turns.
        imported: the compactions that another program recorded.
    """
    answers = [call for call in calls if not is_summary(call)]
    folds = sorted(fold.before_seq for fold in imported)
    return list(_points(answers, source, starts, folds))


def _points(
    calls: Sequence[CallInfo], source: Source, starts: Sequence[int], folds: Sequence[int]
) -> Iterator[CallPoint]:
    before: CallInfo | None = None
    for number, call in enumerate(calls, start=1):
        is_compacted = before is not None and _is_compacted(before, call, folds)
        yield CallPoint(
            number=number,
            call=call,
            turn=bisect_right(starts, call.seq) or None if call.seq is not None else None,
            parts=call_parts(call, source),
            is_compacted=is_compacted,
            cache_break=break_seen(before, call, is_compacted=is_compacted) if before else None,
        )
        before = call


def _is_compacted(before: CallInfo, call: CallInfo, folds: Sequence[int]) -> bool:
    """Whether a compaction, ours or a recorded one, lies between two calls."""
    if before.compaction_id != call.compaction_id:
        return call.compaction_id is not None
    if before.seq is None or call.seq is None:
        return False
    return bisect_right(folds, before.seq) < bisect_right(folds, call.seq)


def thinned(points: Sequence[CallPoint], most: int) -> list[CallPoint]:
    """At most about `most` of `points`: of each run the largest, the last, and the marked ones.

    So every peak stays, and what a compaction left of it.
    """
    if len(points) <= most:
        return list(points)
    width = -(-2 * len(points) // most)
    return [
        point for at in range(0, len(points), width) for point in _telling(points[at : at + width])
    ]


def _telling(run: Sequence[CallPoint]) -> list[CallPoint]:
    largest = max(run, key=lambda point: point.sent_tokens)
    return [point for point in run if point is largest or point is run[-1] or point.is_compacted]


def source_of(calls: Iterable[CallInfo]) -> Source:
    """Whose count a session's points show: ours where every call has one, else the provider's."""
    answers = [call for call in calls if not is_summary(call)]
    return "estimate" if all(call.estimate for call in answers) else "provider"
