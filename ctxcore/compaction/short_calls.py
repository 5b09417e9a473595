"""Shortens the arguments of calls for the record of a compaction, and sizes rows with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ctxcore.assembly.arguments import shorten_calls
from ctxcore.assembly.building import Call
from ctxcore.assembly.history import Counted, with_short_arguments
from ctxcore.assembly.records import ShortArguments
from ctxcore.messages.canonical import printable


def arguments_of(row: Counted, call: Call) -> ShortArguments | None:
    """Returns what stands for the arguments of a message, as any store takes it; None: nothing."""
    found = shorten_calls(row.message, call.policy, call.counter) if row.message.calls else None
    return found and tuple(None if text is None else printable(text) for text in found)


def with_short_calls(
    rows: Sequence[Counted], call: Call, seqs: Collection[int]
) -> Sequence[Counted]:
    """Returns `rows`, those of the messages `seqs` with their arguments shortened."""
    if not any(row.seq in seqs for row in rows):
        return rows
    made = []
    for row in rows:
        texts = arguments_of(row, call) if row.seq in seqs else None
        shorter = row if texts is None else with_short_arguments(row, texts, call.counter)
        made.append(shorter if shorter.sent_tokens < row.sent_tokens else row)
    return made
