"""Owns which records of a session are its active branch: what the model would see next.

An edited or retried prompt leaves the old branch in the file. The active branch are the ancestors
of the last record, and what hangs on them without being a new beginning: the other lines of the
same answer, the results of parallel calls, the notes hooks wrote on those.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.formats.claude_entries import Entry
from ctxcore.formats.fields import text_at

_SAID = ("user", "assistant", "summary")


def active_branch(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of the active branch, in file order."""
    parents = parent_places(entries)
    chain = _ancestors(parents, _last_said(entries))
    answers = {entries[at].message_id for at in chain} - {None}
    calls: set[str] = set()
    kept: set[int] = set()
    for at, entry in enumerate(entries):
        is_note = entry.kind == "link" or (entry.is_meta and parents[at] not in chain)
        if (
            at in chain
            or entry.message_id in answers
            or not calls.isdisjoint(entry.answered_ids)
            or (is_note and parents[at] in kept)
        ):
            kept.add(at)
            calls.update(entry.call_ids)
    return [entry for at, entry in enumerate(entries) if at in kept]


def parent_places(entries: Sequence[Entry]) -> list[int | None]:
    """For each entry the place of the one before it in its branch; None begins a branch.

    A parent that is not in the file is taken to be the record before. So is none at all, unless
    a prompt says so in a file whose records are linked: there it begins the session anew.
    """
    places: dict[str, int] = {}
    known: list[int | None] = []
    for at, entry in enumerate(entries):
        named = text_at(entry.record, "parentUuid", "logicalParentUuid")
        known.append(places.get(named) if named else None)
        if entry.uuid:
            places.setdefault(entry.uuid, at)
    is_linked = 2 * sum(place is not None for place in known) > len(entries)
    return [
        place if place is not None else _assumed_parent(entries[at], at, is_linked)
        for at, place in enumerate(known)
    ]


def _assumed_parent(entry: Entry, at: int, is_linked: bool) -> int | None:
    names_none = "parentUuid" in entry.record and entry.record["parentUuid"] is None
    begins_anew = is_linked and names_none and entry.is_prompt
    return None if begins_anew or at == 0 else at - 1


def _last_said(entries: Sequence[Entry]) -> int | None:
    said = (at for at in range(len(entries) - 1, -1, -1) if entries[at].kind in _SAID)
    return next(said, None)


def _ancestors(parents: Sequence[int | None], last: int | None) -> set[int]:
    """`last` and all before it in its branch; parents stand earlier, so this ends."""
    chain = set()
    while last is not None:
        chain.add(last)
        last = parents[last]
    return chain
