"""Connections, schema and full-text index, for SQLite and PostgreSQL.

All that the two databases do differently is here; the other modules use the same SQL for both.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Executable,
    RowMapping,
    TextClause,
    create_engine,
    event,
    inspect,
    make_url,
    text,
)
from sqlalchemy.exc import InvalidatePoolError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

import ctxcore.migrations
from ctxcore.migrations import HEAD
from ctxcore.reasons.foreign import DatabaseProblem, reason_of
from ctxcore.reasons.storage_problems import RecordCode, StoreProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.changes import Changes, FileChanges, OwnChanges, ServerChanges
from ctxcore.store.errors import CorruptRecordError, DatabaseError, SchemaError
from ctxcore.store.known_rows import KnownRows
from ctxcore.store.rule_books import RuleBooks
from ctxcore.tables import Row, Unreadable

if TYPE_CHECKING:
    from alembic.config import Config

logger = logging.getLogger(__name__)

T = TypeVar("T")

IDLE_SECONDS = 5.0  # chosen: far longer than between the statements of a turn
BUSY_MILLISECONDS = 15_000  # a writer's wait for another; chosen: longer than any write takes


_DRIVERS: Final = {"sqlite": "Python with sqlite3", "postgresql": "ctxcore-window[postgres]"}
"""The kinds of databases that are supported, each with what has its driver."""


def make_engines(url: URL) -> tuple[Engine, Engine]:
    """One engine for writing and one for reading; the same one for a database in memory."""
    if not is_sqlite(url):
        engine = create_engine(url, max_overflow=30, hide_parameters=True)
        _ping_idle(engine)
        # Each statement that reads is a transaction of its own: no BEGIN, no ROLLBACK to wait for.
        return engine, engine.execution_options(isolation_level="AUTOCOMMIT")
    if is_in_memory(url):
        engine = create_engine(
            url,
            poolclass=StaticPool,
            connect_args={"check_same_thread": False},
            hide_parameters=True,
        )
        _prepare_sqlite(engine, begin="BEGIN IMMEDIATE")
        return engine, engine
    file_of(url).parent.mkdir(parents=True, exist_ok=True)
    writer = create_engine(url, pool_size=1, hide_parameters=True)
    reader = create_engine(url, max_overflow=30, hide_parameters=True)
    _prepare_sqlite(writer, begin="BEGIN IMMEDIATE")
    _prepare_sqlite(reader, begin=None)
    return writer, reader


def _ping_idle(engine: Engine) -> None:
    """Asks connections that were idle for long whether the server still knows them.

    Asking each time would cost every read and write a round trip. Of a server that restarts, what
    runs at that moment sees an error; all connections are then made anew.
    """

    @event.listens_for(engine, "checkin")
    def returned(connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["returned"] = monotonic()

    @event.listens_for(engine, "checkout")
    def taken(connection: Any, record: ConnectionPoolEntry, proxy: object) -> None:
        returned = record.info.get("returned")
        if returned is None or monotonic() - returned < IDLE_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error  # the pool then makes a new one


def is_sqlite(url: URL) -> bool:
    """Whether `url` names an SQLite database."""
    return url.get_backend_name() == "sqlite"


def is_in_memory(url: URL) -> bool:
    """Whether the database exists only in this process."""
    return is_sqlite(url) and url.database in (None, "", ":memory:")


def file_of(url: URL) -> Path:
    """The file of an SQLite database, which its URL may name as a URI with options."""
    (name, *_), options = url.get_dialect()().create_connect_args(url)
    return Path(unquote(urlsplit(name).path) if options.get("uri") else name)


def set_pragmas(connection: Any) -> None:
    """Sets all options of an SQLite connection, given the driver's own connection.

    A power cut may lose the last commits but damages nothing; `secure_delete` overwrites purged
    texts in the file.
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
    """Sets pragmas for every connection, and the statement that begins a transaction.

    With None each statement is a transaction of its own. Reads need no more, since rows are only
    added, and a BEGIN costs as much as a small read.
    """

    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: object) -> None:
        try:
            set_pragmas(connection)
        except BaseException:
            connection.close()  # the pool forgets a connection that fails here without closing it
            raise

    if begin is None:
        return

    # Without IMMEDIATE two writers that both read first cannot both go on: 157 of 400 failed.
    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)


