"""Makes the model calls of a turn: sends the context, streams and stores the answer, logs it.

Log lines hold ids and numbers only, no message texts (`dual-threshold` design, section 5).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import asdict, replace

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.for_one_call import OneCall
from ctxcore.compaction.triggers import measure
from ctxcore.engine.cache_breaks import with_break, with_front
from ctxcore.engine.errors import TurnStateError
from ctxcore.engine.events import (
    ANSWER_CUT,
    INPUT_CUT,
    ContextBuilt,
    InputCut,
    TextDelta,
    TurnEvent,
    UsageReported,
)
from ctxcore.engine.requests import to_recipe
from ctxcore.engine.running import MarkerFilter, RunningTurn
from ctxcore.engine.sending import reply_limit, stream_reply, with_own_price
from ctxcore.engine.services import CallTarget, EngineServices, TurnRequest
from ctxcore.engine.signals import record_signals
from ctxcore.errors import ContextError
from ctxcore.gateway.values import CallDelta, ModelReply, ModelRequest
from ctxcore.messages.provider_edits import EDITS
from ctxcore.messages.values import JsonObject, Media
from ctxcore.reasons.codes import CallCode
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import StoreError
from ctxcore.store.values import CallInfo, SessionInfo
from ctxcore.tokens.factors import is_cut

logger = logging.getLogger(__name__)

CUT_REASONS = frozenset({"length", "content_filter"})
"""The finish reasons of an answer that its model did not end by itself."""


class Calls:
    """Makes the calls of a turn, one at a time."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def make(self, request: TurnRequest, running: RunningTurn, number: int) -> Iterator[TurnEvent]:
        """Makes call `number` of the turn, from 1; stores the answer before reporting its usage."""
        target = running.target
        with self._services.slots:
            record = running.one_call.record if running.one_call else target.record
            context = built_context(self._services, target, record)
        running.knowledge_sent = context.breakdown.knowledge
        _log_call(target, context)
        yield ContextBuilt(context=context, call_number=number)
        sent = _to_request(request, target, context)
        try:
            reply = yield from self._receive(running, sent)
        except ContextError as error:
            self._record(running, context, sent, None, error.reason)
            raise
        except GeneratorExit:
            self._record(running, context, sent, None, CallCode.STOPPED())
            raise
        reply = replace(reply, calls=context.own_calls(reply.calls))
        reply = with_own_price(reply, target.price)
        with self._services.slots:
            seq = running.add_reply(reply, target.call.policy.summary_marker)
            before = self._record(running, context, sent, reply, None, seq=seq)
            record_signals(self._services, target, context, (seq, reply.message), before)
            self._note_cut(running, reply, seq)
        yield UsageReported(usage=reply.usage, cost=reply.cost, model=reply.model)
        yield from self._warn_if_cut(running, context, reply)

    def _note_cut(self, running: RunningTurn, reply: ModelReply, seq: int) -> None:
        """Records that message `seq` is an answer that its model did not end by itself."""
        if reply.finish_reason in CUT_REASONS:
            body: JsonObject = {"turn_id": running.id, "seq": seq, "why": reply.finish_reason}
            self._services.journal.record(ANSWER_CUT, body, session_id=running.target.session.id)

    def _warn_if_cut(
        self, running: RunningTurn, context: Context, reply: ModelReply
    ) -> Iterator[InputCut]:
        """Records and reports that the provider counted far less than it was sent."""
        target, reported = running.target, reply.usage.input_tokens
        if not reported or not _is_comparable(target, context, reply):
            return
        if not is_cut(context.tokens, reported, target.factor.value):
            return
        sent = round(context.tokens * target.factor.value)
        body: JsonObject = {
            "turn_id": running.id,
            "model": target.model,
            "sent_tokens": sent,
            "reported_tokens": reported,
        }
        self._services.journal.record(INPUT_CUT, body, session_id=target.session.id)
        yield InputCut(model=reply.model, sent_tokens=sent, reported_tokens=reported)

    def _receive(
        self, running: RunningTurn, request: ModelRequest
    ) -> Generator[TurnEvent, None, ModelReply]:
        """Streams the answer without the marker by which a model requests a compaction."""
        running.calls = ()
        reply: ModelReply | None = None
        shown = MarkerFilter(running.target.call.policy.summary_marker)
        assert self._services.gateway is not None  # a turn begins with one
        with closing(stream_reply(self._services.gateway, request)) as stream:
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

    def _record(
        self,
        running: RunningTurn,
        context: Context,
        sent: ModelRequest,
        reply: ModelReply | None,
        error: Reason | None,
        *,
        seq: int | None = None,
    ) -> CallInfo | None:
        """Stores a call of the turn; returns the one before it."""
        return record_call(
            self._services,
            running.target,
            context,
            sent,
            reply,
            error,
            seq=seq,
            turn_id=running.id,
            one_call=running.one_call,
        )


