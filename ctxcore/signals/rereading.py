"""Finds calls that read again what an earlier call returned and the context no longer shows.

A read again is legitimate where something between may have changed what it returns, where the
earlier one failed, and where the user asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.facts.agent_records import arguments_of, file_uses, strings_of
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import Message, ToolCall
from ctxcore.recalling.index_words import phrases_of
from ctxcore.recalling.requests import MOST_TERMS
from ctxcore.recalling.searching import MOST_PLACES
from ctxcore.signals.seen import Seen
from ctxcore.signals.values import FoundSignal
from ctxcore.text.patterns import late
from ctxcore.text.signals import error_report
from ctxcore.text.words import word_set

_MOST_CALLS: Final = 4  # of one message; chosen: bounds the work
_MOST_READ: Final = 24  # of earlier messages about the same; chosen: bounds the work
_ARGUMENT_CHARS: Final = 2_000  # chosen: longer arguments are content, not what to read
_LEAST_CHARS: Final = 3  # of what names a thing

_READS: Final = word_set("""
    read get list search find fetch lookup look query view show describe load retrieve open
    recall inspect browse
""")
# What they return changes by itself.
_PASSING: Final = word_set("""
    time now date current weather forecast status state progress latest live log logs price quote
    stock screenshot snapshot random next page news tail wait poll output console
""")
_WORDS: Final = late("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ANEW: Final = late(
    r"\b(?:again|re-?(?:read|check|load|fetch|open|run)|refresh|now|latest|updated?|changed"
    r"|verify|double-check)\b|重新|再[看读查次]|刷新|现在|最新|改了|更新",
    re.IGNORECASE,
)


def find_rereads(view: HistoryView, seq: int, message: Message, seen: Seen) -> list[FoundSignal]:
    """The signal of a message that reads again what `seen`, the context given to it, hid."""
    reads = [call for call in message.calls if reads_only(call)][:_MOST_CALLS]
    topics = [(call, forms) for call in reads if (forms := _names(call))]
    if not seen.hides or not topics:
        return []
    sought = [*islice(dict.fromkeys(form for _, forms in topics for form in forms), MOST_TERMS)]
    found = view.having([[form] for form in sought], before=seq, most=MOST_PLACES)
    places = dict(zip(sought, found, strict=True))
    about = [(call, _rarest(forms, places)) for call, forms in topics]
    rows = _rows(view, {place for _, seqs in about for place in seqs[:_MOST_READ]})
    for call, seqs in about:
        before = [rows[place] for place in seqs[:_MOST_READ] if place in rows]
        if (place := _hidden_read(call, before, rows, seen)) is not None:
            return [
                FoundSignal(
                    seq=seq,
                    kind="asked_again",
                    earlier=(place,),
                    verdict=seen.verdict(place),
                    is_covered=seen.is_covered(place),
                )
            ]
    return []


def reads_only(call: ToolCall) -> bool:
    """Whether a call only reads, and what it reads changes by nobody but the conversation."""
    facts = [fact.kind for fact in file_uses(call.name, arguments_of(call.arguments), "assistant")]
    if facts:
        return set(facts) == {"file_read"}
    words = [word.lower() for word in _WORDS.findall(call.name.rpartition("__")[2])]
    return bool(words) and words[0] in _READS and _PASSING.isdisjoint(words)


def _names(call: ToolCall) -> list[str]:
    """The values of a call's arguments, as the index has them."""
    arguments = arguments_of(call.arguments)
    texts = strings_of(arguments) | {
        name: str(value) for name, value in arguments.items() if isinstance(value, int | float)
    }
    said = (text for text in texts.values() if len(text) <= _ARGUMENT_CHARS)
    phrases = (phrase for text in said for phrase in phrases_of(text))
    return [
        words
        for phrase in phrases
        if len(words := " ".join(phrase)) >= _LEAST_CHARS or not words.isascii()
    ]


def _rarest(forms: Sequence[str], places: dict[str, Sequence[int]]) -> Sequence[int]:
    """The places of the form that the fewest messages have, newest first."""
    return min((places[form] for form in forms if form in places), key=len, default=())


def _rows(view: HistoryView, seqs: set[int]) -> dict[int, Counted]:
    """The messages with these numbers, and those that answer their calls."""
    rows = {row.seq: row for row in view.get(seqs)}
    answers = {
        seq + nth
        for seq, row in rows.items()
        for nth in range(1, 1 + min(_MOST_CALLS, len(row.message.calls)))
    }
    missing = {seq for seq in answers - rows.keys() if seq <= view.count()}
    return rows | {row.seq: row for row in view.get(missing)}


def _hidden_read(
    call: ToolCall, before: Sequence[Counted], rows: dict[int, Counted], seen: Seen
) -> int | None:
    """The message that answered the same call, where it is hidden and nothing changed since."""
    for row in before:  # newest first
        if row.message.role == "user" and _ANEW.search(row.message.text):
            return None
        for made in row.message.calls:
            if _is_same(made, call):
                return _hidden_answer(made, row.seq, rows, seen)
        if any(_may_change(made) for made in row.message.calls):
            return None
    return None


def _hidden_answer(made: ToolCall, seq: int, rows: dict[int, Counted], seen: Seen) -> int | None:
    for place in range(seq + 1, seq + 1 + _MOST_CALLS):
        answer = rows.get(place)
        if answer is not None and answer.message.answers == made.id:
            failed = any(map(error_report, answer.message.text[:2_000].split("\n")))
            return None if failed or seen.shows(place) else place
    return None


def _is_same(made: ToolCall, call: ToolCall) -> bool:
    if made.name != call.name:
        return False
    return made.arguments == call.arguments or _plain(made) == _plain(call)


def _plain(call: ToolCall) -> str:
    return to_canonical(arguments_of(call.arguments))


def _may_change(call: ToolCall) -> bool:
    return not reads_only(call)
