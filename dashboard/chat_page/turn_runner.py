"""Runs turns in threads, so that a click, a page change or a closed tab does not end them.

A page can follow a turn and leave at any time; following again yields the answer from its start.
Only `cancel` stops a turn; the engine then keeps the partial answer. A turn that continues in
another session belongs to that session from then on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Literal, cast

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.compaction.plans import Answer
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import (
    CompactionFinished,
    CompactionRejected,
    CompactionStarted,
    ContextBuilt,
    ReasoningDelta,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnEvent,
    Waiting,
)
from ctxcore.errors import ContextError
from ctxcore.reasons.values import Reason
from ctxcore.store.values import SessionInfo, TurnState
from dashboard.codes import BrokeOff

logger = logging.getLogger(__name__)

CHUNK_SECONDS = 0.05  # one frame a token would send a long answer fifty times over
Activity = Literal["waiting", "thinking", "answering", "compacting"]
Events = Iterator[TurnEvent]
OnMove = Callable[["RunningTurn", str], None]


class RunningTurn:
    """One turn in its thread; every method may be called from any thread."""

    def __init__(
        self,
        session_id: str,
        text: str,
        base_length: int,
        *,
        activity: Activity = "waiting",
        on_move: OnMove = lambda turn, session_id: None,
    ) -> None:
        self.first_session_id = session_id
        self.session_id = session_id
        """Where it runs; another one from the moment on in which it moves there."""
        self.text = text
        """What the user said; empty where a turn goes on."""
        self.base_length = base_length
        """So many messages the session had when the turn started."""
        self.state: TurnState = "running"
        self.activity = activity
        self.error: Reason | None = None
        self.context: Context | None = None
        """The context of the latest call; None before the first and after the end."""
        self.is_told = False
        """Whether the engine ended it, so that the stored turn says how."""
        self._said: list[str] = []
        self._cancelled = threading.Event()
        self._changed = threading.Condition()
        self._on_move = on_move

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.state == "running"

    @property
    def answer(self) -> str:
        """The answer as far as it came."""
        return "".join(self._said)

    @property
    def is_stopping(self) -> bool:
        """Whether somebody asked to stop it."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Asks the turn to stop; what was said is kept."""
        self._cancelled.set()
        with self._changed:
            self._changed.notify_all()

    def follow(self, interval_seconds: float = CHUNK_SECONDS) -> Iterator[str]:
        """The answer from its beginning, in pieces no faster than the interval, until the end.

        An empty piece says that nothing came for a moment, so that a page can look after itself.
        """
        place = 0
        while True:
            with self._changed:
                if place == len(self._said) and self.is_running:
                    self._changed.wait(timeout=0.2)
                is_over, chunks = not self.is_running, self._said[place:]
            place += len(chunks)
            yield "".join(chunks)
            if is_over:
                return
            time.sleep(interval_seconds)

    def run(self, open_events: Callable[[], Events]) -> None:
        """Carries the turn out; whatever happens, it ends in a state that says how."""
        state: TurnState = "failed"
        try:
            state = self._consume(open_events())
        except ContextError as error:
            self.error = error.reason
        except Exception:
            logger.exception("turn broke off session=%s", self.session_id)
            self.error = BrokeOff.TURN()
        finally:
            with self._changed:
                self.state, self.context = state, None
                self._changed.notify_all()

    def _consume(self, events: Events) -> TurnState:
        with closing(cast("_Closable", events)):
            for event in events:
                if isinstance(event, SessionStarted):
                    self._on_move(self, event.session_id)
                self._note(event)
                if isinstance(event, TurnEnded):
                    self.error, self.is_told = event.error, True
                    return event.state
                if self.is_stopping:
                    return "stopped"
        return "done"  # an answer that no turn waited for

    def _note(self, event: TurnEvent) -> None:
        with self._changed:
            match event:
                case TextDelta(text=text):
                    self.activity = "answering"
                    self._said.append(text)
                case ReasoningDelta():
                    self.activity = "thinking"
                case Waiting():
                    return
                case ContextBuilt(context=context):
                    self.context = context
                case CompactionStarted():
                    self.activity = "compacting"
                case CompactionFinished() | CompactionRejected():
                    self.activity = "waiting"
                case _:
                    pass
            self._changed.notify_all()


