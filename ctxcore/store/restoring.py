"""Puts a backup in the place of an SQLite database, which may be in use meanwhile.

The backup is checked before, in a copy, and what was there is kept beside it. Records of who read
what are taken over: a restore removes none.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import fields
from datetime import datetime
from pathlib import Path

from sqlalchemy import make_url

from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import DamageCode, RecordCode, StoreProblem
from ctxcore.store.database import file_of, is_in_memory, is_sqlite
from ctxcore.store.errors import DatabaseError
from ctxcore.store.sql import database_url, open_store
from ctxcore.store.upkeep import new_file
from ctxcore.store.values import AuditEntry, Finding

# What both have is there once: a backup has the records of before it was made.
_TAKE_OVER = """INSERT INTO audit ({names}) SELECT {names} FROM former.audit
    EXCEPT SELECT {names} FROM audit ORDER BY created_at"""


def restore(
    backup: Path,
    url: str | None = None,
    *,
    at: datetime,
    user_id: str = "local",
    overwrite: bool = False,
) -> tuple[Path | None, list[Finding]]:
    """Replaces the database at `url` by `backup`; returns where the former one is, if there was.

    Also returns what is damaged in the backup; what could be repaired was. That `user_id` restored
    it is recorded, beside the records of who read what in the former database.

    Raises:
        StoreError: the backup is none, or is from a newer version; the database is no SQLite file,
            or it holds sessions and `overwrite` is not set.
    """
    target = _target_of(database_url(url))
    try:
        with tempfile.TemporaryDirectory() as folder:
            checked = Path(folder) / "backup.db"
            _copy(_existing(backup), checked)
            findings = _check(checked, at)
            kept = _keep_aside(target, at) if _is_used(target, overwrite=overwrite) else None
            findings += _take_over_audit(target, checked) if kept else []
            entry = AuditEntry(created_at=at, user_id=user_id, action="restore")
            with closing(open_store(str(checked))) as store:
                store.record_audit([entry])
            target.parent.mkdir(parents=True, exist_ok=True)
            _copy(checked, target)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseError(problem=reason_of(error)) from error
    return kept, findings


def _target_of(url: str) -> Path:
    parsed = make_url(url)
    if not is_sqlite(parsed) or is_in_memory(parsed):
        raise DatabaseError(problem=StoreProblem.NO_BACKUP(kind=parsed.get_backend_name()))
    return file_of(parsed)


def _existing(path: Path) -> Path:
    path.open("rb").close()  # SQLite would make an empty database
    return path


def _copy(source: Path, target: Path) -> None:
    """Copies a database in one transaction, so that who uses `target` sees one or the other."""
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        read.backup(written)


def _check(path: Path, at: datetime) -> list[Finding]:
    """Opens a copy of a backup, which makes it the newest schema, and checks and repairs it."""
    with closing(sqlite3.connect(path)) as connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('alembic_version', 'session')"
        if connection.execute(tables).fetchone()[0] < 2:  # both of them
            raise DatabaseError(problem=StoreProblem.NO_CTXCORE())
    with closing(open_store(str(path))) as store:
        return list(store.check_all(at=at, repairs=True))


def _is_used(target: Path, *, overwrite: bool) -> bool:
    """Whether a database is there; one with sessions is only replaced where that is said."""
    if not target.exists() or not target.stat().st_size:
        return False
    with closing(open_store(str(target))) as store:
        sessions = store.database_info().sessions
    if sessions and not overwrite:
        raise DatabaseError(problem=StoreProblem.IN_USE(path=str(target), count=sessions))
    return True


def _take_over_audit(former: Path, restored: Path) -> list[Finding]:
    """Adds the records of who read what that only the former database has."""
    names = ", ".join(field.name for field in fields(AuditEntry))
    try:
        with closing(sqlite3.connect(restored, uri=True)) as connection, connection:
            connection.execute("ATTACH ? AS former", (f"{former.absolute().as_uri()}?mode=ro",))
            connection.execute(_TAKE_OVER.format(names=names))
    except sqlite3.DatabaseError as error:  # a damaged database is what one restores over
        return [Finding(reason=DamageCode.PART(what=RecordCode.AUDIT(), problem=reason_of(error)))]
    return []


def _keep_aside(target: Path, at: datetime) -> Path:
    kept = target.with_name(f"{target.name}.before-{at:%Y%m%d-%H%M%S}")
    with new_file(kept, overwrite=False) as made:
        _copy(target, made)
    return kept
