"""Owns carrying a plan's open choice out: which covered blocks stay, by worth or by what they say.

It reads all that competes, which planning does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.reading import by_block
from ctxcore.compaction.electing import CHOOSERS, text_at
from ctxcore.compaction.keeping import keep_blocks
from ctxcore.compaction.outdated import NONE_OUTDATED, Outdated
from ctxcore.compaction.plans import CompactionPlan, Competing
from ctxcore.compaction.waiting import Waiting
from ctxcore.tokens.counter import TokenCounter


def resolved(
    planned: CompactionPlan,
    view: HistoryView,
    call: Call,
    outdated: Outdated = NONE_OUTDATED,
) -> CompactionPlan:
    """`planned` with what stays of the covered blocks chosen: what is worth most per token, what is
    important, or what is a key event.

    Sentences that are `outdated` do not stay where pieces of messages do.

    It reads all of them, which planning does not: a second for ten thousand messages.
    """
    competing = planned.competing
    if competing is None:
        return planned
    blocks = _rows(view, competing.blocks)
    if competing.choosers == ("worth",):
        return _kept_by_worth(planned, competing, blocks, view, call.counter, outdated)
    left: Sequence[Sequence[Counted]] = blocks
    for chooser in competing.choosers:
        if chooser != "worth":
            left = CHOOSERS[chooser](left, view, call.policy)
    return _keeping(planned, tuple(row.seq for block in left for row in block))


def _kept_by_worth(
    planned: CompactionPlan,
    competing: Competing,
    blocks: list[list[Counted]],
    view: HistoryView,
    counter: TokenCounter,
    outdated: Outdated,
) -> CompactionPlan:
    keeping, others = keep_blocks(
        _with_earlier(view, blocks, competing.earlier),
        competing.room_tokens,
        counter,
        opened=_rows(view, competing.opened),
        outdated=outdated,
        request=text_at(view, competing.asked),
    )
    uncovered = {seq for block in competing.opened for seq in block}
    made = _keeping(planned, tuple(seq for seq in keeping.seqs if seq not in uncovered))
    made = replace(made, pieces=keeping.pieces, next_best=tuple(others))
    if competing.waiting is None:
        return made
    return _shortening(made, competing.waiting.raised(competing.room_tokens - keeping.tokens))


def _shortening(planned: CompactionPlan, waiting: Waiting) -> CompactionPlan:
    """`planned` with the outputs that wait as long as their share of the room."""
    others = {seq: size for seq, size in planned.short_sizes.items() if seq not in waiting.sizes}
    sizes = {**others, **waiting.short_sizes}
    return replace(planned, shorten=tuple(sorted(sizes)), short_sizes=sizes)


def _keeping(planned: CompactionPlan, verbatim: tuple[int, ...]) -> CompactionPlan:
    """`planned` with these covered messages staying."""
    staying = set(verbatim)
    return replace(
        planned,
        verbatim=verbatim,
        competing=None,
        keep=(*(seq - 1 for seq in verbatim), *planned.keep),
        fold=tuple(at for at in planned.fold if at + 1 not in staying),
    )


def _rows(view: HistoryView, blocks: Sequence[Sequence[int]]) -> list[list[Counted]]:
    rows = {row.seq: row for row in view.get({seq for block in blocks for seq in block})}
    return [[rows[seq] for seq in block] for block in blocks]


def _with_earlier(
    view: HistoryView, blocks: list[list[Counted]], earlier: range
) -> list[list[Counted]]:
    """`blocks` and the whole ones among `earlier` that may be shown, in order."""
    anchors = view.anchors()
    out = {*anchors.system, *anchors.excluded, *anchors.pinned}
    out.update(row.seq for block in blocks for row in block)
    rows = view.get([seq for seq in earlier if seq not in out])
    made = by_block(row for row in rows if row.block >= earlier.start)
    return sorted([*blocks, *map(list, made)], key=lambda block: block[0].seq)
