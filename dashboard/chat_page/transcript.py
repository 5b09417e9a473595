"""Builds the transcript of a session from stored values; pure functions.

Compactions of the active chain stand at the message where they cut. A turn that did not end
normally is noted at its last message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxcore.assembly.effects import CompactionEffect
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.store.values import (
    CompactionInfo,
    Event,
    ImportedCompaction,
    Mark,
    MessageInfo,
    SignalInfo,
    TurnInfo,
)
from dashboard.reads import active_chain

PAGE_MESSAGES = 50  # chosen: more take noticeably longer to redraw on every click


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """A compaction as the transcript shows it; numbers that were not recorded are None."""

    key: str
    summary: str
    session_id: str = ""
    number: int = 0
    """Its number in the session; 0 for one of another program's file."""
    effect: CompactionEffect | None = None
    recorded_tokens: int | None = None
    """The input before it, as the program that made it recorded it."""
    is_imported: bool = False
    is_still_over: bool = False
    """Whether the trigger fired again at once, so that only a new session helps."""
    facts_lost: int = 0
    """How many facts the context lost; 0 except for the active compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A part of a session, ready to draw; the newest one unless a message was looked for."""

    messages: tuple[MessageInfo, ...]
    markers: Mapping[int, Sequence[Marker]]
    """Compactions by the message they follow."""
    endings: Mapping[int, TurnInfo]
    """Turns that did not end normally, by last message."""
    older: int
    """How many messages precede the first one."""
    pinned: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    signals: Mapping[int, Sequence[SignalInfo]] = field(default_factory=dict)
    """Forgetting signals by the message that they are in."""
    cuts: Mapping[int, str] = field(default_factory=dict)
    """Why an answer was cut: the finish reason of its call, by message."""


def first_shown(length: int, shown: int) -> int:
    """The first message (from 1) when the newest `shown` of `length` are."""
    return max(1, length - shown + 1)


def make_transcript(
    messages: Sequence[MessageInfo],
    *,
    compactions: Sequence[CompactionInfo],
    active_id: str | None,
    imported: Iterable[ImportedCompaction],
    turns: Iterable[TurnInfo],
    marks: Iterable[Mark],
    signals: Iterable[SignalInfo] = (),
    cuts: Iterable[Event] = (),
    goes_on: bool = False,
) -> Transcript:
    """The transcript of `messages`, some of a session in order, usually the newest.

    `goes_on`: the last turn runs again, so its recorded end is out of date.
    """
    first = messages[0].seq if messages else 1
    markers: dict[int, list[Marker]] = {}
    for at, compaction in enumerate(imported):
        markers.setdefault(compaction.before_seq - 1, []).append(_from_import(compaction, at))
    for info in active_chain(compactions, active_id):
        markers.setdefault(info.compaction.covered_until, []).append(
            _from_record(info, is_active=info.id == active_id)
        )
    placed = list(marks)
    told: dict[int, list[SignalInfo]] = {}
    for signal in signals:
        told.setdefault(signal.seq, []).append(signal)
    return Transcript(
        messages=tuple(messages),
        markers={seq: tuple(found) for seq, found in markers.items()},
        endings=_endings(list(turns), goes_on=goes_on),
        older=first - 1,
        pinned=frozenset(mark.seq for mark in placed if mark.kind == "pin"),
        excluded=frozenset(mark.seq for mark in placed if mark.kind == "exclude"),
        signals=told,
        cuts={int(str(event.body["seq"])): str(event.body["why"]) for event in cuts},
    )


def _endings(turns: Sequence[TurnInfo], *, goes_on: bool) -> dict[int, TurnInfo]:
    """The turns that did not end normally, by last message; only the last one can still wait."""
    last = turns[-1] if turns else None
    return {
        turn.last_seq: turn
        for turn in turns
        if turn.state not in ("done", "running")
        and (not goes_on if turn is last else not turn.state.startswith("awaiting"))
    }


def _from_record(info: CompactionInfo, *, is_active: bool) -> Marker:
    record = info.compaction
    return Marker(
        key=info.id,
        summary=record.summary,
        session_id=info.session_id,
        number=info.number,
        effect=info.effect,
        is_still_over=record.reason is not None and record.reason.mentions(OutcomeCode.STILL_OVER),
        facts_lost=len(record.facts_lost or ()) if is_active else 0,
    )


def _from_import(compaction: ImportedCompaction, at: int) -> Marker:
    return Marker(
        key=f"imported_{at}",
        summary=compaction.summary,
        recorded_tokens=compaction.before_tokens,
        is_imported=True,
    )
