"""Proposed compactions, and those that wait for a person's confirmation, kept across restarts."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

from ctxcore.assembly.building import NOTHING_COVERED, Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.effects import CompactionEffect, effect_of
from ctxcore.assembly.records import Compaction, WorkingState
from ctxcore.compaction.compacting import has_new_summary, has_new_truncation
from ctxcore.compaction.executing import Outcome, Step, execute
from ctxcore.compaction.for_one_call import OneCall, execute_for_one_call, plan_for_one_call
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import Answer, CompactionPlan, without_summary
from ctxcore.compaction.strategies import Uses
from ctxcore.compaction.triggers import (
    Measure,
    Trigger,
    for_trigger,
    manual_trigger,
    measure,
    overflow,
)
from ctxcore.engine.collecting import rare_full_collections
from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.formats.reading import FORMATS
from ctxcore.gateway.summarizing import ModelSummarizer
from ctxcore.messages.arguments import checked_focus
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.storage_problems import ChangeCode
from ctxcore.reasons.values import Reason, from_json, to_json
from ctxcore.replay.alternatives import Alternative, Moment, carried_out
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CallInfo
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal(Plain):
    """A compaction that is computed but not recorded; its summary can be edited."""

    session_id: str
    trigger: Trigger
    plan: CompactionPlan | None
    outcome: Outcome
    before: Context
    after: Context | None
    """The context once it is confirmed; None where nothing would change."""
    base: Base
    """What must be unchanged when it is confirmed."""
    working: WorkingState
    """The working state that the application had provided."""
    folded: tuple[int, ...]
    """The sequence numbers of the messages that fold, also of those that were kept before."""
    focus: str = ""
    """What it should keep, in a person's words."""
    instructions: str = ""
    """The `summary_instructions` that it followed."""
    way: Alternative | None = None
    """The preset or strategy that it was made by; None: the policy in force."""

    @property
    def record(self) -> Compaction | None:
        """The record that `confirm` would store."""
        return self.outcome.record

    @property
    def effect(self) -> CompactionEffect | None:
        """What it changes in the next call; None where nothing would change."""
        if self.record is None or self.after is None:
            return None
        return effect_of(self.before, self.after, self.record)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that were done."""
        return self.outcome.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The state of the session that a proposal was made from."""

    active_id: str | None
    version_id: int | None
    marks: frozenset[tuple[str, int]]
    model: str | None
    rules: str = ""
    """A digest of what people say of the rules."""

    def changes(self, then: Base) -> Reason | None:
        """What has changed since `then` and makes a proposal stale; None where nothing has."""
        if self.active_id != then.active_id:
            return ChangeCode.COMPACTION()
        if self.marks != then.marks:
            return ChangeCode.MARK()
        if self.rules != then.rules:
            return ChangeCode.RULES()
        return ChangeCode.POLICY() if self.version_id != then.version_id else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending(Plain):
    """A compaction that waits for a person's confirmation."""

    plan_id: str
    session_id: str
    trigger: Trigger
    current_tokens: int
    """What the triggers compare: the input as if the window had room for everything."""
    max_tokens: int
    next_call_tokens: int
    """The next call as it would be sent without it."""
    outside_tokens: int
    """The messages that wait outside the window, no part of the next call."""
    expected_tokens: int
    messages: int
    """The number of messages that it would fold."""
    covered_until: int
    base: Base


_STORED = (
    "session_id",
    "current_tokens",
    "max_tokens",
    "expected_tokens",
    "messages",
    "covered_until",
)
"""The fields of `Pending` that are stored as they are."""
_SIZES = ("next_call_tokens", "outside_tokens")
"""The same, which confirmations of before lack."""


def save_pending(store: SessionStore, pending: Pending) -> None:
    """Stores a pending confirmation."""
    base = pending.base
    stored: JsonObject = {
        **{name: getattr(pending, name) for name in (*_STORED, *_SIZES)},
        "trigger": to_json(pending.trigger.reason),
        "is_by_model": pending.trigger.is_by_model,
        "active_id": base.active_id,
        "version_id": base.version_id,
        "marks": [[kind, seq] for kind, seq in sorted(base.marks)],
        "model": base.model,
        "rules": base.rules,
    }
    store.save_setting(_key(pending.plan_id), stored)