def lock_name(connection: Connection, name: str) -> None:
    """Locks `name` until the transaction ends; SQLite has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": name}
        )


LEAST_PREFIX_CHARS = 3  # chosen: words that begin with “i” are a twentieth of all that is said
_INDEX_SQL = {
    # INSERT … SELECT takes five times as long in SQLite: before each, the index writes what it has.
    "add": (
        "INSERT INTO message_index ({key}, words) VALUES ("
        "(SELECT id FROM message WHERE session_id = :session_id AND seq = :seq), {words})"
    ),
    "copy": (
        "INSERT INTO message_index ({key}, words) SELECT new.id, message_index.words"
        " FROM message AS new JOIN message AS old ON old.seq = new.seq"
        " JOIN message_index ON message_index.{key} = old.id"
        " WHERE new.session_id = :new_id AND old.session_id = :old_id"
    ),
    "erase": (
        "DELETE FROM message_index WHERE {key} IN"
        " (SELECT id FROM message WHERE session_id = :session_id)"
    ),
}
_PLACES = (
    "SELECT * FROM (SELECT {at} AS term, {columns}"
    " FROM message_index CROSS JOIN message {tables}"  # SQLite looks into the left one first
    " WHERE {any_matches} AND message.id = message_index.{key} AND {scope}"
    " ORDER BY message_index.{key} DESC LIMIT :most) AS found_{at}"
)
_IN_SESSION = {  # a session's messages lie between its first and its last in the index too
    "columns": "message.seq AS seq",
    "tables": "",
    "scope": "message.session_id = :session_id AND message.seq <= :last"
    " AND message_index.{key} BETWEEN"
    " (SELECT id FROM message WHERE session_id = :session_id AND seq = 1) AND"
    " (SELECT id FROM message WHERE session_id = :session_id AND seq = :last)",
}
_PRESENT = "session.user_id = :user_id AND session.deleted_at IS NULL AND session.staged_at IS NULL"
_OF_USER = {
    "columns": "message.id AS id, message.session_id AS session_id, message.seq AS seq,"
    f" (SELECT SUM(session.length) FROM session WHERE {_PRESENT}) AS messages",
    "tables": "CROSS JOIN session",
    "scope": f"session.id = message.session_id AND {_PRESENT}",
}
_FTS5 = {
    "key": "rowid",
    "words": ":words",
    "any_matches": "message_index MATCH :query_{at}",
}
_TSVECTOR = {
    "key": "id",
    "words": "to_tsvector('simple', :words)",
    "any_matches": "message_index.words @@ to_tsquery('simple', :query_{at})",
}


def index_sql(connection: Connection, name: str) -> TextClause:
    """The statement that does `add`, `copy` or `erase` on the full-text index."""
    return _index_sql(name, is_postgres=connection.dialect.name == "postgresql")


@cache
def _index_sql(name: str, *, is_postgres: bool) -> TextClause:
    return text(_INDEX_SQL[name].format_map(_TSVECTOR if is_postgres else _FTS5))


def places_sql(
    connection: Connection, terms: int, *, within: Literal["session", "user"]
) -> TextClause:
    """The statement for the newest messages with each of the `query_0`, `query_1` …

    Its rows are numbers of queries with messages, the newest first: those of a session up to
    `last` by their numbers there; or those of a user's sessions that are not deleted, with their
    ids, and with the number of all messages in these.
    """
    is_postgres = connection.dialect.name == "postgresql"
    return _places_sql(terms, within, is_postgres=is_postgres)


@cache
def _places_sql(terms: int, within: Literal["session", "user"], *, is_postgres: bool) -> TextClause:
    names = _TSVECTOR if is_postgres else _FTS5
    one = _PLACES
    for name, part in {**(_IN_SESSION if within == "session" else _OF_USER), **names}.items():
        one = one.replace(f"{{{name}}}", part)
    return text(" UNION ALL ".join(one.replace("{at}", str(at)) for at in range(terms)))


def any_query(
    connection: Connection, phrases: Iterable[Sequence[str]], *, begins: bool = False
) -> str:
    """A query for messages with one of the phrases; with `begins`, its last word may go on."""
    is_postgres = connection.dialect.name == "postgresql"
    mark, between = (":*", " <-> ") if is_postgres else (" *", " ")
    start, end, either = ("(", ")", " | ") if is_postgres else ('"', '"', " OR ")
    return either.join(
        f"{start}{between.join(words)}{mark if is_postgres and goes_on else ''}{end}"
        f"{mark if goes_on and not is_postgres else ''}"
        for words in phrases
        for goes_on in (begins and _may_go_on(words[-1]),)
    )


def _may_go_on(word: str) -> bool:
    """Whether `word` may be the beginning of another; one or two letters begin too many."""
    return len(word) >= LEAST_PREFIX_CHARS or not word.isascii()


def after_purge(connection: Connection) -> None:
    """Removes purged words from the full-text index's own tables too."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("INSERT INTO message_index (message_index) VALUES ('optimize')"))


