"""Compactions of stored sessions: confirm, undo, redo, and reports on their state and losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from ctxcore.assembly.building import build_context
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import ledger_at, ledger_for, with_facts
from ctxcore.compaction.executing import Outcome, Step
from ctxcore.compaction.loss_report import LostFact, find_losses, sort_by_salience, with_losses
from ctxcore.compaction.restoring import restored_in
from ctxcore.compaction.simulation import Recording
from ctxcore.compaction.summarizing import edited_lineage
from ctxcore.compaction.triggers import input_size, is_recorded
from ctxcore.engine.alerts import lost_rules
from ctxcore.engine.errors import StaleProposalError
from ctxcore.engine.events import COMPACTED, FAILED, REDONE, SKIPPED, UNDONE
from ctxcore.engine.proposals import Proposal, Proposals, lease_of
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.facts.presence import SearchedText
from ctxcore.facts.values import Fact
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.storage_problems import ChangeCode
from ctxcore.reasons.values import to_json
from ctxcore.replay.losses import (
    LaterUses,
    LossVerdict,
    NeededFact,
    folded_facts,
    ledger_of,
    newest_seen,
    rank_losses,
    recorded_losses,
)
from ctxcore.replay.recorded import FoldAccount, RecordedFold, account_for_fold, gone_under
from ctxcore.salience.ranking import Wishes
from ctxcore.store.errors import StaleCompactionError
from ctxcore.store.values import CompactionInfo, ImportedCompaction

EDITED = "edited_summary"
"""The name of a person's step among the strategies."""


