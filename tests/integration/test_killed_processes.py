"""Turns of processes that are killed, and turns of several processes in one session."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import Queued, TextDelta, TurnEnded, TurnEvent
from ctxcore.engine.leases import Leases
from ctxcore.messages.values import text_message
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.holders import parse_holder, this_process
from ctxcore.store.sql import open_store
from ctxcore.store.values import Claim
from tests.limits import HANG_SECONDS
from tests.slow_gateway import SlowGateway

# Answers in the session without an end, and says so once the store has a part of the answer.
ANSWERING = """
import sys
from ctxcore.engine.core import ContextEngine
from ctxcore.store.sql import open_store
from tests.slow_gateway import SlowGateway
url, session_id, awaits_partial = sys.argv[1:]
store = open_store(url)
gateway = SlowGateway("on ", words=10**6, pause_seconds=0.02)
engine = ContextEngine(store, gateway=gateway, model="m")
told = False
for event in engine.chat(session_id, "first"):
    if not told and (awaits_partial == "no" or store.last_turn(session_id).partial):
        print("running", flush=True)
        told = True
"""
# Waits for the turns before it, and says so.
WAITING = """
import sys
from ctxcore.engine.core import ContextEngine
from ctxcore.store.sql import open_store
from tests.slow_gateway import SlowGateway
url, session_id = sys.argv[1:]
engine = ContextEngine(open_store(url), gateway=SlowGateway("x"), model="m", wait_seconds=600)
for event in engine.chat(session_id, "waited"):
    print(type(event).__name__, flush=True)
"""
# Several threads with several turns each.
SHARING = """
import sys, threading
from ctxcore.engine.core import ContextEngine
from ctxcore.store.sql import open_store
from tests.slow_gateway import SlowGateway
url, session_id, name = sys.argv[1:]
gateway = SlowGateway("x", pause_seconds=0.01)
engine = ContextEngine(open_store(url), gateway=gateway, model="m", wait_seconds=600)
def turns(thread):
    for number in range(3):
        print([*engine.chat(session_id, f"{name} {thread} {number}")][-1].state, flush=True)
