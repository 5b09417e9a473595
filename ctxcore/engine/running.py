"""A turn while it runs: its lease, its partial answer and the marker by which a model asks.

A model requests a compaction by a marker in its answer, which is never shown, not even in part.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta

from ctxcore.compaction.for_one_call import OneCall
from ctxcore.engine.errors import TurnLostError
from ctxcore.engine.events import REQUESTED_BY_MODEL, TurnEnded
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.errors import ContextError
from ctxcore.gateway.values import ModelReply
from ctxcore.messages.values import Message, Text, ToolCall, text_message
from ctxcore.reasons.values import Reason
from ctxcore.store.values import TurnInfo, TurnState


class MarkerFilter:
    """Removes a marker from a streamed text."""

    def __init__(self, marker: str | None) -> None:
        self._marker = marker
        self._held = ""

    def feed(self, piece: str) -> str:
        """The next part of the text that can be shown; may hold back the start of a marker."""
        if not self._marker:
            return piece
        text = (self._held + piece).replace(self._marker, "")
        held = _overlap(text, self._marker)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]

    def flush(self) -> str:
        """The end of the text, which turned out to be no marker."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, marker: str) -> int:
    """The length of the longest end of `text` that is a beginning of `marker`."""
    longest = min(len(text), len(marker) - 1)
    return next((size for size in range(longest, 0, -1) if marker.startswith(text[-size:])), 0)


def without_marker(message: Message, marker: str) -> Message:
    """`message` without the marker; the message itself where it contains none."""
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


LEASE = timedelta(seconds=60)  # chosen: a crash blocks a session no longer than this
PARTIAL_SECONDS = 1.0  # the part of an answer that a crash may lose
_EXCESS_MARGIN = 1.25  # chosen: a provider's tokens and ours differ by less, and one try is left
_RENEW_SECONDS = LEASE.total_seconds() / 3  # chosen: a lease survives two failed renewals


@contextmanager
def renewing(renew: Callable[[], None]) -> Iterator[None]:
    """Renews a lease in the background until the block ends or the lease is lost."""
    over = threading.Event()

    def work() -> None:
        with suppress(ContextError):  # the next write of its holder raises it
            while not over.wait(_RENEW_SECONDS):
                renew()

    thread = threading.Thread(target=work, name="ctxcore-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class RunningTurn:
    """The state of a running turn, which holds the session's turn lease."""

    def __init__(
        self, services: EngineServices, turn: TurnInfo, target: CallTarget, *, begun_at: datetime
    ) -> None:
        self.id = turn.id
        self._session_id = turn.session_id
        self.target = target
        self.state: TurnState = "done"
        self.text = ""
        self.calls: tuple[ToolCall, ...] = ()
        self.is_answered = False
        self.one_call: OneCall | None = None
        """What knowledge makes the next call do."""
        self.knowledge_sent = 0
        """What the knowledge of the last call took."""
        self.moves = False
        """Whether the turn continues in a new session."""
        self._services = services
        self._partial = turn.partial
        self._stored = (turn.partial, turn.last_seq)
        self._held_at = begun_at
        self._is_lost = False

    @property
    def has_partial(self) -> bool:
        """Whether there is a part of an answer that is not stored as a message."""
        return bool(self._partial)

    def keep_partial(self, text: str = "") -> None:
        """Adds `text` to the partial answer; stores it from time to time and renews the lease.

        Raises:
            TurnLostError: another process took over the turn, or it was erased.
        """
        self._partial += text
        if (self._services.clock() - self._held_at).total_seconds() >= PARTIAL_SECONDS:
            self._hold()

    def trim_knowledge(self, excess_tokens: int | None) -> bool:
        """Makes the turn's next calls send less knowledge; False where the last one sent none.

        First by `excess_tokens`, or half of it where that is unknown, then all of it.
        """
        sent, call = self.knowledge_sent, self.target.call
        if not sent:
            return False
        less = int(excess_tokens * _EXCESS_MARGIN) if excess_tokens else sent // 2
        most = max(0, sent - less)
        most = most if call.most_knowledge_tokens is None else 0
        self.target = replace(self.target, call=replace(call, most_knowledge_tokens=most))
        return True

    def renew(self) -> CallTarget:
        """Updates `target` to the current history and active compaction."""
        self.target = self._services.renew(self.target)
        return self.target

    def held(self) -> AbstractContextManager[None]:
        """Keeps renewing the lease in the background while a tool or a summary runs."""
        return renewing(self._hold)

    def add(self, messages: Sequence[Message]) -> list[int]:
        """Stores messages of the turn, which replace the partial answer.

        Raises:
            TurnLostError: another process took over the turn, or it was erased.
        """
        self._check()
        places = self._services.append(self.target, messages, turn_id=self.id)
        self._partial, self._stored = "", ("", places[-1])
        return places

    def add_reply(self, reply: ModelReply, marker: str | None = None) -> int:
        """Stores a complete answer without the marker; returns its sequence number."""
        self.calls = reply.calls
        said = reply.message
        message = without_marker(said, marker) if marker else said
        [seq] = self.add([message])
        self.text += message.text
        if message is not said:
            session_id = self.target.session.id
            self._services.journal.record(REQUESTED_BY_MODEL, {"seq": seq}, session_id=session_id)
        return seq

    def add_partial(self) -> None:
        """Stores the partial answer as a message."""
        if text := self._partial:
            self.add([text_message("assistant", text)])
            self.text += text

    def end(self, state: TurnState, error: Reason | None = None) -> TurnEnded:
        """Ends the turn; an error while storing it is returned in the event, not raised."""
        try:
            with self._services.slots:
                self.add_partial()
                self._check()
                self._services.store.end_turn(
                    self._session_id, self.id, state, at=self._services.clock(), error=error
                )
        except ContextError as lost:
            text = self.text + self._partial
            return TurnEnded(turn_id=self.id, state="interrupted", text=text, error=lost.reason)
        return TurnEnded(turn_id=self.id, state=state, text=self.text, error=error)

    def _check(self) -> None:
        """Checks the lease if it may have been lost."""
        if self._is_lost or self._services.clock() - self._held_at >= LEASE / 2:
            self._hold()

    def _hold(self) -> None:
        now, partial = self._services.clock(), self._partial
        self._is_lost = self._is_lost or not (
            self._is_untouched(now)
            and self._services.store.save_partial(
                self._session_id, self.id, partial, lease_until=now + LEASE
            )
        )
        if self._is_lost:
            raise TurnLostError(turn_id=self.id)
        self._held_at, self._stored = now, (partial, self._stored[1])

    def _is_untouched(self, now: datetime) -> bool:
        """Whether no other process resumed this turn after its lease expired."""
        if now - self._held_at < LEASE:
            return True
        turn = self._services.store.turn(self._session_id, self.id)
        return turn.state == "running" and (turn.partial, turn.last_seq) == self._stored
