"""The database as a whole: kind and size, whether it is sound, a copy, and what fails in it."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import exists, func, select, text

from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import StoreProblem
from ctxcore.store.database import Area, explained, is_in_memory, is_sqlite, revision_of
from ctxcore.store.errors import DatabaseError
from ctxcore.store.rows import load_call, to_turn_info
from ctxcore.store.turns import WITHOUT_RUNS
from ctxcore.store.values import CallInfo, CountedModel, DatabaseInfo, TurnInfo
from ctxcore.tables import CALL, SESSION, TURN


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """A file to write, which becomes `path` at once and whole, or is removed after a failure.

    Raises:
        FileExistsError: `path` is there, and is not to be overwritten.
    """
    if path.exists() and not overwrite:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    made = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        yield made
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        if overwrite:
            made.replace(path)
        else:
            os.link(made, path)  # fails where `path` came into being meanwhile
    finally:
        made.unlink(missing_ok=True)


MOST_PROBLEMS = 20  # chosen: the first ones tell enough


class Upkeep(Area):
    """The state of the database as a whole."""

    def database_info(self) -> DatabaseInfo:
        url = self._database.url
        with self._database.read() as connection:
            revision = revision_of(connection)
            if is_sqlite(url):
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                size = int(pages) * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())
            else:
                found = text("SELECT pg_database_size(current_database())")
                size = int(connection.execute(found).scalar_one())
            shown = select(func.count()).select_from(SESSION).where(SESSION.c.staged_at.is_(None))
            sessions = connection.execute(shown).scalar_one()
        return DatabaseInfo(
            kind=url.get_backend_name(),
            url=url.render_as_string(hide_password=True),
            size_bytes=size,
            revision=revision,
            sessions=int(sessions),
        )

    def change_count(self) -> int:
        with explained():
            return self._database.changes.count()

    def check_database(self) -> list[str] | None:
        if not is_sqlite(self._database.url):
            return None
        with self._database.read() as connection:
            rows = connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_PROBLEMS})").all()
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(MOST_PROBLEMS)
        found = [str(row[0]) for row in rows if row[0] != "ok"]
        return [*found, *(f"{row[0]}: row {row[1]} names no {row[2]}" for row in broken)]

    def back_up(self, path: Path, *, overwrite: bool = False) -> None:
        url = self._database.url
        if not is_sqlite(url) or is_in_memory(url):
            raise DatabaseError(problem=StoreProblem.NO_BACKUP(kind=url.get_backend_name()))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with new_file(path, overwrite=overwrite) as made, self._database.read() as connection:
                source = connection.connection.driver_connection
                assert isinstance(source, sqlite3.Connection)
                with closing(sqlite3.connect(made)) as copy:
                    source.backup(copy)
        except (OSError, sqlite3.Error) as error:
            raise DatabaseError(problem=reason_of(error)) from error

    def running_turns(self) -> list[TurnInfo]:
        running = select(TURN).where(TURN.c.state == "running").order_by(TURN.c.started_at)
        return self._list(running, to_turn_info)

    def failed_calls(self, *, limit: int = 20) -> list[CallInfo]:
        is_shown = exists().where(SESSION.c.id == CALL.c.session_id, SESSION.c.staged_at.is_(None))
        failed = select(*WITHOUT_RUNS).where(CALL.c.error.is_not(None), is_shown)
        newest = failed.order_by(CALL.c.created_at.desc(), CALL.c.id.desc())
        return self._list(newest.limit(limit), load_call)

    def counted_models(self) -> list[CountedModel]:
        both = CALL.c.is_comparable.is_(True) & CALL.c.input_tokens.is_not(None)
        named = both & CALL.c.model.is_not(None) & CALL.c.counter_id.is_not(None)
        found = select(CALL.c.model, CALL.c.counter_id, func.count().label("calls")).where(named)
        groups = found.group_by(CALL.c.model, CALL.c.counter_id).order_by(CALL.c.model)
        return self._list(groups, lambda row: CountedModel(**row))

    def models_in_use(self) -> list[str]:
        named = select(SESSION.c.model).where(SESSION.c.model.is_not(None)).distinct()
        return self._list(named.order_by(SESSION.c.model), lambda row: str(row["model"]))