def built_context(
    services: EngineServices, target: CallTarget, record: Compaction | None
) -> Context:
    """The context of a call that is about to be made.

    What it recalls is stored, so that the calls after it show the same; whoever watches is told.
    """
    begun = time.perf_counter()
    context = build_context(target.view, target.call, record)
    seconds = time.perf_counter() - begun
    if context.recalls != target.call.recalls:
        services.store.set_recalls(target.session.id, context.recalls)
    services.watchers.tell(
        lambda one: one.on_context(target.session.id, context, seconds, target.effective)
    )
    return context


def record_call(
    services: EngineServices,
    target: CallTarget,
    context: Context,
    sent: ModelRequest,
    reply: ModelReply | None,
    error: Reason | None,
    *,
    seq: int | None = None,
    turn_id: str | None = None,
    one_call: OneCall | None = None,
) -> CallInfo | None:
    """Stores a call; returns the one before it."""
    recipe = to_recipe(context, sent, one_call)
    info = CallInfo(
        id=services.new_id(),
        session_id=target.session.id,
        created_at=services.clock(),
        purpose="answer",
        turn_id=turn_id,
        model=target.model,
        policy_version_id=target.effective.version_id,
        compaction_id=target.active.id if target.active else None,
        seq=seq,
        estimate=context.breakdown.to_dict(),
        runs=context.runs,
        error=error,
        digest=recipe.digest,
        counter_id=target.call.counter.id,
        count_factor=target.factor.value,
        is_comparable=reply is not None and _is_comparable(target, context, reply),
        recipe=recipe.body,
    )
    if reply is not None:
        cost, seconds = reply.cost, reply.latency_seconds
        info = replace(info, cost=cost, latency_seconds=seconds, **asdict(reply.usage))
        info = replace(info, without_tokens=_without_compaction(target, context))
    store, before = services.store, None
    try:
        before = store.last_call(target.session.id, info.purpose)
        info = with_break(with_front(info, context, target), before, target.active)
        store.record_calls([info], texts=recipe.texts)
    except StoreError as lost:  # the session may be erased; the result of the call stands
        logger.warning("call not recorded turn=%s error=%s", turn_id, type(lost).__name__)
    else:
        services.alerts.after_calls(target.session, [info])
    first = None if reply is None else reply.first_token_seconds
    services.watchers.tell(lambda one: one.on_call(info, first))
    return before


def record_report(
    services: EngineServices,
    session: SessionInfo,
    info: CallInfo,
    *,
    first_token_seconds: float | None = None,
) -> None:
    """Stores a call of which only the provider's report is known, not what was sent.

    Raises:
        StoreError: it cannot be stored, e.g. because the session was erased.
    """
    services.store.record_calls([info])
    services.alerts.after_calls(session, [info])
    services.watchers.tell(lambda one: one.on_call(info, first_token_seconds))


def _without_compaction(target: CallTarget, context: Context) -> int:
    """The size of the call as it would have been sent without any compaction."""
    if target.record is None:
        return context.tokens
    whole = measure(target.view, target.call).input_tokens
    budget = target.call.budget
    return whole if budget is None else min(whole, budget.usable_tokens)


def _is_comparable(target: CallTarget, context: Context, reply: ModelReply) -> bool:
    """Whether a provider's count of `context` tells how good our own is.

    Media are counted by formulas, and until a recount is done sizes are scaled ones. A provider
    that edits what it is sent counts less of it, and may not say so where it streams.
    """
    options = target.connection.options if target.connection is not None else {}
    if EDITS in options or reply.usage.cleared_tokens is not None:
        return False
    parts = (part for made in context.made_of for part in made.message.content)
    return not target.is_estimated and not any(isinstance(part, Media) for part in parts)


def _to_request(request: TurnRequest, target: CallTarget, context: Context) -> ModelRequest:
    return ModelRequest(
        model=target.model or "",
        messages=context.messages,
        tools=context.sent_tools(target.tools),
        max_output_tokens=request.max_output_tokens or reply_limit(context.budget, target.info),
        temperature=request.temperature,
        connection=target.connection,
    )


def _log_call(target: CallTarget, context: Context) -> None:
    """Logs what a call is sent, with budgets and reduction if that is less than the history."""
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
    """The number of history messages in the context, without system messages."""
    kinds = ("kept", "compressed", "recalled")
    shown = sum(run.last - run.first + 1 for run in context.runs if run.verdict in kinds)
    return shown - sum(group.message.is_system for group in context.made_of[:1])
