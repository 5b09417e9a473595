"""A change of one process is known to the others at once, on both kinds of databases."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.store import open_store
from tests.limits import HANG_SECONDS
from tests.processes import fresh

pytestmark = pytest.mark.postgres
# Does one thing to the session and ends well.
CHANGING = """
import sys
from ctxcore.engine.core import ContextEngine
from ctxcore.policy.values import Policy
from ctxcore.store import open_store
from ctxcore.store.values import Scope
url, session_id, verb = sys.argv[1:]
store = open_store(url)
engine = ContextEngine(store, model="gpt-4o")
{
    "append": lambda: engine.append(session_id, [{"role": "user", "content": "more"}]),
    "compact": lambda: engine.compact(session_id),
    "rename": lambda: engine.rename(session_id, "New title"),
    "policy": lambda: engine.save_policy(
        Scope(kind="user", owner="local"), {"reserve_tokens": 999}
    ),
}[verb]()
store.close()
"""


@pytest.fixture
def engine(stored_url: str) -> Iterator[ContextEngine]:
    with closing(open_store(stored_url)) as store:
        yield ContextEngine(store, model="gpt-4o")


def waited_for(engine: ContextEngine, before: int) -> bool:
    """Whether the count becomes another one."""
    end = time.monotonic() + HANG_SECONDS
    while time.monotonic() < end:
        if engine.change_count() != before:
            return True
        time.sleep(0.02)
    return False


def settled(engine: ContextEngine) -> int:
    """The count once nothing changes it any more."""
    known = engine.change_count()
    while True:
        time.sleep(0.5)
        if (now := engine.change_count()) == known:
            return known
        known = now


@pytest.mark.parametrize(
    "verb",
    ["append", *(pytest.param(v, marks=pytest.mark.slow) for v in ("compact", "rename", "policy"))],
)
def test_what_another_process_does_is_noticed(
    engine: ContextEngine, stored_url: str, verb: str
) -> None:
    session_id = engine.create_session("Title").id
    for at in range(12):
        role = "assistant" if at % 2 else "user"
        engine.append(session_id, [{"role": role, "content": f"what is said as {at} " * 20}])
    before = settled(engine)

    done = fresh(CHANGING, stored_url, session_id, verb, options=())

    assert done.returncode == 0, done.stderr
    assert waited_for(engine, before)


def test_what_this_process_does_is_noticed_and_a_read_is_no_change(engine: ContextEngine) -> None:
    before = settled(engine)
    engine.sessions()
    assert settled(engine) == before

    engine.create_session()

    assert waited_for(engine, before)


def test_a_database_in_memory_counts_its_own_changes() -> None:
    with closing(open_store("sqlite://")) as store:
        engine = ContextEngine(store)
        before = engine.change_count()

        engine.create_session()

        assert engine.change_count() != before