def upgrade(connection: Connection, *, to: str = HEAD) -> None:
    """Runs the missing revisions in the transaction of `connection`.

    Raises:
        SchemaError: the database is newer than this library.
        DatabaseError: it has no revision, but tables of our names.
    """
    lock_name(connection, "ctxcore schema")
    revision = revision_of(connection)
    if revision == to:  # another process has just done it
        return
    if revision is None:
        _check_own(connection)

    from alembic import command  # 0.7 s
    from alembic.util import CommandError

    try:
        command.upgrade(make_config(connection), to)
    except CommandError as error:
        raise SchemaError(revision=revision or "none", known=to) from error
    logger.info("upgraded database from=%s to=%s", revision, to)


def make_config(connection: Connection) -> Config:
    """The configuration of Alembic's commands, e.g. `command.revision(…, autogenerate=True)`."""
    from alembic.config import Config

    config = Config()
    folder = Path(ctxcore.migrations.__file__).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["metadata"] = Row.metadata
    return config


def revision_of(connection: Connection) -> str | None:
    """The database's revision; None if it is new."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


class Database:
    """An open database; opening creates it or upgrades it to the newest schema."""

    def __init__(self, url: str) -> None:
        with explained():
            self.url = parsed = make_url(url)
            self._writer, self._reader = _engines_of(parsed)
        self.rule_books, self.known_rows = RuleBooks(), KnownRows()
        self._closed = Event()
        self.changes = _changes_of(parsed, self._reader)
        lock = Lock()
        self._writing: AbstractContextManager[object] = lock if is_sqlite(parsed) else nullcontext()
        self._reading: AbstractContextManager[object] = (
            lock if is_in_memory(parsed) else nullcontext()
        )
        try:
            with self.read() as connection:
                revision = revision_of(connection)
            if revision != HEAD:
                with self.write() as connection:
                    upgrade(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One write transaction."""
        with (
            self._writing,
            explained(),
            self._used(self._writer),
            self._writer.begin() as connection,
        ):
            yield connection
        self.changes.note()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that only reads."""
        with (
            self._reading,
            explained(),
            self._used(self._reader),
            self._reader.connect() as connection,
        ):
            yield connection

    def empty_log(self) -> None:
        """Removes erased rows from the log too, unless another process is reading it."""
        if self._writer.dialect.name != "sqlite":
            return
        # A raw connection, since no checkpoint can run inside a transaction.
        with self._writing, explained(), closing(self._writer.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").close()

    def close(self) -> None:
        """Closes all connections, after the current write; later reads and writes raise."""
        self.changes.close()
        with self._writing:
            self._closed.set()
            self._writer.pool.dispose()
            self._reader.pool.dispose()

    @contextmanager
    def _used(self, engine: Engine) -> Iterator[None]:
        """A use of `engine`; its connection is closed with the database, or right after the use."""
        if self._closed.is_set():
            raise DatabaseError(problem=StoreProblem.CLOSED())
        try:
            yield
        finally:
            if self._closed.is_set():  # meanwhile, by another thread; this one was left open
                engine.pool.dispose()


# What SQLite says, with what to do about it.
_ADVISED: Final[Mapping[str, Callable[[], Reason]]] = {
    DatabaseProblem.LOCKED: StoreProblem.LOCKED,
    DatabaseProblem.FULL: StoreProblem.FULL,
    DatabaseProblem.READONLY: StoreProblem.READ_ONLY,
    DatabaseProblem.NO_DATABASE: StoreProblem.NO_DATABASE,
    DatabaseProblem.MALFORMED: StoreProblem.MALFORMED,
}


def _engines_of(url: URL) -> tuple[Engine, Engine]:
    """The engines for `url`.

    Raises:
        DatabaseError: its kind is none that is supported, or its driver is not installed.
    """
    kind = url.get_backend_name()
    if kind not in _DRIVERS:
        raise DatabaseError(problem=StoreProblem.UNKNOWN_KIND(kind=kind))
    try:
        return make_engines(url)
    except ImportError as error:
        problem = StoreProblem.NO_DRIVER(kind=kind, package=_DRIVERS[kind])
        raise DatabaseError(problem=problem) from error


def _changes_of(url: URL, reader: Engine) -> Changes:
    if is_in_memory(url):
        return OwnChanges()
    return FileChanges(reader) if is_sqlite(url) else ServerChanges(reader)


def _check_own(connection: Connection) -> None:
    """Refuses a database without a revision that has tables of our names.

    Raises:
        DatabaseError: it has.
    """
    found = sorted(Row.metadata.tables.keys() & set(inspect(connection).get_table_names()))
    if found:
        raise DatabaseError(problem=StoreProblem.FOREIGN_TABLES(names=", ".join(found)))


@contextmanager
def explained() -> Iterator[None]:
    """Turns the driver's errors into the library's."""
    try:
        yield
    except SQLAlchemyError as error:
        cause = reason_of(getattr(error, "orig", None) or error)
        raise DatabaseError(problem=_ADVISED.get(cause.code, lambda: cause)()) from error
    except OSError as error:  # no such folder
        raise DatabaseError(problem=reason_of(error)) from error
    except ValueError as error:
        if not _is_of_a_column(error):
            raise
        raise DatabaseError(problem=StoreProblem.DAMAGED_VALUE(reason=reason_of(error))) from error


def _is_of_a_column(error: ValueError) -> bool:
    """Whether it says that the value of a column is none of the column's type."""
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return True
    *_, (frame, _) = walk_tb(error.__traceback__)
    return "sqlalchemy" in frame.f_code.co_filename


