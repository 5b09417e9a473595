"""Calls that a proxy or an application makes itself, with the context that the engine chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ctxcore.assembly.context import Context
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.calls import built_context, record_call
from ctxcore.engine.sending import with_own_price
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.gateway.values import ModelReply, ModelRequest, ModelUsage
from ctxcore.messages.shapes.values import PassedMessages
from ctxcore.messages.values import JsonObject, Message
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.values import PROXY, CallInfo, SessionInfo

# The caller answers no tool of ours, and nobody waits to be asked.
_NO_OWN_TOOLS: JsonObject = {"offers_expand": False, "offers_recall": False}


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

    def create_session(self, *, title: str, model: str | None) -> SessionInfo:
        """Creates an empty session for calls of others."""
        return self._services.create_session(title=title, model=model, origin=PROXY)

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
        session = self._services.session(session_id)
        info = CallInfo(
            id=self._services.new_id(),
            session_id=session.id,
            created_at=self._services.clock(),
            purpose="answer",
            model=model,
            **asdict(usage),
        )
        self._services.store.record_calls([info])
        self._services.alerts.after_calls(session, [info])

    def begin(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        system: str | None = None,
        passed: PassedMessages | None = None,
    ) -> OutsideCall:
        """Appends `messages`, compacts where a rule asks for it, and chooses what is sent."""
        services = self._services
        target = services.call_target(
            session_id, model=model, tools=tools, system=system, overrides=_NO_OWN_TOOLS
        )
        services.hold_factor(target)
        if messages:
            services.append(target, messages)
            target = services.renew(target)
        trigger = self._automatic.due(target)
        if trigger is not None:
            for _ in self._automatic.run(target, trigger):
                pass  # what a program that watches would show
            target = services.renew(target)
        context = built_context(services, target, target.record)
        if context.recalls != target.call.recalls:
            services.store.set_recalls(session_id, context.recalls)
        return OutsideCall(target=target, context=replace(context, passed=passed))

    def end(
        self, call: OutsideCall, reply: ModelReply | None, *, error: Reason | None = None
    ) -> int | None:
        """Appends an answer and stores the call with its usage; returns the answer's number."""
        target, seq = call.target, None
        if reply is not None:
            calls = call.context.own_calls(reply.calls)
            reply = with_own_price(replace(reply, calls=calls), target.price)
            [seq] = self._services.append(target, [reply.message])
        sent = ModelRequest(
            model=target.model or "",
            messages=call.context.messages,
            tools=call.context.sent_tools(target.tools),
        )
        record_call(self._services, target, call.context, sent, reply, error, seq=seq)
        return seq
