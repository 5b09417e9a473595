"""Owns the log lines of a model call: what was sent of what there is.

Ids and numbers only: messages are people's words. Source: the `dual-threshold` design, section 5.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.engine.errors import TurnStateError
from ctxcore.engine.events import ContextBuilt, TextDelta, TurnEvent, UsageReported
from ctxcore.engine.running import MarkerFilter, RunningTurn
from ctxcore.engine.services import CallTarget, EngineServices, TurnRequest
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ProviderError
from ctxcore.gateway.replies import cost_of
from ctxcore.gateway.secrets import to_detail
from ctxcore.gateway.values import CallDelta, ModelReply, ModelRequest, StreamEvent
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import StoreError
from ctxcore.store.values import CallInfo

logger = logging.getLogger(__name__)


def log_call(target: CallTarget, context: Context) -> None:
    """Tells what a call is sent: at once where everything is, else with budgets and reduction."""
    if not logger.isEnabledFor(logging.INFO):
        return
    session, parts, budget = target.session.id, context.breakdown, context.budget
    whole = target.view.totals()
    shown, recent = _shown(context), parts.recent + parts.kept + parts.recalled
    if budget is not None and shown < whole.messages:
        remaining = budget.usable_tokens - parts.system - parts.tools
        logger.info(
            "context optimized session=%s window=%d target_ratio=%.1f%% usable=%d system=%d "
            "remaining=%d original_messages=%d original_tokens=%d summary_budget=%d "
            "recent_budget=%d",
            session,
            budget.window_tokens,
            100 * budget.usable_tokens / budget.window_tokens,
            budget.usable_tokens,
            parts.system,
            remaining,
            whole.messages,
            whole.tokens,
            budget.summary_tokens,
            budget.recent_tokens,
        )
        sent = parts.summary + recent
        reduction = 1 - sent / whole.tokens if whole.tokens else 0.0
        logger.info(
            "context reduced session=%s messages=%d tokens=%d reduction=%.1f%%",
            session,
            shown,
            sent,
            100 * reduction,
        )
    logger.info(
        "context built session=%s system=%dt summary=%dt recent=%dt (%d/%d messages) total=%dt",
        session,
        parts.system,
        parts.summary,
        recent,
        shown,
        whole.messages,
        context.tokens,
    )
    logger.info(
        "sending to the model session=%s messages=%d tokens=%d",
        session,
        len(context.messages),
        context.tokens,
    )


def _shown(context: Context) -> int:
    """How many messages of the history, system messages left out, are in the context."""
    kinds = ("kept", "compressed", "recalled")
    shown = sum(run.last - run.first + 1 for run in context.runs if run.verdict in kinds)
    return shown - sum(message["role"] == "system" for message in context.messages[:1])


class Calls:
    """Makes the calls of a turn, one at a time."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def make(self, request: TurnRequest, running: RunningTurn, number: int) -> Iterator[TurnEvent]:
        """Call `number` of the turn, from 1; the answer is stored before its usage is told."""
        target = running.target
        with self._services.slots:
            context = build_context(target.view, target.call, target.record)
        log_call(target, context)
        yield ContextBuilt(context=context, call_number=number)
        try:
            reply = yield from self._receive(running, _to_request(request, target, context))
        except ContextError as error:
            self._record(running, context, None, error.reason)
            raise
        except GeneratorExit:
            self._record(running, context, None, CallCode.STOPPED())
            raise
        reply = replace(reply, calls=context.own_calls(reply.calls))
        if target.price is not None:
            reply = replace(reply, cost=cost_of(reply.usage, target.price))
        with self._services.slots:
            seq = running.add_reply(reply, target.call.policy.summary_marker)
            self._record(running, context, reply, None, seq=seq)
        yield UsageReported(usage=reply.usage, cost=reply.cost, model=reply.model)

    def _receive(
        self, running: RunningTurn, request: ModelRequest
    ) -> Generator[TurnEvent, None, ModelReply]:
        """The answer, told piece by piece without the marker that asks for a compaction."""
        running.calls = ()
        reply: ModelReply | None = None
        shown = MarkerFilter(running.target.call.policy.summary_marker)
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
            raise TurnStateError(problem=TurnProblem.NO_REPLY())
        return reply

    def _stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The gateway's events; whatever else it raises becomes a failed call."""
        assert self._services.gateway is not None  # a turn begins with one
        try:
            with closing(self._services.gateway.stream(request)) as stream:
                yield from stream
        except ContextError:
            raise
        except Exception as error:
            detail = to_detail(f"{type(error).__name__} - {error}")
            raise ProviderError(kind="unknown", model=request.model, detail=detail) from error

    def _record(
        self,
        running: RunningTurn,
        context: Context,
        reply: ModelReply | None,
        error: Reason | None,
        *,
        seq: int | None = None,
    ) -> None:
        target = running.target
        info = CallInfo(
            id=self._services.new_id(),
            session_id=target.session.id,
            created_at=self._services.clock(),
            purpose="answer",
            turn_id=running.id,
            model=target.model,
            policy_version_id=target.effective.version_id,
            compaction_id=target.active.id if target.active else None,
            seq=seq,
            estimate=context.breakdown.to_dict(),
            runs=context.runs,
            error=error,
        )
        try:
            self._services.store.record_calls([_with_reply(info, reply) if reply else info])
        except StoreError as lost:  # the session may be erased; what the call ended with counts
            logger.warning("call not recorded turn=%s error=%s", running.id, type(lost).__name__)


def _to_request(request: TurnRequest, target: CallTarget, context: Context) -> ModelRequest:
    return ModelRequest(
        model=target.model or "",
        messages=context.messages,
        tools=context.sent_tools(target.tools),
        max_output_tokens=request.max_output_tokens or _reply_limit(context, target),
        temperature=request.temperature,
        connection=target.connection,
    )


def _reply_limit(context: Context, target: CallTarget) -> int | None:
    """The longest reply: the reserve, where the window is shared with it."""
    reserve = context.budget.reserve_tokens if context.budget else 0
    return reserve or target.info.max_output_tokens


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
