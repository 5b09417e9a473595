"""What all parts of an engine share: its services, call targets and turn requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from ctxcore.assembly.building import Call
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import budget_of, oversize_tokens, ruling, takes_reasoning
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rules.values import SentNames, defined_names
from ctxcore.budget import TokenBudget
from ctxcore.compaction.plans import Answer, Confirm
from ctxcore.compression.own_tools import (
    EXPAND_NAME,
    EXPAND_TOOL,
    RECALL_NAME,
    with_own_tools,
)
from ctxcore.engine.alerts import Alerts
from ctxcore.engine.auditing import Audit
from ctxcore.engine.background import Recounts, WorkQueue
from ctxcore.engine.errors import NotAllowedError, NotAuditorError
from ctxcore.engine.events import EventJournal
from ctxcore.engine.factors import factor_of, hold_factor
from ctxcore.engine.leases import Leases
from ctxcore.engine.policies import EffectivePolicy, ModelCatalog, merge_layers
from ctxcore.engine.watching import Watchers
from ctxcore.gateway.values import Connection, Gateway
from ctxcore.messages.arguments import checked_knowledge, checked_system, checked_tools
from ctxcore.messages.canonical import ordered_at, parse_canonical, printable_json
from ctxcore.messages.values import JsonObject, Message, ToolCall, text_message
from ctxcore.policy.layers import Layer
from ctxcore.policy.values import Policy
from ctxcore.reasons.places import Place, PlaceCode
from ctxcore.reasons.storage_problems import AccessCode
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import (
    AuditAction,
    CompactionInfo,
    Scope,
    SessionInfo,
    SessionStamp,
    Staging,
    UserInfo,
)
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.catalog import ModelInfo
from ctxcore.tokens.count import count_message, count_tools, counter_for
from ctxcore.tokens.factors import NO_FACTOR, CountFactor
from ctxcore.tokens.families import TokenCounter
from ctxcore.tokens.prices import Price

RunTool = Callable[[ToolCall], str]

BUSY_THREADS = 2  # each holds the interpreter for up to 5 ms, so an event loop waits 10 ms


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The caller's arguments for a turn."""

    session_id: str
    model: str | None = None
    tools: Sequence[Mapping[str, object]] | None = None
    knowledge: Mapping[str, str] = field(default_factory=dict)
    run_tool: RunTool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    confirm: Confirm | None = None
    """Asked before a compaction."""
    system: str | None = None
    """The system prompt of this turn alone; None: the session's."""
    answers: list[Answer] = field(default_factory=list)
    """The answer that a person has given already; the first compaction consumes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTarget:
    """A session as the next call sees it: model, policy, tools, history, active compaction."""

    session: SessionInfo
    model: str | None
    info: ModelInfo
    effective: EffectivePolicy
    view: HistoryView
    call: Call
    active: CompactionInfo | None
    tools: tuple[JsonObject, ...]
    connection: Connection | None = None
    """This installation's connection for the model."""
    price: Price | None = None
    """This installation's own price of the model; None where the public one applies."""
    factor: CountFactor = NO_FACTOR
    """What the provider counts for one of our tokens, as the session has it in force."""

    @property
    def is_estimated(self) -> bool:
        """Whether sizes are scaled from another counter's until a recount is done."""
        return self.call.is_scaled

    @property
    def without_knowledge(self) -> CallTarget:
        """This target as the session's own compactions see it: knowledge belongs to its call."""
        return replace(self, call=self.call.without_knowledge)

    @property
    def record(self) -> Compaction | None:
        """The active compaction's record."""
        return self.active.compaction if self.active else None

    def told(self, context: Context) -> Context:
        """`context` with what of the session's stored record is damaged."""
        broken = self.active.damage if self.active else None
        damage = (*self.session.damage, *((broken,) if broken else ()))
        return replace(context, notices=(*damage, *context.notices)) if damage else context


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineServices:
    """The store, the clock and the other services of an engine, with the lookups they serve."""

    store: SessionStore
    user_id: str
    gateway: Gateway | None
    summarizer: Summarizer | None
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    default_model: str | None
    recounts: Recounts
    journal: EventJournal
    leases: Leases
    """Those of turns and compactions, with who waits for them."""
    queue: WorkQueue = field(default_factory=WorkQueue)
    """The background compactions of sessions."""
    confirm: Confirm | None = None
    """Asked before a compaction, unless the turn's caller gives another function."""
    layers: tuple[Layer, ...] = ()
    """The policy layers of file and environment, widest first; stored ones are narrower."""
    audit: Audit
    """What the user reads of others."""
    watchers: Watchers = field(default_factory=Watchers)
    """Told of contexts and calls, e.g. by telemetry."""
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(BUSY_THREADS))
    """Held while a turn computes, never while it waits: only one thread runs at a time, so many
    computing turns would starve the others, e.g. an event loop."""

    @property
    def alerts(self) -> Alerts:
        """The alerts that operators set."""
        return Alerts(self.store, self.journal)

    def user(self) -> UserInfo:
        """The engine's user, created on first use; the first user of a store has all roles."""
        try:
            return self.store.user(self.user_id)
        except RecordNotFoundError:
            return self.store.create_user(
                self.user_id, at=self.clock(), name=self.user_id, first_has_roles=True
            )

    def session(self, session_id: str, action: AuditAction = "open") -> SessionInfo:
        """The session, if the user may read it; that of another is recorded as `action`.

        Raises:
            SessionNotFoundError: there is none.
            NotAllowedError: it is another user's, and the user is no auditor.
        """
        session = self.store.session(session_id)
        self._require_reading(session.user_id, session_id, action)
        return session

    def figures(self, session_id: str) -> SessionInfo:
        """The session for a use that shows nothing of what was said; nothing is recorded.

        Raises:
            SessionNotFoundError: there is none.
            NotAllowedError: it is another user's, and the user is no operator.
        """
        session = self.store.session(session_id)
        if session.user_id != self.user_id:
            self.require_operator(AccessCode.SESSION(id=session_id))
        return session

    def session_stamp(self, session_id: str) -> SessionStamp:
        """What changes with the session, if the user may read it; raises as `session` does."""
        stamp = self.store.session_stamp(session_id)
        self._require_reading(stamp.user_id, session_id, "open")
        return stamp

    def require_reading_all(self) -> None:
        """Refuses others than auditors.

        Raises:
            NotAllowedError: the user may not read what others said.
        """
        self.require_operator(AccessCode.ALL_TEXTS())
        if not self.user().reads_others:
            raise NotAuditorError(user_id=self.user_id, what=AccessCode.ALL_TEXTS())

    def _require_reading(self, owner_id: str, session_id: str, action: AuditAction) -> None:
        if owner_id == self.user_id:
            return
        self.require_operator(AccessCode.SESSION(id=session_id))
        if not self.user().reads_others:
            raise NotAuditorError(user_id=self.user_id, what=AccessCode.TEXTS(id=session_id))
        self.audit.reads([(session_id, owner_id)], action)

    def require_operator(self, what: Reason) -> None:
        """Refuses others than operators.

        Raises:
            NotAllowedError: the user is no operator.
        """
        if not self.user().is_operator:
            raise NotAllowedError(user_id=self.user_id, what=what)

    def check_scope(self, scope: Scope) -> None:
        """Refuses a scope that the user may not change.

        Raises:
            NotAllowedError: it is another user's, and the user is no operator.
        """
        is_own = scope.kind in ("user", "user_model") and scope.owner == self.user_id
        if scope.kind == "session":
            self.figures(scope.owner)
        elif not is_own:
            self.require_operator(AccessCode.POLICY_OF(scope=scope.kind))

    def create_session(
        self,
        *,
        title: str = "",
        model: str | None = None,
        origin: str = "chat",
        tools: Sequence[JsonObject] = (),
        system: str | None = None,
        session_id: str | None = None,
        user_id: str | None = None,
        staging: Staging | None = None,
    ) -> SessionInfo:
        """Creates a session, of the engine's user if no other is given, in one write."""
        return self.store.create_session(
            session_id or self.new_id(),
            user_id=user_id or self.user().id,
            at=self.clock(),
            title=title,
            model=model,
            origin=origin,
            tools=tools,
            messages=[text_message("system", system)] if system else (),
            counter=counter_for(model or self.default_model) if system else None,
            staging=staging,
        )

    def effective_policy(
        self, session: SessionInfo, model: str | None, overrides: JsonObject | None = None
    ) -> EffectivePolicy:
        """The policy of a session with a model, with each value's source."""
        owner = self.store.user(session.user_id)
        scopes = [
            Scope(),
            Scope(kind="group", owner=owner.group),
            Scope(kind="user", owner=owner.id),
            Scope(kind="user_model", owner=owner.id, model=model or ""),
            Scope(kind="session", owner=session.id),
        ]
        stored = [version for version in self.store.policies(scopes) if version]
        return merge_layers(stored, overrides or {}, outer=self.layers)

    def call_target(
        self,
        session_id: str,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        knowledge: Mapping[str, str] | None = None,
        system: str | None = None,
        overrides: JsonObject | None = None,
        action: AuditAction = "open",
    ) -> CallTarget:
        """The session as the next call to `model` (default: its own) sees it."""
        session = self.session(session_id, action)
        name = model or session.model or self.default_model
        catalog = ModelCatalog.load(self.store)
        info = catalog.info(name)
        effective = self.effective_policy(session, name, overrides)
        definitions = with_own_tools(
            to_definitions(session.tools if tools is None else tools), _offered(effective.policy)
        )
        counter = counter_for(name)
        # Read before the view, so that it never covers messages that the view lacks.
        active = self.store.active_compaction(session_id)
        view, is_scaled = self.recounts.view(session, counter)
        factor = factor_of(self.store, session, name, counter, effective.policy)
        call = _to_call(
            name,
            info,
            effective.policy,
            view,
            definitions,
            counter,
            session,
            checked_knowledge(knowledge),
            factor,
            checked_system(system),
            is_scaled=is_scaled,
        )
        return CallTarget(
            session=session,
            model=name,
            info=info,
            effective=effective,
            view=view,
            call=call,
            active=active,
            tools=definitions,
            connection=catalog.connection(name) if name else None,
            price=catalog.own_price(name),
            factor=factor,
        )

    def counter(self, session: SessionInfo) -> TokenCounter:
        """The counter of the session's model."""
        return counter_for(session.model or self.default_model)

    def renew(self, target: CallTarget) -> CallTarget:
        """`target` with the current history, working state and count factor; the rest stays."""
        session_id = target.session.id
        active = self.store.active_compaction(session_id)
        view, is_scaled = self.recounts.view(target.session, target.call.counter)
        session, policy = self.store.session(session_id), target.call.policy
        call = replace(
            target.call, working=session.working, recalls=session.recalls, is_scaled=is_scaled
        )
        factor = factor_of(self.store, session, target.model, call.counter, policy)
        if factor != target.factor:
            system_tokens = _system_tokens(view, call.system, call.counter, is_scaled=is_scaled)
            budget = _budget(policy, target.info, system_tokens, call.tools_tokens, factor)
            call = replace(call, budget=budget)
        return replace(target, active=active, view=view, call=call, factor=factor)

    def budget(self, target: CallTarget, policy: Policy) -> TokenBudget | None:
        """The budget that `policy` would have in the session of `target`."""
        call = target.call
        system_tokens = _system_tokens(
            target.view, call.system, call.counter, is_scaled=call.is_scaled
        )
        return _budget(policy, target.info, system_tokens, call.tools_tokens, target.factor)

    def hold_factor(self, target: CallTarget, *, anew: bool = False) -> None:
        """Brings what calls have taught into force: for a first call, or `anew`."""
        session, call = self.store.session(target.session.id), target.call
        hold_factor(self.store, session, target.model, call.counter, call.policy, anew=anew)

    def append(
        self,
        target: CallTarget,
        messages: Sequence[Message],
        *,
        turn_id: str | None = None,
        expected_length: int | None = None,
    ) -> list[int]:
        """Appends messages to the session, all or none; returns their numbers, from 1.

        Raises:
            StaleHistoryError: the session has not `expected_length`.
        """
        return self.store.append(
            target.session.id,
            messages,
            counter=target.call.counter,
            at=self.clock(),
            oversize_tokens=self.oversize(target),
            turn_id=turn_id,
            expected_length=expected_length,
        )

    def append_to(self, session: SessionInfo, messages: Sequence[Message]) -> list[int]:
        """`append` outside a call: policy, tools and budget are read for tool outputs alone."""
        if any(message.is_tool_result for message in messages):
            return self.append(self.call_target(session.id), messages)
        return self.store.append(
            session.id, messages, counter=self.counter(session), at=self.clock()
        )

    def oversize(self, target: CallTarget) -> int | None:
        """The size above which a tool output is shortened when it is appended."""
        return oversize_tokens(target.call.policy, target.call.budget)


