"""Owns compactions of stored sessions: propose, confirm, undo, redo; history is never edited.

A proposal is stale only if the active compaction, a mark inside its range or the policy changed
since; later messages never make it stale. Undo moves a pointer and deletes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import takewhile

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.executing import Outcome, Step, execute
from ctxcore.compaction.measuring import (
    Trigger,
    asked,
    find_trigger,
    for_trigger,
    input_size,
    measure,
    overflow,
)
from ctxcore.compaction.planning import CompactionPlan, plan
from ctxcore.engine.desk import Desk, Subject
from ctxcore.engine.errors import StaleProposalError
from ctxcore.messages.values import JsonObject
from ctxcore.store.errors import StaleCompactionError
from ctxcore.store.values import CompactionInfo
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer

_JUDGED = ("compaction_recorded", "compaction_rejected")


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


class Compactions:
    """The verbs about compactions of stored sessions."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def due(self, subject: Subject) -> Trigger | None:
        """The rule that asks for a compaction now; after an undo or failures, only an overflow.

        An overflow is named before any other rule that holds: it cannot wait for the answer.
        """
        measured = measure(subject.view, subject.call, subject.record)
        found = find_trigger(measured, subject.call)
        if found is None:
            return None
        too_large = overflow(measured, subject.call)
        return found if too_large is None and not self._waits(subject) else too_large

    def needed(self, subject: Subject) -> Trigger | None:
        """The rule that the input cannot be sent whole; None where compaction is switched off."""
        if not subject.call.policy.is_automatic:
            return None
        return overflow(measure(subject.view, subject.call, subject.record), subject.call)

    def propose(
        self,
        subject: Subject,
        trigger: Trigger | None = None,
        summarizer: Summarizer | None = None,
        *,
        is_refused: bool = False,
    ) -> Proposal:
        """What a compaction would do now; without a `trigger` because a person asks.

        `is_refused`: the provider found the input too long, whatever our own count says.
        """
        measured = measure(subject.view, subject.call, subject.record)
        cause = trigger or asked(measured)
        call = for_trigger(subject.call, measured, asked(measured) if is_refused else cause)
        planned = plan(subject.view, call, subject.record, measured, cause)
        outcome = Outcome(record=None, reason="nothing may be folded")
        if planned is not None:
            outcome = execute(
                planned,
                subject.view,
                call,
                subject.record,
                summarizer or self._summarizer(subject),
                is_needed=is_refused or overflow(measured, subject.call) is not None,
                is_forced=trigger is None,
            )
        record = outcome.record
        return Proposal(
            session_id=subject.session.id,
            trigger=cause,
            plan=planned,
            outcome=outcome,
            before=build_context(subject.view, subject.call, subject.record),
            after=build_context(subject.view, subject.call, record) if record else None,
            base=self._base(subject, record),
        )

    def confirm(self, proposal: Proposal, *, summary: str | None = None) -> CompactionInfo | None:
        """Records a proposal, its summary replaced by an edited one; None if nothing would change.

        Raises:
            StaleProposalError: the active compaction, a mark inside its range or the policy
                changed since.
        """
        record = proposal.record
        if record is None:
            self._note_rejected(proposal)
            return None
        subject = self._desk.subject(proposal.session_id, model=proposal.base.model)
        self._check(proposal, self._base(subject, record))
        if summary is not None and summary.strip() != record.summary:
            record = _edited(record, summary.strip(), subject)
        try:
            info = self._desk.store.record_compaction(
                proposal.session_id,
                self._desk.new_id(),
                record,
                parent_id=proposal.base.active_id,
                policy_version_id=subject.effective.version_id,
                details=_details(proposal),
                at=self._desk.clock(),
            )
        except StaleCompactionError as error:  # somebody else was faster since the check
            raise StaleProposalError(changed="the active compaction") from error
        self._note_recorded(proposal, info)
        return info

    def undo(self, session_id: str) -> CompactionInfo | None:
        """Goes back to the compaction before the active one; None if there is none to undo."""
        self._desk.session(session_id)
        active = self._desk.store.active_compaction(session_id)
        if active is None:
            return None
        self._activate(active, active.parent_id, active.id, "compaction_undone")
        return active

    def redo(self, session_id: str) -> CompactionInfo | None:
        """Takes back the last undo; None if nothing was undone."""
        self._desk.session(session_id)
        active = self._desk.store.active_compaction(session_id)
        undone = self._desk.store.undone_compaction(session_id)
        if undone is None:
            return None
        self._activate(undone, undone.id, active.id if active else None, "compaction_redone")
        return undone

    def _activate(
        self, info: CompactionInfo, compaction_id: str | None, expected: str | None, kind: str
    ) -> None:
        now, session_id = self._desk.clock(), info.session_id
        self._desk.store.activate(session_id, compaction_id, expected=expected, at=now)
        body: JsonObject = {"compaction_id": info.id, "number": info.number}
        self._desk.store.record_event(kind, body, session_id=session_id, at=now)

    def _waits(self, subject: Subject) -> bool:
        """Whether automatic compaction waits: after an undo, or after too many failures."""
        if self._desk.store.undone_compaction(subject.session.id) is not None:
            return True
        limit = subject.call.policy.max_failures
        return self._failures(subject.session.id, limit) >= limit

    def _failures(self, session_id: str, limit: int) -> int:
        """Failed compactions in a row, `limit` at most; a truncation in place of one counts too."""
        newest = self._desk.store.last_events(session_id, _JUDGED, limit=limit)
        return sum(1 for _ in takewhile(lambda event: event.body.get("failed"), newest))

    def _note_recorded(self, proposal: Proposal, info: CompactionInfo) -> None:
        """Stores the event of a compaction that was recorded."""
        record = info.compaction
        body: JsonObject = {
            "compaction_id": info.id,
            "trigger": str(proposal.trigger),
            "before_tokens": record.before_tokens,
            "after_tokens": record.after_tokens,
            "failed": proposal.outcome.failed,
        }
        self._desk.store.record_event(
            "compaction_recorded", body, session_id=proposal.session_id, at=self._desk.clock()
        )

    def _note_rejected(self, proposal: Proposal) -> None:
        body: JsonObject = {
            "trigger": str(proposal.trigger),
            "reason": proposal.outcome.reason,
            "failed": proposal.outcome.failed,
        }
        self._desk.store.record_event(
            "compaction_rejected", body, session_id=proposal.session_id, at=self._desk.clock()
        )

    def _summarizer(self, subject: Subject) -> Summarizer:
        return self._desk.summarizer or ExtractiveSummarizer(subject.call.counter)

    def _base(self, subject: Subject, record: Compaction | None) -> Base:
        cut = record.covered_until if record else 0
        marks = self._desk.store.marks(subject.session.id)
        return Base(
            active_id=subject.active.id if subject.active else None,
            version_id=subject.effective.version_id,
            marks=frozenset((mark.kind, mark.seq) for mark in marks if mark.seq <= cut),
            model=subject.model,
        )

    def _check(self, proposal: Proposal, now: Base) -> None:
        then = proposal.base
        changes: Mapping[str, bool] = {
            "the active compaction": now.active_id != then.active_id,
            "a pin or exclusion": now.marks != then.marks,
            "the policy": now.version_id != then.version_id,
        }
        for changed, is_so in changes.items():
            if is_so:
                raise StaleProposalError(changed=changed)


def _edited(record: Compaction, summary: str, subject: Subject) -> Compaction:
    tokens = subject.call.counter.count(summary)
    edited = replace(record, summary=summary, summary_tokens=tokens)
    after = input_size(subject.view, subject.call, edited)
    return replace(edited, after_tokens=after)


def _details(proposal: Proposal) -> JsonObject:
    """What else is told of a compaction: its rule with its numbers, and its steps."""
    return {
        "trigger": {
            "rule": proposal.trigger.rule,
            "numbers": dict(proposal.trigger.numbers),
        },
        "steps": [
            {
                "strategy": step.strategy,
                "before_tokens": step.before_tokens,
                "after_tokens": step.after_tokens,
                "outcome": step.outcome,
            }
            for step in proposal.steps
        ],
        "folded": len(proposal.plan.fold) if proposal.plan else 0,
    }
