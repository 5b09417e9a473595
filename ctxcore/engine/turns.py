"""Runs turns: stores the user's message, calls the model and tools, ends the turn once.

The user's message is stored before the model is called, the partial answer while it streams, and
the turn always ends in a state that tells its result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ctxcore.compaction.plans import Answer
from ctxcore.compaction.triggers import Trigger
from ctxcore.compression.own_tools import without_own_tools
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.calls import Calls
from ctxcore.engine.elsewhere import with_other_sessions
from ctxcore.engine.errors import NoModelError, TurnStateError
from ctxcore.engine.events import CONTINUED, SessionStarted, ToolCallRequested, TurnEvent
from ctxcore.engine.leases import LEASE
from ctxcore.engine.proposals import Pending
from ctxcore.engine.running import RunningTurn
from ctxcore.engine.services import CallTarget, EngineServices, TurnRequest
from ctxcore.engine.staging import staged_sessions
from ctxcore.engine.tools import Tools, is_own
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ContextOverflowError
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.codes import CallCode, TriggerCode
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.store.leases import turn_lease
from ctxcore.store.values import Claim, MessageInfo, Scope, TurnInfo

T = TypeVar("T")

MAX_CALLS = 25  # of one turn; chosen: stops endless loops, above what tasks need


class Turns:
    """Starts, resumes and answers turns."""

    def __init__(self, services: EngineServices, automatic: AutomaticCompactions) -> None:
        self._services = services
        self._automatic = automatic
        self._tools = Tools(services, automatic)
        self._calling = Calls(services)

    def start(self, request: TurnRequest, message: Message) -> Iterator[TurnEvent]:
        """Stores `message` and answers it; nothing happens before the first `next()`.

        Raises (from the iterator):
            LeaseTakenError: other turns of the session did not end in time.
        """

        def begin(claim: Claim) -> tuple[RunningTurn, Trigger | None]:
            with self._services.slots:
                target = self._target(request)
                trigger = None
                if target.call.policy.check_at == "before_message":
                    trigger = self._automatic.due(target)
                return self._begin(request, target, message, claim), trigger

        running, trigger = yield from self._in_turn(request.session_id, begin)
        yield from self._run(request, running, self._calls(request, running, trigger))

    def _in_turn(
        self, session_id: str, attempt: Callable[[Claim], T]
    ) -> Generator[TurnEvent, None, T]:
        """What `attempt` returns once the turns before it have ended."""
        return (yield from self._services.leases.in_turn(turn_lease(session_id), attempt))

    def resume(self, request: TurnRequest) -> Iterator[TurnEvent]:
        """Resumes the last turn, after tool results, a failure or a stop.

        Raises:
            TurnStateError: there is no turn to resume, or its calls wait for results.
            LeaseTakenError: it is running, and did not end in time.
        """
        self._services.session(
            request.session_id, "change"
        )  # before anything is told of the last turn
        start = partial(self._start_again, request)
        again = yield from self._in_turn(request.session_id, start)
        yield from self._run(again.request, again.running, self._resume(again))

    def _start_again(self, request: TurnRequest, claim: Claim) -> _Again:
        with self._services.slots:
            turn = self._last_turn(request)
            request = _with_own_system(request, turn)
            target = self._target(request)
            calls = open_calls(self._services.store.messages(request.session_id, turn.first_seq))
            others = [call for call in calls if not is_own(call, target.tools)]
            if others and turn.state == "awaiting_tools" and request.run_tool is None:
                names = tuple(TurnProblem.CALL(tool=call.name, id=call.id) for call in others)
                raise TurnStateError(problem=TurnProblem.CALLS(names=names))
            trigger = self._stale_trigger(turn, target)
            running = self._take_up(turn, target, claim)
        return _Again(request=request, running=running, calls=calls, trigger=trigger)

    def _stale_trigger(self, turn: TurnInfo, target: CallTarget) -> Trigger | None:
        """The trigger to confirm again, where a turn waited for a confirmation that is stale."""
        if turn.state != "awaiting_confirmation":
            return None
        if self._automatic.pending_of(target.session.id) is not None:
            return None  # resuming without an answer means resuming without a compaction
        return self._automatic.due(target)

    def _take_up(self, turn: TurnInfo, target: CallTarget, claim: Claim) -> RunningTurn:
        now = self._services.clock()
        turn = self._services.store.resume_turn(
            turn.session_id,
            turn.id,
            at=now,
            lease_until=now + LEASE,
            system=target.call.system,
            claim=claim,
        )
        request = target.view.anchors().last_user
        if request is not None:
            asked = target.view.get([request])[0].message.text
            target = with_other_sessions(self._services, target, asked)
        return RunningTurn(self._services, turn, target, begun_at=now)

    def answer(self, request: TurnRequest, pending: Pending, answer: Answer) -> Iterator[TurnEvent]:
        """Carries out a person's answer, and resumes the turn that waited for it, if any.

        Raises (from the iterator):
            StaleProposalError: the session has changed since the confirmation was requested.
            LeaseTakenError: other turns of the session did not end in time.
        """

        def begin(claim: Claim) -> tuple[TurnRequest, CallTarget, RunningTurn | None]:
            with self._services.slots:
                return self._settled(request, pending, claim)

        request, target, running = yield from self._in_turn(pending.session_id, begin)
        if running is None:
            outcome = yield from self._automatic.run(target, pending.trigger, answer=answer)
            if outcome == "new_session":
                yield from self._move(request, target, repeats=False)
            return
        request.answers[:] = [answer]
        yield from self._run(request, running, self._calls(request, running, pending.trigger))

    def _settled(
        self, request: TurnRequest, pending: Pending, claim: Claim
    ) -> tuple[TurnRequest, CallTarget, RunningTurn | None]:
        """What goes on after an answer: the request, its target, and the turn that waited."""
        turn = self._services.store.last_turn(pending.session_id)
        if turn is not None and turn.state != "awaiting_confirmation":
            turn = None
        request = _with_own_system(request, turn)
        target = self._services.call_target(
            pending.session_id,
            model=pending.base.model,
            tools=request.tools,
            knowledge=request.knowledge,
            system=request.system,
        )
        self._automatic.settle(pending, target)
        return request, target, None if turn is None else self._take_up(turn, target, claim)

    def _begin(
        self, request: TurnRequest, target: CallTarget, message: Message, claim: Claim
    ) -> RunningTurn:
        self._recover_partial(target, claim)
        self._services.hold_factor(target)
        now = self._services.clock()
        turn = self._services.store.begin_turn(
            request.session_id,
            self._services.new_id(),
            [message],
            counter=target.call.counter,
            at=now,
            lease_until=now + LEASE,
            model=target.model,
            oversize_tokens=self._services.oversize(target),
            system=target.call.system,
            claim=claim,
        )
        target = with_other_sessions(self._services, target, message.text)
        running = RunningTurn(self._services, turn, target, begun_at=now)
        running.renew()
        return running

    def _recover_partial(self, target: CallTarget, claim: Claim) -> None:
        """Stores the partial answer of a crashed process as a message."""
        turn = self._services.store.last_turn(target.session.id)
        if turn is None or turn.state not in ("running", "interrupted") or not turn.partial:
            return
        self._take_up(turn, target, claim).end("interrupted")

    def _last_turn(self, request: TurnRequest) -> TurnInfo:
        turn = self._services.store.last_turn(request.session_id)
        if turn is None:
            raise TurnStateError(problem=TurnProblem.NO_TURN())
        if turn.state == "done":
            raise TurnStateError(problem=TurnProblem.DONE())
        return turn

    def _target(self, request: TurnRequest) -> CallTarget:
        target = self._services.call_target(
            request.session_id,
            model=request.model,
            tools=request.tools,
            knowledge=request.knowledge,
            system=request.system,
            action="change",
        )
        if target.model is None or self._services.gateway is None:
            raise NoModelError
        return target

    def _run(
        self, request: TurnRequest, running: RunningTurn, events: Iterator[TurnEvent]
    ) -> Iterator[TurnEvent]:
        """The turn's events; closing the iterator stops the turn and keeps the partial answer."""
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
                yield from self._move(request, running.target, repeats=not running.is_answered)
                if not running.is_answered:
                    return  # the turn in the new session yields the last event
            if ended.state == "done" and running.target.call.policy.check_at == "background":
                self._automatic.check_later(running.target)
            yield ended

    def _move(
        self, request: TurnRequest, target: CallTarget, *, repeats: bool
    ) -> Iterator[TurnEvent]:
        """Continues in a new session with the same system prompt, tools and policy.

        With `repeats` the last user message is sent again there.
        """
        view, old = target.view, target.session
        anchors, now = view.anchors(), self._services.clock()
        last = view.get([anchors.last_user] if repeats and anchors.last_user else [])
        system = [row.message for row in view.get(anchors.system)]
        own = self._services.store.policy(Scope(kind="session", owner=old.id))
        with staged_sessions(self._services) as staged:
            new = staged.create(
                title=old.title,
                model=old.model,
                origin="chat",
                tools=without_own_tools(target.tools),
                user_id=old.user_id,
            )
            if system:
                to = self._services.call_target(new.id, model=request.model)
                self._services.append(to, system)
            if own is not None:
                scope = Scope(kind="session", owner=new.id)
                self._services.store.save_policy(
                    scope, own.overrides, by=self._services.user_id, at=now
                )
            self._services.store.set_working_state(new.id, target.call.working)
        self._services.journal.record(CONTINUED, {"session_id": new.id}, session_id=old.id)
        yield SessionStarted(session_id=new.id)
        if last:
            yield from self.start(replace(request, session_id=new.id), last[0].message)

    def _resume(self, again: _Again) -> Iterator[TurnEvent]:
        """A resumed turn: first its partial answer and its open calls."""
        request, running = again.request, again.running
        with self._services.slots:
            running.add_partial()
        others = yield from self._tools.answer_own(running, again.calls)
        if request.run_tool is not None:
            yield from self._tools.run(request.run_tool, running, others)
        yield from self._calls(request, running, again.trigger)

    def _calls(
        self, request: TurnRequest, running: RunningTurn, trigger: Trigger | None = None
    ) -> Iterator[TurnEvent]:
        """The turn's calls, after a compaction if there is a `trigger`."""
        if trigger is not None and not (yield from self._compact(request, running, trigger)):
            return
        for number in range(1, MAX_CALLS + 1):
            if not (yield from self._before_send(request, running)):
                return
            yield from self._answer(request, running, number)
            if running.state != "done":
                return
            calls = running.calls
            if not calls:
                yield from self._after_answer(request, running)
                running.state, running.is_answered = "done", True
                return
            others = yield from self._tools.answer_own(running, calls)
            for call in others:
                yield ToolCallRequested(call=call)
            if others and request.run_tool is None:
                running.state = "awaiting_tools"
                return
            if request.run_tool is not None:
                yield from self._tools.run(request.run_tool, running, others)
        raise TurnStateError(problem=TurnProblem.MANY_CALLS(count=MAX_CALLS))

    def _before_send(
        self, request: TurnRequest, running: RunningTurn
    ) -> Generator[TurnEvent, None, bool]:
        """Compacts if a rule requests it; returns whether the turn may continue."""
        with self._services.slots:
            target = running.renew()
            all_rules = target.call.policy.check_at == "before_send"
            trigger = self._automatic.due(target, all_rules=all_rules)
        if trigger is not None and not (yield from self._compact(request, running, trigger)):
            return False
        with self._services.slots:
            one_call = self._automatic.for_one_call(running.target, running.one_call)
        if one_call is not None and one_call.plan is not None and one_call.outcome is None:
            with running.held():
                one_call = self._automatic.carry_out(running.target, one_call)
        running.one_call = one_call
        return True

    def _after_answer(
        self, request: TurnRequest, running: RunningTurn
    ) -> Generator[TurnEvent, None, None]:
        if running.target.call.policy.check_at != "after_answer":
            return
        with self._services.slots:
            trigger = self._automatic.due(running.renew())
        if trigger is not None:
            yield from self._compact(request, running, trigger)

    def _compact(
        self,
        request: TurnRequest,
        running: RunningTurn,
        trigger: Trigger,
        *,
        is_refused: bool = False,
    ) -> Generator[TurnEvent, None, bool]:
        """Compacts and renews the turn's target; returns whether the turn may continue."""
        answer = request.answers.pop() if request.answers else None
        with running.held():
            outcome = yield from self._automatic.run(
                running.target,
                trigger,
                confirm=request.confirm or self._services.confirm,
                answer=answer,
                is_refused=is_refused,
            )
        running.renew()
        if outcome == "waiting":
            running.state = "awaiting_confirmation"
        elif outcome == "new_session":
            running.state, running.moves = "stopped", True
        return outcome == "done"

    def _answer(
        self, request: TurnRequest, running: RunningTurn, number: int
    ) -> Generator[TurnEvent, None, None]:
        """Makes one call, and after an overflow one more with a compacted context."""
        try:
            yield from self._calling.make(request, running, number)
        except ContextOverflowError as error:
            before = running.target.active
            if running.has_partial:
                raise
            if running.trim_knowledge(error.excess_tokens):  # before anything is folded
                yield from self._answer(request, running, number)
                return
            numbers = {"needed": error.needed_tokens, "limit": error.limit_tokens}
            trigger = Trigger(reason=TriggerCode.REFUSED(**numbers))
            if not (yield from self._compact(request, running, trigger, is_refused=True)):
                return
            if running.target.active == before:  # the same input is never sent twice
                raise
            yield from self._calling.make(request, running, number)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Again:
    """A turn that was resumed, with what it has to do first."""

    request: TurnRequest
    running: RunningTurn
    calls: Sequence[ToolCall]
    """Those that have no results yet."""
    trigger: Trigger | None


def _with_own_system(request: TurnRequest, turn: TurnInfo | None) -> TurnRequest:
    """`request` with the system prompt that `turn` began with, unless it has one itself."""
    if turn is None or request.system is not None:
        return request
    return replace(request, system=turn.system)


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
