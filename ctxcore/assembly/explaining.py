"""Explains a context: a verdict for every message of the history, from what was built."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Item
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction, stands_until
from ctxcore.assembly.verdicts import Run, VerdictKind, Verdicts, merge_runs
from ctxcore.reasons.codes import VerdictCode
from ctxcore.reasons.values import Reason


def explain(
    view: HistoryView,
    reading: Reading,
    items: Iterable[Item],
    active: Compaction,
    reminded: Collection[int] = (),
    *,
    has_summary: bool,
) -> Verdicts:
    """One verdict for each message of `view`, given the `items` of the context.

    `reminded`: messages whose standing instructions the facts repeat. `has_summary`: whether any
    of the compaction's summary is in the context.
    """
    shown = {item.seq: _shown(item) for item in items if item.row is not None}
    left_out = _LeftOut(view, active, has_summary=has_summary)
    lost = [row.seq for row in reading.kept if row.seq not in shown]
    special = {seq: left_out.dropped(seq, VerdictCode.NO_ROOM_TO_KEEP()) for seq in lost}
    for seq in reminded:
        run = special.get(seq) or next(left_out.between(seq, seq))
        special[seq] = replace(run, reason=VerdictCode.REMINDED(why=run.reason))
    for seq in reading.excluded:
        special[seq] = left_out.dropped(seq, VerdictCode.EXCLUDED())
    runs = merge_runs(list(_with_gaps(left_out, {**special, **shown}, view.count())))
    return Verdicts(runs, view.sizes)


def _shown(item: Item) -> Run:
    assert item.row is not None
    return Run(
        first=item.seq - 1,
        last=item.seq - 1,
        verdict=item.verdict,
        reason=item.reason,
        before_tokens=item.row.tokens,
        after_tokens=item.tokens,
    )


def _with_gaps(left_out: _LeftOut, special: dict[int, Run], count: int) -> Iterator[Run]:
    """`special` in order, and runs for what lies between: covered or outside the window."""
    next_seq = 1
    for seq in sorted(special):
        yield from left_out.between(next_seq, seq - 1)
        yield special[seq]
        next_seq = seq + 1
    yield from left_out.between(next_seq, count)


class _LeftOut:
    """Makes runs of messages that are not in the context."""

    def __init__(self, view: HistoryView, active: Compaction, *, has_summary: bool) -> None:
        self._view = view
        self._folded, self._cut = stands_until(active), active.covered_until
        self._kind: VerdictKind = "summarized" if has_summary else "dropped"
        self._reason = VerdictCode.FOLDED() if has_summary else VerdictCode.NO_ROOM_FOR_SUMMARY()

    def dropped(self, seq: int, reason: Reason) -> Run:
        """The run of one message."""
        return self._run(seq, seq, "dropped", reason)

    def between(self, first: int, last: int) -> Iterator[Run]:
        """Runs of the messages first … last."""
        parts: tuple[tuple[int, int, VerdictKind, Reason], ...] = (
            (1, self._folded, self._kind, self._reason),
            (self._folded + 1, self._cut, "dropped", VerdictCode.TRUNCATED()),
            (self._cut + 1, last, "dropped", VerdictCode.OUTSIDE()),
        )
        for low, high, kind, reason in parts:
            if max(first, low) <= min(last, high):
                yield self._run(max(first, low), min(last, high), kind, reason)

    def _run(self, first: int, last: int, verdict: VerdictKind, reason: Reason) -> Run:
        return Run(
            first=first - 1,
            last=last - 1,
            verdict=verdict,
            reason=reason,
            before_tokens=self._view.span_tokens(first, last),
            after_tokens=0,
        )