class Compactions:
    """Records proposed compactions, undoes and redoes them."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self.proposals = Proposals(services)

    def confirm(self, proposal: Proposal, *, summary: str | None = None) -> CompactionInfo | None:
        """Records a proposal, with `summary` in place of its own; None if nothing would change.

        The working state is recorded as the application provides it now.

        Raises:
            StaleProposalError: the active compaction, a mark inside its range or the policy
                changed since.
        """
        record = proposal.record
        if record is None:
            self._record_rejected(proposal)
            self._raise_alerts(proposal, None)
            return None
        target = self._services.call_target(proposal.session_id, model=proposal.base.model)
        changed = self.proposals.base(target, record.covered_until).changes(proposal.base)
        if changed:
            raise StaleProposalError(changed=changed)
        text = record.summary if summary is None else summary.strip()
        if text != record.summary or _is_work_changed(proposal, target):
            proposal = _edited(proposal, record, text, target)
            record = proposal.record or record
        try:
            info = self._services.store.record_compaction(
                proposal.session_id,
                self._services.new_id(),
                record,
                parent_id=proposal.base.active_id,
                policy_version_id=target.effective.version_id,
                details={
                    "folded": len(proposal.folded),
                    "turns_folded": proposal.plan.turns_folded if proposal.plan else 0,
                    **_account(proposal),
                },
                at=self._services.clock(),
                has_failed=proposal.outcome.failed,
            )
        except StaleCompactionError as error:  # changed since the check
            raise StaleProposalError(changed=ChangeCode.COMPACTION()) from error
        self._services.hold_factor(target, anew=True)
        self._record_compacted(proposal, info, target)
        self._raise_alerts(proposal, info)
        return info

    def edit(self, proposal: Proposal, summary: str) -> Proposal:
        """`proposal` with another summary, measured again; nothing is recorded."""
        record, text = proposal.record, summary.strip()
        if record is None or text == record.summary:
            return proposal
        target = self._services.call_target(proposal.session_id, model=proposal.base.model)
        return _edited(proposal, record, text, target)

    def undo(self, session_id: str) -> CompactionInfo | None:
        """Makes the parent of the active compaction active; None if there is none to undo."""
        self._services.session(session_id, "change")
        active = self._services.store.active_compaction(session_id)
        if active is None:
            return None
        self._activate(active, active.parent_id, active.id, UNDONE)
        return active

    def redo(self, session_id: str) -> CompactionInfo | None:
        """Reverts the last undo; None if nothing was undone."""
        self._services.session(session_id, "change")
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

    def _record_compacted(
        self, proposal: Proposal, info: CompactionInfo, target: CallTarget
    ) -> None:
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
            "facts_lost": len(record.facts_lost or ()),
            "failed": proposal.outcome.failed,
            "preset": target.effective.policy.name,
            "policy_version_id": info.policy_version_id,
            **_account(proposal),
        }
        self._services.journal.record(COMPACTED, body, session_id=proposal.session_id)

    def _raise_alerts(self, proposal: Proposal, info: CompactionInfo | None) -> None:
        outcome, services = proposal.outcome, self._services
        if outcome.failed or lost_rules(outcome):
            session, day = services.session(proposal.session_id), f"{services.clock():%Y-%m-%d}"
            services.alerts.after_compaction(session, outcome, info, day=day)

    def _record_rejected(self, proposal: Proposal) -> None:
        """Records an attempt that failed or had nothing to do."""
        session = self._services.session(proposal.session_id)
        effective = self._services.effective_policy(session, proposal.base.model)
        body: JsonObject = {
            "trigger": to_json(proposal.trigger.reason),
            "reason": to_json(proposal.outcome.reason),
            "failed": proposal.outcome.failed,
            "preset": effective.policy.name,
            "policy_version_id": proposal.base.version_id,
            **_account(proposal),
        }
        kind = FAILED if proposal.outcome.failed else SKIPPED
        self._services.journal.record(kind, body, session_id=proposal.session_id)


def _is_work_changed(proposal: Proposal, target: CallTarget) -> bool:
    """Whether a working state that is kept differs from the one of the proposal."""
    budget = target.call.budget
    has_room = budget is not None and budget.working_state_tokens > 0
    return has_room and target.call.working != proposal.working


def _edited(proposal: Proposal, record: Compaction, summary: str, target: CallTarget) -> Proposal:
    """`proposal` with another summary; facts that are missing in it are carried instead."""
    view, call, is_edit = target.view, target.call, summary != record.summary
    tokens = call.counter.count(summary)
    edited = replace(record, summary=summary, summary_tokens=tokens)
    if is_edit:
        edited = replace(edited, lineage=edited_lineage(view, call, target.record, edited))
    edited = _with_facts(proposal, record, edited, target)
    lost = find_losses(view, call, target.record, edited)
    if lost is not None:
        lost = sort_by_salience([*lost, *_still_missed(proposal.outcome, edited)])
    edited = with_losses(edited, lost)
    edited = replace(edited, after_tokens=input_size(view, call, edited))
    outcome = replace(proposal.outcome, record=edited, lost=tuple(lost or ()))
    if is_edit:
        outcome = _with_edit(outcome, edited)
    return replace(proposal, outcome=outcome, after=build_context(view, call, edited))


def _with_facts(
    proposal: Proposal, record: Compaction, edited: Compaction, target: CallTarget
) -> Compaction:
    """`edited` with its facts, and with those that the proposed `record` restored."""
    view, call, plan = target.view, target.call, proposal.outcome.plan
    ledger, wishes = ledger_for(view, call), Wishes.of(proposal.focus, call.policy)
    carry = partial(
        with_facts,
        view,
        call,
        ledger=ledger,
        wishes=wishes,
        is_talk=plan is not None and plan.is_talk,
    )
    if not record.facts_restored:
        return carry(edited)
    restored = restored_in(record, carry(record), ledger, call)
    said = SearchedText(edited.summary)
    missing = tuple(entry for entry in restored.entries if not said.says(entry.fact))
    return carry(edited, restored=replace(restored, entries=missing))


def _still_missed(outcome: Outcome, edited: Compaction) -> list[LostFact]:
    """What the proposed summary lost and neither the edited one nor its facts say."""
    said = SearchedText(f"{edited.summary}\n{edited.facts}")
    return [one for one in outcome.lost if not said.says(one.fact)]


def _with_edit(outcome: Outcome, edited: Compaction) -> Outcome:
    """`outcome` with the edit of its summary as its last step."""
    before = outcome.steps[-1].after_tokens if outcome.steps else edited.before_tokens
    step = Step(
        strategy=EDITED,
        before_tokens=before,
        after_tokens=edited.after_tokens,
        outcome=OutcomeCode.DONE(),
    )
    check = outcome.check
    if check is not None and check.refused is None:
        check = check.within(edited.summary)
    return replace(outcome, steps=(*outcome.steps, step), check=check)


def _account(proposal: Proposal) -> JsonObject:
    """The steps of a compaction, its time and cost, what people wanted kept, and the check."""
    outcome = proposal.outcome
    wanted = {"focus": proposal.focus, "instructions": proposal.instructions}
    return {
        **{name: text for name, text in wanted.items() if text},
        **({"check": outcome.check.to_dict()} if outcome.check else {}),
        **({"way": proposal.way.key} if proposal.way else {}),
        "strategies": list(outcome.strategies),
        "steps": [step.to_dict() for step in proposal.steps],
        "seconds": round(outcome.seconds, 3),
        "cost": outcome.cost,
        **({"effect": proposal.effect.to_dict()} if proposal.effect else {}),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState(Plain):
    """What is summarized of a session, read from its active compaction and its leases."""

    summary: str = ""
    summary_tokens: int = 0
    summary_created_at: datetime | None = None
    summarized_messages: int = 0
    """The number of messages in the summary, without system messages."""
    summarized_until: int = 0
    """The last message, from 1, in the summary."""
    original_tokens: int = 0
    """The size of those messages."""
    is_summarizing: bool = False
    """Whether a compaction is in progress; False once its lease has expired."""

    @property
    def compression_rate(self) -> float:
        """The share that the summary saves: 1 - summary / source."""
        return 1 - self.summary_tokens / self.original_tokens if self.original_tokens else 0.0


def session_state(services: EngineServices, session_id: str) -> SessionState:
    """The state of a session now."""
    info = services.store.active_compaction(session_id)
    is_summarizing = services.leases.holder_of(lease_of(session_id)) is not None
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
class LossReport(Plain):
    """The facts that a compaction lost; places are indexes into the session's messages."""

    compaction_id: str
    number: int
    lost: tuple[NeededFact, ...] | None
    """By what matters (`rank_losses`); None: not looked for."""
    unplaced: tuple[str, ...] = ()
    """The texts of lost facts that are not found in the history any more."""
    policy: str = ""
    """The session's policy, which `account` compares with the other product."""
    account: FoldAccount | None = None
    """For another product's compaction: its losses beside ours, and what was read again."""
    verdict: LossVerdict | None = None
    """What the losses come to; None where they were not looked for."""
    needed: Mapping[str, Fact] = field(default_factory=dict)
    """The facts of what was folded that were used later, lost or not, by their texts."""
    at: int = 0
    """How many messages there were."""
    tokens: int = 0
    """The size of the context that it led to."""

    @property
    def needed_later(self) -> tuple[NeededFact, ...]:
        """The lost facts that were used again."""
        return tuple(fact for fact in self.lost or () if fact.needed_at is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedLosses(Plain):
    """What a proposal would lose, by what matters to the messages that stay."""

    lost: tuple[NeededFact, ...]
    verdict: LossVerdict


def proposed_losses(services: EngineServices, proposal: Proposal) -> ProposedLosses:
    """The losses of a proposal; `needed` is what the messages behind its covered ones use."""
    record = proposal.record
    if record is None:
        return ProposedLosses(lost=(), verdict=LossVerdict(needed=0, gone=0, has_later=False))
    target = services.call_target(proposal.session_id)
    start = record.covered_until
    stays = services.store.messages(proposal.session_id, start + 1)
    uses = LaterUses([info.message for info in stays], start=start)
    lost = uses.needed(proposal.outcome.lost, after=start)
    folded = folded_facts(record, target.record, ledger_at(target.view))
    return ProposedLosses(lost=rank_losses(lost), verdict=uses.verdict(folded, lost, after=start))


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetLosses(Plain):
    """What a preset loses of what was needed later, in as many tokens as a compaction had."""

    preset: str
    gone: int | None
    """None where what it must keep does not fit in as many tokens."""


def losses_under(
    services: EngineServices, session_id: str, compaction_id: str, presets: Sequence[str]
) -> tuple[PresetLosses, ...]:
    """The same of each of `presets`, compacting the messages that there were then."""
    report = loss_report(services, session_id, compaction_id)
    target = services.call_target(session_id)
    recording = Recording(
        [info.message for info in services.store.messages(session_id, 1, report.at)],
        model=target.model,
        rule_edits=target.view.rule_edits(),
    )
    needed = report.needed.values()
    return tuple(
        PresetLosses(
            preset=name,
            gone=gone_under(Policy.preset(name), recording, report.tokens, needed),
        )
        for name in presets
    )


def loss_report(services: EngineServices, session_id: str, compaction_id: str) -> LossReport:
    """The losses of a compaction, our own or another product's."""
    target = services.call_target(session_id)
    info = services.store.compaction(session_id, compaction_id)
    report = _report_recorded if is_recorded(info.compaction) else _report_own
    return report(services, target, info)


def _report_own(services: EngineServices, target: CallTarget, info: CompactionInfo) -> LossReport:
    record, session = info.compaction, target.session
    if record.facts_lost is None:
        return LossReport(compaction_id=info.id, number=info.number, lost=None)
    ledger = ledger_of(record, target.view.facts())
    found, seen = recorded_losses(record, ledger), newest_seen(record)
    texts = {fact.text for fact in found}
    later = services.store.messages(session.id, seen + 1) if seen < session.length else []
    uses = LaterUses([info.message for info in later], start=seen)
    lost = uses.needed(found, after=seen)
    folded = folded_facts(record, _parent(services, info), ledger)
    return LossReport(
        compaction_id=info.id,
        number=info.number,
        lost=rank_losses(lost),
        unplaced=tuple(text for text in record.facts_lost if text not in texts),
        verdict=uses.verdict(folded, lost, after=seen),
        needed=uses.used([*folded, *(one.fact for one in found)], after=seen),
        at=seen,
        tokens=record.after_tokens,
    )


def _parent(services: EngineServices, info: CompactionInfo) -> Compaction | None:
    if info.parent_id is None:
        return None
    return services.store.compaction(info.session_id, info.parent_id).compaction


def _report_recorded(
    services: EngineServices, target: CallTarget, info: CompactionInfo
) -> LossReport:
    session, policy = target.session, target.effective.policy
    fold, until = _fold(info, services.store.imported_compactions(session.id))
    messages = [info.message for info in services.store.messages(session.id)]
    recording = Recording(
        messages, model=target.model, tools=target.tools, rule_edits=target.view.rule_edits()
    )
    account = account_for_fold(recording, fold, policy, until=until)
    return LossReport(
        compaction_id=info.id,
        number=info.number,
        lost=account.theirs.lost,
        policy=policy.name,
        account=account,
        verdict=account.verdict,
        needed=account.needed,
        at=fold.at,
        tokens=account.shown_tokens,
    )


def _fold(
    info: CompactionInfo, imported: list[ImportedCompaction]
) -> tuple[RecordedFold, int | None]:
    """Where the other product compacted, and where it compacted the next time.

    `info` ends at a legal cut point, which can lie a little before the original place.
    """
    record = info.compaction
    later = [found for found in imported if found.before_seq > record.covered_until]
    own = next((found for found in later if found.summary == record.summary), None)
    at = own.before_seq - 1 if own else record.covered_until
    until = next((found.before_seq - 1 for found in later if found.before_seq - 1 > at), None)
    fold = RecordedFold(
        at=at,
        summary=record.summary,
        before_tokens=record.before_tokens or None,
        trigger=own.trigger if own else None,
    )
    return fold, until
