"""Runs turns in threads, so that a click, a page change or a closed tab does not end them.

A page can follow a turn and leave at any time; following again yields the answer from its start.
Only `cancel` stops a turn; the engine then keeps the partial answer. A turn that continues in
another session belongs to that session from then on.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
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
    Queued,
    ReasoningDelta,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnEvent,
    Waiting,
)
from ctxcore.errors import ContextError, without_message
from ctxcore.messages.values import Message, text_message
from ctxcore.reasons.values import Reason
from ctxcore.store.values import SessionInfo, TurnState
from dashboard.codes import BrokeOff

logger = logging.getLogger(__name__)

CHUNK_SECONDS = 0.05  # a redraw per token would send a long answer fifty times over
Activity = Literal["waiting", "queued", "thinking", "answering", "compacting"]
Events = Iterator[TurnEvent]
Knowledge = Mapping[str, str]
"""Texts for one turn, by name."""
OnMove = Callable[["RunningTurn", str], None]


class RunningTurn:
    """One turn in its thread; thread-safe."""

    def __init__(
        self,
        session_id: str,
        text: str,
        base_length: int,
        *,
        message: Message | None = None,
        knowledge: Knowledge | None = None,
        activity: Activity = "waiting",
        on_move: OnMove = lambda turn, session_id: None,
    ) -> None:
        self.first_session_id = session_id
        self.session_id = session_id
        """Where it runs; changes when the turn moves to another session."""
        self.text = text
        """The user message; empty when a turn is resumed."""
        self.base_length = base_length
        """The length of the session when the turn started."""
        self.message = message
        """The user message as it was given; None when a turn is resumed."""
        self.knowledge = knowledge or {}
        """The texts given for this turn alone, by name."""
        self.state: TurnState = "running"
        self.activity = activity
        self.error: Reason | None = None
        self.context: Context | None = None
        """The context of the latest call; None before the first and after the end."""
        self.is_recorded = False
        """Whether the engine ended it and stored how."""
        self._pieces: list[str] = []
        self._cancelled = threading.Event()
        self._changed = threading.Condition()
        self._on_move = on_move

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.state == "running"

    @property
    def answer(self) -> str:
        """The answer so far."""
        return "".join(self._pieces)

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Asks the turn to stop; the answer so far is kept."""
        self._cancelled.set()
        with self._changed:
            self._changed.notify_all()

    def follow(self, interval_seconds: float = CHUNK_SECONDS) -> Iterator[str]:
        """Yields the answer from its start, at most one piece per interval, until the turn ends.

        An empty piece means that nothing came for a moment; the page can then update other parts.
        """
        place = 0
        while True:
            with self._changed:
                if place == len(self._pieces) and self.is_running:
                    self._changed.wait(timeout=0.2)
                is_over, chunks = not self.is_running, self._pieces[place:]
            place += len(chunks)
            yield "".join(chunks)
            if is_over:
                return
            time.sleep(interval_seconds)

    def run(self, open_events: Callable[[], Events]) -> None:
        """Runs the turn; it always ends in a state, also after a program error."""
        state: TurnState = "failed"
        try:
            state = self._consume(open_events())
        except ContextError as error:
            self.error = error.reason
        except Exception as error:
            told = without_message(error)
            logger.exception("turn broke off session=%s", self.session_id, exc_info=told)
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
                    self.error, self.is_recorded = event.error, True
                    return event.state
                if self.is_stopping:
                    return "stopped"
        return "done"  # events without `TurnEnded`: no turn waited for the answer

    def _note(self, event: TurnEvent) -> None:
        with self._changed:
            match event:
                case TextDelta(text=text):
                    self.activity = "answering"
                    self._pieces.append(text)
                case ReasoningDelta():
                    self.activity = "thinking"
                case Waiting():
                    return
                case Queued():
                    self.activity = "queued"
                case ContextBuilt(context=context):
                    self.context = context
                    self.activity = "waiting"
                case CompactionStarted():
                    self.activity = "compacting"
                case CompactionFinished() | CompactionRejected():
                    self.activity = "waiting"
                case _:
                    pass
            self._changed.notify_all()


class _Closable(Iterator[TurnEvent]):
    """An iterator with `close`, such as a generator."""

    def close(self) -> None:
        """Ends it early."""


