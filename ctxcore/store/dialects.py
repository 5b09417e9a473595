"""Owns what SQLite and PostgreSQL do differently; everything else is the same SQL for both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, TextClause, create_engine, event, text
from sqlalchemy.pool import StaticPool

BUSY_MILLISECONDS = 15_000  # how long a writer waits for the one before it


def make_engines(url: URL) -> tuple[Engine, Engine]:
    """One engine for writing and one for reading; the same one for a database in memory."""
    if not is_sqlite(url):
        engine = create_engine(url, pool_pre_ping=True)
        return engine, engine
    if is_in_memory(url):
        engine = create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        _prepare_sqlite(engine, begin="BEGIN IMMEDIATE")
        return engine, engine
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    writer, reader = create_engine(url, pool_size=1), create_engine(url, max_overflow=30)
    _prepare_sqlite(writer, begin="BEGIN IMMEDIATE")
    _prepare_sqlite(reader, begin=None)
    return writer, reader


def is_sqlite(url: URL) -> bool:
    """Whether `url` names an SQLite database."""
    return url.get_backend_name() == "sqlite"


def is_in_memory(url: URL) -> bool:
    """Whether the database ends with the process."""
    return is_sqlite(url) and url.database in (None, "", ":memory:")


def set_pragmas(connection: Any) -> None:
    """Everything that is set on an SQLite connection.

    Takes the driver's own connection. A power cut may lose the last commits but damages nothing;
    `secure_delete` is what makes a purged text unreadable in the file.
    """
    connection.isolation_level = None  # the driver would begin by itself, and DEFERRED
    for pragma in (
        f"busy_timeout = {BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        "secure_delete = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _prepare_sqlite(engine: Engine, *, begin: str | None) -> None:
    """Pragmas for every connection, and how a transaction begins.

    None: each statement sees a moment of its own. Reads need no more, since what they read one
    after the other is only ever added to, and beginning costs as much as a small read.
    """

    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: object) -> None:
        set_pragmas(connection)

    if begin is None:
        return

    # Without IMMEDIATE two writers that both read first cannot both go on: 157 of 400 failed.
    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)


def lock_name(connection: Connection, name: str) -> None:
    """Holds `name` until the transaction ends; SQLite has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name}
        )


_PICK = "FROM message WHERE session_id = :session_id AND seq = :seq"
_FTS5 = {
    "add": f"INSERT INTO message_index (rowid, words) SELECT id, :words {_PICK}",
    "copy": (
        "INSERT INTO message_index (rowid, words) SELECT new.id, message_index.words"
        " FROM message AS new JOIN message AS old ON old.seq = new.seq"
        " JOIN message_index ON message_index.rowid = old.id"
        " WHERE new.session_id = :new_id AND old.session_id = :old_id"
    ),
    "erase": (
        "DELETE FROM message_index WHERE rowid IN"
        " (SELECT id FROM message WHERE session_id = :session_id)"
    ),
    "find": (
        "SELECT message.session_id, session.title, message.seq, message.role, message.body,"
        " message.created_at FROM message_index"
        " JOIN message ON message.id = message_index.rowid"
        " JOIN session ON session.id = message.session_id"
        " WHERE message_index MATCH :query AND session.user_id = :user_id"
        " AND session.deleted_at IS NULL AND (:session_id IS NULL OR session.id = :session_id)"
        " ORDER BY message_index.rank, message.id DESC LIMIT :limit"
    ),
}
_TSVECTOR = {
    "add": (
        f"INSERT INTO message_index (id, words) SELECT id, to_tsvector('simple', :words) {_PICK}"
    ),
    "copy": (
        "INSERT INTO message_index (id, words) SELECT new.id, message_index.words"
        " FROM message AS new JOIN message AS old ON old.seq = new.seq"
        " JOIN message_index ON message_index.id = old.id"
        " WHERE new.session_id = :new_id AND old.session_id = :old_id"
    ),
    "erase": (
        "DELETE FROM message_index WHERE id IN"
        " (SELECT id FROM message WHERE session_id = :session_id)"
    ),
    "find": (
        "SELECT message.session_id, session.title, message.seq, message.role, message.body,"
        " message.created_at FROM to_tsquery('simple', :query) AS query, message_index"
        " JOIN message ON message.id = message_index.id"
        " JOIN session ON session.id = message.session_id"
        " WHERE message_index.words @@ query AND session.user_id = :user_id"
        " AND session.deleted_at IS NULL"
        " AND (CAST(:session_id AS text) IS NULL OR session.id = :session_id)"
        " ORDER BY ts_rank(message_index.words, query) DESC, message.id DESC LIMIT :limit"
    ),
}


def index_sql(connection: Connection, name: str) -> TextClause:
    """The statement that does `add`, `copy`, `erase` or `find` on the full-text index."""
    return text((_TSVECTOR if connection.dialect.name == "postgresql" else _FTS5)[name])


def index_query(connection: Connection, phrases: Sequence[Sequence[str]]) -> str:
    """A query for messages that hold every phrase; its last word may be a beginning."""
    if connection.dialect.name == "postgresql":
        return " & ".join(f"({' <-> '.join(words)}:*)" for words in phrases)
    return " AND ".join(f'"{" ".join(words)}" *' for words in phrases)


def after_purge(connection: Connection) -> None:
    """Takes purged words out of the index's own files too."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("INSERT INTO message_index (message_index) VALUES ('optimize')"))


def empty_log(engine: Engine) -> None:
    """Moves what SQLite's log still holds into the file, and clears the log."""
    if engine.dialect.name != "sqlite":
        return
    connection = engine.raw_connection()  # a checkpoint cannot run inside a transaction
    try:
        connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
    finally:
        connection.close()
