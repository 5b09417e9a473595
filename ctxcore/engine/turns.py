"""Owns the life of a turn: store what the user said, call the model, run tools, end it once.

Whatever happens, the user's message is stored before the model is asked, the answer so far is
stored while it streams, and the turn ends in a state that says how.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from ctxcore.compaction.plans import Answer
from ctxcore.compaction.triggers import Trigger
from ctxcore.engine.automatic import Automatic
from ctxcore.engine.calls import Calls
from ctxcore.engine.errors import NoModelError, TurnStateError
from ctxcore.engine.events import CONTINUED, SessionStarted, ToolCallRequested, TurnEvent
from ctxcore.engine.proposals import Pending
from ctxcore.engine.running import LEASE, RunningTurn
from ctxcore.engine.services import Asked, Desk, Subject
from ctxcore.engine.tools import Tools, is_own, without_expand
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ContextOverflowError
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.codes import CallCode, TriggerCode
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.store.values import MessageInfo, Scope, TurnInfo

logger = logging.getLogger(__name__)

MAX_CALLS = 25  # of one turn; a loop that long is not getting anywhere


class Turns:
    """The verbs that let a turn begin and go on."""

    def __init__(self, desk: Desk, automatic: Automatic) -> None:
        self._desk = desk
        self._automatic = automatic
        self._tools = Tools(desk, automatic)
        self._calling = Calls(desk)

    def start(self, asked: Asked, message: Message) -> Iterator[TurnEvent]:
        """Stores `message` and answers it; nothing happens before the first event is asked for."""
        with self._desk.slots:
            subject = self._subject(asked)
            trigger = None
            if subject.call.policy.check_at == "before_message":
                trigger = self._automatic.due(subject)
            running = self._begin(asked, subject, message)
        yield from self._run(asked, running, self._calls(asked, running, trigger))

    def resume(self, asked: Asked) -> Iterator[TurnEvent]:
        """Goes on with the last turn: its tools were answered, or it failed or was stopped.

        Raises:
            TurnStateError: there is no turn to go on with, or its calls wait for results.
            LeaseTakenError: the turn is running.
        """
        with self._desk.slots:
            subject = self._subject(asked)
            turn = self._last_turn(asked)
            calls = open_calls(self._desk.store.messages(asked.session_id, turn.first_seq))
            others = [call for call in calls if not is_own(call, subject.tools)]
            if others and turn.state == "awaiting_tools" and asked.run_tool is None:
                names = tuple(TurnProblem.CALL(tool=call.name, id=call.id) for call in others)
                raise TurnStateError(problem=TurnProblem.CALLS(names=names))
            trigger = self._asked_anew(turn, subject)
            now = self._desk.clock()
            turn = self._desk.store.resume_turn(turn.id, at=now, lease_until=now + LEASE)
            running = RunningTurn(self._desk, turn, subject, begun_at=now)
        yield from self._run(asked, running, self._go_on(asked, running, calls, trigger))

    def _asked_anew(self, turn: TurnInfo, subject: Subject) -> Trigger | None:
        """What to ask about again, where a turn waited for an answer that has gone stale."""
        if turn.state != "awaiting_confirmation":
            return None
        if self._automatic.pending_of(subject.session.id) is not None:
            return None  # going on without an answer is going on without a compaction
        return self._automatic.due(subject)

    def answer(self, asked: Asked, pending: Pending, answer: Answer) -> Iterator[TurnEvent]:
        """Goes on with what waited for a person: a compaction, and the turn it was part of.

        Raises (from the iterator):
            StaleProposalError: what was asked about has changed since; ask anew.
        """
        with self._desk.slots:
            subject = self._desk.subject(pending.session_id, model=pending.base.model)
            self._automatic.settle(pending, subject)
            turn = self._desk.store.last_turn(pending.session_id)
            running = None
            if turn is not None and turn.state == "awaiting_confirmation":
                now = self._desk.clock()
                turn = self._desk.store.resume_turn(turn.id, at=now, lease_until=now + LEASE)
                running = RunningTurn(self._desk, turn, subject, begun_at=now)
        if running is None:
            came = yield from self._automatic.run(subject, pending.trigger, answer=answer)
            if came == "new_session":
                yield from self._move(asked, subject, says=False)
            return
        asked.answers[:] = [answer]
        yield from self._run(asked, running, self._calls(asked, running, pending.trigger))

    def _begin(self, asked: Asked, subject: Subject, message: Message) -> RunningTurn:
        self._keep_leftover(subject)
        now = self._desk.clock()
        turn = self._desk.store.begin_turn(
            asked.session_id,
            self._desk.new_id(),
            [message],
            counter=subject.call.counter,
            at=now,
            lease_until=now + LEASE,
            model=subject.model,
            oversize_tokens=self._desk.oversize(subject),
        )
        running = RunningTurn(self._desk, turn, subject, begun_at=now)
        running.renew()
        return running

    def _keep_leftover(self, subject: Subject) -> None:
        """What a process that is gone had said becomes a message, before anybody says more."""
        store, now = self._desk.store, self._desk.clock()
        turn = store.last_turn(subject.session.id)
        if turn is None or turn.state not in ("running", "interrupted") or not turn.partial:
            return
        turn = store.resume_turn(turn.id, at=now, lease_until=now + LEASE)
        running = RunningTurn(self._desk, turn, subject, begun_at=now)
        running.end("interrupted", turn.error)

    def _last_turn(self, asked: Asked) -> TurnInfo:
        turn = self._desk.store.last_turn(asked.session_id)
        if turn is None:
            raise TurnStateError(problem=TurnProblem.NO_TURN())
        if turn.state == "done":
            raise TurnStateError(problem=TurnProblem.DONE())
        return turn

    def _subject(self, asked: Asked) -> Subject:
        subject = self._desk.subject(
            asked.session_id, model=asked.model, tools=asked.tools, knowledge=asked.knowledge
        )
        if subject.model is None or self._desk.gateway is None:
            raise NoModelError
        return subject

    def _run(
        self, asked: Asked, running: RunningTurn, events: Iterator[TurnEvent]
    ) -> Iterator[TurnEvent]:
        """The turn's events; closing the iterator stops the turn and keeps what was said."""
        try:
            yield from events
        except GeneratorExit:
            running.end("stopped")
            raise
        except ContextError as error:
            yield running.end("failed", error.reason)
        except BaseException:
            running.end("failed", CallCode.PROGRAM_ERROR())
            raise
        else:
            ended = running.end(running.state)
            if running.moves:
                yield from self._move(asked, running.subject, says=not running.is_answered)
                if not running.is_answered:
                    return  # the turn in the new session ends it
            if ended.state == "done":
                self._later(running)
            yield ended

    def _move(self, asked: Asked, subject: Subject, *, says: bool) -> Iterator[TurnEvent]:
        """Goes on in a session of its own, with the same system prompt, tools and question."""
        view, old = subject.view, subject.session
        anchors, now = view.anchors(), self._desk.clock()
        new = self._desk.store.create_session(
            self._desk.new_id(),
            user_id=old.user_id,
            at=now,
            title=old.title,
            model=old.model,
            tools=without_expand(subject.tools),
        )
        said = view.get([anchors.last_user] if says and anchors.last_user else [])
        system = [row.message for row in view.get(anchors.system)]
        if system:
            self._desk.append(self._desk.subject(new.id, model=asked.model), system)
        own = self._desk.store.policy(Scope(kind="session", owner=old.id))
        if own is not None:
            scope = Scope(kind="session", owner=new.id)
            self._desk.store.save_policy(scope, own.overrides, by=self._desk.user_id, at=now)
        self._desk.store.set_working_state(new.id, subject.call.working)
        self._desk.journal.record(CONTINUED, {"session_id": new.id}, session_id=old.id)
        yield SessionStarted(session_id=new.id)
        if said:
            yield from self.start(replace(asked, session_id=new.id), said[0].message)

    def _go_on(
        self,
        asked: Asked,
        running: RunningTurn,
        calls: Sequence[ToolCall],
        trigger: Trigger | None,
    ) -> Iterator[TurnEvent]:
        """A turn taken up again: first what it had said and the calls nobody answered."""
        with self._desk.slots:
            running.add_partial()
        others = yield from self._tools.answer_own(running, calls)
        if asked.run_tool is not None:
            yield from self._tools.run(asked.run_tool, running, others)
        yield from self._calls(asked, running, trigger)

    def _calls(
        self, asked: Asked, running: RunningTurn, trigger: Trigger | None = None
    ) -> Iterator[TurnEvent]:
        """The turn's calls; `trigger` is what asked for a compaction before it began."""
        if trigger is not None and not (yield from self._compact(asked, running, trigger)):
            return
        for number in range(1, MAX_CALLS + 1):
            if not (yield from self._before_send(asked, running)):
                return
            yield from self._answer(asked, running, number)
            if running.state != "done":
                return
            calls = running.calls
            if not calls:
                yield from self._after_answer(asked, running)
                running.state, running.is_answered = "done", True
                return
            others = yield from self._tools.answer_own(running, calls)
            for call in others:
                yield ToolCallRequested(call=call)
            if others and asked.run_tool is None:
                running.state = "awaiting_tools"
                return
            if asked.run_tool is not None:
                yield from self._tools.run(asked.run_tool, running, others)
        raise TurnStateError(problem=TurnProblem.MANY_CALLS(count=MAX_CALLS))

    def _before_send(self, asked: Asked, running: RunningTurn) -> Generator[TurnEvent, None, bool]:
        """Compacts where a rule asks for it; whether the turn may go on."""
        with self._desk.slots:
            subject = running.renew()
            all_rules = subject.call.policy.check_at == "before_send"
            trigger = self._automatic.due(subject, all_rules=all_rules)
        if trigger is None:
            return True
        return (yield from self._compact(asked, running, trigger))

    def _after_answer(self, asked: Asked, running: RunningTurn) -> Generator[TurnEvent, None, None]:
        if running.subject.call.policy.check_at != "after_answer":
            return
        with self._desk.slots:
            trigger = self._automatic.due(running.renew())
        if trigger is not None:
            yield from self._compact(asked, running, trigger)

    def _later(self, running: RunningTurn) -> None:
        """Looks at the rules once the turn is over, without letting it wait."""
        if running.subject.call.policy.check_at != "background":
            return
        subject = running.subject

        def look() -> None:
            with self._desk.slots:
                renewed = self._desk.renew(subject)
                trigger = self._automatic.due(renewed)
            if trigger is not None:
                for event in self._automatic.run(renewed, trigger):
                    logger.debug("background %s session=%s", event, subject.session.id)

        self._desk.jobs.submit(subject.session.id, look)

    def _compact(
        self,
        asked: Asked,
        running: RunningTurn,
        trigger: Trigger,
        *,
        is_refused: bool = False,
    ) -> Generator[TurnEvent, None, bool]:
        """Compacts; whether the turn may go on. With a change it sees the new context."""
        answer = asked.answers.pop() if asked.answers else None
        with running.held():
            came = yield from self._automatic.run(
                running.subject,
                trigger,
                confirm=asked.confirm or self._desk.confirm,
                answer=answer,
                is_refused=is_refused,
            )
        running.renew()
        if came == "waiting":
            running.state = "awaiting_confirmation"
        elif came == "new_session":
            running.state, running.moves = "stopped", True
        return came == "done"

    def _answer(
        self, asked: Asked, running: RunningTurn, number: int
    ) -> Generator[TurnEvent, None, None]:
        """One call, and after an overflow one more with a compacted context."""
        try:
            yield from self._calling.make(asked, running, number)
        except ContextOverflowError as error:
            before = running.subject.active
            if running.has_partial:
                raise
            may_go_on = yield from self._compact(asked, running, _refusal(error), is_refused=True)
            if not may_go_on:
                return
            if running.subject.active == before:  # the same input is never sent twice
                raise
            yield from self._calling.make(asked, running, number)


def open_calls(messages: Sequence[MessageInfo]) -> list[ToolCall]:
    """The calls of the last assistant message that have no results yet."""
    results: list[Message] = []
    for message in (info.message for info in reversed(messages)):
        if message.is_tool_result:
            results.insert(0, message)
        elif message.calls:
            answered, _ = pair_results(message.calls, results)
            calls = zip(message.calls, answered, strict=True)
            return [call for call, answer in calls if answer is None]
        elif message.role == "user":
            break
    return []


def _refusal(error: ContextOverflowError) -> Trigger:
    """The rule that the provider refused the input, with the numbers it gave."""
    numbers = {"needed": error.needed_tokens, "limit": error.limit_tokens}
    return Trigger(reason=TriggerCode.REFUSED(**numbers))
