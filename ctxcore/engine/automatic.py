"""Owns compactions that start by themselves: which rule asks, who is asked, what is told.

A shadow policy changes nothing and tells what it would have done; a policy that wants a person's
consent waits for the answer, and without anybody to answer nothing changes.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from itertools import takewhile
from typing import Literal, TypeAlias

from ctxcore.compaction.compacting import confirmation, refusal
from ctxcore.compaction.plans import Answer, Confirm
from ctxcore.compaction.triggers import MOST_FAILURES, Trigger, find_trigger, measure, overflow
from ctxcore.engine.compactions import Compactions
from ctxcore.engine.errors import StaleProposalError, TurnStateError
from ctxcore.engine.events import (
    ASKED_BY_MODEL,
    COMPACTED,
    CONFIRMATION,
    FAILED,
    PLANNED,
    SKIPPED,
    CompactionFinished,
    CompactionRejected,
    CompactionStarted,
    ConfirmationNeeded,
    TurnEvent,
)
from ctxcore.engine.proposals import Pending, drop_pending, load_pending, save_pending
from ctxcore.engine.services import Desk, Subject
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import to_json

Outcome: TypeAlias = Literal["done", "waiting", "new_session"]
"""Whether the turn goes on, waits for a person, or goes on in a session of its own."""

_JUDGED = (COMPACTED, FAILED)


class Automatic:
    """What happens when a rule asks for a compaction."""

    def __init__(self, desk: Desk, compactions: Compactions) -> None:
        self._desk = desk
        self._compactions = compactions

    def due(self, subject: Subject, *, all_rules: bool = True) -> Trigger | None:
        """The rule that asks for a compaction now; after an undo or failures, only an overflow.

        An overflow is named before any other rule that holds: it cannot wait. Without
        `all_rules` nothing else is looked at.
        """
        if not subject.call.policy.is_automatic:
            return None
        measured = measure(subject.view, subject.call, subject.record)
        too_large = overflow(measured, subject.call)
        if too_large is not None or not all_rules:
            return too_large
        if subject.call.policy.summary_marker and self._is_asked(subject):
            measured = replace(measured, is_marked=True)
        found = find_trigger(measured, subject.call)
        return None if found is None or self._waits(subject) else found

    def run(
        self,
        subject: Subject,
        trigger: Trigger,
        *,
        confirm: Confirm | None = None,
        answer: Answer | None = None,
        is_refused: bool = False,
    ) -> Generator[TurnEvent, None, Outcome]:
        """Carries out what `trigger` asks for, or asks first.

        Raises (from the iterator):
            CompactionRefusedError: a person refused and wants to be told.
        """
        policy = subject.call.policy
        if policy.is_shadow:
            self._note_planned(subject, trigger)
            return "done"
        if policy.requires_confirmation and answer is None:
            asked = self._asked(subject, trigger, confirm, is_refused=is_refused)
            if isinstance(asked, Pending):
                yield _needed(asked)
                return "waiting"
            answer = asked
        if answer == "new_session":
            return "new_session"
        yield CompactionStarted(trigger=trigger)
        yield self._carried_out(subject, trigger, answer or "compact", is_refused=is_refused)
        return "done"

    def pending(self, plan_id: str) -> Pending:
        """The question with this id.

        Raises:
            TurnStateError: nobody waits for it any more.
        """
        found = load_pending(self._desk.store, plan_id)
        if found is None:
            raise TurnStateError(problem=TurnProblem.NO_QUESTION(id=plan_id))
        return found

    def pending_of(self, session_id: str) -> Pending | None:
        """The question that waits in a session."""
        newest = self._desk.store.last_events(session_id, (CONFIRMATION, COMPACTED), limit=1)
        if not newest or newest[0].kind != CONFIRMATION:
            return None
        return load_pending(self._desk.store, str(newest[0].body.get("plan_id", "")))

    def settle(self, pending: Pending, subject: Subject) -> None:
        """Takes the question back: it is being answered.

        Raises:
            StaleProposalError: what it was asked about has changed since.
        """
        now = self._compactions.proposals.base(subject, pending.covered_until)
        drop_pending(self._desk.store, pending.plan_id)
        if changed := now.changes(pending.base):
            raise StaleProposalError(changed=changed)

    def _carried_out(
        self, subject: Subject, trigger: Trigger, answer: Answer, *, is_refused: bool
    ) -> TurnEvent:
        if answer == "refuse":
            measured = measure(subject.view, subject.call, subject.record)
            raise refusal(subject.call.budget, measured)
        try:
            proposal = self._compactions.propose(
                subject, trigger, is_refused=is_refused, answer=answer
            )
            info = self._compactions.confirm(proposal)
        except ContextError as error:
            body: JsonObject = {
                "trigger": to_json(trigger.reason),
                "reason": to_json(error.reason),
                "failed": False,
            }
            self._desk.journal.record(SKIPPED, body, session_id=subject.session.id)
            return CompactionRejected(reason=error.reason)
        if info is None:
            return CompactionRejected(reason=proposal.outcome.reason)
        return CompactionFinished(info=info)

    def _asked(
        self, subject: Subject, trigger: Trigger, confirm: Confirm | None, *, is_refused: bool
    ) -> Answer | Pending:
        """A person's answer, or the question that now waits for one."""
        measured = measure(subject.view, subject.call, subject.record)
        planned = self._compactions.proposals.plan(
            subject, measured, trigger, is_refused=is_refused
        )
        if planned is None:
            return "compact"  # there is nothing to agree to, and that is what will be told
        question = confirmation(subject.call.budget, measured, planned)
        if confirm is not None:
            return confirm(question)
        pending = Pending(
            plan_id=self._desk.new_id(),
            session_id=subject.session.id,
            trigger=trigger,
            current_tokens=question.current_tokens,
            max_tokens=question.max_tokens,
            expected_tokens=planned.expected_tokens,
            messages=len(planned.fold),
            covered_until=planned.covered_until,
            base=self._compactions.proposals.base(subject, planned.covered_until),
        )
        return self._known(subject) or self._noted(pending)

    def _known(self, subject: Subject) -> Pending | None:
        """The question that waits already, if nothing has changed since."""
        waiting = self.pending_of(subject.session.id)
        if waiting is None:
            return None
        now = self._compactions.proposals.base(subject, waiting.covered_until)
        return None if now.changes(waiting.base) else waiting

    def _noted(self, pending: Pending) -> Pending:
        save_pending(self._desk.store, pending)
        body: JsonObject = {
            "plan_id": pending.plan_id,
            "trigger": to_json(pending.trigger.reason),
            "current_tokens": pending.current_tokens,
            "max_tokens": pending.max_tokens,
            "expected_tokens": pending.expected_tokens,
            "messages_folded": pending.messages,
        }
        self._desk.journal.record(CONFIRMATION, body, session_id=pending.session_id)
        return pending

    def _note_planned(self, subject: Subject, trigger: Trigger) -> None:
        """Tells what a compaction would have done."""
        measured = measure(subject.view, subject.call, subject.record)
        planned = self._compactions.proposals.plan(subject, measured, trigger)
        if planned is None:
            return
        body: JsonObject = {
            "trigger": to_json(trigger.reason),
            "strategies": list(planned.strategies),
            "original_tokens": planned.before_tokens,
            "expected_tokens": planned.expected_tokens,
            "saved_ratio": round(planned.saved_ratio, 4),
            "messages_folded": len(planned.fold),
            "rounds_folded": planned.turns_folded,
        }
        self._desk.journal.record(PLANNED, body, session_id=subject.session.id)

    def _is_asked(self, subject: Subject) -> bool:
        """Whether the model asked for a compaction and none was tried since."""
        kinds = (ASKED_BY_MODEL, *_JUDGED, SKIPPED)
        newest = self._desk.store.last_events(subject.session.id, kinds, limit=1)
        return bool(newest) and newest[0].kind == ASKED_BY_MODEL

    def _waits(self, subject: Subject) -> bool:
        """Whether automatic compaction waits: after an undo, or after too many failures."""
        if self._desk.store.undone_compaction(subject.session.id) is not None:
            return True
        return self._failures(subject.session.id, MOST_FAILURES) >= MOST_FAILURES

    def _failures(self, session_id: str, limit: int) -> int:
        """Failed compactions in a row, `limit` at most; a truncation in place of one counts too."""
        newest = self._desk.store.last_events(session_id, _JUDGED, limit=limit)
        return sum(1 for _ in takewhile(lambda event: event.body.get("failed"), newest))


def _needed(pending: Pending) -> ConfirmationNeeded:
    return ConfirmationNeeded(
        plan_id=pending.plan_id,
        before_tokens=pending.current_tokens,
        expected_tokens=pending.expected_tokens,
        max_tokens=pending.max_tokens,
        messages=pending.messages,
    )
