"""Owns the state of a session as designs that keep one would have it, read from records.

Nothing of it is stored: the active compaction, its parents and a lease say it all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried import ledger_for, with_facts
from ctxcore.compaction.executing import Step
from ctxcore.compaction.loss_report import find_losses, with_losses
from ctxcore.compaction.plans import Answer
from ctxcore.compaction.simulation import Recording
from ctxcore.compaction.triggers import Trigger, input_size, is_recorded
from ctxcore.engine.errors import StaleProposalError
from ctxcore.engine.events import COMPACTED, FAILED, REDONE, SKIPPED, UNDONE
from ctxcore.engine.proposals import Proposal, Proposals, lease_of
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.storage_problems import ChangeCode
from ctxcore.reasons.values import to_json
from ctxcore.replay.losses import LaterUses, NeededFact, by_need, recorded_losses, seen_by
from ctxcore.replay.recorded import FoldAccount, RecordedFold, account_for_fold
from ctxcore.store.errors import StaleCompactionError
from ctxcore.store.values import CompactionInfo, ImportedCompaction
from ctxcore.summarizers.protocol import Summarizer


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What is summarized, up to where, and whether somebody is at it."""

    summary: str = ""
    summary_tokens: int = 0
    summary_created_at: datetime | None = None
    summarized_messages: int = 0
    """How many messages the summary stands for, system messages left out."""
    summarized_until: int = 0
    """The last message, from 1, that the summary stands for."""
    original_tokens: int = 0
    """What those messages took."""
    is_summarizing: bool = False
    """Whether a compaction is being worked out; false again once its lease has run out."""

    @property
    def compression_rate(self) -> float:
        """How much shorter the summary is than its source: 1 - summary / source."""
        return 1 - self.summary_tokens / self.original_tokens if self.original_tokens else 0.0


