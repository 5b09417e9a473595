"""An import is seen whole or not at all, whenever its process is killed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ctxcore.engine.core import KEPT_WHILE_STAGED, ContextEngine
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.sql import open_store
from tests.processes import fresh

KILLED = 9
IMPORTS = """
import json, os, sys
from ctxcore.engine.core import ContextEngine
from ctxcore.engine import exchange
from ctxcore.store.sql import SqlStore, open_store

exchange._BATCH = 4
store = open_store(sys.argv[1])
writes, left = getattr(SqlStore, sys.argv[3]), int(sys.argv[4])

def dying(self, *given, **named):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return writes(self, *given, **named)

setattr(SqlStore, sys.argv[3], dying)
ContextEngine(store).import_(open(sys.argv[2]).read(), name="talk.jsonl")
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Five turns of Claude Code, each answer with its usage."""
    path = tmp_path / "talk.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        for at in range(10):
            role = ("user", "assistant")[at % 2]
            message = {"role": role, "content": f"word {at}", "usage": {"input_tokens": 9}}
            parent = f"u{at - 1}" if at else None
            record = {"type": role, "uuid": f"u{at}", "parentUuid": parent, "sessionId": "s"}
            lines.write(json.dumps({**record, "message": message}) + "\n")
    return path


@pytest.mark.parametrize(
    ("verb", "nth"), [("append", 0), ("append", 2), ("record_calls", 0), ("publish", 0)]
)
def test_a_killed_import_leaves_nothing_that_is_seen(
    tmp_path: Path, file: Path, verb: str, nth: int
) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    killed = fresh(IMPORTS, url, str(file), verb, str(nth), options=())
    store = open_store(url)
    now = datetime.now(UTC)
    engine = ContextEngine(store, clock=lambda: now)

    assert (killed.returncode, killed.stderr) == (KILLED, "")
    assert engine.sessions() == []
    assert store.session_ids() == []
    assert engine.search("word") == []
    assert engine.purge_expired() == []  # another process may still be importing

    now += KEPT_WHILE_STAGED + timedelta(minutes=1)
    [erased] = engine.purge_expired()

    with pytest.raises(SessionNotFoundError):
        store.session(erased)
    [made] = engine.import_(file.read_text(), name="talk.jsonl")
    assert [one.id for one in engine.sessions()] == [made.id]
    store.close()


def test_a_killed_import_of_several_keeps_those_that_were_complete(tmp_path: Path) -> None:
    lines = [{"messages": [{"role": "user", "content": f"talk {at}"}]} for at in range(3)]
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    url = f"sqlite:///{tmp_path / 'x.db'}"
    fresh(IMPORTS, url, str(file), "publish", "1", options=())
    store = open_store(url)

    [seen] = ContextEngine(store).sessions()

    assert seen.title == "talk 0"
    assert len(store.messages(seen.id)) == 1
    store.close()
