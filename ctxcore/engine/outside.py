"""Calls that a proxy or an application makes itself, with the context that the engine chooses."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from ctxcore.assembly.context import Context
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.calls import built_context, record_call, record_report
from ctxcore.engine.sending import with_own_price
from ctxcore.engine.services import CallTarget, EngineServices, to_definitions
from ctxcore.engine.signals import record_signals
from ctxcore.gateway.values import ModelReply, ModelRequest, ModelUsage
from ctxcore.messages.values import JsonObject, Message
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.values import PROXY, CallInfo, SessionInfo

logger = logging.getLogger(__name__)

# The caller answers no tool of ours, and nobody waits to be asked.
_NO_OWN_TOOLS: JsonObject = {"offers_expand": False, "offers_recall": False}
_PATIENCE_SECONDS: Final = 20.0  # chosen: longer than a compaction takes that quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideCall:
    """A call that is about to be made: what is sent, and for which session."""

    target: CallTarget
    context: Context

    @property
    def session_id(self) -> str:
        """The session it belongs to."""
        return self.target.session.id


class OutsideCalls:
    """Chooses what calls of others are sent, and stores their answers."""

    def __init__(self, services: EngineServices, automatic: AutomaticCompactions) -> None:
        self._services = services
        self._automatic = automatic

    def create_session(
        self,
        *,
        title: str,
        model: str | None,
        system: str | None = None,
        tools: Sequence[Mapping[str, object]] = (),
    ) -> SessionInfo:
        """Creates a session for calls of others."""
        definitions = to_definitions(tools)
        return self._services.create_session(
            title=title, model=model, origin=PROXY, system=system, tools=definitions
        )

    def open_session(self, session_id: str, *, origin: str) -> SessionInfo:
        """The session of this id, which a framework chose; made where there is none.

        Raises:
            NotAllowedError: it is another user's, and this user is no operator.
        """
        try:
            return self._services.session(session_id)
        except SessionNotFoundError:
            return self._services.create_session(
                title=session_id, origin=origin, session_id=session_id
            )

    def record_usage(self, session_id: str, usage: ModelUsage, *, model: str | None) -> None:
        """Stores a call of which only the usage is known."""
        session = self._services.session(session_id, "change")
        info = CallInfo(
            id=self._services.new_id(),
            session_id=session.id,
            created_at=self._services.clock(),
            purpose="answer",
            model=model,
            **asdict(usage),
        )
        record_report(self._services, session, info)

    def begin(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        system: str | None = None,
    ) -> OutsideCall:
        """Appends `messages`, compacts where a rule asks for it, and chooses what is sent."""
        target = self.add(session_id, messages, model=model, tools=tools, system=system)
        return self.choose(target)

    def add(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        system: str | None = None,
        expected_length: int | None = None,
    ) -> CallTarget:
        """Appends `messages` to a session that has `expected_length`; the session with them.

        Raises:
            StaleHistoryError: it has another length.
        """
        target = self._services.call_target(
            session_id,
            model=model,
            tools=tools,
            system=system,
            overrides=_NO_OWN_TOOLS,
            action="change",
        )
        self._services.hold_factor(target)
        self._services.append(target, messages, expected_length=expected_length)
        return self._services.renew(target)

    def choose(self, target: CallTarget) -> OutsideCall:
        """Compacts where a rule asks for it before a call, and chooses what is sent.

        Raises:
            BudgetError: what must be kept does not fit.
        """
        services, target = self._services, self._settled(target)
        with services.slots:
            all_rules = target.call.policy.check_at in ("before_send", "before_message")
            trigger = self._automatic.due(target, all_rules=all_rules)
        if trigger is not None:
            for event in self._automatic.run(target, trigger):
                kind = type(event).__name__
                logger.debug("before a call %s session=%s", kind, target.session.id)
            target = self._settled(services.renew(target))
        with services.slots:
            context = built_context(services, target, target.record)
        return OutsideCall(target=target, context=context)

    def answer(
        self, target: CallTarget, message: Message, *, expected_length: int | None = None
    ) -> int:
        """Appends an answer; returns its number.

        Raises:
            StaleHistoryError: the session has not `expected_length`.
        """
        [seq] = self._services.append(target, [message], expected_length=expected_length)
        return seq

    def end(
        self, call: OutsideCall, reply: ModelReply | None, *, error: Reason | None = None
    ) -> int | None:
        """Appends an answer and stores the call with its usage; returns the answer's number."""
        seq = None
        if reply is not None:
            reply = replace(reply, calls=call.context.own_calls(reply.calls))
            seq = self.answer(call.target, reply.message)
        self.record(call, reply, seq, error)
        return seq

    def record(
        self, call: OutsideCall, reply: ModelReply | None, seq: int | None, error: Reason | None
    ) -> None:
        """Stores a call whose answer is message `seq`; then the rules are checked, where the
        policy wants that behind an answer.
        """
        services, target, context = self._services, call.target, call.context
        reply = None if reply is None else with_own_price(reply, target.price)
        sent = ModelRequest(
            model=target.model or "",
            messages=context.messages,
            tools=context.sent_tools(target.tools),
        )
        with services.slots:
            before = record_call(services, target, context, sent, reply, error, seq=seq)
            if seq is not None and reply is not None:
                record_signals(services, target, context, (seq, reply.message), before)
        if reply is not None:
            self._automatic.check_later(target)

    def _settled(self, target: CallTarget) -> CallTarget:
        """`target` behind the compaction that the last answer began.

        Agents send the next request at once. One that did not wait would be cut to its window now,
        and the prompt cache would be lost twice.
        """
        if not self._services.queue.is_busy(target.session.id):
            return target
        self._services.queue.wait(target.session.id, _PATIENCE_SECONDS)
        return self._services.renew(target)
