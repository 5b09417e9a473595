"""Owns the life of a turn: store what the user said, call the model, run tools, end it once.

Whatever happens, the user's message is stored before the model is asked, the answer so far is
stored while it streams, and the turn ends in a state that says how.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

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
    TurnEvent,
    UsageReported,
)
from ctxcore.engine.running import LEASE, RunningTurn
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ContextOverflowError, ProviderError
from ctxcore.gateway.masking import to_detail
from ctxcore.gateway.usage import cost_of
from ctxcore.gateway.values import CallDelta, ModelReply, ModelRequest, StreamEvent
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import Message, ToolCall, tool_result
from ctxcore.store.errors import StoreError
from ctxcore.store.values import CallInfo, MessageInfo, TurnInfo

logger = logging.getLogger(__name__)

RunTool = Callable[[ToolCall], str]

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


class Turns:
    """The verbs that let a turn begin and go on."""

    def __init__(self, desk: Desk, compactions: Compactions) -> None:
        self._desk = desk
        self._compactions = compactions

    def start(self, asked: Asked, message: Message) -> Iterator[TurnEvent]:
        """Stores `message` and answers it; nothing happens before the first event is asked for."""
        with self._desk.slots:
            running = self._begin(asked, message)
        yield from self._run(asked, running, self._calls(asked, running))

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
            if calls and turn.state == "awaiting_tools" and asked.run_tool is None:
                names = ", ".join(f"{call.name} ({call.id})" for call in calls)
                raise TurnStateError(
                    problem=f"calls without results: {names}; append them, or pass run_tool"
                )
            now = self._desk.clock()
            turn = self._desk.store.resume_turn(turn.id, at=now, lease_until=now + LEASE)
            running = RunningTurn(self._desk, turn, subject, begun_at=now)
        yield from self._run(asked, running, self._go_on(asked, running, calls))

    def _begin(self, asked: Asked, message: Message) -> RunningTurn:
        subject = self._subject(asked)
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
        return RunningTurn(self._desk, turn, subject, begun_at=now)

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
            yield running.end(running.state)

    def _go_on(
        self, asked: Asked, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Iterator[TurnEvent]:
        """A turn taken up again: first what it had said and the calls nobody answered."""
        with self._desk.slots:
            running.add_partial()
        if asked.run_tool is not None:
            yield from self._run_tools(asked.run_tool, running, calls)
        yield from self._calls(asked, running)

    def _calls(self, asked: Asked, running: RunningTurn) -> Iterator[TurnEvent]:
        for number in range(1, MAX_CALLS + 1):
            yield from self._before_send(running)
            yield from self._answer(asked, running, number)
            calls = running.calls
            if not calls:
                yield from self._after_answer(running)
                running.state = "done"
                return
            for call in calls:
                yield ToolCallRequested(call=call)
            if asked.run_tool is None:
                running.state = "awaiting_tools"
                return
            yield from self._run_tools(asked.run_tool, running, calls)
        raise TurnStateError(
            problem=f"the model asked for tools {MAX_CALLS} times in one turn; "
            "continue the turn to let it go on, or say what it should do instead"
        )

    def _before_send(self, running: RunningTurn) -> Iterator[TurnEvent]:
        with self._desk.slots:
            subject = running.renew()
            trigger = self._compactions.needed(subject)
            if trigger is None and subject.call.policy.check_at == "before_send":
                trigger = self._compactions.due(subject)
        if trigger is not None:
            yield from self._compact(running, trigger)

    def _after_answer(self, running: RunningTurn) -> Iterator[TurnEvent]:
        if running.subject.call.policy.check_at != "after_answer":
            return
        with self._desk.slots:
            trigger = self._compactions.due(running.renew())
        if trigger is not None:
            yield from self._compact(running, trigger)

    def _compact(
        self, running: RunningTurn, trigger: Trigger, *, is_refused: bool = False
    ) -> Iterator[TurnEvent]:
        """Compacts; the turn goes on, whatever becomes of it. With a change it sees the new one."""
        yield CompactionStarted(trigger=str(trigger))
        try:
            with running.held():
                proposal = self._compactions.propose(
                    running.subject, trigger, is_refused=is_refused
                )
                info = self._compactions.confirm(proposal)
        except ContextError as error:
            yield CompactionRejected(reason=str(error))
        else:
            if info is None:
                yield CompactionRejected(reason=proposal.outcome.reason)
            else:
                yield CompactionFinished(info=info)
        running.renew()

    def _answer(self, asked: Asked, running: RunningTurn, number: int) -> Iterator[TurnEvent]:
        """One call, and after an overflow one more with a compacted context."""
        try:
            yield from self._one_call(asked, running, number)
        except ContextOverflowError as error:
            before = running.subject.active
            if running.has_partial:
                raise
            yield from self._compact(running, _refusal(error), is_refused=True)
            if running.subject.active == before:  # the same input is never sent twice
                raise
            yield from self._one_call(asked, running, number)

    def _one_call(self, asked: Asked, running: RunningTurn, number: int) -> Iterator[TurnEvent]:
        subject = running.subject
        with self._desk.slots:
            context = build_context(subject.view, subject.call, subject.record)
        yield ContextBuilt(context=context, call_number=number)
        request = _to_request(asked, subject, context)
        running.calls = ()
        reply: ModelReply | None = None
        try:
            with closing(self._stream(request)) as stream:
                for event in stream:
                    if isinstance(event, ModelReply):
                        reply = event
                    elif not isinstance(event, CallDelta):
                        running.keep_partial(event.text if isinstance(event, TextDelta) else "")
                        yield event
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
            seq = running.add_reply(reply)
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

    def _run_tools(
        self, run_tool: RunTool, running: RunningTurn, calls: Sequence[ToolCall]
    ) -> Iterator[TurnEvent]:
        for call in calls:
            with running.held():
                output = _run_safely(run_tool, call)
            running.add([tool_result(call.id, output, name=call.name)])
            yield ToolResultAdded(call_id=call.id, output=output)

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


def _run_safely(run_tool: RunTool, call: ToolCall) -> str:
    """The tool's output; an exception of the tool is told to the model, not to the user."""
    try:
        output: object = run_tool(call)
    except Exception as error:  # noqa: BLE001  # a tool is the caller's code and may raise anything
        return f"Error: {type(error).__name__}: {error}"
    if isinstance(output, str):
        return output
    return json.dumps(output, ensure_ascii=False, default=str)  # a caller forgot to write it down


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
