"""A turn runs apart from who looks at it: it can be left, joined again and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ctxcore.engine.events import SessionStarted, TextDelta, TurnEnded, TurnEvent, Waiting
from ctxcore.errors import ContextError
from ctxcore.reasons.values import as_reason
from dashboard.chat_page.turn_runner import RunningTurn, TurnRunner
from tests.limits import HANG_SECONDS


class FakeSession:
    """What the runner reads of a session."""

    length = 4
    last_user_seq = None


class FakeStore:
    """What the runner reads and keeps beside sessions."""

    def __init__(self) -> None:
        self.settings: dict[str, object] = {}

    def last_turn(self, session_id: str) -> None:
        return None

    def save_setting(self, name: str, value: object) -> None:
        self.settings[name] = value


class FakeEngine:
    """An engine whose turns are what a test says."""

    def __init__(self, events: Callable[[], Iterator[TurnEvent]]) -> None:
        self._events = events
        self.asked: list[str] = []
        self.store = FakeStore()

    def session(self, session_id: str) -> FakeSession:
        return FakeSession()

    def answer(self, plan_id: str, answer: str) -> Iterator[TurnEvent]:
        return self._events()

    def chat(self, session_id: str, text: str, *, model: str | None = None) -> Iterator[TurnEvent]:
        self.asked.append(text)
        return self._events()

    def continue_turn(self, session_id: str, *, model: str | None = None) -> Iterator[TurnEvent]:
        return self._events()


def ended(text: str) -> TurnEnded:
    return TurnEnded(turn_id="t1", state="done", text=text)


def start(runner: TurnRunner, engine: FakeEngine, text: str = "hi") -> RunningTurn:
    return runner.start(engine, "s1", text)  # type: ignore[arg-type]  # a fake of what is used


def spoken(*texts: str) -> Callable[[], Iterator[TurnEvent]]:
    def events() -> Iterator[TurnEvent]:
        for text in texts:
            yield TextDelta(text=text)
        yield ended("".join(texts))

    return events


def finish(turn: RunningTurn) -> str:
    return "".join(turn.follow(interval_seconds=0))


def test_following_a_turn_gives_its_whole_answer() -> None:
    turn = start(TurnRunner(), FakeEngine(spoken("Hel", "lo")))

    assert finish(turn) == "Hello"
    assert (turn.state, turn.answer) == ("done", "Hello")


def test_whoever_comes_later_gets_the_answer_from_its_beginning() -> None:
    turn = start(TurnRunner(), FakeEngine(spoken("Hel", "lo")))
    finish(turn)

    assert finish(turn) == "Hello"


def test_leaving_does_not_stop_a_turn() -> None:
    may_go_on = threading.Event()

    def events() -> Iterator[TurnEvent]:
        yield TextDelta(text="first ")
        assert may_go_on.wait(HANG_SECONDS)
        yield TextDelta(text="second")
        yield ended("first second")

    turn = start(TurnRunner(), FakeEngine(events))
    watcher = turn.follow(interval_seconds=0)
    while next(watcher) == "":
        pass
    watcher.close()  # type: ignore[attr-defined]  # what leaving a page does to a generator
    may_go_on.set()

    assert finish(turn) == "first second"


def test_stopping_closes_the_engine_s_iterator_and_keeps_the_answer() -> None:
    is_closed = threading.Event()

    def events() -> Iterator[TurnEvent]:
        try:
            while True:
                yield TextDelta(text="a")
                yield Waiting(seconds=0.1)
        finally:
            is_closed.set()

    turn = start(TurnRunner(), FakeEngine(events))
    watcher = turn.follow(interval_seconds=0)
    while not next(watcher):
        pass
    turn.cancel()
    finish(turn)

    assert turn.state == "stopped"
    assert turn.answer.startswith("a")
    assert is_closed.wait(HANG_SECONDS)


def test_a_turn_can_be_stopped_before_its_first_word() -> None:
    def events() -> Iterator[TurnEvent]:
        while True:
            yield Waiting(seconds=0.1)

    turn = start(TurnRunner(), FakeEngine(events))
    turn.cancel()

    assert finish(turn) == ""
    assert turn.state == "stopped"


def test_an_error_before_the_first_event_ends_the_turn_with_its_sentence() -> None:
    def events() -> Iterator[TurnEvent]:
        raise ContextError("no model is set")

    runner = TurnRunner()
    turn = start(runner, FakeEngine(events))
    finish(turn)

    assert (turn.state, turn.error) == ("failed", as_reason("no model is set"))
    assert runner.ended("s1") is turn


def test_one_session_runs_one_turn_at_a_time() -> None:
    may_end = threading.Event()

    def events() -> Iterator[TurnEvent]:
        assert may_end.wait(HANG_SECONDS)
        yield ended("")

    runner, engine = TurnRunner(), FakeEngine(events)
    first = start(runner, engine, "first")
    second = start(runner, engine, "second")
    may_end.set()
    finish(first)

    assert second is first
    assert engine.asked == ["first"]
    assert runner.running("s1") is None


def nothing() -> Iterator[TurnEvent]:
    yield from ()


def answer(runner: TurnRunner, engine: FakeEngine) -> RunningTurn:
    return runner.answer(engine, "s1", "p1", "new_session")  # type: ignore[arg-type]  # as above


def test_a_turn_that_goes_on_elsewhere_is_found_there_and_not_where_it_began() -> None:
    may_end = threading.Event()

    def events() -> Iterator[TurnEvent]:
        yield SessionStarted(session_id="s2")
        yield TextDelta(text="Hello")
        assert may_end.wait(HANG_SECONDS)
        yield ended("Hello")

    runner, engine = TurnRunner(), FakeEngine(events)
    turn = answer(runner, engine)
    watcher = turn.follow(interval_seconds=0)
    while next(watcher) == "":
        pass

    assert turn.session_id == "s2"
    assert (runner.running("s1"), runner.running("s2")) == (None, turn)
    assert engine.store.settings == {"went_on:s1": {"session_id": "s2", "length": 4}}
    may_end.set()
    assert finish(turn) == "Hello"


def test_an_answer_that_no_turn_waited_for_is_done_when_it_is_carried_out() -> None:
    turn = answer(TurnRunner(), FakeEngine(nothing))
    finish(turn)

    assert (turn.state, turn.error) == ("done", None)


def test_only_what_the_engine_ended_is_recorded_by_its_turn() -> None:
    def broken() -> Iterator[TurnEvent]:
        raise ContextError("no model is set")

    told, untold = (start(TurnRunner(), FakeEngine(found)) for found in (spoken("x"), broken))
    finish(told)
    finish(untold)

    assert (told.is_recorded, untold.is_recorded) == (True, False)
    assert untold.error == as_reason("no model is set")


def test_a_dismissed_turn_is_forgotten() -> None:
    runner = TurnRunner()
    finish(start(runner, FakeEngine(spoken("x"))))

    runner.dismiss("s1")

    assert runner.ended("s1") is None
