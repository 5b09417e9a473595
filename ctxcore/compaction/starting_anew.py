"""Owns the plan of a new session: all that was said is left behind, nothing is lost."""

from __future__ import annotations

from dataclasses import replace

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.plans import CompactionPlan


def new_session_plan(
    view: HistoryView, active: Compaction | None, planned: CompactionPlan
) -> CompactionPlan:
    """`planned` as if a new session began: nothing stays but the turn that waits for its answer.

    Of what was said before only pins and the original request are shown, as in every context.
    """
    covered = active.covered_until if active else 0
    anchors = view.anchors()
    newest = view.get([view.count()]) if view.count() else []
    is_waiting = bool(newest) and newest[0].message.role != "assistant"
    cut = (anchors.last_user or 1) - 1 if is_waiting else view.count()
    fold = [seq for seq in range(covered + 1, cut + 1) if seq not in anchors.system]
    return replace(
        planned,
        fold_as="truncation",
        strategies=("new_session",),
        covered_until=max(cut, covered),
        keep=tuple(range(cut, view.count())),
        fold=tuple(seq - 1 for seq in fold),
        verbatim=(),
        pieces=None,
        next_best=(),
        competing=None,
        stops=(),
        instead=None,
        shorten=(),
        emergency_until=None,
        starts_anew=True,
        turns_folded=view.turns(after=covered) - view.turns(after=max(cut, covered)),
    )