class TurnRunner:
    """The turns of this process, at most one per session."""

    def __init__(self) -> None:
        self._turns: dict[str, RunningTurn] = {}
        self._lock = threading.Lock()

    def start(
        self,
        engine: ContextEngine,
        session_id: str,
        content: str | Message,
        *,
        knowledge: Knowledge | None = None,
    ) -> RunningTurn:
        """Sends `content` to the model; returns the running turn instead if there is one."""
        message = text_message("user", content) if isinstance(content, str) else content
        return self._launch(
            engine,
            session_id,
            message.text,
            lambda: engine.chat(session_id, message, knowledge=knowledge),
            message=message,
            knowledge=knowledge,
        )

    def resume(
        self, engine: ContextEngine, session_id: str, *, knowledge: Knowledge | None = None
    ) -> RunningTurn:
        """Continues the last turn of the session."""
        return self._launch(
            engine,
            session_id,
            "",
            lambda: engine.continue_turn(session_id, knowledge=knowledge),
            knowledge=knowledge,
        )

    def answer(
        self,
        engine: ContextEngine,
        session_id: str,
        plan_id: str,
        answer: Answer,
        *,
        knowledge: Knowledge | None = None,
    ) -> RunningTurn:
        """Continues the pending turn as the person decided."""
        text = waiting_message(engine, session_id)

        def move(turn: RunningTurn, new_id: str) -> None:
            save_move(engine, session_id, new_id)
            turn.text, turn.base_length = text, engine.session(new_id).length
            with self._lock:
                self._turns[new_id] = turn
                turn.session_id = (
                    new_id  # set before the old entry goes: a page that finds none there looks here
                )
                self._turns.pop(session_id, None)

        return self._launch(
            engine,
            session_id,
            "",
            lambda: engine.answer(session_id, plan_id, answer, knowledge=knowledge),
            knowledge=knowledge,
            activity="waiting" if answer == "refuse" else "compacting",
            on_move=move,
        )

    def running(self, session_id: str) -> RunningTurn | None:
        """The turn that runs in the session, if any."""
        turn = self._turns.get(session_id)
        return turn if turn is not None and turn.is_running else None

    def ended(self, session_id: str) -> RunningTurn | None:
        """The last turn that ended in the session, until the next one starts or it is dismissed."""
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
        message: Message | None = None,
        knowledge: Knowledge | None = None,
        activity: Activity = "waiting",
        on_move: OnMove = lambda turn, session_id: None,
    ) -> RunningTurn:
        length = engine.session(session_id).length
        with self._lock:
            if (present := self.running(session_id)) is not None:
                return present
            turn = self._turns[session_id] = RunningTurn(
                session_id,
                text,
                length,
                message=message,
                knowledge=knowledge,
                activity=activity,
                on_move=on_move,
            )
        name = f"turn-{session_id[:8]}"
        threading.Thread(target=turn.run, args=(open_events,), name=name, daemon=True).start()
        return turn


@st.cache_resource(show_spinner=False)
def turn_runner() -> TurnRunner:
    """The runner of this process."""
    return TurnRunner()


def save_move(engine: ContextEngine, old_id: str, new_id: str) -> None:
    """Stores that the old session continues in the new one; valid until the old one grows."""
    length = engine.session(old_id).length
    engine.store.save_setting(_move_key(old_id), {"session_id": new_id, "length": length})


def continued_in(engine: ContextEngine, session: SessionInfo) -> SessionInfo | None:
    """The session in which this one continues, if it still exists."""
    move = engine.store.setting(_move_key(session.id))
    if not isinstance(move, dict) or move.get("length") != session.length:
        return None
    try:
        found = engine.session(str(move.get("session_id")))
    except ContextError:
        return None
    return None if found.deleted_at else found


def waiting_message(engine: ContextEngine, session_id: str) -> str:
    """The user message that waits for a decision; empty if no turn waits."""
    turn, seq = engine.store.last_turn(session_id), engine.session(session_id).last_user_seq
    if turn is None or turn.state != "awaiting_confirmation" or seq is None:
        return ""
    return engine.store.messages(session_id, seq, seq)[0].message.text


def _move_key(session_id: str) -> str:
    return f"went_on:{session_id}"
