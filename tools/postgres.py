"""Starts a PostgreSQL of one's own, from the machine's binaries, in a temporary folder.

`CTXCORE_TEST_POSTGRES_URL` names a server to use in its place; databases are made in it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from ctxcore.packages import is_installed
from ctxcore.store.sql import database_url

VARIABLE = "CTXCORE_TEST_POSTGRES_URL"
_START_SECONDS = 60.0  # chosen: far longer than a start takes, beside other programs
_DEBIAN = Path("/usr/lib/postgresql")
# Nothing survives the folder: what makes it survive a power cut only costs time.
_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
_PLAIN = ("max_connections=300", "listen_addresses=", "log_min_messages=error")


class NoPostgresError(RuntimeError):
    """There is no PostgreSQL to start, or it does not start."""


def missing() -> str:
    """Why there is no PostgreSQL here; empty if there is one."""
    if not is_installed("psycopg"):
        return "psycopg is not installed"
    if os.environ.get(VARIABLE) or _binaries() is not None:
        return ""
    return f"no PostgreSQL is installed, and {VARIABLE} names none"


@contextmanager
def server(*, is_durable: bool = False, options: tuple[str, ...] = ()) -> Iterator[URL]:
    """The address of a server until the block ends; its role may make databases.

    With `is_durable` it writes as one does in earnest; `options` are such as `work_mem=8MB`.

    Raises:
        NoPostgresError: there is none, or it does not start.
    """
    if reason := missing():
        raise NoPostgresError(reason)
    if given := os.environ.get(VARIABLE):
        yield make_url(database_url(given))
        return
    folder = Path(mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path has 107 bytes at most
    try:
        settings = (*_PLAIN, *(() if is_durable else _FAST), *options)
        with _running(folder, settings) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(at: URL) -> Iterator[str]:
    """The address of a new, empty database of a server, which goes with the block."""
    name = f"ctxcore_{uuid4().hex[:12]}"
    _execute(at, f"CREATE DATABASE {name}")
    try:
        yield at.set(database=name).render_as_string(hide_password=False)
    finally:
        _execute(at, f"DROP DATABASE {name} WITH (FORCE)")


def _execute(at: URL, statement: str) -> None:
    engine = create_engine(at, isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()


def _binaries() -> Path | None:
    """The folder of the newest PostgreSQL's programs; None if there is none."""
    found = [path for path in _DEBIAN.glob("*/bin") if (path / "initdb").exists()]
    if found:
        return max(found, key=lambda path: _version(path.parent.name))
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _version(name: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", name)))


@contextmanager
def _running(folder: Path, settings: tuple[str, ...]) -> Iterator[URL]:
    programs, data, log = _binaries(), folder / "data", folder / "log"
    assert programs is not None
    os.chown(folder, *(_owner() or (-1, -1)))
    make = ("-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
    made = _start([str(programs / "initdb"), *make, "--locale=C.UTF-8"], folder, log)
    if made.wait():
        raise NoPostgresError(log.read_text(encoding="utf-8").strip())
    given = [part for setting in settings for part in ("-c", setting)]
    command = [str(programs / "postgres"), "-D", str(data), "-k", str(folder), *given]
    process = _start(command, folder, log)
    url = URL.create("postgresql+psycopg", username="postgres", database="postgres")
    url = url.update_query_dict({"host": str(folder)})
    try:
        _wait_for(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
        process.wait()


def _start(command: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    user, group = _owner() or (None, None)
    with log.open("w", encoding="utf-8") as opened:
        return subprocess.Popen(
            command,
            user=user,
            group=group,
            extra_groups=None if user is None else (),
            cwd=folder,
            stdout=opened,
            stderr=opened,
        )


def _owner() -> tuple[int, int] | None:
    """Who runs it in place of root, which PostgreSQL refuses; None: whoever asks."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_name: (entry.pw_uid, entry.pw_gid) for entry in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _wait_for(url: URL, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            _execute(url, "SELECT 1")
            return
        except OperationalError:
            time.sleep(0.05)
    raise NoPostgresError(log.read_text(encoding="utf-8").strip() or "it does not answer")
