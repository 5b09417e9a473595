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
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import to_json

Outcome: TypeAlias = Literal["done", "waiting", "new_session"]
"""Whether the turn goes on, waits for a person, or goes on in a session of its own."""

_JUDGED = (COMPACTED, FAILED)


class Automatic:
    """What happens when a rule asks for a compaction."""

    def __init__(self, services: EngineServices, compactions: Compactions) -> None:
        self._services = services
        self._compactions = compactions

    def due(self, target: CallTarget, *, all_rules: bool = True) -> Trigger | None:
        """The rule that asks for a compaction now; after an undo or failures, only an overflow.

        An overflow is named before any other rule that holds: it cannot wait. Without
        `all_rules` nothing else is looked at.
        """
        if not target.call.policy.is_automatic:
            return None
        measured = measure(target.view, target.call, target.record)
        too_large = overflow(measured, target.call)
        if too_large is not None or not all_rules:
            return too_large
        if target.call.policy.summary_marker and self._is_asked(target):
            measured = replace(measured, is_marked=True)
        found = find_trigger(measured, target.call)
        return None if found is None or self._waits(target) else found

    def run(
        self,
        target: CallTarget,
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
        policy = target.call.policy
        if policy.is_shadow:
            self._note_planned(target, trigger)
            return "done"
        if policy.requires_confirmation and answer is None:
            asked = self._asked(target, trigger, confirm, is_refused=is_refused)
            if isinstance(asked, Pending):
                yield _needed(asked)
                return "waiting"
            answer = asked
        if answer == "new_session":
            return "new_session"
        yield CompactionStarted(trigger=trigger)
        yield self._carried_out(target, trigger, answer or "compact", is_refused=is_refused)
        return "done"

    def pending(self, plan_id: str) -> Pending:
        """The question with this id.

        Raises:
            TurnStateError: nobody waits for it any more.
        """
        found = load_pending(self._services.store, plan_id)
        if found is None:
            raise TurnStateError(problem=TurnProblem.NO_QUESTION(id=plan_id))
        return found

    def pending_of(self, session_id: str) -> Pending | None:
        """The question that waits in a session."""
        newest = self._services.store.last_events(session_id, (CONFIRMATION, COMPACTED), limit=1)
        if not newest or newest[0].kind != CONFIRMATION:
            return None
        return load_pending(self._services.store, str(newest[0].body.get("plan_id", "")))

    def settle(self, pending: Pending, target: CallTarget) -> None:
        """Takes the question back: it is being answered.

        Raises:
            StaleProposalError: what it was asked about has changed since.
        """
        now = self._compactions.proposals.base(target, pending.covered_until)
        drop_pending(self._services.store, pending.plan_id)
        if changed := now.changes(pending.base):
            raise StaleProposalError(changed=changed)

    def _carried_out(
        self, target: CallTarget, trigger: Trigger, answer: Answer, *, is_refused: bool
    ) -> TurnEvent:
        if answer == "refuse":
            measured = measure(target.view, target.call, target.record)
            raise refusal(target.call.budget, measured)
        try:
            proposal = self._compactions.propose(
                target, trigger, is_refused=is_refused, answer=answer
            )
            info = self._compactions.confirm(proposal)
        except ContextError as error:
            body: JsonObject = {
                "trigger": to_json(trigger.reason),
                "reason": to_json(error.reason),
                "failed": False,
            }
            self._services.journal.record(SKIPPED, body, session_id=target.session.id)
            return CompactionRejected(reason=error.reason)
        if info is None:
            return CompactionRejected(reason=proposal.outcome.reason)
        return CompactionFinished(info=info)

    def _asked(
        self, target: CallTarget, trigger: Trigger, confirm: Confirm | None, *, is_refused: bool
    ) -> Answer | Pending:
        """A person's answer, or the question that now waits for one."""
        measured = measure(target.view, target.call, target.record)
        planned = self._compactions.proposals.plan(target, measured, trigger, is_refused=is_refused)
        if planned is None:
            return "compact"  # there is nothing to agree to, and that is what will be told
        question = confirmation(target.call.budget, measured, planned)
        if confirm is not None:
            return confirm(question)
        pending = Pending(
            plan_id=self._services.new_id(),
            session_id=target.session.id,
            trigger=trigger,
            current_tokens=question.current_tokens,
            max_tokens=question.max_tokens,
            expected_tokens=planned.expected_tokens,
            messages=len(planned.fold),
            covered_until=planned.covered_until,
            base=self._compactions.proposals.base(target, planned.covered_until),
        )
        return self._known(target) or self._noted(pending)

    def _known(self, target: CallTarget) -> Pending | None:
        """The question that waits already, if nothing has changed since."""
        waiting = self.pending_of(target.session.id)
        if waiting is None:
            return None
        now = self._compactions.proposals.base(target, waiting.covered_until)
        return None if now.changes(waiting.base) else waiting

    def _noted(self, pending: Pending) -> Pending:
        save_pending(self._services.store, pending)
        body: JsonObject = {
            "plan_id": pending.plan_id,
            "trigger": to_json(pending.trigger.reason),
            "current_tokens": pending.current_tokens,
            "max_tokens": pending.max_tokens,
            "expected_tokens": pending.expected_tokens,
            "messages_folded": pending.messages,
        }
        self._services.journal.record(CONFIRMATION, body, session_id=pending.session_id)
        return pending

    def _note_planned(self, target: CallTarget, trigger: Trigger) -> None:
        """Tells what a compaction would have done."""
        measured = measure(target.view, target.call, target.record)
        planned = self._compactions.proposals.plan(target, measured, trigger)
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
        self._services.journal.record(PLANNED, body, session_id=target.session.id)

    def _is_asked(self, target: CallTarget) -> bool:
        """Whether the model asked for a compaction and none was tried since."""
        kinds = (ASKED_BY_MODEL, *_JUDGED, SKIPPED)
        newest = self._services.store.last_events(target.session.id, kinds, limit=1)
        return bool(newest) and newest[0].kind == ASKED_BY_MODEL

    def _waits(self, target: CallTarget) -> bool:
        """Whether automatic compaction waits: after an undo, or after too many failures."""
        if self._services.store.undone_compaction(target.session.id) is not None:
            return True
        return self._failures(target.session.id, MOST_FAILURES) >= MOST_FAILURES

    def _failures(self, session_id: str, limit: int) -> int:
        """Failed compactions in a row, `limit` at most; a truncation in place of one counts too."""
        newest = self._services.store.last_events(session_id, _JUDGED, limit=limit)
        return sum(1 for _ in takewhile(lambda event: event.body.get("failed"), newest))


def _needed(pending: Pending) -> ConfirmationNeeded:
    return ConfirmationNeeded(
        plan_id=pending.plan_id,
        before_tokens=pending.current_tokens,
        expected_tokens=pending.expected_tokens,
        max_tokens=pending.max_tokens,
        messages=pending.messages,
    )
