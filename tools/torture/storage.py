"""Full disks, read-only files and folders, and files in which bytes were flipped.

A write fails with an error of the library and changes nothing; what was acknowledged is there, and
writing works again once there is room.
"""

from __future__ import annotations

import os
import random
import resource
import signal
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from shutil import copyfile
from typing import Any

from ctxcore.errors import ContextError
from ctxcore.store.errors import StoreError
from tools.torture import children
from tools.torture.children import Tell
from tools.torture.engines import LONG, START, opened
from tools.torture.outcomes import Outcome
from tools.torture.units import TALK, TALKS, first_session, prepare

_ROOM = 64 * 1024  # bytes that a file may grow by; chosen: a few writes fit
_SHORT_TEXT = "another message " * 20


def check_full_disk(folder: Path, *, times: int) -> Outcome:
    """Writes until files may not grow any more, at another size each time."""
    outcome = Outcome(attack="disk full", unit="times")
    folder.mkdir(parents=True, exist_ok=True)
    url = f"sqlite:///{folder / 'full.db'}"
    children.answers(partial(_prepared, url))
    acknowledged: list[str] = []
    for at in range(times):
        _, told = children.run(partial(_fill, url, at, (folder / "full.db").stat().st_size))
        outcome.count += 1
        acknowledged += [line["text"] for line in told if "text" in line]
        errors = [line["error"] for line in told if "error" in line]
        outcome.add("writes acknowledged", sum("text" in line for line in told))
        outcome.add("writes refused", len(errors))
        outcome.problems += [line["failed"] for line in told if "failed" in line]
        outcome.problems += [f"time {at}: nothing was refused"] * (not errors)
        outcome.problems += children.answers(partial(_whole, url, acknowledged))
    return outcome


def _prepared(url: str) -> Iterator[Any]:
    prepare(url)
    yield "prepared"


def _fill(url: str, number: int, size: int, tell: Tell) -> None:
    """Appends, compacts, undoes and imports while the files may not grow beyond a limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then a write fails as on a full disk
    most = size + _ROOM + number * 4_096
    with opened(url, since=START + LONG * (2 * number + 1)) as engine:
        session_id = first_session(engine)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
        refused = 0
        for at in count():
            text = f"{number}.{at} {_SHORT_TEXT}"
            others: tuple[Callable[[], object], ...] = (
                partial(engine.compact, session_id),
                partial(engine.import_, TALKS, name="talks.jsonl"),
                partial(engine.create_session, "new", system="Be exact."),
            )
            try:
                engine.append(session_id, [{"role": "user", "content": text}])
                tell({"text": text})
                if at % 4 == 3:
                    others[at // 4 % len(others)]()
            except ContextError as error:
                tell({"error": str(error)[:200]})
                refused += 1
                if refused > 5:
                    return


def _whole(url: str, acknowledged: list[str]) -> Iterator[str]:
    """With room again: all that was acknowledged is there, and more can be written."""
    with opened(url, since=START + LONG * 1_000) as engine:
        yield from engine.check_database() or ()
        engine.purge_expired()
        session_id = first_session(engine)
        stored = {info.message.text for info in engine.store.messages(session_id)}
        yield from (f"lost {text[:20]!r}" for text in acknowledged if text not in stored)
        for session in engine.sessions(limit=10_000):
            if session.origin not in ("chat", "fork") and session.length != len(TALK) + 1:
                yield f"a half import of {session.length} messages"
            if session.title == "new" and not engine.system(session.id):
                yield "a session without its system prompt"
        engine.append(session_id, [{"role": "user", "content": "there is room again"}])


def check_read_only(folder: Path) -> Outcome:
    """Writes to a file, and in a folder, that nobody may write to; reading goes on."""
    outcome = Outcome(attack="read-only file and folder", unit="verbs")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "kept.db"
    children.answers(partial(_prepared, f"sqlite:///{path}"))
    for url in (f"sqlite:///file:{path}?mode=ro&uri=true", "sqlite:////proc/nowhere/x.db"):
        _, told = children.run(partial(_try_writing, url))
        outcome.count += len(told)
        outcome.problems += [line["failed"] for line in told if "failed" in line]
        outcome.add("refused clearly", sum("error" in line for line in told))
        outcome.add("read", sum("read" in line for line in told))
        written = [line for line in told if "written" in line]
        outcome.problems += [f"{url}: was written to"] * bool(written)
    return outcome


def _try_writing(url: str, tell: Tell) -> None:
    try:
        with opened(url) as engine:
            session_id = first_session(engine)
            tell({"read": len(engine.context(session_id).messages)})
            verbs: tuple[Callable[[], object], ...] = (
                partial(engine.append, session_id, TALK),
                partial(engine.create_session, "more"),
                partial(engine.compact, session_id),
                partial(engine.undo, session_id),
                partial(engine.import_, TALKS),
                partial(engine.purge, session_id),
            )
            for verb in verbs:
                try:
                    verb()
                    tell({"written": str(verb)})
                except StoreError as error:
                    tell({"error": str(error)[:200]})
    except ContextError as error:
        tell({"error": str(error)[:200]})


def check_flipped_bytes(folder: Path, *, files: int, seed: int) -> Outcome:
    """Reads and writes databases with wrong bytes: errors of the library, or the right content."""
    outcome, chosen = Outcome(attack="bytes flipped in the file", unit="files"), random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.db"
    children.answers(partial(_prepared, f"sqlite:///{whole}"))
    data = whole.read_bytes()
    for at in range(files):
        damaged = bytearray(data)
        for _ in range(chosen.choice((1, 4, 64))):
            damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
        path = folder / "damaged.db"
        for old in folder.glob("damaged.db*"):
            old.unlink()
        path.write_bytes(damaged)
        outcome.count += 1
        try:
            status, told = children.run(partial(_use_damaged, f"sqlite:///{path}"))
        except TimeoutError as error:
            outcome.problems.append(f"file {at}: {error}")
            continue
        outcome.add("told as damaged" if "error" in told[-1] else "read")
        if status:
            outcome.problems.append(f"file {at}: {told[-1].get('failed', status)}")
            copyfile(path, folder / f"kept-{at}.db")
    return outcome


def _use_damaged(url: str, tell: Tell) -> None:
    tell({"begun": os.getpid()})
    try:
        with opened(url, since=START + LONG) as engine:
            for session in engine.sessions():
                engine.context(session.id)
                engine.export(session.id)
                engine.append(session.id, [{"role": "user", "content": "one more"}])
                engine.compact(session.id)
            engine.search("backups")
            tell({"problems": engine.check_database()})
    except ContextError as error:
        tell({"error": str(error)[:300]})
