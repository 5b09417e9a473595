"""Sessions whose compactions lose something, made up for these tests: ours, and a recorded one."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ctxcore.engine.core import ContextEngine
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import CompactionInfo, Scope

TICKETS = tuple(f"REQ-{number}" for number in range(4100, 4148))
PART = "/srv/app/part_2.py"


def ticket_session(engine: ContextEngine) -> str:
    """More tickets than a short summary can name."""
    session = engine.create_session("Tickets")
    said: list[JsonObject] = [{"role": "user", "content": "Go through all open tickets."}]
    for ticket in TICKETS:
        said.append({"role": "assistant", "content": f"Looked at {ticket}. " + "It is so. " * 30})
        said.append({"role": "user", "content": "Go on, please, with the next one of them."})
    engine.append(session.id, said)
    carries_none: JsonObject = {"facts_ratio": None}
    engine.save_policy(Scope(kind="session", owner=session.id), carries_none)
    return session.id


def losing_session(engine: ContextEngine) -> tuple[str, CompactionInfo]:
    """The same, compacted."""
    session_id = ticket_session(engine)
    made = engine.compact(session_id)
    assert made is not None
    assert made.compaction.facts_lost
    return session_id, made


def recorded_session() -> str:
    """A Claude Code session: files are read, the program compacts, one is read again."""
    return "".join(f"{json.dumps(line)}\n" for line in _lines())


def _lines() -> Iterator[JsonObject]:
    yield _said("u0", None, "Fix ticket ABC-1234. Never touch /srv/app/secret.env.")
    last = "u0"
    for n in range(6):
        asked, answered = f"a{n}", f"r{n}"
        yield _read(asked, last, f"call{n}", f"/srv/app/part_{n}.py")
        content = f"def part_{n}(): pass  # see REQ-{3000 + n}\n" + "# filler\n" * 40
        yield _result(answered, asked, f"call{n}", content)
        last = answered
    yield {
        **_line("system", "b1", None),
        "subtype": "compact_boundary",
        "logicalParentUuid": last,
        "compactMetadata": {"trigger": "auto", "preTokens": 5_000},
    }
    told = "They fix ABC-1234 and read files. Never touch /srv/app/secret.env."
    yield {**_said("s1", "b1", told + " so it goes" * 60), "isCompactSummary": True}
    yield _read("again", "s1", "again", PART)
    yield _result("again-r", "again", "again", "def part_2(): pass\n" * 10)
    yield _said("u1", "again-r", "What does REQ-3004 want?")


def _line(kind: str, uuid: str, parent: str | None) -> JsonObject:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "recorded"}


def _said(uuid: str, parent: str | None, text: str) -> JsonObject:
    return {**_line("user", uuid, parent), "message": {"role": "user", "content": text}}


def _read(uuid: str, parent: str, call_id: str, path: str) -> JsonObject:
    use: JsonObject = {
        "type": "tool_use",
        "id": call_id,
        "name": "Read",
        "input": {"file_path": path},
    }
    message: JsonObject = {"role": "assistant", "id": uuid, "model": "m", "content": [use]}
    return {**_line("assistant", uuid, parent), "message": message}


def _result(uuid: str, parent: str, call_id: str, content: str) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    message: JsonObject = {"role": "user", "content": [block]}
    return {**_line("user", uuid, parent), "message": message}