threads = [threading.Thread(target=turns, args=(thread,)) for thread in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


@pytest.fixture
def url(stored_url: str) -> str:
    return stored_url


@contextmanager
def engine_at(url: str, *, wait_seconds: float = HANG_SECONDS) -> Iterator[ContextEngine]:
    with closing(open_store(url)) as store:
        gateway = SlowGateway("well")
        yield ContextEngine(store, gateway=gateway, model="m", wait_seconds=wait_seconds)


@contextmanager
def process(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs `script`, killed at the end of the block."""
    path = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def said_by(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


def end_of(events: Iterator[TurnEvent]) -> TurnEnded:
    *_, last = events
    assert isinstance(last, TurnEnded)
    return last


@pytest.mark.parametrize("awaits_partial", ["no", "yes"])
def test_a_killed_turn_gives_way_to_the_next_message_at_once(url: str, awaits_partial: str) -> None:
    with engine_at(url, wait_seconds=0) as engine:
        session_id = engine.create_session().id
        with process(ANSWERING, url, session_id, awaits_partial) as running:
            assert said_by(running) == "running"
            with pytest.raises(LeaseTakenError) as caught:
                next(engine.chat(session_id, "too early"))
            running.kill()
            running.wait()

        holder = parse_holder(caught.value.holder)
        assert holder is not None
        assert holder.pid == running.pid
        assert f"in process {running.pid}" in str(caught.value)
        assert engine.turn_holder(session_id) is None
        assert end_of(engine.chat(session_id, "second")).state == "done"

        turns = [turn.state for turn in engine.store.turns(session_id)]
        assert turns == ["interrupted", "done"]
        said = [info.message.text for info in engine.store.messages(session_id)]
        first, *partial, second, answer = said
        assert (first, second, answer) == ("first", "second", "well")
        assert bool(partial) == (awaits_partial == "yes")


@pytest.mark.postgres
def test_a_killed_turn_is_interrupted_at_start_up_and_can_be_continued(url: str) -> None:
    with engine_at(url, wait_seconds=0) as engine:
        session_id = engine.create_session().id
        with process(ANSWERING, url, session_id, "yes") as running:
            said_by(running)
            assert engine.interrupt_stale_turns() == []
            holder = engine.turn_holder(session_id)
            assert holder is not None
            running.kill()
            running.wait()

        assert [turn.state for turn in engine.interrupt_stale_turns()] == ["interrupted"]
        assert engine.store.leases() == []
        assert end_of(engine.continue_turn(session_id)).state == "done"


def test_a_killed_compaction_blocks_no_other_one(url: str) -> None:
    script = """
import sys, time
from ctxcore.engine.leases import Leases
from ctxcore.store.sql import open_store
store = open_store(sys.argv[1])
with Leases(store, lambda: __import__("datetime").datetime.now(__import__("datetime").UTC), 0
    ).holding("compaction:s", "theirs"):
    print("held", flush=True)
    time.sleep(600)
"""
    with engine_at(url) as engine, process(script, url) as holding:
        leases: Leases = engine._services.leases
        said_by(holding)
        with pytest.raises(LeaseTakenError), leases.holding("compaction:s", "mine"):
            pass
        holding.kill()
        holding.wait()

        with leases.holding("compaction:s", "mine"):
            assert leases.holder_of("compaction:s") is not None
        assert engine.store.leases() == []


def test_a_turn_of_another_host_can_be_taken_over_by_hand(url: str) -> None:
    elsewhere = Claim(holder=this_process().replace('"host": "', '"host": "far-'))
    with engine_at(url, wait_seconds=0) as engine:
        session_id = engine.create_session().id
        services = engine._services
        now = services.clock()
        target = services.call_target(session_id)
        services.store.begin_turn(
            session_id,
            "theirs",
            [text_message("user", "go")],
            counter=target.call.counter,
            at=now,
            lease_until=now.replace(year=now.year + 1),
            claim=elsewhere,
        )
        with pytest.raises(LeaseTakenError, match="on 'far-"):
            next(engine.chat(session_id, "mine"))

        taken = engine.take_over(session_id)

        assert taken is not None
        assert taken.state == "interrupted"
        assert end_of(engine.chat(session_id, "mine")).state == "done"


def test_who_was_killed_while_waiting_holds_nobody_up(url: str) -> None:
    with engine_at(url) as engine:
        session_id = engine.create_session().id
        name = f"turn:{session_id}"
        first = engine.chat(session_id, "first")
        next(first)
        with process(WAITING, url, session_id) as waiting:
            assert said_by(waiting) == "Queued"
            waiting.kill()
            waiting.wait()
        second = engine.chat(session_id, "second")
        queued = next(second)
        assert isinstance(queued, Queued)
        assert (queued.before, queued.pid) == (1, os.getpid())

        assert end_of(first).state == "done"
        assert end_of(second).state == "done"
        assert engine.store.waiters(name, at=engine._services.clock()) == []


def test_turns_of_a_session_run_in_the_order_in_which_they_came(url: str) -> None:
    with engine_at(url) as engine:
        session_id = engine.create_session().id
        first = engine.chat(session_id, "0")
        next(first)

        def wait_for(waiting: int) -> None:
            end = time.monotonic() + HANG_SECONDS
            name, clock = f"turn:{session_id}", engine._services.clock
            while len(engine.store.waiters(name, at=clock())) < waiting:
                assert time.monotonic() < end
                time.sleep(0.01)

        threads = []
        for number in range(1, 6):
            thread = threading.Thread(
                target=lambda text: list(engine.chat(session_id, text)), args=(str(number),)
            )
            thread.start()
            threads.append(thread)
            wait_for(number)
        assert end_of(first).state == "done"
        for thread in threads:
            thread.join(HANG_SECONDS)

        messages = engine.store.messages(session_id, role="user")
        assert [info.message.text for info in messages] == ["0", "1", "2", "3", "4", "5"]


def test_leaving_while_waiting_gives_the_place_up(url: str) -> None:
    with engine_at(url) as engine:
        session_id = engine.create_session().id
        first = engine.chat(session_id, "first")
        next(first)
        second = engine.chat(session_id, "second")
        next(second)

        second.close()  # type: ignore[attr-defined]  # a generator

        name = f"turn:{session_id}"
        assert engine.store.waiters(name, at=engine._services.clock()) == []
        assert end_of(first).state == "done"
        assert engine.session(session_id).length == 2


def test_processes_that_share_a_session_are_all_served(url: str) -> None:
    with engine_at(url) as engine:
        session_id = engine.create_session().id
        with (
            process(SHARING, url, session_id, "a") as one,
            process(SHARING, url, session_id, "b") as two,
        ):
            states = [state for both in (one, two) for state in both.communicate()[0].split()]

        assert states == ["done"] * 12
        said = engine.store.messages(session_id)
        assert [info.message.role for info in said] == ["user", "assistant"] * 12


def test_a_lease_is_renewed_while_its_turn_runs(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxcore.engine.leases.RENEW_SECONDS", 0.01)
    with engine_at(url) as engine:
        session_id = engine.create_session().id
        events = engine.chat(session_id, "go")
        next(event for event in events if isinstance(event, TextDelta))
        name = f"turn:{session_id}"
        before = engine.store.lease(name)
        assert before is not None
        end = time.monotonic() + HANG_SECONDS
        while (now := engine.store.lease(name)) is not None and now == before:
            assert time.monotonic() < end
            time.sleep(0.01)

        assert now is not None
        assert now.expires_at > before.expires_at
        engine.take_over(session_id)
        last = end_of(events)
        assert last.state == "interrupted"
        assert "taken over" in str(last.error)