def load_pending(store: SessionStore, plan_id: str) -> Pending | None:
    """The pending confirmation with this id; None if there is none any more."""
    stored = store.setting(_key(plan_id))
    if not isinstance(stored, dict):
        return None
    raw = cast("dict[str, Any]", stored)  # written by `save_pending` only
    return Pending(
        **{name: raw[name] for name in _STORED},
        next_call_tokens=raw.get("next_call_tokens", raw["current_tokens"]),
        outside_tokens=raw.get("outside_tokens", 0),
        plan_id=plan_id,
        trigger=Trigger(reason=from_json(raw["trigger"]), is_by_model=raw["is_by_model"]),
        base=Base(
            active_id=raw["active_id"],
            version_id=raw["version_id"],
            marks=frozenset((kind, seq) for kind, seq in raw["marks"]),
            model=raw["model"],
            rules=raw.get("rules", ""),
        ),
    )


def drop_pending(store: SessionStore, plan_id: str) -> None:
    """Deletes a pending confirmation."""
    store.save_setting(_key(plan_id), None)


def _key(plan_id: str) -> str:
    return f"confirmation:{plan_id}"


class Proposals:
    """Makes proposals, one at a time in a session."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def plan(
        self,
        target: CallTarget,
        measured: Measure,
        trigger: Trigger,
        *,
        is_refused: bool = False,
        focus: str = "",
    ) -> CompactionPlan | None:
        """The plan of a compaction for `trigger`; no summarizer is called."""
        call = for_trigger(
            target.call, measured, manual_trigger(measured) if is_refused else trigger
        )
        uses = uses_of(self._services.store, target, target.call.policy)
        return plan(target.view, call, target.record, measured, trigger, uses=uses, focus=focus)

    @rare_full_collections()
    def make_by(self, target: CallTarget, way: Alternative, *, focus: str = "") -> Proposal:
        """Compacts on request by an alternative, as the next call of the session would have it.

        Raises:
            LeaseTakenError: another compaction is in progress in this session.
            PolicyError: the policy in force has fields that the alternative does not go with.
        """
        focus, services = checked_focus(focus), self._services
        call = call_by(services, target, way)
        with self._lease(target.session.id):
            writer = self._summarizer(replace(target, call=call))
            moment = moment_of(services, target)
            outcome = carried_out(moment, call, writer, focus=focus)
        self._record_usages(target, outcome.usages)
        cause = manual_trigger(measure(target.view, target.call, target.record))
        made = self._proposal(target, cause, outcome.plan, outcome, focus)
        return replace(made, way=way, instructions=call.policy.summary_instructions or "")

    @rare_full_collections()
    def make(
        self,
        target: CallTarget,
        trigger: Trigger | None = None,
        *,
        is_refused: bool = False,
        answer: Answer = "compact",
        focus: str = "",
    ) -> Proposal:
        """Plans and executes a compaction; without a `trigger` a person requested it.

        `is_refused`: the provider refused the input as too long, whatever our own count says.
        `focus` is what a person wants kept.

        Raises:
            LeaseTakenError: another compaction is in progress in this session.
        """
        measured = measure(target.view, target.call, target.record)
        cause = trigger or manual_trigger(measured)
        focus = checked_focus(focus)
        planned = self.plan(target, measured, cause, is_refused=is_refused, focus=focus)
        if planned is not None and answer == "drop_oldest":
            planned = without_summary(planned)
        outcome = Outcome(record=None, reason=OutcomeCode.NOTHING_FOLDS())
        if planned is not None:
            call = for_trigger(
                target.call, measured, manual_trigger(measured) if is_refused else cause
            )
            with self._lease(target.session.id):
                outcome = execute(
                    planned,
                    target.view,
                    call,
                    target.record,
                    self._summarizer(target),
                    is_needed=is_refused or overflow(measured, target.call) is not None,
                    is_forced=trigger is None,
                )
            self._record_usages(target, outcome.usages)
        return self._proposal(target, cause, outcome.plan or planned, outcome, focus)

    def _proposal(
        self,
        target: CallTarget,
        trigger: Trigger,
        planned: CompactionPlan | None,
        outcome: Outcome,
        focus: str,
    ) -> Proposal:
        record = outcome.record
        system = target.view.anchors().prompts
        return Proposal(
            session_id=target.session.id,
            trigger=trigger,
            plan=planned,
            outcome=outcome,
            before=build_context(target.view, target.call, target.record),
            after=build_context(target.view, target.call, record) if record else None,
            base=self.base(target, record.covered_until if record else 0),
            working=target.call.working,
            folded=record.folded_since(target.record, system) if record else (),
            focus=focus,
            instructions=target.call.policy.summary_instructions or "",
        )

    def plan_for_one_call(self, target: CallTarget) -> OneCall | None:
        """What knowledge makes the next call do; None where no rule asks because of it."""
        uses = uses_of(self._services.store, target, target.call.policy)
        return plan_for_one_call(target.view, target.call, target.record, uses=uses)

    def execute_for_one_call(self, target: CallTarget, one_call: OneCall) -> OneCall:
        """`one_call` with its plan carried out.

        Raises:
            LeaseTakenError: another compaction is in progress in this session.
        """
        view, call, active = target.view, target.call, target.record
        with self._lease(target.session.id):
            done = execute_for_one_call(one_call, view, call, active, self._summarizer(target))
        if done.outcome is not None:
            self._record_usages(target, done.outcome.usages)
        return done

    def base(self, target: CallTarget, covered_until: int) -> Base:
        """The state that a compaction up to this message is made from."""
        marks = self._services.store.marks(target.session.id)
        return Base(
            active_id=target.active.id if target.active else None,
            version_id=target.effective.version_id,
            marks=frozenset((mark.kind, mark.seq) for mark in marks if mark.seq <= covered_until),
            model=target.model,
            rules=target.view.rule_edits().digest,
        )

    def _summarizer(self, target: CallTarget) -> Summarizer:
        """The caller's summarizer, else the policy's model, else the extractive one."""
        model = target.call.policy.summary_model
        if self._services.summarizer is not None:
            return self._services.summarizer
        if model is None or self._services.gateway is None:
            return ExtractiveSummarizer(target.call.counter)
        catalog = ModelCatalog.load(self._services.store)
        return ModelSummarizer(
            self._services.gateway,
            model,
            connection=catalog.connection(model),
            price=catalog.own_price(model),
            window_tokens=catalog.info(model).window_tokens,
            counter=target.call.counter,
        )

    def _lease(self, session_id: str) -> AbstractContextManager[None]:
        return self._services.leases.holding(lease_of(session_id), self._services.new_id())

    def _record_usages(self, target: CallTarget, usages: Iterable[SummaryUsage]) -> None:
        """Stores the requests for a summary, which were paid for even if it is discarded."""
        calls = [
            CallInfo(
                id=self._services.new_id(),
                session_id=target.session.id,
                created_at=self._services.clock(),
                purpose="summary",
                model=usage.model,
                policy_version_id=target.effective.version_id,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                cache_hour_tokens=usage.cache_hour_tokens,
                cost=usage.cost,
                latency_seconds=usage.latency_seconds,
                error=usage.error,
            )
            for usage in usages
        ]
        self._services.store.record_calls(calls)
        self._services.alerts.after_calls(target.session, calls)


def uses_of(store: SessionStore, target: CallTarget, policy: Policy) -> Uses | None:
    """The compactions in force by kind; None where `policy` does not choose by them."""
    if policy.fold_as != "choice":
        return None
    known = {info.id: info for info in store.compactions(target.session.id)}
    chain, info = [], target.active
    while info is not None:
        chain.append(info.compaction)
        info = known.get(info.parent_id or "")
    pairs = list(pairwise([NOTHING_COVERED, *reversed(chain)]))
    return Uses(
        summaries=sum(has_new_summary(before, record) for before, record in pairs),
        truncations=sum(has_new_truncation(before, record) for before, record in pairs),
    )


def moment_of(services: EngineServices, target: CallTarget) -> Moment:
    """A session as ways to compact it are compared at, with the prices that are known."""
    catalog, session = ModelCatalog.load(services.store), target.session
    is_imported = session.origin in FORMATS
    return Moment(
        view=target.view,
        call=target.call,
        active=target.record,
        price=catalog.price(target.model, is_imported=is_imported) if target.model else None,
        prices=lambda model: catalog.price(model, is_imported=False),
        uses=lambda policy: uses_of(services.store, target, policy),
    )


def call_by(
    services: EngineServices,
    target: CallTarget,
    way: Alternative,
    overrides: JsonObject | None = None,
) -> Call:
    """The next call of a session by the policy of an alternative.

    `overrides` are those that `target` was made with; the alternative's own come before them.

    Raises:
        PolicyError: the policy in force has fields that the alternative does not go with.
    """
    if way.kind == "policy":
        return target.call
    found = services.call_target(
        target.session.id,
        model=target.model,
        overrides={**(overrides or {}), **way.overrides},
    )
    return replace(found.call, knowledge=target.call.knowledge)


def lease_of(session_id: str) -> str:
    """The name of the lease of a session's compaction in progress."""
    return f"compaction:{session_id}"
