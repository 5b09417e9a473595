"""Automatic compactions: which rule is due, whether a person must agree, what is recorded.

A shadow policy changes nothing and records what it would have done. A policy that requires
confirmation waits for a person's answer and changes nothing without one.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import replace
from typing import Literal, TypeAlias

from ctxcore.assembly.building import build_context
from ctxcore.compaction.compacting import confirmation, refusal
from ctxcore.compaction.for_one_call import OneCall
from ctxcore.compaction.plans import Answer, Confirm
from ctxcore.compaction.triggers import MAX_FAILURES, Trigger, find_trigger, measure, overflow
from ctxcore.engine.compactions import Compactions
from ctxcore.engine.errors import StaleProposalError, TurnStateError
from ctxcore.engine.events import (
    COMPACTED,
    CONFIRMATION,
    FAILED,
    REQUESTED_BY_MODEL,
    SKIPPED,
    CompactionFinished,
    CompactionRejected,
    CompactionStarted,
    ConfirmationNeeded,
    TurnEvent,
)
from ctxcore.engine.proposals import Pending, drop_pending, load_pending, save_pending
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.engine.shadow import record_planned
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.storage_problems import TurnProblem
from ctxcore.reasons.values import to_json
from ctxcore.store.errors import LeaseTakenError

logger = logging.getLogger(__name__)

Outcome: TypeAlias = Literal["done", "waiting", "new_session"]
"""Whether the turn continues, waits for a person, or continues in a new session."""


class AutomaticCompactions:
    """Finds the rule that requests a compaction, and carries it out."""

    def __init__(self, services: EngineServices, compactions: Compactions) -> None:
        self._services = services
        self._compactions = compactions

    def due(self, target: CallTarget, *, all_rules: bool = True) -> Trigger | None:
        """The rule that requests a compaction now; after an undo or failures, only an overflow.

        An overflow takes precedence over all other rules; without `all_rules` only that is checked.
        Knowledge asks for nothing here: see `for_one_call`.
        """
        target = target.without_knowledge
        if not target.call.policy.is_automatic:
            return None
        measured = measure(target.view, target.call, target.record)
        too_large = overflow(measured, target.call)
        if too_large is not None or not all_rules:
            return too_large
        if target.call.policy.summary_marker and self._is_requested(target.session.id):
            measured = replace(measured, is_marked=True)
        found = find_trigger(measured, target.call)
        return None if found is None or self._is_suspended(target.session.id) else found

    def run(
        self,
        target: CallTarget,
        trigger: Trigger,
        *,
        confirm: Confirm | None = None,
        answer: Answer | None = None,
        is_refused: bool = False,
    ) -> Generator[TurnEvent, None, Outcome]:
        """Compacts because of `trigger`, or asks a person first.

        Raises (from the iterator):
            CompactionRefusedError: a person refused.
        """
        target, policy = target.without_knowledge, target.call.policy
        if policy.is_shadow:
            record_planned(self._services, self._compactions.proposals, target, trigger)
            return "done"
        if policy.requires_confirmation and answer is None:
            response = self._ask(target, trigger, confirm, is_refused=is_refused)
            if isinstance(response, Pending):
                yield ConfirmationNeeded(
                    plan_id=response.plan_id,
                    before_tokens=response.current_tokens,
                    expected_tokens=response.expected_tokens,
                    max_tokens=response.max_tokens,
                    messages=response.messages,
                )
                return "waiting"
            answer = response
        if answer == "new_session":
            return "new_session"
        yield CompactionStarted(trigger=trigger)
        yield self._carry_out(target, trigger, answer or "compact", is_refused=is_refused)
        return "done"

    def check_later(self, target: CallTarget) -> None:
        """Checks the rules in the background once a turn is over, where the policy wants that."""
        if target.call.policy.check_at not in ("background", "after_answer"):
            return

        def check() -> None:
            with self._services.slots:
                renewed = self._services.renew(target)
                trigger = self.due(renewed)
            if trigger is not None:
                for event in self.run(renewed, trigger):
                    kind = type(event).__name__
                    logger.debug("background %s session=%s", kind, target.session.id)

        self._services.queue.submit(target.session.id, check)

    def for_one_call(self, target: CallTarget, before: OneCall | None) -> OneCall | None:
        """What knowledge makes the next call do; None where no rule asks because of it.

        What an earlier call of the turn left out stays out, so that it is decided and paid once.
        """
        if not target.call.knowledge:
            return None
        if before is not None and before.folds and before.active == target.record:
            return before
        return self._compactions.proposals.plan_for_one_call(target)

    def carry_out(self, target: CallTarget, one_call: OneCall) -> OneCall:
        """Carries out what knowledge makes the next call leave out; without a lease it is trimmed.

        It waits for the summarizer.
        """
        try:
            return self._compactions.proposals.execute_for_one_call(target, one_call)
        except LeaseTakenError as error:
            self._record_skipped(target, one_call.trigger, error)
            return one_call

    def pending(self, session_id: str, plan_id: str) -> Pending:
        """The pending confirmation of a session with this id.

        Raises:
            TurnStateError: it is not pending any more.
        """
        found = load_pending(self._services.store, plan_id)
        if found is None or found.session_id != session_id:
            raise TurnStateError(problem=TurnProblem.NO_PENDING(id=plan_id))
        return found

    def pending_of(self, session_id: str) -> Pending | None:
        """The pending confirmation of a session."""
        newest = self._services.store.last_events(session_id, (CONFIRMATION, COMPACTED), limit=1)
        if not newest or newest[0].kind != CONFIRMATION:
            return None
        return load_pending(self._services.store, str(newest[0].body.get("plan_id", "")))

    def settle(self, pending: Pending, target: CallTarget) -> None:
        """Removes a pending confirmation because it is being answered.

        Raises:
            StaleProposalError: what it was made from has changed since.
        """
        now = self._compactions.proposals.base(target, pending.covered_until)
        drop_pending(self._services.store, pending.plan_id)
        if changed := now.changes(pending.base):
            raise StaleProposalError(changed=changed)

    def _carry_out(
        self, target: CallTarget, trigger: Trigger, answer: Answer, *, is_refused: bool
    ) -> TurnEvent:
        if answer == "refuse":
            measured = measure(target.view, target.call, target.record)
            raise refusal(target.call.budget, measured)
        try:
            proposal = self._compactions.proposals.make(
                target, trigger, is_refused=is_refused, answer=answer
            )
            info = self._compactions.confirm(proposal)
        except ContextError as error:
            self._record_skipped(target, trigger, error)
            return CompactionRejected(reason=error.reason)
        if info is None:
            return CompactionRejected(reason=proposal.outcome.reason)
        return CompactionFinished(info=info)

    def _record_skipped(self, target: CallTarget, trigger: Trigger, error: ContextError) -> None:
        body: JsonObject = {
            "trigger": to_json(trigger.reason),
            "reason": to_json(error.reason),
            "failed": False,
        }
        self._services.journal.record(SKIPPED, body, session_id=target.session.id)

    def _ask(
        self, target: CallTarget, trigger: Trigger, confirm: Confirm | None, *, is_refused: bool
    ) -> Answer | Pending:
        """A person's answer, or the confirmation that is pending now."""
        proposals = self._compactions.proposals
        measured = measure(target.view, target.call, target.record)
        planned = proposals.plan(target, measured, trigger, is_refused=is_refused)
        if planned is None:
            return "compact"  # there is nothing to confirm, and the event will say so
        without = build_context(target.view, target.call, target.record)
        question = confirmation(target.call.budget, measured, planned, without)
        if confirm is not None:
            return confirm(question)
        waiting = self.pending_of(target.session.id)
        if waiting is not None:
            now = proposals.base(target, waiting.covered_until)
            if not now.changes(waiting.base):
                return waiting
        pending = Pending(
            plan_id=self._services.new_id(),
            session_id=target.session.id,
            trigger=trigger,
            current_tokens=question.current_tokens,
            max_tokens=question.max_tokens,
            next_call_tokens=without.tokens,
            outside_tokens=without.outside_tokens,
            expected_tokens=planned.expected_tokens,
            messages=len(planned.fold),
            covered_until=planned.covered_until,
            base=proposals.base(target, planned.covered_until),
        )
        save_pending(self._services.store, pending)
        body: JsonObject = {
            "plan_id": pending.plan_id,
            "trigger": to_json(trigger.reason),
            "current_tokens": pending.current_tokens,
            "max_tokens": pending.max_tokens,
            "expected_tokens": pending.expected_tokens,
            "messages_folded": pending.messages,
        }
        self._services.journal.record(CONFIRMATION, body, session_id=pending.session_id)
        return pending

    def _is_requested(self, session_id: str) -> bool:
        """Whether the model requested a compaction and none was tried since."""
        kinds = (REQUESTED_BY_MODEL, COMPACTED, FAILED, SKIPPED)
        newest = self._services.store.last_events(session_id, kinds, limit=1)
        return bool(newest) and newest[0].kind == REQUESTED_BY_MODEL

    def _is_suspended(self, session_id: str) -> bool:
        """Whether automatic compaction waits: after an undo, or after too many failures in a row.

        A truncation in place of a failed summary counts as a failure.
        """
        if self._services.store.undone_compaction(session_id) is not None:
            return True
        kinds = (COMPACTED, FAILED)
        newest = self._services.store.last_events(session_id, kinds, limit=MAX_FAILURES)
        return len(newest) == MAX_FAILURES and all(event.body.get("failed") for event in newest)
