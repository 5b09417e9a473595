"""Sums examinations up: what they share, and the largest causes of tokens over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ctxcore.autopsy.values import (
    Autopsy,
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
    """
    longest: dict[tuple[str, str, str | None], ExaminedSession] = {}
    copies = 0
    for session in examined:
        key = (session.format, session.id, session.parent_id)
        other = longest.get(key)
        copies += other is not None
        if other is None or session.messages > other.messages:
            longest[key] = session
    return Autopsy(sessions=tuple(longest.values()), unread=tuple(unread), copies=copies)


def largest_causes(autopsy: Autopsy, most: int) -> list[Cause]:
    """The hints with the most tokens over all sessions."""
    causes = [Cause(session=one, hint=hint) for one in autopsy.sessions for hint in one.hints]
    return sorted(causes, key=lambda cause: -cause.hint.tokens)[:most]


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
