"""Owns telling what became of every message: runs for the whole history, from what was built."""

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
    says_summary: bool,
) -> Verdicts:
    """One verdict for each message of `view`, given what of it is in the context.

    Of the `reminded` messages the facts say the standing instructions again. `says_summary`:
    whether the context says anything of the compaction's summary.
    """
    shown = {item.seq: _shown(item) for item in items if item.row is not None}
    gone = _Gone(view, active, says_summary=says_summary)
    lost = [row.seq for row in reading.kept if row.seq not in shown]
    special = {seq: gone.one(seq, "dropped", VerdictCode.NO_ROOM_TO_KEEP()) for seq in lost}
    for seq in reminded:
        special[seq] = _reminded(special.get(seq) or gone.between(seq, seq)[0])
    marked = {seq: gone.one(seq, "dropped", VerdictCode.EXCLUDED()) for seq in reading.excluded}
    special = {**special, **marked, **shown}
    runs = merge_runs(list(_with_gaps(gone, special, view.count())))
    return Verdicts(runs, view.sizes)


def _shown(item: Item) -> Run:
    assert item.row is not None
    at = item.row.seq - 1
    return Run(
        first=at,
        last=at,
        verdict=item.verdict,
        reason=item.reason,
        before_tokens=item.row.tokens,
        after_tokens=item.tokens,
    )


def _reminded(run: Run) -> Run:
    return replace(run, reason=VerdictCode.REMINDED(why=run.reason))


def _with_gaps(gone: _Gone, special: dict[int, Run], count: int) -> Iterator[Run]:
    """`special` in order, and runs for what lies between: covered or outside the window."""
    next_seq = 1
    for seq in [*sorted(special), count + 1]:
        if next_seq < seq:
            yield from gone.between(next_seq, seq - 1)
        if seq <= count:
            yield special[seq]
        next_seq = seq + 1


class _Gone:
    """Makes runs of messages that are not in the context."""

    def __init__(self, view: HistoryView, active: Compaction, *, says_summary: bool) -> None:
        self._view = view
        self._folded, self._cut = stands_until(active), active.covered_until
        self._kind: VerdictKind = "summarized" if says_summary else "dropped"
        self._reason = VerdictCode.FOLDED() if says_summary else VerdictCode.NO_ROOM_FOR_SUMMARY()

    def one(self, seq: int, verdict: VerdictKind, reason: Reason) -> Run:
        """The run of one message."""
        return self._run(seq, seq, verdict, reason)

    def between(self, first: int, last: int) -> list[Run]:
        """Runs of the messages first … last."""
        parts: tuple[tuple[int, int, VerdictKind, Reason], ...]
        runs, folded, cut = [], self._folded, self._cut
        parts = (
            (1, folded, self._kind, self._reason),
            (folded + 1, cut, "dropped", VerdictCode.TRUNCATED()),
            (cut + 1, last, "dropped", VerdictCode.OUTSIDE()),
        )
        for low, high, kind, reason in parts:
            if max(first, low) <= min(last, high):
                runs.append(self._run(max(first, low), min(last, high), kind, reason))
        return runs

    def _run(self, first: int, last: int, verdict: VerdictKind, reason: Reason) -> Run:
        return Run(
            first=first - 1,
            last=last - 1,
            verdict=verdict,
            reason=reason,
            before_tokens=self._view.span_tokens(first, last),
            after_tokens=0,
        )
