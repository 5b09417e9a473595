"""Tells a summarizing model in short what the context shows beside its summary."""

from __future__ import annotations

from typing import Final

from ctxcore.assembly.building import Call
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.texts import elide_within
from ctxcore.compaction.selectors import text_at
from ctxcore.facts.facts_block import shorten_block

MOST_TOKENS: Final = 1_000  # chosen: a tenth of what a usual part of a conversation takes
MESSAGE_CHARS: Final = 160  # of a message; chosen: enough to tell which it is


def shown_beside(view: HistoryView, call: Call, record: Compaction) -> str:
    """The facts, the original request and the beginnings of the kept messages of `record`.

    At most `MOST_TOKENS`; the facts come first, and of the messages the newest.
    """
    counter = call.counter
    facts = shorten_block(record.facts, MOST_TOKENS, counter, record.language)
    left, lines = MOST_TOKENS - counter.count(facts), list[str]()
    for line in _messages(view, record):
        left -= counter.count(line) + 1
        if left < 0:
            break
        lines.append(line)
    return "\n".join(filter(None, [facts, *reversed(lines)]))


def _messages(view: HistoryView, record: Compaction) -> list[str]:
    """The beginnings of the messages that stay though they are covered, newest first."""
    rows = view.get(sorted({*record.kept, *record.pins}))
    lines = [
        f"{row.message.role}: {elide_within(' '.join(row.message.text.split()), MESSAGE_CHARS)}"
        for row in rows
        if row.message.text.strip()
    ]
    goal = " ".join(text_at(view, view.anchors().goal).split())
    return [*reversed(lines), *([f"user: {elide_within(goal, MESSAGE_CHARS)}"] if goal else [])]
