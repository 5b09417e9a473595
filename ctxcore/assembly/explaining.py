"""Owns telling what became of every message: runs for the whole history, from what was built."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Item
from ctxcore.assembly.reading import Reading
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.verdicts import Run, VerdictKind, Verdicts, merge_runs

OUTSIDE = "outside the window"
REMINDED = ", its rules put back"


def explain(
    view: HistoryView,
    reading: Reading,
    items: Iterable[Item],
    active: Compaction,
    reminded: Collection[int] = (),
) -> Verdicts:
    """One verdict for each message of `view`, given what of it is in the context.

    Of the `reminded` messages the facts say the standing instructions again.
    """
    shown = {item.seq: _shown(item) for item in items if item.row is not None}
    marked = {
        seq: _gone(view, seq, seq, "dropped", "excluded by a mark") for seq in reading.excluded
    }
    told = (seq for seq in reminded if seq not in shown)
    special = {**{seq: _reminded(view, seq, active) for seq in told}, **marked, **shown}
    count = view.count()
    runs = merge_runs(list(_with_gaps(view, special, active, count)))
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


def _reminded(view: HistoryView, seq: int, active: Compaction) -> Run:
    (run,) = _gaps(view, seq, seq, active)
    return replace(run, reason=run.reason + REMINDED)


def _gone(view: HistoryView, first: int, last: int, verdict: VerdictKind, reason: str) -> Run:
    return Run(
        first=first - 1,
        last=last - 1,
        verdict=verdict,
        reason=reason,
        before_tokens=view.span_tokens(first, last),
        after_tokens=0,
    )


def _with_gaps(
    view: HistoryView, special: dict[int, Run], active: Compaction, count: int
) -> Iterator[Run]:
    """`special` in order, and runs for what lies between: covered or outside the window."""
    next_seq = 1
    for seq in [*sorted(special), count + 1]:
        if next_seq < seq:
            yield from _gaps(view, next_seq, seq - 1, active)
        if seq <= count:
            yield special[seq]
        next_seq = seq + 1


def _gaps(view: HistoryView, first: int, last: int, active: Compaction) -> list[Run]:
    """Runs of the messages first … last, none of which is in the context."""
    parts: tuple[tuple[int, int, VerdictKind, str], ...]
    runs, folded, cut = [], active.summarized_until, active.covered_until
    parts = (
        (1, folded, "summarized", "folded into the summary"),
        (folded + 1, cut, "dropped", "truncated by a compaction"),
        (cut + 1, last, "dropped", OUTSIDE),
    )
    for low, high, kind, reason in parts:
        if max(first, low) <= min(last, high):
            runs.append(_gone(view, max(first, low), min(last, high), kind, reason))
    return runs
