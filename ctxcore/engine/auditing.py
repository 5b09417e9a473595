"""Records who read what another said.

Within an hour a process records the same person, session and way once, since a page reads its
session many times; and no opening or title beside an export, a recall or a replay, which show it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import AuditAction, AuditEntry, SessionInfo

VISIT = timedelta(hours=1)  # chosen: as long as a person stays with one session
# Each of these shows a session at least as much as opening it does.
_READING: tuple[AuditAction, ...] = ("open", "export", "recall", "replay", "change", "assign")
KEPT_AUDIT = timedelta(days=365)  # chosen: a yearly review sees every record once


class Audit:
    """What one user reads of others."""

    def __init__(self, store: SessionStore, user_id: str, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._user_id = user_id
        self._clock = clock
        self._noted: dict[tuple[str, AuditAction], datetime] = {}
        self._lock = threading.Lock()

    def lists(self, sessions: Iterable[SessionInfo]) -> None:
        """Records that titles of others' sessions are listed."""
        self.reads([(one.id, one.user_id) for one in sessions], "list")

    def records_all(self, action: AuditAction) -> None:
        """Records what is done with the whole database."""
        entry = AuditEntry(created_at=self._clock(), user_id=self._user_id, action=action)
        self._store.record_audit([entry])

    def reads(self, sessions: Iterable[tuple[str, str]], action: AuditAction) -> None:
        """Records that sessions, each with its owner, are read, if they are others'.

        Raises:
            StoreError: it cannot be stored; then nothing may be shown.
        """
        at = self._clock()
        others = [one for one in sessions if one[1] != self._user_id]
        with self._lock:
            new = [one for one in others if not self._is_noted(one[0], action, at)]
        entries = [
            AuditEntry(
                created_at=at,
                user_id=self._user_id,
                action=action,
                owner_id=owner_id,
                session_id=session_id,
            )
            for session_id, owner_id in new
        ]
        self._store.record_audit(entries)
        with self._lock:  # only now, so that what could not be stored is tried again
            self._noted |= {(session_id, action): at for session_id, _ in new}

    def _is_noted(self, session_id: str, action: AuditAction, at: datetime) -> bool:
        same = {"open": _READING, "list": ("list", *_READING)}.get(action, (action,))
        times = (self._noted.get((session_id, one)) for one in same)
        return any(before is not None and at - before < VISIT for before in times)