def readable(row: RowMapping) -> RowMapping:
    """A row whose JSON columns can all be read.

    Raises:
        CorruptRecordError: one of them cannot.
    """
    for name, value in row.items():
        if isinstance(value, Unreadable):
            raise CorruptRecordError(
                session_id=str(row.get("session_id") or row.get("id") or ""),
                record=RecordCode.COLUMN(name=name),
                problem=reason_of(value.error),
            )
    return row


class Area:
    """Base of the store's parts, each with the methods for one kind of record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _list(
        self,
        statement: Executable,
        to_value: Callable[[RowMapping], T],
        *,
        heals: bool = False,
        **values: Any,
    ) -> list[T]:
        """The rows of `statement` as values; a damaged one is left out, and logged.

        `heals`: `to_value` itself takes rows with columns that cannot be read.
        """
        with self._database.read() as connection:
            rows = connection.execute(statement, values).mappings().all()
        found: list[T] = []
        for row in rows:
            try:
                found.append(to_value(row if heals else readable(row)))
            except CorruptRecordError as error:
                logger.warning("damaged row: %s", error)
        return found

    def _first(
        self,
        statement: Executable,
        to_value: Callable[[RowMapping], T],
        *,
        heals: bool = False,
        **values: Any,
    ) -> T | None:
        """The first row of `statement` as a value; None if there is none.

        Raises:
            CorruptRecordError: it is damaged.
        """
        with self._database.read() as connection:
            row = connection.execute(statement, values).mappings().first()
        return None if row is None else to_value(row if heals else readable(row))