def to_definitions(tools: Sequence[Mapping[str, object]]) -> tuple[JsonObject, ...]:
    """Tool definitions as plain JSON objects that can be sent, with keys as they stand.

    Raises:
        MessageError: they are no list of JSON objects.
    """
    texts = (
        ordered_at(dict(tool), Place(PlaceCode.TOOL, at))
        for at, tool in enumerate(checked_tools(tools))
    )
    return tuple(cast("JsonObject", printable_json(parse_canonical(text))) for text in texts)


def _offered(policy: Policy) -> set[str]:
    """The names of our own tools that the policy offers."""
    offers = {EXPAND_NAME: policy.offers_expand, RECALL_NAME: policy.offers_recall}
    return {name for name, is_offered in offers.items() if is_offered}


def _to_call(
    model: str | None,
    info: ModelInfo,
    policy: Policy,
    view: HistoryView,
    tools: Sequence[JsonObject],
    counter: TokenCounter,
    session: SessionInfo,
    knowledge: Mapping[str, str],
    factor: CountFactor,
    own_system: str | None,
    *,
    is_scaled: bool,
) -> Call:
    names = SentNames(defined_names(tools))
    sent_tools = names.applied(tools)
    tools_tokens = count_tools(sent_tools, counter) if tools else 0
    system_tokens = _system_tokens(view, own_system, counter, is_scaled=is_scaled)
    return Call(
        policy=policy,
        counter=counter,
        budget=_budget(policy, info, system_tokens, tools_tokens, factor),
        tools_tokens=tools_tokens,
        tool_names=names,
        knowledge=dict(knowledge),
        working=session.working,
        recalls=session.recalls,
        offers_expand=EXPAND_TOOL in tools,
        sends_reasoning=takes_reasoning(model),
        system=own_system,
        is_scaled=is_scaled,
        **ruling(policy, model, sent_tools),
    )


def _system_tokens(
    view: HistoryView, own: str | None, counter: TokenCounter, *, is_scaled: bool
) -> int:
    """The size of the system prompt: the call's own, else the session's.

    It is part of the thresholds, so that it is counted anew where stored counts are only scaled:
    the thresholds stay where they are when a recount is done.
    """
    if own is not None:
        return count_message(text_message("system", own), counter) if own else 0
    rows = view.get(view.anchors().system)
    return sum(count_message(row.message, counter) if is_scaled else row.tokens for row in rows)


def _budget(
    policy: Policy, info: ModelInfo, system_tokens: int, tools_tokens: int, factor: CountFactor
) -> TokenBudget | None:
    budget = budget_of(
        policy,
        info,
        max_tokens=None,
        system_tokens=system_tokens,
        tools_tokens=tools_tokens,
        count_factor=factor.value,
    )
    return budget and replace(budget, count_error_ratio=factor.error_ratio)
