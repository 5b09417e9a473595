"""Alerts that operators set: budgets, failed summaries, lost rules.

They are looked at after each call and compaction, in work that does not grow with the history; what
fails here never fails a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ctxcore.compaction.executing import Outcome
from ctxcore.engine.events import ALERT, EventJournal
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.reasons.report_codes import AlertCode, AlertProblem
from ctxcore.reasons.values import Reason, to_json
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import Alert, CallInfo, CompactionInfo, SessionInfo
from ctxcore.tokens.costs import dollars_text

logger = logging.getLogger(__name__)

SETTING = "alerts"
_SHOWN_RULES = 3  # chosen: a line; the compaction lists all
_RULE_CHARS = 120


class AlertError(ContextError):
    """Rules for alerts are not allowed."""

    def __init__(self, *, value: object) -> None:
        self.value = value
        super().__init__(AlertProblem.LIMIT(value=str(value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRules(Plain):
    """What operators want to be told; None or False: not that.

    Raises:
        AlertError: a budget is not above 0.
    """

    day_dollars: float | None = None
    """What the calls of one user may cost in a day (UTC)."""
    month_dollars: float | None = None
    """The same in a calendar month."""
    failed_summaries: bool = False
    """A summary failed: once a session and day."""
    rules_lost: bool = False
    """A compaction lost standing instructions."""

    def __post_init__(self) -> None:
        for limit in (self.day_dollars, self.month_dollars):
            if limit is not None and not 0 < limit < float("inf"):
                raise AlertError(value=limit)

    @classmethod
    def load(cls, stored: JsonValue) -> AlertRules:
        """The rules that `to_dict` wrote; none where there is nothing."""
        known = {field.name for field in fields(cls)}
        given = stored if isinstance(stored, dict) else {}
        return cls(**{name: value for name, value in given.items() if name in known})  # type: ignore[arg-type]  # written by to_dict


class Alerts:
    """Compares what happened with the rules, and raises alerts."""

    def __init__(self, store: SessionStore, journal: EventJournal) -> None:
        self._store = store
        self._journal = journal

    def rules(self) -> AlertRules:
        """The rules in force."""
        return AlertRules.load(self._store.setting(SETTING))

    def after_calls(self, session: SessionInfo, calls: list[CallInfo]) -> None:
        """Adds what recorded calls cost to the user's day and month, and compares the sums."""
        paid = [call for call in calls if call.cost]
        if not paid:
            return
        try:
            rules = self.rules()
            for call in paid:
                self._spend(rules, session, call)
        except ContextError as error:
            _log(session, error)

    def after_compaction(
        self, session: SessionInfo, outcome: Outcome, info: CompactionInfo | None, *, day: str
    ) -> None:
        """Compares a compaction, or one that failed and changed nothing, with the rules."""
        lost = lost_rules(outcome) if info else []
        try:
            rules = self.rules()
            if outcome.failed and rules.failed_summaries:
                why = AlertCode.FAILED_SUMMARY(why=outcome.reason)
                self._raise(f"failed:{session.id}:{day}", why, session)
            if lost and info and rules.rules_lost:
                self._raise(f"rules:{info.id}", _rules_lost(lost), session)
        except ContextError as error:
            _log(session, error)

    def _spend(self, rules: AlertRules, session: SessionInfo, call: CallInfo) -> None:
        limits = dict(_limits(rules, call))
        if not limits:
            return
        at, user, cost = call.created_at, session.user_id, call.cost or 0.0
        spent = self._store.spend(user, cost, [*limits], at=at)
        for period, (code, limit) in limits.items():
            if spent[period] > limit:
                amounts = {"spent": dollars_text(spent[period]), "limit": dollars_text(limit)}
                why = code(user=user, period=period, **amounts)
                self._raise(f"budget:{user}:{period}", why, session)

    def _raise(self, cause: str, why: Reason, session: SessionInfo) -> Alert | None:
        at = self._journal.now()
        raised = self._store.raise_alert(session.id, cause, why, user_id=session.user_id, at=at)
        if raised is not None:
            body: JsonObject = {"alert_id": raised.id, "reason": to_json(why)}
            self._journal.record(ALERT, body, session_id=session.id)
        return raised


def lost_rules(outcome: Outcome) -> list[str]:
    """The standing instructions that a compaction lost."""
    return [one.text for one in outcome.lost if one.kind == "instruction"]


def _limits(rules: AlertRules, call: CallInfo) -> Iterator[tuple[str, tuple[AlertCode, float]]]:
    """The limits that are set, by the period that the call is in."""
    if rules.day_dollars is not None:
        yield f"{call.created_at:%Y-%m-%d}", (AlertCode.BUDGET_DAY, rules.day_dollars)
    if rules.month_dollars is not None:
        yield f"{call.created_at:%Y-%m}", (AlertCode.BUDGET_MONTH, rules.month_dollars)


def _rules_lost(lost: list[str]) -> Reason:
    shown = tuple(text[:_RULE_CHARS] for text in lost[:_SHOWN_RULES])
    return AlertCode.RULES_LOST(count=len(lost), rules=shown)


def _log(session: SessionInfo, error: ContextError) -> None:
    logger.warning("no alert raised session=%s error=%s", session.id, type(error).__name__)
