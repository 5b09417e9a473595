"""Kills a process at each statement of one unit of work: all of it is there afterwards, or none.

What is there is compared as anybody sees it: the sessions with their whole content, what is found
by search, and what is known as imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from shutil import copyfile
from typing import Any

from sqlalchemy import Engine, event

from ctxcore.engine import exchange
from ctxcore.engine.core import ContextEngine
from ctxcore.messages.values import JsonObject
from tools.torture import children
from tools.torture.children import Tell
from tools.torture.engines import LONG, START, opened
from tools.torture.outcomes import Outcome

Unit = Callable[[ContextEngine], object]

TALK = [
    {"role": role, "content": f"{word} {at}: we store the backups in /srv/store-{at}.tar"}
    for at in range(12)
    for role, word in (("user", "question"), ("assistant", "answer"))
]
TALKS = "\n".join(
    json.dumps({"messages": [{"role": "system", "content": f"talk {at}"}, *TALK]})
    for at in range(3)
)
TOOLS: list[JsonObject] = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
_BATCH = 8  # messages that an import writes at once, so that short files take several writes


def prepare(url: str) -> str:
    """A database with a compacted session; the export of it."""
    with opened(url) as engine:
        session = engine.create_session("first", system="Answer briefly.", tools=TOOLS)
        engine.append(session.id, TALK)
        engine.pin(session.id, 3)
        engine.compact(session.id)
        return engine.export(session.id)


def first_session(engine: ContextEngine) -> str:
    """The session that `prepare` made."""
    sessions = engine.sessions(limit=100_000)
    return min(sessions, key=lambda session: session.created_at).id


UNITS: dict[str, Unit] = {
    "create": lambda engine: engine.create_session("new", system="Be exact.", tools=TOOLS),
    "append": lambda engine: engine.append(first_session(engine), TALK[:6]),
    "fork": lambda engine: engine.fork(first_session(engine), 20),
    "branch": lambda engine: engine.branch(first_session(engine), 21),
    "compact": lambda engine: engine.compact(first_session(engine)),
    "undo": lambda engine: engine.undo(first_session(engine)),
    "redo": lambda engine: engine.redo(first_session(engine)),
    "import of several": lambda engine: engine.import_(TALKS, name="talks.jsonl"),
    "system prompt": lambda engine: engine.set_system(first_session(engine), "Be brief and exact."),
    "purge": lambda engine: engine.purge(first_session(engine)),
}
_BEFORE: dict[str, Unit] = {
    "compact": lambda engine: engine.append(first_session(engine), TALK),
    "redo": lambda engine: engine.undo(first_session(engine)),
}
"""What is done before the unit."""


def check_unit(name: str, folder: Path, *, stride: int = 1) -> Outcome:
    """Kills the unit at every `stride`th statement or commit."""
    outcome = Outcome(attack=f"kill at each statement: {name}", unit="kills")
    folder.mkdir(parents=True, exist_ok=True)
    first = folder / "first.db"
    [export] = children.answers(lambda: iter([prepare(url_of(first))]))
    unit = UNITS.get(name) or (lambda engine: engine.import_(export, name="export.jsonl"))
    prior = _BEFORE.get(name)
    if prior is not None:
        children.answers(partial(_done, url_of(first), prior))
    known = [export, TALKS]
    whole = folder / "whole.db"
    copyfile(first, whole)
    before = _state(url_of(whole), known)
    children.answers(partial(_done, url_of(whole), unit))
    after = _state(url_of(whole), known)
    for at in count(0, stride):
        path = folder / "killed.db"
        for old in folder.glob("killed.db*"):
            old.unlink()
        copyfile(first, path)
        status, _ = children.run(partial(_killed, url_of(path), unit, at))
        if status != -signal.SIGKILL:
            break
        outcome.count += 1
        found = _state(url_of(path), known)
        outcome.add("whole" if found == after else "nothing of it")
        if found == before:
            found = _state(url_of(path), known, first=unit)  # the next process can do it
        if found != after:
            outcome.problems.append(f"at statement {at}: {found}")
    return outcome


def url_of(path: Path) -> str:
    """The address of a database file."""
    return f"sqlite:///{path}"


def _done(url: str, unit: Unit, *, since: datetime = START + LONG) -> Iterator[Any]:
    exchange._BATCH = _BATCH
    with opened(url, since=since) as engine:
        unit(engine)
    yield "done"


def _killed(url: str, unit: Unit, at: int, tell: Tell) -> None:
    """Does the unit, and dies before its statement or commit `at`."""
    exchange._BATCH = _BATCH
    left = count(at, -1)

    def die(*_: object) -> None:
        if next(left) <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    with opened(url, since=START + LONG) as engine:
        engine.sessions()
        event.listen(Engine, "before_cursor_execute", die)
        event.listen(Engine, "commit", die)
        unit(engine)
    os._exit(0)


def _state(url: str, known: list[str], *, first: Unit | None = None) -> Any:
    """What anybody sees of the database, after `first` was done in it."""

    def seen() -> Iterator[Any]:
        if first is not None:
            yield from _done(url, first, since=START + 2 * LONG)  # leases have ended
        with opened(url, since=START + 3 * LONG) as engine:
            sessions = engine.sessions()
            yield [
                sorted(_content(engine.export(session.id)) for session in sessions),
                sum(len(engine.recall(one.id, "backups", limit=100)) for one in sessions),
                len(engine.search("backups talk")),
                [sorted(engine.imported_before(text)) for text in known],
                engine.check_database(),
            ]

    return children.answers(seen)[-1]


def _content(export: str) -> str:
    """A hash of an exported session without its times."""
    lines = (json.loads(line) for line in export.splitlines()[:-1])
    parts = (re.sub(r'"(?:seconds|[a-z]*_?at)": [^,}]*', "", json.dumps(line)) for line in lines)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
