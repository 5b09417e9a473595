"""Owns the loss report of a stored compaction: worked out when asked for, never during a turn.

Of our own compactions the record names what was lost. Of another product's it is measured, and
beside it what the session's policy would have kept in as many tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.compaction.recording import Recording
from ctxcore.compaction.triggers import is_recorded
from ctxcore.engine.desk import Desk, Subject
from ctxcore.replay.losses import by_need, recorded_losses, seen_by
from ctxcore.replay.needing import LaterUses, NeededFact
from ctxcore.replay.recorded import FoldAccount, RecordedFold, account_for_fold
from ctxcore.store.values import CompactionInfo, ImportedCompaction


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


def loss_report(desk: Desk, session_id: str, compaction_id: str) -> LossReport:
    """The report of one compaction, whoever made it."""
    subject = desk.subject(session_id)
    info = desk.store.compaction(session_id, compaction_id)
    if is_recorded(info.compaction):
        return _of_another(desk, subject, info)
    return _of_ours(desk, subject, info)


def _of_ours(desk: Desk, subject: Subject, info: CompactionInfo) -> LossReport:
    record, session = info.compaction, subject.session
    if record.facts_lost is None:
        return LossReport(compaction_id=info.id, number=info.number, lost=None)
    found = recorded_losses(record, subject.view.facts())
    seen, texts = seen_by(record), {one.text for one in found}
    later = desk.store.messages(session.id, seen + 1) if found and seen < session.length else []
    uses = LaterUses([one.message for one in later], start=seen)
    return LossReport(
        compaction_id=info.id,
        number=info.number,
        lost=by_need(uses.needed(found, after=seen)),
        unplaced=tuple(text for text in record.facts_lost if text not in texts),
    )


def _of_another(desk: Desk, subject: Subject, info: CompactionInfo) -> LossReport:
    session, policy = subject.session, subject.effective.policy
    fold, until = _fold(info, desk.store.imported_compactions(session.id))
    messages = [one.message for one in desk.store.messages(session.id)]
    recording = Recording(messages, model=subject.model, tools=subject.tools)
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
