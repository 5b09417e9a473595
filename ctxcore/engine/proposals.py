"""Owns questions that wait for a person: kept until they are answered, across restarts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.records import Compaction, WorkingState
from ctxcore.compaction.executing import Outcome, Step, execute
from ctxcore.compaction.planning import plan
from ctxcore.compaction.plans import Answer, CompactionPlan, dropping
from ctxcore.compaction.strategies import Uses
from ctxcore.compaction.triggers import Measure, Trigger, asked, for_trigger, measure, overflow
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.gateway.summarizing import ModelSummarizer
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.storage_problems import ChangeCode
from ctxcore.reasons.values import Reason, from_json, to_json
from ctxcore.store.errors import LeaseTakenError
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CallInfo, CompactionInfo
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A compaction that waits for a person's consent."""

    plan_id: str
    session_id: str
    trigger: Trigger
    current_tokens: int
    max_tokens: int
    expected_tokens: int
    messages: int
    """How many messages it would fold."""
    covered_until: int
    base: Base


def save_pending(store: SessionStore, pending: Pending) -> None:
    """Keeps a question."""
    base = pending.base
    stored: JsonObject = {
        "session_id": pending.session_id,
        "trigger": to_json(pending.trigger.reason),
        "is_by_model": pending.trigger.is_by_model,
        "current_tokens": pending.current_tokens,
        "max_tokens": pending.max_tokens,
        "expected_tokens": pending.expected_tokens,
        "messages": pending.messages,
        "covered_until": pending.covered_until,
        "active_id": base.active_id,
        "version_id": base.version_id,
        "marks": [[kind, seq] for kind, seq in sorted(base.marks)],
        "model": base.model,
    }
    store.save_setting(_key(pending.plan_id), stored)


def load_pending(store: SessionStore, plan_id: str) -> Pending | None:
    """The question with this id; None if nobody waits for its answer any more."""
    stored = store.setting(_key(plan_id))
    if not isinstance(stored, dict):
        return None
    raw = cast("dict[str, Any]", stored)  # `save_pending` alone writes under these names
    return Pending(
        plan_id=plan_id,
        session_id=raw["session_id"],
        trigger=Trigger(reason=from_json(raw["trigger"]), is_by_model=raw["is_by_model"]),
        current_tokens=raw["current_tokens"],
        max_tokens=raw["max_tokens"],
        expected_tokens=raw["expected_tokens"],
        messages=raw["messages"],
        covered_until=raw["covered_until"],
        base=Base(
            active_id=raw["active_id"],
            version_id=raw["version_id"],
            marks=frozenset((kind, seq) for kind, seq in raw["marks"]),
            model=raw["model"],
        ),
    )


def drop_pending(store: SessionStore, plan_id: str) -> None:
    """Forgets a question."""
    store.save_setting(_key(plan_id), None)


def _key(plan_id: str) -> str:
    return f"confirmation:{plan_id}"


