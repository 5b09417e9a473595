"""Owns the life of a turn: store what the user said, call the model, run tools, end it once.

Whatever happens, the user's message is stored before the model is asked, the answer so far is
stored while it streams, and the turn ends in a state that says how.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.compaction.confirming import Answer, Confirm
from ctxcore.compaction.triggers import Trigger
from ctxcore.engine.automatic import Automatic
from ctxcore.engine.desk import Desk, Subject
from ctxcore.engine.errors import NoModelError, TurnStateError
from ctxcore.engine.events import (
    ContextBuilt,
    SessionStarted,
    TextDelta,
    ToolCallRequested,
    TurnEvent,
    UsageReported,
)
from ctxcore.engine.expanding import is_own, without_expand
from ctxcore.engine.journal import CONTINUED
from ctxcore.engine.logs import log_call
from ctxcore.engine.markers import MarkerFilter
from ctxcore.engine.pending import Pending
from ctxcore.engine.running import LEASE, RunningTurn
from ctxcore.engine.tools import RunTool, Tools
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ContextOverflowError, ProviderError
from ctxcore.gateway.masking import to_detail
from ctxcore.gateway.usage import cost_of
from ctxcore.gateway.values import CallDelta, ModelReply, ModelRequest, StreamEvent
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import Message, ToolCall
from ctxcore.store.errors import StoreError
from ctxcore.store.values import CallInfo, MessageInfo, Scope, TurnInfo

logger = logging.getLogger(__name__)

MAX_CALLS = 25  # of one turn; a loop that long is not getting anywhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a caller wants of a turn."""

    session_id: str
    model: str | None = None
    tools: Sequence[Mapping[str, object]] | None = None
    knowledge: Mapping[str, str] = field(default_factory=dict)
    run_tool: RunTool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    confirm: Confirm | None = None
    """Who is asked before a compaction."""
    answers: list[Answer] = field(default_factory=list)
    """What a person has answered already; used up by the first compaction."""


class Turns:
    """The verbs that let a turn begin and go on."""

    def __init__(self, desk: Desk, automatic: Automatic) -> None:
        self._desk = desk
        self._automatic = automatic
        self._tools = Tools(desk, automatic)

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
                names = ", ".join(f"{call.name} ({call.id})" for call in others)
                raise TurnStateError(
                    problem=f"calls without results: {names}; append them, or pass run_tool"
                )
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
            raise TurnStateError(problem="there is no turn to go on with; say something first")
        if turn.state == "done":
            raise TurnStateError(problem="the last turn is done; say something new to go on")
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
            yield running.end("failed", str(error))
        except BaseException:
            running.end("failed", "the turn broke off because of a program error; try it again")
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
        raise TurnStateError(
            problem=f"the model asked for tools {MAX_CALLS} times in one turn; "
            "continue the turn to let it go on, or say what it should do instead"
        )

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
            yield from self._one_call(asked, running, number)
        except ContextOverflowError as error:
            before = running.subject.active
            if running.has_partial:
                raise
            may_go_on = yield from self._compact(asked, running, _refusal(error), is_refused=True)
            if not may_go_on:
                return
            if running.subject.active == before:  # the same input is never sent twice
                raise
            yield from self._one_call(asked, running, number)

    def _one_call(self, asked: Asked, running: RunningTurn, number: int) -> Iterator[TurnEvent]:
        subject = running.subject
        with self._desk.slots:
            context = build_context(subject.view, subject.call, subject.record)
        log_call(subject, context)
        yield ContextBuilt(context=context, call_number=number)
        request = _to_request(asked, subject, context)
        running.calls = ()
        reply: ModelReply | None = None
        shown = MarkerFilter(subject.call.policy.summary_marker)
        try:
            with closing(self._stream(request)) as stream:
                for event in stream:
                    if isinstance(event, ModelReply):
                        reply = event
                    elif isinstance(event, TextDelta):
                        text = shown.feed(event.text)
                        running.keep_partial(text)
                        if text:
                            yield TextDelta(text=text)
                    elif not isinstance(event, CallDelta):
                        running.keep_partial()
                        yield event
            if rest := shown.flush():
                running.keep_partial(rest)
                yield TextDelta(text=rest)
            if reply is None:
                raise TurnStateError(
                    problem="the model's stream ended without an answer; send again to go on"
                )
        except ContextError as error:
            self._record_call(running, context, None, str(error))
            raise
        except GeneratorExit:
            self._record_call(running, context, None, "stopped")
            raise
        if subject.price is not None:
            reply = replace(reply, cost=cost_of(reply.usage, subject.price))
        with self._desk.slots:
            seq = running.add_reply(reply, subject.call.policy.summary_marker)
            self._record_call(running, context, reply, None, seq=seq)
        yield UsageReported(usage=reply.usage, cost=reply.cost, model=reply.model)

    def _stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The gateway's events; whatever else it raises becomes a failed call."""
        assert self._desk.gateway is not None  # `_subject` looked
        try:
            with closing(self._desk.gateway.stream(request)) as stream:
                yield from stream
        except ContextError:
            raise
        except Exception as error:
            detail = to_detail(f"{type(error).__name__} - {error}")
            raise ProviderError(kind="unknown", model=request.model, detail=detail) from error

    def _record_call(
        self,
        running: RunningTurn,
        context: Context,
        reply: ModelReply | None,
        error: str | None,
        *,
        seq: int | None = None,
    ) -> None:
        subject = running.subject
        info = CallInfo(
            id=self._desk.new_id(),
            session_id=subject.session.id,
            created_at=self._desk.clock(),
            purpose="answer",
            turn_id=running.id,
            model=subject.model,
            policy_version_id=subject.effective.version_id,
            compaction_id=subject.active.id if subject.active else None,
            seq=seq,
            estimate=context.breakdown.to_dict(),
            runs=context.runs,
            error=error,
        )
        try:
            self._desk.store.record_calls([_with_reply(info, reply) if reply else info])
        except StoreError as lost:  # the session may be erased; what the call ended with counts
            logger.warning("call not recorded turn=%s error=%s", running.id, type(lost).__name__)


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
    given = (("needed", error.needed_tokens), ("limit", error.limit_tokens))
    numbers = tuple((name, tokens) for name, tokens in given if tokens is not None)
    return Trigger(rule="refused by the provider as too long", numbers=numbers)


def _to_request(asked: Asked, subject: Subject, context: Context) -> ModelRequest:
    return ModelRequest(
        model=subject.model or "",
        messages=context.messages,
        tools=subject.tools,
        max_output_tokens=asked.max_output_tokens or _reply_limit(context, subject),
        temperature=asked.temperature,
        connection=subject.connection,
    )


def _reply_limit(context: Context, subject: Subject) -> int | None:
    """The longest reply: the reserve, where the window is shared with it."""
    reserve = context.budget.reserve_tokens if context.budget else 0
    return reserve or subject.info.max_output_tokens


def _with_reply(info: CallInfo, reply: ModelReply) -> CallInfo:
    return replace(
        info,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        cached_tokens=reply.usage.cached_tokens,
        cache_write_tokens=reply.usage.cache_write_tokens,
        reasoning_tokens=reply.usage.reasoning_tokens,
        cost=reply.cost,
        latency_seconds=reply.latency_seconds,
    )