class _Closable(Iterator[TurnEvent]):
    """An iterator that can be closed, as generators can."""

    def close(self) -> None:
        """Ends it early."""


class TurnRunner:
    """The turns of this process, at most one a session."""

    def __init__(self) -> None:
        self._turns: dict[str, RunningTurn] = {}
        self._lock = threading.Lock()

    def start(self, engine: ContextEngine, session_id: str, text: str) -> RunningTurn:
        """Sends `text` to the model; returns the running turn instead if there is one."""
        return self._launch(engine, session_id, text, lambda: engine.chat(session_id, text))

    def resume(self, engine: ContextEngine, session_id: str) -> RunningTurn:
        """Continues the last turn of the session."""
        return self._launch(engine, session_id, "", lambda: engine.continue_turn(session_id))

    def answer(
        self, engine: ContextEngine, session_id: str, plan_id: str, answer: Answer
    ) -> RunningTurn:
        """Goes on with what waits for a person's decision, as the person decided."""
        question = waiting_message(engine, session_id)

        def move(turn: RunningTurn, new_id: str) -> None:
            save_move(engine, session_id, new_id)
            turn.text, turn.base_length = question, engine.session(new_id).length
            with self._lock:
                self._turns[new_id] = turn
                turn.session_id = new_id  # before it leaves: who misses it here looks there
                self._turns.pop(session_id, None)

        return self._launch(
            engine,
            session_id,
            "",
            lambda: engine.answer(plan_id, answer),
            activity="waiting" if answer == "refuse" else "compacting",
            on_move=move,
        )

    def running(self, session_id: str) -> RunningTurn | None:
        """The turn that runs in the session."""
        turn = self._turns.get(session_id)
        return turn if turn is not None and turn.is_running else None

    def ended(self, session_id: str) -> RunningTurn | None:
        """The turn that ended last in the session, until the next one starts or it is dismissed."""
        turn = self._turns.get(session_id)
        return turn if turn is not None and not turn.is_running else None

    def dismiss(self, session_id: str) -> None:
        """Forgets a turn that has ended."""
        with self._lock:
            if self.running(session_id) is None:
                self._turns.pop(session_id, None)

    def _launch(
        self,
        engine: ContextEngine,
        session_id: str,
        text: str,
        open_events: Callable[[], Events],
        *,
        activity: Activity = "waiting",
        on_move: OnMove = lambda turn, session_id: None,
    ) -> RunningTurn:
        length = engine.session(session_id).length
        with self._lock:
            if (present := self.running(session_id)) is not None:
                return present
            turn = self._turns[session_id] = RunningTurn(
                session_id, text, length, activity=activity, on_move=on_move
            )
        name = f"turn-{session_id[:8]}"
        threading.Thread(target=turn.run, args=(open_events,), name=name, daemon=True).start()
        return turn


@st.cache_resource(show_spinner=False)
def turn_runner() -> TurnRunner:
    """The runner of this process."""
    return TurnRunner()


def save_move(engine: ContextEngine, old_id: str, new_id: str) -> None:
    """Keeps that the old session goes on in the new one."""
    length = engine.session(old_id).length
    engine.store.save_setting(_move_key(old_id), {"session_id": new_id, "length": length})


def continued_in(engine: ContextEngine, session: SessionInfo) -> SessionInfo | None:
    """The session in which this one goes on, if it is still there."""
    noted = engine.store.setting(_move_key(session.id))
    if not isinstance(noted, dict) or noted.get("length") != session.length:
        return None
    try:
        found = engine.session(str(noted.get("session_id")))
    except ContextError:
        return None
    return None if found.deleted_at else found


def waiting_message(engine: ContextEngine, session_id: str) -> str:
    """What the user said that waits for a decision; empty if no turn waits."""
    turn, seq = engine.store.last_turn(session_id), engine.session(session_id).last_user_seq
    if turn is None or turn.state != "awaiting_confirmation" or seq is None:
        return ""
    return engine.store.messages(session_id, seq, seq)[0].message.text


def _move_key(session_id: str) -> str:
    return f"went_on:{session_id}"