def session_state(services: EngineServices, session_id: str) -> SessionState:
    """The state of a session now."""
    info = services.store.active_compaction(session_id)
    lease = services.store.lease(lease_of(session_id))
    is_summarizing = lease is not None and lease[1] > services.clock()
    if info is None or not info.compaction.summary:
        return SessionState(is_summarizing=is_summarizing)
    record = info.compaction
    return SessionState(
        summary=record.summary,
        summary_tokens=record.summary_tokens,
        summary_created_at=info.created_at,
        summarized_messages=record.covered_messages,
        summarized_until=record.summarized_until,
        original_tokens=record.source_tokens,
        is_summarizing=is_summarizing,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LossReport:
    """What one compaction of a session lost; places are indexes into its messages."""

    compaction_id: str
    number: int
    lost: tuple[NeededFact, ...] | None
    """What was needed later first, then the most worth; None: not looked for."""
    unplaced: tuple[str, ...] = ()
    """Lost facts that are not found in the history any more; their texts alone."""
    policy: str = ""
    """The preset of the session, whose side of `account` is ours."""
    account: FoldAccount | None = None
    """Of another product's compaction: theirs beside ours, and what was read again."""

    @property
    def needed_later(self) -> tuple[NeededFact, ...]:
        """The lost facts that were used again."""
        return tuple(one for one in self.lost or () if one.needed_at is not None)


def loss_report(services: EngineServices, session_id: str, compaction_id: str) -> LossReport:
    """The report of one compaction, whoever made it."""
    target = services.call_target(session_id)
    info = services.store.compaction(session_id, compaction_id)
    if is_recorded(info.compaction):
        return _of_another(services, target, info)
    return _of_ours(services, target, info)


def _of_ours(services: EngineServices, target: CallTarget, info: CompactionInfo) -> LossReport:
    record, session = info.compaction, target.session
    if record.facts_lost is None:
        return LossReport(compaction_id=info.id, number=info.number, lost=None)
    found = recorded_losses(record, target.view.facts())
    seen, texts = seen_by(record), {one.text for one in found}
    later = services.store.messages(session.id, seen + 1) if found and seen < session.length else []
    uses = LaterUses([one.message for one in later], start=seen)
    return LossReport(
        compaction_id=info.id,
        number=info.number,
        lost=by_need(uses.needed(found, after=seen)),
        unplaced=tuple(text for text in record.facts_lost if text not in texts),
    )


def _of_another(services: EngineServices, target: CallTarget, info: CompactionInfo) -> LossReport:
    session, policy = target.session, target.effective.policy
    fold, until = _fold(info, services.store.imported_compactions(session.id))
    messages = [one.message for one in services.store.messages(session.id)]
    recording = Recording(messages, model=target.model, tools=target.tools)
    account = account_for_fold(recording, fold, policy, until=until)
    return LossReport(
        compaction_id=info.id,
        number=info.number,
        lost=by_need(account.theirs.lost),
        policy=policy.name,
        account=account,
    )


def _fold(
    info: CompactionInfo, imported: list[ImportedCompaction]
) -> tuple[RecordedFold, int | None]:
    """Where the other product compacted, and where it did the next time.

    Its record is cut where ours may be, which can lie a little before.
    """
    record = info.compaction
    behind = [one for one in imported if one.before_seq > record.covered_until]
    told = next((one for one in behind if one.summary == record.summary), None)
    at = told.before_seq - 1 if told else record.covered_until
    until = next((one.before_seq - 1 for one in behind if one.before_seq - 1 > at), None)
    fold = RecordedFold(
        at=at,
        summary=record.summary,
        before_tokens=record.before_tokens or None,
        trigger=told.trigger if told else None,
    )
    return fold, until


EDITED = "edited_summary"  # a person's step, where the others are strategies


class Compactions:
    """The verbs about compactions of stored sessions."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self.proposals = Proposals(services)

    def propose(
        self,
        target: CallTarget,
        trigger: Trigger | None = None,
        summarizer: Summarizer | None = None,
        *,
        is_refused: bool = False,
        answer: Answer = "compact",
    ) -> Proposal:
        """What a compaction would do now; without a `trigger` because a person asks.

        `is_refused`: the provider found the input too long, whatever our own count says.

        Raises:
            LeaseTakenError: another one is being worked out in this session.
        """
        return self.proposals.make(
            target, trigger, summarizer, is_refused=is_refused, answer=answer
        )

    def confirm(self, proposal: Proposal, *, summary: str | None = None) -> CompactionInfo | None:
        """Records a proposal, its summary replaced by an edited one; None if nothing would change.

        The working state is recorded as the application says it now.

        Raises:
            StaleProposalError: the active compaction, a mark inside its range or the policy
                changed since.
        """
        record = proposal.record
        if record is None:
            self._note_rejected(proposal)
            return None
        target = self._services.call_target(proposal.session_id, model=proposal.base.model)
        changed = self.proposals.base(target, record.covered_until).changes(proposal.base)
        if changed:
            raise StaleProposalError(changed=changed)
        said = record.summary if summary is None else summary.strip()
        is_edited = said != record.summary
        if is_edited or _is_told_anew(proposal, target):
            record = _edited(record, said, target)
        if is_edited:
            proposal = _with_edit(proposal, record)
        try:
            info = self._services.store.record_compaction(
                proposal.session_id,
                self._services.new_id(),
                record,
                parent_id=proposal.base.active_id,
                policy_version_id=target.effective.version_id,
                details=_details(proposal),
                at=self._services.clock(),
            )
        except StaleCompactionError as error:  # somebody else was faster since the check
            raise StaleProposalError(changed=ChangeCode.COMPACTION()) from error
        self._note_recorded(proposal, info)
        return info

    def undo(self, session_id: str) -> CompactionInfo | None:
        """Goes back to the compaction before the active one; None if there is none to undo."""
        self._services.session(session_id)
        active = self._services.store.active_compaction(session_id)
        if active is None:
            return None
        self._activate(active, active.parent_id, active.id, UNDONE)
        return active

    def redo(self, session_id: str) -> CompactionInfo | None:
        """Takes back the last undo; None if nothing was undone."""
        self._services.session(session_id)
        active = self._services.store.active_compaction(session_id)
        undone = self._services.store.undone_compaction(session_id)
        if undone is None:
            return None
        self._activate(undone, undone.id, active.id if active else None, REDONE)
        return undone

    def _activate(
        self, info: CompactionInfo, compaction_id: str | None, expected: str | None, kind: str
    ) -> None:
        now, session_id = self._services.clock(), info.session_id
        self._services.store.activate(session_id, compaction_id, expected=expected, at=now)
        body: JsonObject = {"compaction_id": info.id, "number": info.number}
        self._services.journal.record(kind, body, session_id=session_id)

    def _note_recorded(self, proposal: Proposal, info: CompactionInfo) -> None:
        """Tells of a compaction that was recorded."""
        record = info.compaction
        body: JsonObject = {
            "compaction_id": info.id,
            "number": info.number,
            "trigger": to_json(proposal.trigger.reason),
            "original_tokens": record.before_tokens,
            "new_tokens": record.after_tokens,
            "saved_ratio": round(record.saved_ratio, 4),
            "summary": record.summary,
            "rounds_folded": proposal.plan.turns_folded if proposal.plan else 0,
            "messages_folded": len(proposal.folded),
            "failed": proposal.outcome.failed,
            **_account(proposal),
        }
        self._services.journal.record(COMPACTED, body, session_id=proposal.session_id)

    def _note_rejected(self, proposal: Proposal) -> None:
        """Tells of a compaction that was tried and changed nothing, or had nothing to do."""
        body: JsonObject = {
            "trigger": to_json(proposal.trigger.reason),
            "reason": to_json(proposal.outcome.reason),
            "failed": proposal.outcome.failed,
            **_account(proposal),
        }
        kind = FAILED if proposal.outcome.failed else SKIPPED
        self._services.journal.record(kind, body, session_id=proposal.session_id)


def _is_told_anew(proposal: Proposal, target: CallTarget) -> bool:
    """Whether the application says otherwise of its work than when the proposal was made."""
    budget = target.call.budget
    has_room = budget is not None and budget.working_state_tokens > 0
    return has_room and target.call.working != proposal.working


def _edited(record: Compaction, summary: str, target: CallTarget) -> Compaction:
    """`record` with another summary; facts that this one no longer says are carried instead."""
    view, call = target.view, target.call
    tokens = call.counter.count(summary)
    edited = replace(record, summary=summary, summary_tokens=tokens)
    edited = with_facts(view, call, edited, ledger_for(view, call))
    edited = with_losses(edited, find_losses(view, call, target.record, edited))
    return replace(edited, after_tokens=input_size(view, call, edited))


def _with_edit(proposal: Proposal, edited: Compaction) -> Proposal:
    """`proposal` with the edit of its summary as its last step."""
    before = proposal.outcome.after_tokens
    step = Step(
        strategy=EDITED,
        before_tokens=before,
        after_tokens=edited.after_tokens,
        outcome=OutcomeCode.DONE(),
    )
    outcome = replace(proposal.outcome, record=edited, steps=(*proposal.steps, step))
    return replace(proposal, outcome=outcome)


def _details(proposal: Proposal) -> JsonObject:
    """What else is told of a compaction: its steps, and what it took."""
    return {
        "folded": len(proposal.folded),
        "turns_folded": proposal.plan.turns_folded if proposal.plan else 0,
        **_account(proposal),
    }


def _account(proposal: Proposal) -> JsonObject:
    """What was done, step by step, and what it took."""
    outcome = proposal.outcome
    return {
        "strategies": list(outcome.strategies),
        "steps": [step.to_dict() for step in proposal.steps],
        "seconds": round(outcome.seconds, 3),
        "cost": outcome.cost,
    }
