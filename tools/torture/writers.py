"""Many processes with several threads each write to the same sessions at once.

No update may be lost: messages are numbered without gaps and in the order of each writer, versions
of a policy too, and every pin, title and compaction that was acknowledged is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import StaleProposalError
from ctxcore.messages.values import JsonObject
from ctxcore.store.errors import LeaseTakenError, StaleCompactionError
from ctxcore.store.values import Scope
from tools.torture import children
from tools.torture.children import Tell
from tools.torture.engines import opened
from tools.torture.outcomes import Outcome

SESSIONS = 3
_SCOPE = Scope(kind="user", owner="local")


def check_writers(
    url: str, *, processes: int, threads: int, writes: int, name: str = "SQLite"
) -> Outcome:
    """Lets all of them make so many rounds of writes each."""
    outcome = Outcome(attack=f"{processes * threads} writers, {name}", unit="rounds of writes")
    session_ids = children.answers(partial(_prepared, url))
    workers = [
        children.start(partial(_write, url, session_ids, f"p{number}", threads, writes))
        for number in range(processes)
    ]
    told: list[Any] = []
    for worker in workers:
        status, said = worker.ended()
        if status:
            outcome.problems.append(f"a writer ended: {said[-1]}")
        told += [line for line in said if "failed" not in line]
    outcome.count = len(told)
    missing = processes * threads * writes - len(told)
    if missing:
        outcome.problems.append(f"{missing} rounds were not done")
    for line in told:
        outcome.add("messages", len(line["texts"]))
        outcome.add("compactions", bool(line["compaction"]))
    outcome.problems += children.answers(partial(_checked, url, session_ids, told))
    return outcome


def _prepared(url: str) -> Iterator[str]:
    with opened(url) as engine:
        engine.user()
        for number in range(SESSIONS):
            yield engine.create_session(f"shared {number}").id


def _write(
    url: str, session_ids: Sequence[str], name: str, threads: int, writes: int, tell: Tell
) -> None:
    with opened(url) as engine, ThreadPoolExecutor(threads) as pool:
        works = [
            pool.submit(_rounds, engine, session_ids, f"{name}-t{number}", writes, tell)
            for number in range(threads)
        ]
        for work in works:
            work.result()


def _rounds(
    engine: ContextEngine, session_ids: Sequence[str], name: str, writes: int, tell: Tell
) -> None:
    """Each round appends two messages, pins the first, saves a version and compacts at times."""
    for at in range(writes):
        session_id = session_ids[(at + len(name)) % len(session_ids)]
        texts = [f"{name} says {at} {part}" for part in ("first", "second")]
        places = engine.append(session_id, [{"role": "user", "content": text} for text in texts])
        engine.pin(session_id, places[0])
        overrides: JsonObject = {"reserve_tokens": 1_000 + at}
        # Not always: a compaction is refused where the policy changes meanwhile.
        version = engine.save_policy(_SCOPE, overrides).version if at % 8 < 4 else None
        made = _unless_taken(partial(engine.compact, session_id)) if at % 8 == 7 else None
        tell(
            {
                "writer": name,
                "session": session_id,
                "texts": texts,
                "places": places,
                "version": version,
                "compaction": made.id if made else None,
            }
        )


def _unless_taken(compact: Callable[[], Any]) -> Any:
    try:
        return compact()
    except (LeaseTakenError, StaleCompactionError, StaleProposalError):
        # Told to whoever asked: another one compacts, or has changed the policy meanwhile.
        return None


def _checked(url: str, session_ids: Sequence[str], told: Sequence[Any]) -> Iterator[str]:
    with opened(url) as engine:
        yield from engine.check_database() or ()
        for session_id in session_ids:
            own = [line for line in told if line["session"] == session_id]
            yield from _problems(engine, session_id, own)
        versions = sorted(line["version"] for line in told if line["version"])
        if versions != list(range(1, len(versions) + 1)):
            yield f"{len(set(versions))} versions of a policy were made by {len(versions)} writes"


def _problems(engine: ContextEngine, session_id: str, told: Sequence[Any]) -> Iterator[str]:
    infos = engine.store.messages(session_id)
    if [info.seq for info in infos] != list(range(1, len(infos) + 1)):
        yield "there are gaps between the messages"
    if len(infos) != 2 * len(told):
        yield f"{len(infos)} messages are stored, {2 * len(told)} were acknowledged"
    stored = [info.message.text for info in infos]
    last: dict[str, int] = {}
    for line in told:
        if [stored[at] for at in line["places"] if at < len(stored)] != line["texts"]:
            yield f"{line['texts']} are not where they were acknowledged"
        if line["places"][0] <= last.get(line["writer"], -1):
            yield f"the messages of {line['writer']} are not in order"
        last[line["writer"]] = line["places"][0]
    pinned = {mark.seq for mark in engine.store.marks(session_id) if mark.kind == "pin"}
    wanted = {line["places"][0] + 1 for line in told}
    if pinned != wanted:
        yield f"{len(wanted - pinned)} pins are lost"
    made = {one.id for one in engine.compactions(session_id)}
    lost = {line["compaction"] for line in told if line["compaction"]} - made
    yield from (f"lost compaction {one}" for one in lost)
    hits = sum(len(engine.recall(session_id, text, limit=1)) for text in stored[:4])
    if stored and hits < min(4, len(stored)):
        yield "messages are not found by search"
