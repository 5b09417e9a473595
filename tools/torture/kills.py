"""Kills processes at random moments, as a crash or a power button does, and looks at what is left.

Every worker tells what was acknowledged to it. Afterwards all of that must be there, nothing may be
half there, and the next process must work.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from sqlalchemy import URL

from ctxcore.engine import exchange
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import TurnEnded
from ctxcore.migrations import HEAD
from tools import postgres
from tools.torture import children
from tools.torture.children import Tell
from tools.torture.engines import ANSWER, LONG, START, opened
from tools.torture.outcomes import Outcome
from tools.torture.units import TALK, TALKS, first_session, prepare

ROUNDS = 20  # kills of a database before a new one; chosen: histories stay short
MOST_SECONDS = 0.25  # of work before a kill; chosen: some dozens of writes
LEGACY = Path("tests/integration/legacy/before_reason_codes.sql")
_BATCH = 8

Told: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is done again and again until the kill, and what must hold afterwards."""

    name: str
    work: Callable[[ContextEngine, Tell], None]
    check: Callable[[ContextEngine, Told, int], Iterator[str]]
    """Given all that was told in the database and the number of kills; yields problems."""


def _texts(engine: ContextEngine, role: str) -> list[str]:
    infos = engine.store.messages(first_session(engine))
    return [info.message.text for info in infos if info.message.role == role]


def _append(engine: ContextEngine, tell: Tell) -> None:
    session_id, start = first_session(engine), engine.session(first_session(engine)).length
    for number in count(start):
        texts = [f"{part} of {number}" for part in ("first", "second", "third")]
        engine.append(session_id, [{"role": "user", "content": text} for text in texts])
        tell(texts)