LEASE = timedelta(minutes=5)  # longer than a summary takes; whoever died holds it no longer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """A compaction worked out but not recorded: look at it, edit its summary, confirm it."""

    session_id: str
    trigger: Trigger
    plan: CompactionPlan | None
    outcome: Outcome
    before: Context
    after: Context | None
    """The context once it is confirmed; None where nothing would change."""
    base: Base
    """What must still hold when it is confirmed."""
    working: WorkingState
    """What the application said of its work."""
    folded: tuple[int, ...]
    """The messages that fold, by sequence number: what was kept before and stays no longer too."""

    @property
    def record(self) -> Compaction | None:
        """What would be recorded."""
        return self.outcome.record

    @property
    def steps(self) -> tuple[Step, ...]:
        """The strategies that ran."""
        return self.outcome.steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a proposal was made from."""

    active_id: str | None
    version_id: int | None
    marks: frozenset[tuple[str, int]]
    model: str | None

    def changes(self, then: Base) -> Reason | None:
        """What has changed since `then` that makes a proposal stale; None where nothing has."""
        changed: Mapping[ChangeCode, bool] = {
            ChangeCode.COMPACTION: self.active_id != then.active_id,
            ChangeCode.MARK: self.marks != then.marks,
            ChangeCode.POLICY: self.version_id != then.version_id,
        }
        return next((what() for what, is_so in changed.items() if is_so), None)


class Proposals:
    """Works out proposals; one at a time in a session."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services

    def plan(
        self, target: CallTarget, measured: Measure, trigger: Trigger, *, is_refused: bool = False
    ) -> CompactionPlan | None:
        """What a compaction would do about `trigger`; no summarizer is called."""
        call = for_trigger(target.call, measured, asked(measured) if is_refused else trigger)
        uses = self._uses(target)
        return plan(target.view, call, target.record, measured, trigger, uses=uses)

    def make(
        self,
        target: CallTarget,
        trigger: Trigger | None,
        summarizer: Summarizer | None = None,
        *,
        is_refused: bool = False,
        answer: Answer = "compact",
    ) -> Proposal:
        """What a compaction does now; without a `trigger` because a person asks.

        Raises:
            LeaseTakenError: another one is being worked out in this session.
        """
        measured = measure(target.view, target.call, target.record)
        cause = trigger or asked(measured)
        planned = self.plan(target, measured, cause, is_refused=is_refused)
        if planned is not None and answer == "drop_oldest":
            planned = dropping(planned)
        outcome = Outcome(record=None, reason=OutcomeCode.NOTHING_FOLDS())
        if planned is not None:
            call = for_trigger(target.call, measured, asked(measured) if is_refused else cause)
            with self._lease(target.session.id):
                outcome = execute(
                    planned,
                    target.view,
                    call,
                    target.record,
                    summarizer or self._summarizer(target),
                    is_needed=is_refused or overflow(measured, target.call) is not None,
                    is_forced=trigger is None,
                )
            self._note_usages(target, outcome.usages)
        record = outcome.record
        system = target.view.anchors().system
        folded = record.folded_since(target.record, system) if record else ()
        return Proposal(
            session_id=target.session.id,
            trigger=cause,
            plan=outcome.plan or planned,
            outcome=outcome,
            before=build_context(target.view, target.call, target.record),
            after=build_context(target.view, target.call, record) if record else None,
            base=self.base(target, record.covered_until if record else 0),
            working=target.call.working,
            folded=folded,
        )

    def base(self, target: CallTarget, covered_until: int) -> Base:
        """What a compaction up to there is made from."""
        marks = self._services.store.marks(target.session.id)
        return Base(
            active_id=target.active.id if target.active else None,
            version_id=target.effective.version_id,
            marks=frozenset((mark.kind, mark.seq) for mark in marks if mark.seq <= covered_until),
            model=target.model,
        )

    def _summarizer(self, target: CallTarget) -> Summarizer:
        """The caller's, else the policy's model, else the one that quotes."""
        model = target.call.policy.summary_model
        if self._services.summarizer is not None:
            return self._services.summarizer
        if model is None or self._services.gateway is None:
            return ExtractiveSummarizer(target.call.counter)
        catalog = self._services.models()
        return ModelSummarizer(
            self._services.gateway,
            model,
            connection=catalog.connection(model),
            window_tokens=catalog.info(model).window_tokens,
            counter=target.call.counter,
        )

    def _uses(self, target: CallTarget) -> Uses | None:
        """What was done in the session and not undone; None where the policy does not choose."""
        if target.call.policy.fold_as != "choice":
            return None
        chain = list(chain_of(self._services.store.compactions(target.session.id), target.active))
        pairs = list(zip(chain, [*chain, None][1:], strict=True))
        return Uses(
            summaries=sum(_has_new_summary(one, before) for one, before in pairs),
            truncations=sum(one.compaction.is_truncation for one in chain),
        )

    @contextmanager
    def _lease(self, session_id: str) -> Iterator[None]:
        name, owner, now = lease_of(session_id), self._services.new_id(), self._services.clock()
        store = self._services.store
        if not store.acquire_lease(name, owner, expires_at=now + LEASE, at=now):
            holder, expires_at = store.lease(name) or ("somebody else", now)
            raise LeaseTakenError(name=name, owner=holder, expires_at=expires_at)
        try:
            yield
        finally:
            store.release_lease(name, owner)

    def _note_usages(self, target: CallTarget, usages: Iterable[SummaryUsage]) -> None:
        """Stores the requests that a summary took: they were paid for, whatever comes of it."""
        calls = [self._to_call(target, usage) for usage in usages]
        if calls:
            self._services.store.record_calls(calls)

    def _to_call(self, target: CallTarget, usage: SummaryUsage) -> CallInfo:
        return CallInfo(
            id=self._services.new_id(),
            session_id=target.session.id,
            created_at=self._services.clock(),
            purpose="summary",
            model=usage.model,
            policy_version_id=target.effective.version_id,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cost=usage.cost,
            latency_seconds=usage.latency_seconds,
            error=usage.error,
        )


def lease_of(session_id: str) -> str:
    """The name of the lease that whoever works out a compaction of a session holds."""
    return f"compaction:{session_id}"


def chain_of(
    made: Iterable[CompactionInfo], active: CompactionInfo | None
) -> Iterator[CompactionInfo]:
    """The active compaction and those it was made on, newest first."""
    known = {info.id: info for info in made}
    while active is not None:
        yield active
        active = known.get(active.parent_id or "")


def _has_new_summary(info: CompactionInfo, before: CompactionInfo | None) -> bool:
    summary = info.compaction.summary
    return bool(summary) and (before is None or before.compaction.summary != summary)
