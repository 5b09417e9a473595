"""Owns the words by which a model asks for a compaction: people never see them, even in pieces."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from ctxcore.engine.errors import TurnLostError
from ctxcore.engine.events import ASKED_BY_MODEL, TurnEnded
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.errors import ContextError
from ctxcore.gateway.values import ModelReply
from ctxcore.messages.values import Message, Text, ToolCall
from ctxcore.reasons.values import Reason
from ctxcore.store.values import TurnInfo, TurnState


class MarkerFilter:
    """Takes a marker out of a text that comes in pieces."""

    def __init__(self, marker: str | None) -> None:
        self._marker = marker
        self._held = ""

    def feed(self, piece: str) -> str:
        """What of the text so far may be shown and was not yet."""
        if not self._marker:
            return piece
        text = (self._held + piece).replace(self._marker, "")
        held = _overlap(text, self._marker)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def flush(self) -> str:
        """What was held back and turned out to be no marker."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, marker: str) -> int:
    """How much of the end of `text` may be the beginning of `marker`."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if marker.startswith(text[-size:])), 0)


def without_marker(message: Message, marker: str) -> Message:
    """`message` without the marker; the message itself where it holds none."""
    if not any(isinstance(part, Text) and marker in part.text for part in message.content):
        return message
    parts = (
        replace(part, text=part.text.replace(marker, "").rstrip())
        if isinstance(part, Text)
        else part
        for part in message.content
    )
    kept = tuple(part for part in parts if not isinstance(part, Text) or part.text)
    return replace(message, content=kept)


LEASE = timedelta(seconds=60)
PARTIAL_SECONDS = 1.0  # how much of an answer a crash may lose
_RENEW_SECONDS = LEASE.total_seconds() / 3


class RunningTurn:
    """What changes while a turn runs."""

    def __init__(
        self, services: EngineServices, turn: TurnInfo, target: CallTarget, *, begun_at: datetime
    ) -> None:
        self.id = turn.id
        self.target = target
        self.state: TurnState = "done"
        self.text = ""
        self.calls: tuple[ToolCall, ...] = ()
        self.is_answered = False
        self.moves = False
        """Whether it goes on in a session of its own."""
        self._services = services
        self._partial = turn.partial
        self._stored = (turn.partial, turn.last_seq)
        self._held_at = begun_at
        self._is_lost = False

    @property
    def has_partial(self) -> bool:
        """Whether a part of an answer has come that is no message yet."""
        return bool(self._partial)

    def keep_partial(self, text: str = "") -> None:
        """Adds to the answer so far; stores it from time to time, which holds the turn too.

        Raises:
            TurnLostError: the turn is somebody else's now, or erased.
        """
        self._partial += text
        if (self._services.clock() - self._held_at).total_seconds() >= PARTIAL_SECONDS:
            self._hold()

    def renew(self) -> CallTarget:
        """The session as the next call sees it, from now on."""
        self.target = self._services.renew(self.target)
        return self.target

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the turn while something else takes its time: a tool, or a summary."""
        over = threading.Event()

        def renew() -> None:
            with suppress(ContextError):  # whoever goes on with the turn finds out
                while not over.wait(_RENEW_SECONDS):
                    self._hold()

        thread = threading.Thread(target=renew, name="ctxcore-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def add(self, messages: Sequence[Message]) -> list[int]:
        """Stores messages of the turn; a partial answer has become one of them.

        Raises:
            TurnLostError: the turn is somebody else's now, or erased.
        """
        self._check()
        places = self._services.append(self.target, messages, turn_id=self.id)
        self._partial, self._stored = "", ("", places[-1])
        return places

    def add_reply(self, reply: ModelReply, marker: str | None = None) -> int:
        """Stores a whole answer without the marker by which it asks for a compaction; its place."""
        self.calls = reply.calls
        said = reply.message
        message = without_marker(said, marker) if marker else said
        [seq] = self.add([message])
        self.text += message.text
        if message is not said:
            session_id = self.target.session.id
            self._services.journal.record(ASKED_BY_MODEL, {"seq": seq}, session_id=session_id)
        return seq

    def add_partial(self) -> None:
        """What was said of an unfinished answer becomes its message."""
        if self._partial:
            said = self._partial
            self.add([Message(role="assistant", content=(Text(text=said),))])
            self.text += said

    def end(self, state: TurnState, error: Reason | None = None) -> TurnEnded:
        """Ends the turn; what cannot be stored any more is told, never raised."""
        try:
            with self._services.slots:
                self.add_partial()
                self._check()
                self._services.store.end_turn(
                    self.id, state, at=self._services.clock(), error=error
                )
        except ContextError as lost:
            text = self.text + self._partial
            return TurnEnded(turn_id=self.id, state="interrupted", text=text, error=lost.reason)
        return TurnEnded(turn_id=self.id, state=state, text=self.text, error=error)

    def _check(self) -> None:
        """Looks whether the turn is still this one's, if that is in doubt."""
        if self._is_lost or self._services.clock() - self._held_at >= LEASE / 2:
            self._hold()

    def _hold(self) -> None:
        now, partial = self._services.clock(), self._partial
        self._is_lost = self._is_lost or not (
            self._is_untouched(now)
            and self._services.store.save_partial(self.id, partial, lease_until=now + LEASE)
        )
        if self._is_lost:
            raise TurnLostError(turn_id=self.id)
        self._held_at, self._stored = now, (partial, self._stored[1])

    def _is_untouched(self, now: datetime) -> bool:
        """Whether nobody took this very turn up after its lease had run out."""
        if now - self._held_at < LEASE:
            return True
        turn = self._services.store.turn(self.id)
        return turn.state == "running" and (turn.partial, turn.last_seq) == self._stored