def _check_append(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    stored = Counter(_texts(engine, "user"))
    acknowledged = [text for texts in told for text in texts]
    yield from (f"lost {text!r}" for text in acknowledged if not stored[text])
    yield from (f"{times} times {text!r}" for text, times in stored.items() if times > 1)
    parts = Counter(text.split(" of ")[1] for text in stored if " of " in text)
    yield from (f"{parts[number]} of 3 of {number}" for number in parts if parts[number] != 3)
    if (more := len(parts) - len(told)) > kills:
        yield f"{more} batches that nobody sent"


def _turns(engine: ContextEngine, tell: Tell) -> None:
    session_id, start = first_session(engine), engine.session(first_session(engine)).length
    for number in count(start):
        asked = f"request {number}"
        events = engine.chat(session_id, asked)
        next(events)
        tell(["asked", asked])
        for event in events:
            if isinstance(event, TurnEnded) and event.state == "done":
                tell(["answered", asked])


def _check_turns(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    stored = [info.message for info in engine.store.messages(first_session(engine))]
    asked = {message.text: at for at, message in enumerate(stored) if message.role == "user"}
    for kind, text in told:
        if text not in asked:
            yield f"lost {text!r}"
        elif kind == "answered" and [m.text for m in stored[asked[text] + 1 :][:1]] != [ANSWER]:
            yield f"lost the answer to {text!r}"
    # The session began with a talk; the answers since then are of the model.
    since = min(asked[text] for _, text in told) if told else len(stored)
    answers = [message.text for message in stored[since:] if message.role == "assistant"]
    yield from (f"an answer nobody gave: {text!r}" for text in answers if text not in ANSWER)
    if (open_turns := engine.store.running_turns()) and len(open_turns) > 1:
        yield f"{len(open_turns)} turns run"
    engine.interrupt_stale_turns()
    if engine.store.running_turns():
        yield "a turn of the killed process still runs"
    *_, ended = engine.chat(first_session(engine), f"after kill {kills}")
    if not isinstance(ended, TurnEnded) or (ended.state, ended.text) != ("done", ANSWER):
        yield f"the next turn ended as {ended}"


def _compact(engine: ContextEngine, tell: Tell) -> None:
    session_id = first_session(engine)
    while True:
        engine.append(session_id, TALK[:8])
        made = engine.compact(session_id)
        if made is not None:
            tell(made.id)


def _check_compact(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    session = engine.session(first_session(engine))
    made = {one.id: one for one in engine.compactions(session.id)}
    yield from (f"lost compaction {identity}" for identity in told if identity not in made)
    if session.active_compaction_id not in made:
        yield f"the active compaction {session.active_compaction_id} is not there"
    else:
        newest = max(made.values(), key=lambda one: one.number)
        if newest.id != session.active_compaction_id:
            yield "the newest compaction is not active"
    added = session.length - len(TALK) - 1
    if added % 8 or added < 8 * len(told):
        yield f"{added} messages of at least {8 * len(told)}, which come by eight"


def _undo(engine: ContextEngine, tell: Tell) -> None:
    session_id = first_session(engine)
    while True:
        undone = engine.undo(session_id)
        tell(["undone", undone.id if undone else None])
        redone = engine.redo(session_id)
        tell(["redone", redone.id if redone else None])


def _check_undo(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    session = engine.session(first_session(engine))
    [made] = engine.compactions(session.id)
    if session.active_compaction_id not in (None, made.id):
        yield f"{session.active_compaction_id} is active"
    if session.active_compaction_id is None:
        engine.redo(session.id)
    if engine.session(session.id).active_compaction_id != made.id:
        yield "the undone compaction cannot be redone"


def _import(engine: ContextEngine, tell: Tell) -> None:
    export = engine.export(first_session(engine))
    while True:
        for name, text in (("talks.jsonl", TALKS), ("export.jsonl", export)):
            tell([session.id for session in engine.import_(text, name=name)])


def _check_import(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    shown = {session.id: session for session in engine.sessions(limit=100_000)}
    yield from (f"lost session {one}" for ids in told for one in ids if one not in shown)
    first = shown[first_session(engine)]
    first_digest = engine.digest(first.id)
    talks = [one for one in shown.values() if one.origin != "chat"]
    if len(talks) % 3:
        yield f"{len(talks)} talks are seen, which come by three"
    for session in shown.values():
        whole = first.length if session.origin == "chat" else len(TALK) + 1
        if session.length != whole or session.indexed_until != whole:
            yield f"{session.length} of {whole} messages, {session.indexed_until} are searchable"
        if session.origin == "chat" and engine.digest(session.id) != first_digest:
            yield "an imported export differs"
    engine.purge_expired()
    if (kept := engine.store.database_info().sessions) != len(shown):
        yield f"{kept} sessions are stored, {len(shown)} are seen"


def _make(engine: ContextEngine, tell: Tell) -> None:
    session_id = first_session(engine)
    while True:
        tell([engine.create_session("made", system="Be exact.").id, 1])
        for make, at in ((engine.fork, 14), (engine.branch, 15)):  # one untold at a kill
            tell([make(session_id, at).id, 15])


def _check_make(engine: ContextEngine, told: Told, kills: int) -> Iterator[str]:
    shown = {session.id: session for session in engine.sessions(limit=100_000)}
    for session_id, length in told:
        if session_id not in shown:
            yield f"lost session {session_id}"
        elif shown[session_id].length != length:
            yield f"session {session_id} has {shown[session_id].length} of {length} messages"
    for session in shown.values():
        if session.title == "made" and not engine.system(session.id):
            yield "a session without its system prompt"
    if (more := len(shown) - 1 - len(told)) > kills:
        yield f"{more} sessions that nobody made"


WORKLOADS = (
    Workload(name="append", work=_append, check=_check_append),
    Workload(name="streaming turn", work=_turns, check=_check_turns),
    Workload(name="compaction", work=_compact, check=_check_compact),
    Workload(name="undo and redo", work=_undo, check=_check_undo),
    Workload(name="import", work=_import, check=_check_import),
    Workload(name="create, fork, branch", work=_make, check=_check_make),
)


def check_kills(
    workload: Workload, folder: Path, *, kills: int, seed: int, server: URL | None = None
) -> Outcome:
    """Kills a worker so often, each time at another moment; on PostgreSQL if there is a server."""
    where = "" if server is None else ", PostgreSQL"
    attack = f"kill -9: {workload.name}{where}"
    outcome, chosen = Outcome(attack=attack, unit="kills"), random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, kills, ROUNDS):
        with _new_database(folder / f"{start}.db", server) as url:
            children.answers(partial(_prepared, url))
            told: list[Any] = []
            for at in range(min(ROUNDS, kills - start)):
                new = _killed(partial(_worked, workload, url, at), chosen)
                told += new
                outcome.count += 1
                outcome.add("writes acknowledged", len(new))
                found = children.answers(partial(_checked, workload, url, told, at))
                outcome.problems += [f"kill {start + at}: {problem}" for problem in found]
    return outcome


def _new_database(path: Path, server: URL | None) -> AbstractContextManager[str]:
    return nullcontext(f"sqlite:///{path}") if server is None else postgres.database(server)


def check_migration(folder: Path, *, kills: int, seed: int) -> Outcome:
    """Kills a process while it upgrades a database of an older release."""
    outcome, chosen = Outcome(attack="kill -9: migration", unit="kills"), random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.db"
    _restore(whole)
    children.answers(partial(_migrated, whole))
    content = _dump(whole)
    for at in range(kills):
        path = folder / f"{at}.db"
        _restore(path)
        child = children.start(partial(_upgrade, path))
        child.wait_until_told(1)
        child.wait(chosen.uniform(0.0, MOST_SECONDS))
        child.kill()
        _, told = child.ended()
        outcome.count += 1
        outcome.add("interrupted" if len(told) < 2 else "done before")
        children.answers(partial(_migrated, path))
        if _dump(path) != content:
            outcome.problems.append(f"kill {at}: {path} differs from an upgrade that was let be")
    return outcome


def _killed(work: Callable[[Tell], None], chosen: random.Random) -> list[Any]:
    child = children.start(work)
    child.wait_until_told(1)
    child.wait(chosen.uniform(0.0, MOST_SECONDS))
    child.kill()
    status, told = child.ended()
    if status > 0:
        raise RuntimeError(told[-1]["failed"])
    return told


def _prepared(url: str) -> Iterator[Any]:
    prepare(url)
    yield "prepared"


def _worked(workload: Workload, url: str, number: int, tell: Tell) -> None:
    exchange._BATCH = _BATCH
    with opened(url, since=START + (2 * number + 1) * LONG) as engine:
        workload.work(engine, tell)


def _checked(workload: Workload, url: str, told: Told, number: int) -> Iterator[Any]:
    """The problems of a database after a kill."""
    with opened(url, since=START + (2 * number + 2) * LONG) as engine:
        yield from engine.check_database() or ()
        yield from workload.check(engine, told, number + 1)
        for session in engine.sessions(limit=1_000):
            infos = engine.store.messages(session.id)
            if [info.seq for info in infos] != list(range(1, session.length + 1)):
                yield f"the messages of {session.title!r} are not numbered 1 … {session.length}"
            if session.indexed_until != session.length:
                yield f"search knows {session.indexed_until} of {session.length} messages"
        last = engine.session(first_session(engine))
        if not engine.context(last.id).messages:
            yield "the next context is empty"


def _restore(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(LEGACY.read_text(encoding="utf-8"))


def _upgrade(path: Path, tell: Tell) -> None:
    tell("begun")
    with opened(f"sqlite:///{path}"):
        tell("done")


def _migrated(path: Path) -> Iterator[Any]:
    with opened(f"sqlite:///{path}") as engine:
        assert engine.store.database_info().revision == HEAD
        yield engine.check_database()


def _dump(path: Path) -> Mapping[str, Any]:
    """All rows by table."""
    with closing(sqlite3.connect(path)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for (name,) in names}
    return {name: json.dumps(found, default=repr) for name, found in sorted(rows.items())}
