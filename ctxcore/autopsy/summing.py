"""Sums examinations up: what they share, and the largest causes of tokens over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxcore.autopsy.values import (
    Autopsy,
    CacheBreak,
    ExaminedFold,
    ExaminedSession,
    Spending,
    SpendingKind,
    UnreadFile,
    sum_known,
)
from ctxcore.formats.hints import Hint
from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause(Plain):
    """What cost tokens for nothing, with its session."""

    session: ExaminedSession
    hint: Hint


def sum_up(examined: Iterable[ExaminedSession], unread: Iterable[UnreadFile] = ()) -> Autopsy:
    """All sessions, each once.

    Programs copy a session into a new file when it is resumed or branched; the longest one counts.
    Where a file gives no id, that is the file's name, which others have too: copies begin alike.
    """
    longest: dict[tuple[object, ...], ExaminedSession] = {}
    copies = 0
    for session in examined:
        beginning = session.started_at or session.title
        key = (session.format, session.id, session.parent_id, beginning)
        other = longest.get(key)
        copies += other is not None
        if other is None or session.messages > other.messages:
            longest[key] = session
    return Autopsy(sessions=tuple(longest.values()), unread=tuple(unread), copies=copies)


def largest_causes(autopsy: Autopsy, most: int) -> list[Cause]:
    """The hints with the most tokens over all sessions."""
    causes = [Cause(session=one, hint=hint) for one in autopsy.sessions for hint in one.hints]
    return sorted(causes, key=lambda cause: -cause.hint.tokens)[:most]


def worst_folds(autopsy: Autopsy, most: int) -> list[tuple[ExaminedSession, ExaminedFold]]:
    """The compactions that lost most of what was needed; those before which nothing held are not
    among them."""
    found = [(one, fold) for one in autopsy.sessions for fold in one.folds if fold.facts]
    return sorted(found, key=lambda pair: (-pair[1].gone, -pair[1].facts))[:most]


def breaks_by_cause(autopsy: Autopsy) -> list[list[CacheBreak]]:
    """The losses of the prompt cache by their cause, those with the most tokens first."""
    grouped: dict[str, list[CacheBreak]] = defaultdict(list)
    for session in autopsy.sessions:
        for one in session.breaks:
            grouped[one.reason.code].append(one)
    return sorted(grouped.values(), key=lambda cuts: -sum(cut.tokens for cut in cuts))


def spending_of(
    sessions: Sequence[ExaminedSession], kinds: Sequence[SpendingKind], most: int
) -> list[Spending]:
    """The spending of these kinds over all sessions, the most first."""
    grouped: dict[tuple[SpendingKind, str], list[Spending]] = defaultdict(list)
    for session in sessions:
        for spent in session.spending:
            if spent.kind in kinds:
                grouped[spent.kind, spent.name].append(spent)
    summed = [
        Spending(
            kind=kind,
            name=name,
            tokens=sum(one.tokens for one in parts),
            sent_tokens=sum(one.sent_tokens for one in parts),
            dollars=sum_known(one.dollars for one in parts),
        )
        for (kind, name), parts in grouped.items()
    ]
    return sorted(summed, key=lambda one: (-one.sent_tokens, -one.tokens))[:most]
