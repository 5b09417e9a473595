"""Owns the life of a turn: store what the user said, call the model, run tools, end it once.

Whatever happens, the user's message is stored before the model is asked, the answer so far is
stored while it streams, and the turn ends in a state that says how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.compaction.measuring import Trigger
from ctxcore.engine.compactions import Compactions
from ctxcore.engine.desk import Desk, Subject
from ctxcore.engine.errors import NoModelError, TurnStateError
from ctxcore.engine.events import (
    CompactionFinished,
    CompactionRejected,
    CompactionStarted,
    ContextBuilt,
    TextDelta,
    ToolCallRequested,
    ToolResultAdded,
    TurnEnded,
    TurnEvent,
    UsageReported,
)
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ContextOverflowError
from ctxcore.gateway.values import CallDelta, Gateway, ModelReply, ModelRequest
from ctxcore.messages.values import Message, Text, ToolCall, tool_result
from ctxcore.store.values import CallInfo, TurnInfo, TurnState

RunTool = Callable[[ToolCall], str]

MAX_CALLS = 25  # of one turn; a loop that long is not getting anywhere
LEASE = timedelta(seconds=60)
PARTIAL_SECONDS = 1.0  # how much of an answer a crash may lose


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


class Turns:
    """The verbs that let a turn begin and go on."""

    def __init__(self, desk: Desk, compactions: Compactions) -> None:
        self._desk = desk
        self._compactions = compactions

    def start(self, asked: Asked, message: Message) -> Iterator[TurnEvent]:
        """Stores `message` and answers it; nothing happens before the first event is asked for."""
        with self._desk.slots:
            turn = self._begin(asked, message)
        yield from self._run(asked, turn)

    def _begin(self, asked: Asked, message: Message) -> TurnInfo:
        subject = self._subject(asked)
        self._gateway()
        now = self._desk.clock()
        return self._desk.store.begin_turn(
            asked.session_id,
            self._desk.new_id(),
            [message],
            counter=subject.call.counter,
            at=now,
            lease_until=now + LEASE,
            model=subject.model,
            oversize_tokens=self._desk.oversize(subject),
        )

    def resume(self, asked: Asked) -> Iterator[TurnEvent]:
        """Goes on with the last turn: its tools were answered, or it failed or was stopped.

        Raises:
            TurnStateError: there is no turn to go on with.
        """
        self._desk.session(asked.session_id)
        turns = self._desk.store.turns(asked.session_id)
        if not turns:
            raise TurnStateError(problem="there is no turn to go on with; say something first")
        now = self._desk.clock()
        turn = self._desk.store.resume_turn(turns[-1].id, at=now, lease_until=now + LEASE)
        yield from self._run(asked, turn)

    def _subject(self, asked: Asked) -> Subject:
        subject = self._desk.subject(
            asked.session_id, model=asked.model, tools=asked.tools, knowledge=asked.knowledge
        )
        if subject.model is None:
            raise NoModelError
        return subject

    def _gateway(self) -> Gateway:
        if self._desk.gateway is None:
            raise NoModelError
        return self._desk.gateway

    def _run(self, asked: Asked, turn: TurnInfo) -> Iterator[TurnEvent]:
        """The turn's events; closing the iterator stops the turn and keeps what was said."""
        running = _Running(turn)
        try:
            yield from self._calls(asked, running)
        except GeneratorExit:
            self._end(asked, running, "stopped")
            raise
        except ContextError as error:
            yield self._end(asked, running, "failed", str(error))
        except BaseException:
            self._end(asked, running, "failed", "the turn broke off because of a program error")
            raise
        else:
            yield self._end(asked, running, running.state)

    def _calls(self, asked: Asked, running: _Running) -> Iterator[TurnEvent]:
        for number in range(1, MAX_CALLS + 1):
            yield from self._before_send(asked)
            yield from self._answer(asked, running, number)
            calls = running.calls
            if not calls:
                yield from self._after_answer(asked)
                running.state = "done"
                return
            for call in calls:
                yield ToolCallRequested(call=call)
            if asked.run_tool is None:
                running.state = "awaiting_tools"
                return
            yield from self._run_tools(asked, running, calls)
        raise TurnStateError(problem=f"the model asked for tools {MAX_CALLS} times in one turn")

    def _before_send(self, asked: Asked) -> Iterator[TurnEvent]:
        with self._desk.slots:
            subject = self._subject(asked)
            trigger = self._compactions.needed(subject)
            if trigger is None and subject.call.policy.check_at == "before_send":
                trigger = self._compactions.due(subject)
        if trigger is not None:
            yield from self._compact(subject, trigger)

    def _after_answer(self, asked: Asked) -> Iterator[TurnEvent]:
        with self._desk.slots:
            subject = self._subject(asked)
            due = self._compactions.due(subject)
        if due is not None and subject.call.policy.check_at == "after_answer":
            yield from self._compact(subject, due)

    def _compact(self, subject: Subject, trigger: Trigger) -> Iterator[TurnEvent]:
        yield CompactionStarted(trigger=str(trigger))
        try:
            proposal = self._compactions.propose(subject, trigger)
            info = self._compactions.confirm(proposal)
        except ContextError as error:  # the answer stands, whatever became of the compaction
            yield CompactionRejected(reason=str(error))
            return
        if info is None:
            yield CompactionRejected(reason=proposal.outcome.reason)
        else:
            yield CompactionFinished(info=info)

    def _answer(self, asked: Asked, running: _Running, number: int) -> Iterator[TurnEvent]:
        """One call, and after an overflow one more with a compacted context."""
        try:
            yield from self._one_call(asked, running, number)
        except ContextOverflowError as error:
            subject = self._subject(asked)
            yield CompactionStarted(trigger=f"provider overflow: {error}")
            proposal = self._compactions.propose(subject)
            info = self._compactions.confirm(proposal)
            if info is None:
                yield CompactionRejected(reason=proposal.outcome.reason)
                raise
            yield CompactionFinished(info=info)
            yield from self._one_call(asked, running, number)

    def _one_call(self, asked: Asked, running: _Running, number: int) -> Iterator[TurnEvent]:
        with self._desk.slots:
            subject = self._subject(asked)
            context = build_context(subject.view, subject.call, subject.record)
        yield ContextBuilt(context=context, call_number=number)
        model = subject.model or ""
        request = ModelRequest(
            model=model,
            messages=context.messages,
            tools=subject.tools,
            max_output_tokens=asked.max_output_tokens or _reply_limit(context, subject),
            temperature=asked.temperature,
            connection=self._desk.models().connection(model),
        )
        running.start_call()
        try:
            reply: ModelReply | None = None
            with closing(self._gateway().stream(request)) as stream:
                for event in stream:
                    if isinstance(event, ModelReply):
                        reply = event
                    elif not isinstance(event, CallDelta):
                        self._keep_partial(running, event)
                        yield event
        except ContextError as error:
            self._record_call(subject, context, running, None, str(error))
            raise
        except GeneratorExit:
            self._record_call(subject, context, running, None, "stopped")
            raise
        if reply is None:
            raise TurnStateError(problem="the model's stream ended without an answer")
        with self._desk.slots:
            self._store_reply(subject, context, running, reply)
        yield UsageReported(usage=reply.usage, cost=reply.cost, model=reply.model)

    def _keep_partial(self, running: _Running, event: TurnEvent) -> None:
        if isinstance(event, TextDelta):
            running.partial += event.text
        now = self._desk.clock()
        if running.saved_at is None or (now - running.saved_at).total_seconds() >= PARTIAL_SECONDS:
            running.saved_at = now
            self._desk.store.save_partial(running.turn.id, running.partial, lease_until=now + LEASE)

    def _store_reply(
        self, subject: Subject, context: Context, running: _Running, reply: ModelReply
    ) -> None:
        seq = self._append(subject, [reply.message], running)[-1]
        running.calls = reply.calls
        running.text += reply.text
        running.partial = ""
        self._record_call(subject, context, running, reply, None, seq=seq)

    def _append(
        self, subject: Subject, messages: Sequence[Message], running: _Running
    ) -> list[int]:
        return self._desk.store.append(
            subject.session.id,
            messages,
            counter=subject.call.counter,
            at=self._desk.clock(),
            oversize_tokens=self._desk.oversize(subject),
            turn_id=running.turn.id,
        )

    def _run_tools(
        self, asked: Asked, running: _Running, calls: Sequence[ToolCall]
    ) -> Iterator[TurnEvent]:
        assert asked.run_tool is not None
        for call in calls:
            output = _run_safely(asked.run_tool, call)
            message = tool_result(call.id, output, name=call.name)
            self._append(self._subject(asked), [message], running)
            yield ToolResultAdded(call_id=call.id, output=output)

    def _record_call(
        self,
        subject: Subject,
        context: Context,
        running: _Running,
        reply: ModelReply | None,
        error: str | None,
        *,
        seq: int | None = None,
    ) -> None:
        info = CallInfo(
            id=self._desk.new_id(),
            session_id=subject.session.id,
            created_at=self._desk.clock(),
            purpose="answer",
            turn_id=running.turn.id,
            model=subject.model,
            policy_version_id=subject.effective.version_id,
            compaction_id=subject.active.id if subject.active else None,
            seq=seq,
            estimate=context.breakdown.to_dict(),
            runs=context.runs,
            error=error,
        )
        self._desk.store.record_calls([_with_reply(info, reply) if reply else info])

    def _end(
        self, asked: Asked, running: _Running, state: TurnState, error: str | None = None
    ) -> TurnEnded:
        """Ends the turn; what had been said of an unfinished answer becomes its message."""
        with self._desk.slots:
            if running.partial:
                said = Message(role="assistant", content=(Text(text=running.partial),))
                self._append(self._subject(asked), [said], running)
                running.text += running.partial
                running.partial = ""
            self._desk.store.end_turn(running.turn.id, state, at=self._desk.clock(), error=error)
        return TurnEnded(turn_id=running.turn.id, state=state, text=running.text, error=error)


class _Running:
    """What changes while a turn runs."""

    def __init__(self, turn: TurnInfo) -> None:
        self.turn = turn
        self.state: TurnState = "done"
        self.text = ""
        self.partial = ""
        self.calls: tuple[ToolCall, ...] = ()
        self.saved_at: datetime | None = None

    def start_call(self) -> None:
        """Forgets what the call before was doing."""
        self.partial, self.calls, self.saved_at = "", (), None


def _run_safely(run_tool: RunTool, call: ToolCall) -> str:
    """The tool's output; an exception of the tool is told to the model, not to the user."""
    try:
        return run_tool(call)
    except Exception as error:  # noqa: BLE001  # a tool is the caller's code and may raise anything
        return f"Error: {type(error).__name__}: {error}"


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
