"""Says whether a database has changed, by whichever process, for those who would look again.

What has changed is not told: a look costs a small statement, and most changes concern nobody who
looks. Nothing of this is on the path of a write.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final, Protocol

from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

logger = logging.getLogger(__name__)

CHANNEL: Final = "ctxcore_changes"
APART_SECONDS: Final = 0.2
"""Between two announcements of a process. Chosen: PostgreSQL lets commits that announce something
wait for each other, so that no write announces itself, and many share one."""
LISTEN_SECONDS: Final = 5.0  # chosen: how long one wait of the driver takes at most
RETRY_SECONDS: Final = 5.0  # chosen: between two attempts to reach a server that is gone


class Changes(Protocol):
    """Counts the changes of a database; safe to share between threads."""

    def count(self) -> int:
        """A number that is another one after every change, by whichever process."""

    def note(self) -> None:
        """Says that this process has just changed something."""

    def close(self) -> None:
        """Ends threads and connections."""


class OwnChanges:
    """Of a database that only this process has."""

    def __init__(self) -> None:
        self._count = 0

    def count(self) -> int:
        return self._count

    def note(self) -> None:
        self._count += 1  # threads that write have a lock

    def close(self) -> None:
        pass


class FileChanges:
    """Of an SQLite file, which knows itself whether anybody else has committed."""

    def __init__(self, reader: Engine) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._connection: Any = None

    def count(self) -> int:
        # Always the same connection: the number is about the others since it was opened.
        with self._lock:
            if self._connection is None:
                self._connection = self._reader.raw_connection()
            row = self._connection.cursor().execute("PRAGMA data_version").fetchone()
        return int(row[0])

    def note(self) -> None:
        pass

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class ServerChanges:
    """Of a PostgreSQL database: processes tell each other by NOTIFY, in threads of their own.

    Through a pooler that gives each transaction another connection nothing is heard; the count then
    stays as it is.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine  # each statement a transaction of its own
        self._count = 0
        self._is_due, self._ends = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._threads: dict[str, threading.Thread] = {}

    def count(self) -> int:
        self._run("changes-listening", self._listen)
        return self._count

    def note(self) -> None:
        self._is_due.set()
        self._run("changes-announcing", self._announce)

    def close(self) -> None:
        self._ends.set()
        self._is_due.set()
        with self._lock:
            threads = list(self._threads.values())
        if threads:
            self._run("changes-announcing", self._announce)  # wakes who listens, too
            for thread in [*threads, *self._threads.values()]:
                thread.join(2 * LISTEN_SECONDS)

    def _run(self, name: str, work: Any) -> None:
        if name in self._threads:
            return
        with self._lock:
            if name not in self._threads:
                self._threads[name] = threading.Thread(target=work, name=name, daemon=True)
                self._threads[name].start()

    def _announce(self) -> None:
        while True:
            self._is_due.wait()
            self._is_due.clear()
            try:
                with self._engine.connect() as connection:
                    connection.execute(text(f"NOTIFY {CHANNEL}"))
            except SQLAlchemyError as error:  # others look again by themselves, only later
                logger.warning("a change was not announced: %s", type(error).__name__)
            if self._ends.wait(APART_SECONDS):
                return

    def _listen(self) -> None:
        while not self._ends.is_set():
            try:
                self._hear()
            except Exception as error:  # noqa: BLE001 - whatever the driver raises: try again
                logger.warning("changes are not heard: %s", type(error).__name__)
                self._ends.wait(RETRY_SECONDS)

    def _hear(self) -> None:
        with self._engine.connect() as connection:
            connection.execute(text(f"LISTEN {CHANNEL}"))
            self._count += 1  # whatever was said before is unknown
            driver: Any = connection.connection.driver_connection
            while not self._ends.is_set():
                for _ in driver.notifies(timeout=LISTEN_SECONDS, stop_after=1):
                    self._count += 1
            connection.invalidate()  # nobody else is to hear what is still said
