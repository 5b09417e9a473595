"""Remembers which files were imported, by the hash of their text, so that a second time is noticed.

The hash is the same for a text and for the file it is in. Kept in the settings, per user and text:
the session of each conversation, and when. A session that is erased goes from there too, and the
hash with the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import IMPORTED, SessionInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedBefore(Plain):
    """A session that an earlier import of the same text made."""

    session: SessionInfo
    imported_at: datetime


def note_of(
    store: SessionStore,
    user_id: str,
    digest: str,
    sessions: Mapping[int, SessionInfo],
    *,
    at: datetime,
) -> dict[str, JsonValue]:
    """The setting that notes what the conversations of a text became, by their places in it."""
    key = note_key(user_id, digest)
    made: JsonObject = {
        str(place): {"session": session.id, "at": at.isoformat()}
        for place, session in sessions.items()
    }
    return {key: {**_noted(store, key), **made}}


def imported_before(
    store: SessionStore, user_id: str, digest: str, places: Sequence[int] | None
) -> dict[int, ImportedBefore]:
    """The sessions that conversations of a text became before; deleted ones are left out.

    All of them, where `places` is None.
    """
    noted = _noted(store, note_key(user_id, digest))
    places = sorted(map(int, noted)) if places is None else places
    found = {place: _before(store, user_id, noted.get(str(place))) for place in places}
    return {place: before for place, before in found.items() if before is not None}


def _before(store: SessionStore, user_id: str, noted: object) -> ImportedBefore | None:
    if not isinstance(noted, dict):
        return None
    try:
        session = store.session(str(noted.get("session")))
    except SessionNotFoundError:
        return None
    if session.deleted_at is not None or session.user_id != user_id:
        return None
    return ImportedBefore(session=session, imported_at=datetime.fromisoformat(str(noted["at"])))


def _noted(store: SessionStore, key: str) -> JsonObject:
    stored = store.setting(key)
    return stored if isinstance(stored, dict) else {}


def note_key(user_id: str, digest: str) -> str:
    """The setting that names what a text with this hash became."""
    return f"{IMPORTED}{digest[:32]}:{user_id}"
