"""Owns what a caller wants of a turn, as every part of it sees it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from ctxcore.assembly.building import Call
from ctxcore.assembly.fitting import budget_of, oversize_tokens, ruling, takes_reasoning
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rules.values import SentNames, defined_names
from ctxcore.compaction.plans import Answer, Confirm
from ctxcore.compression.markers import EXPAND_TOOL, offered_beside
from ctxcore.engine.background import Jobs, Recounts
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import EventJournal
from ctxcore.engine.policies import EffectivePolicy, ModelCatalog, merge_layers
from ctxcore.gateway.replies import Price
from ctxcore.gateway.values import Connection, Gateway
from ctxcore.messages.canonical import parse_canonical, to_canonical
from ctxcore.messages.values import JsonObject, Message, ToolCall
from ctxcore.policy.layers import Layer
from ctxcore.reasons.storage_problems import AccessCode
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CompactionInfo, Scope, SessionInfo, UserInfo
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.catalog import ModelInfo
from ctxcore.tokens.count import count_tools, counter_for
from ctxcore.tokens.families import TokenCounter

RunTool = Callable[[ToolCall], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
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


BUSY_THREADS = 2  # each may keep the interpreter for 5 ms at a time, so an event loop waits 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTarget:
    """One session as the next call sees it: who, which model, which policy, which history."""

    session: SessionInfo
    model: str | None
    info: ModelInfo
    effective: EffectivePolicy
    view: HistoryView
    call: Call
    active: CompactionInfo | None
    tools: tuple[JsonObject, ...]
    connection: Connection | None = None
    price: Price | None = None
    """This installation's own price of the model; None where the public one holds."""
    """How the model is reached, where the installation says so."""
    is_estimated: bool = False
    """Whether sizes are scaled from another counter's until a recount is through."""

    @property
    def record(self) -> Compaction | None:
        """The active compaction's record."""
        return self.active.compaction if self.active else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineServices:
    """The parts an engine is made of."""

    store: SessionStore
    user_id: str
    gateway: Gateway | None
    summarizer: Summarizer | None
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    default_model: str | None
    recounts: Recounts
    journal: EventJournal
    jobs: Jobs = field(default_factory=Jobs)
    confirm: Confirm | None = None
    """Who is asked before a compaction, where nobody else is named."""
    layers: tuple[Layer, ...] = ()
    """What environment and file say, widest first; every stored layer is narrower."""
    slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(BUSY_THREADS))
    """Held while a turn computes, never while it waits: many turns at once would starve the other
    threads of the process, an event loop among them, since only one runs at a time."""

    def user(self) -> UserInfo:
        """Who is asking; made on first sight, as an operator if there is nobody yet."""
        try:
            return self.store.user(self.user_id)
        except RecordNotFoundError:
            is_first = not self.store.list_users()
            return self.store.create_user(
                self.user_id, at=self.clock(), name=self.user_id, is_operator=is_first
            )

    def session(self, session_id: str) -> SessionInfo:
        """The session, if whoever asks may see it.

        Raises:
            SessionNotFoundError: there is none.
            NotAllowedError: it is another user's, and who asks is no operator.
        """
        session = self.store.session(session_id)
        if session.user_id != self.user_id and not self.user().is_operator:
            raise NotAllowedError(user_id=self.user_id, what=AccessCode.SESSION(id=session_id))
        return session

    def models(self) -> ModelCatalog:
        """What is known about models, with this installation's own figures on top."""
        return ModelCatalog.load(self.store)

    def effective_policy(
        self, session: SessionInfo, model: str | None, overrides: JsonObject | None = None
    ) -> EffectivePolicy:
        """The policy that holds for a session under a model, with each value's source."""
        owner = self.store.user(session.user_id)
        scopes = [
            Scope(),
            Scope(kind="group", owner=owner.group),
            Scope(kind="user", owner=owner.id),
            Scope(kind="user_model", owner=owner.id, model=model or ""),
            Scope(kind="session", owner=session.id),
        ]
        found = self.store.policies(scopes)
        stored = [version for version in found if version]
        return merge_layers(stored, overrides or {}, outer=self.layers)

    def call_target(
        self,
        session_id: str,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        knowledge: Mapping[str, str] | None = None,
        overrides: JsonObject | None = None,
    ) -> CallTarget:
        """The session as the next call to `model` (its own without one) sees it."""
        session = self.session(session_id)
        name = model or session.model or self.default_model
        catalog = self.models()
        info = catalog.info(name)
        effective = self.effective_policy(session, name, overrides)
        definitions = to_definitions(session.tools if tools is None else tools)
        if effective.policy.offers_expand and offered_beside(definitions):
            definitions += (EXPAND_TOOL,)
        counter = counter_for(name)
        # Before the view: what is active covers no more than the view of a later moment shows.
        active = self.store.active_compaction(session_id)
        view, is_estimated = self.recounts.view(session, counter)
        call = _to_call(view, info, name, effective, definitions, counter, knowledge or {})
        return CallTarget(
            session=session,
            model=name,
            info=info,
            effective=effective,
            view=view,
            call=replace(call, working=session.working),
            active=active,
            tools=definitions,
            connection=catalog.connection(name) if name else None,
            price=catalog.own_price(name),
            is_estimated=is_estimated,
        )

    def renew(self, target: CallTarget) -> CallTarget:
        """The same with history and working state as they are now; model, policy and tools stay
        for a whole turn."""
        session_id = target.session.id
        active = self.store.active_compaction(session_id)
        view, is_estimated = self.recounts.view(target.session, target.call.counter)
        call = replace(target.call, working=self.store.session(session_id).working)
        return replace(target, active=active, view=view, call=call, is_estimated=is_estimated)

    def append(
        self, target: CallTarget, messages: Sequence[Message], *, turn_id: str | None = None
    ) -> list[int]:
        """Adds messages at the end of the session, all or none; their numbers, from 1."""
        return self.store.append(
            target.session.id,
            messages,
            counter=target.call.counter,
            at=self.clock(),
            oversize_tokens=self.oversize(target),
            turn_id=turn_id,
        )

    def oversize(self, target: CallTarget) -> int | None:
        """Above how many tokens a tool output is shortened when it is appended."""
        return oversize_tokens(target.call.policy, target.call.budget)


def to_definitions(tools: Sequence[Mapping[str, object]]) -> tuple[JsonObject, ...]:
    """Tool definitions as plain JSON objects."""
    copied = (parse_canonical(to_canonical(cast("JsonObject", dict(tool)))) for tool in tools)
    return tuple(tool for tool in copied if isinstance(tool, dict))


def _to_call(
    view: HistoryView,
    info: ModelInfo,
    model: str | None,
    effective: EffectivePolicy,
    tools: Sequence[JsonObject],
    counter: TokenCounter,
    knowledge: Mapping[str, str],
) -> Call:
    names = SentNames(defined_names(tools))
    sent_tools = names.applied(tools)
    tools_tokens = count_tools(sent_tools, counter) if tools else 0
    system = view.get(view.anchors().system)
    budget = budget_of(
        effective.policy,
        info,
        max_tokens=None,
        system_tokens=sum(row.tokens for row in system),
        tools_tokens=tools_tokens,
    )
    return Call(
        policy=effective.policy,
        counter=counter,
        budget=budget,
        tools_tokens=tools_tokens,
        tool_names=names,
        knowledge=dict(knowledge),
        offers_expand=EXPAND_TOOL in tools,
        sends_reasoning=takes_reasoning(model),
        **ruling(effective.policy, model, sent_tools),
    )
