"""What a policy in shadow mode would have done: records it, and sums it up for each user.

Nothing is compacted, so every check after the first finds a compaction due. What would have been
compacted already is carried from event to event: only when the rest has grown to the same size
again would there have been another one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum
from typing import Any

from ctxcore.assembly.building import build_context
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.executing import Outcome, execute
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.triggers import Measure, Trigger, for_trigger, measure
from ctxcore.engine.alerts import lost_rules
from ctxcore.engine.events import PLANNED
from ctxcore.engine.proposals import Proposals
from ctxcore.engine.savings import PriceOf
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.messages.values import JsonObject
from ctxcore.plain import Plain
from ctxcore.reasons.values import to_json
from ctxcore.store.values import Event, PolicyVersion, Scope
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.tokens.prices import PER_MILLION, Price

SWITCH = "is_shadow"
SHADOW = "shadow"
"""The part of an event that this module reads again."""


def record_planned(
    services: EngineServices, proposals: Proposals, target: CallTarget, trigger: Trigger
) -> None:
    """Records what a compaction would have done; nothing where nothing would be folded.

    A new one is worked out, with quotes as its summary: what a model would write is not known.
    """
    measured = measure(target.view, target.call, target.record)
    planned = proposals.plan(target, measured, trigger)
    if planned is None:
        return
    without = build_context(target.view, target.call, target.record)
    body: JsonObject = {
        "trigger": to_json(trigger.reason),
        "strategies": list(planned.strategies),
        "original_tokens": planned.before_tokens,
        "next_call_tokens": without.tokens,
        "outside_tokens": without.outside_tokens,
        "expected_tokens": planned.expected_tokens,
        "saved_ratio": round(planned.saved_ratio, 4),
        "messages_folded": len(planned.fold),
        "rounds_folded": planned.turns_folded,
        SHADOW: _shadow(services, target, planned, measured, without.tokens),
    }
    services.journal.record(PLANNED, body, session_id=target.session.id)


def _shadow(
    services: EngineServices,
    target: CallTarget,
    planned: CompactionPlan,
    measured: Measure,
    without_tokens: int,
) -> JsonObject:
    """The state of the session as it would be under the policy, before and with this plan."""
    common: JsonObject = {
        "active_id": target.active.id if target.active else None,
        "version_id": target.effective.version_id,
        "model": target.model,
        "summary_model": target.call.policy.summary_model,
    }
    before, last = _last(services, target, common), _last_call(services, target)
    common |= last
    saved = int(before.get("saved_tokens", 0))
    size = planned.before_tokens
    if before and size - saved < before["level_tokens"]:
        sent = min(without_tokens, max(0, size - saved))
        kept = {"saved_tokens": saved, "level_tokens": before["level_tokens"]}
        return {**common, **kept, "is_new": False, "with_tokens": sent}
    return {**common, **_worked_out(target, planned, measured, without_tokens, before)}


def _worked_out(
    target: CallTarget,
    planned: CompactionPlan,
    measured: Measure,
    without_tokens: int,
    before: Mapping[str, Any],
) -> JsonObject:
    outcome = _executed(target, planned, measured)
    record, level = outcome.record, before.get("level_tokens", planned.before_tokens)
    if record is None:
        saved = int(before.get("saved_tokens", 0))
        sent = min(without_tokens, planned.before_tokens - saved)
        kept = {"saved_tokens": saved, "level_tokens": level}
        return {**kept, "is_new": False, "with_tokens": sent}
    return {
        "is_new": True,
        "saved_tokens": planned.before_tokens - record.after_tokens,
        "level_tokens": level,
        "with_tokens": build_context(target.view, target.call, record).tokens,
        "facts_lost": len(outcome.lost),
        "rules_lost": len(lost_rules(outcome)),
        "source_tokens": _source_tokens(record, target.record),
        "summary_tokens": record.summary_tokens,
    }


def _executed(target: CallTarget, planned: CompactionPlan, measured: Measure) -> Outcome:
    call = for_trigger(target.call, measured, planned.trigger)
    return execute(
        planned,
        target.view,
        call,
        target.record,
        ExtractiveSummarizer(call.counter),
        is_needed=False,
        is_forced=False,
    )


def _source_tokens(record: Compaction, before: Compaction | None) -> int:
    """What a model would have read for the summary."""
    return max(0, record.source_tokens - (before.source_tokens if before else 0))


def _last_call(services: EngineServices, target: CallTarget) -> JsonObject:
    """The call before, which several checks may follow, and whether a cache served it."""
    call = services.store.last_call(target.session.id, "answer")
    return {
        "after_call": call.id if call else None,
        "is_cached": bool(call and call.cached_tokens),
    }


def _last(
    services: EngineServices, target: CallTarget, common: Mapping[str, object]
) -> Mapping[str, Any]:
    """The state that the last event left; empty after a real compaction or another policy."""
    found = services.store.last_events(target.session.id, (PLANNED,), limit=1)
    state = shadow_of(found[0]) if found else None
    if state is None or any(state.get(name) != value for name, value in common.items()):
        return {}
    return state


def shadow_of(event: Event) -> Mapping[str, Any] | None:
    """What an event says of the session under the policy; None for one of an older release."""
    state = event.body.get(SHADOW)
    return state if isinstance(state, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowResult(Plain):
    """What policies in shadow mode would have done in the sessions of one user."""

    user_id: str
    first_at: datetime
    """The first check that counts."""
    last_at: datetime
    sessions: int
    compactions: int
    next_calls: int
    """The calls whose size with the policy is known: those that a check came before."""
    without_tokens: int
    """What these sent."""
    with_tokens: int
    """What they would have sent."""
    facts_lost: int
    """Facts that the contexts would no longer hold, with quotes as summaries."""
    rules_lost: int
    """Standing instructions among them."""
    dollars: float | None
    """The money saved, less summaries and lost caches; negative where it would have cost more.
    None where a price is not known."""

    @property
    def saved_tokens(self) -> int:
        """How much less these calls would have sent."""
        return self.without_tokens - self.with_tokens


def shadow_results(events: Iterable[tuple[str, Event]], price_of: PriceOf) -> list[ShadowResult]:
    """The result of each user, by id; `events` come with the user of their session."""
    by_user: dict[str, list[Event]] = defaultdict(list)
    for user, event in events:
        if shadow_of(event) is not None:
            by_user[user].append(event)
    return [_result(user, found, price_of) for user, found in sorted(by_user.items())]


def _result(user: str, events: Sequence[Event], price_of: PriceOf) -> ShadowResult:
    """`events` come newest first; of the checks between two calls the newest tells the next one."""
    next_calls: dict[tuple[str | None, object], Event] = {}
    for event in events:
        next_calls.setdefault((event.session_id, (shadow_of(event) or {}).get("after_call")), event)
    made = [event for event in events if (shadow_of(event) or {})["is_new"]]
    amounts = [
        *(_saved_dollars(event, price_of) for event in next_calls.values()),
        *(_cost_dollars(shadow_of(event) or {}, price_of) for event in made),
    ]
    known = [amount for amount in amounts if amount is not None]
    states = [shadow_of(event) or {} for event in made]
    return ShadowResult(
        user_id=user,
        first_at=events[-1].created_at,
        last_at=events[0].created_at,
        sessions=len({event.session_id for event in events}),
        compactions=len(made),
        next_calls=len(next_calls),
        without_tokens=sum(_without(event) for event in next_calls.values()),
        with_tokens=sum(_with(event) for event in next_calls.values()),
        facts_lost=sum(int(state["facts_lost"]) for state in states),
        rules_lost=sum(int(state["rules_lost"]) for state in states),
        dollars=fsum(known) if len(known) == len(amounts) else None,
    )


def _without(event: Event) -> int:
    tokens = event.body["next_call_tokens"]
    return int(tokens) if isinstance(tokens, (int, float)) else 0


def _with(event: Event) -> int:
    return int((shadow_of(event) or {})["with_tokens"])


def _price(state: Mapping[str, Any], price_of: PriceOf) -> Price | None:
    return price_of(str(state["model"])) if state.get("model") else None


def _saved_dollars(event: Event, price_of: PriceOf) -> float | None:
    """What the next call would have cost less: at the price of the cache, where one is in use."""
    state = shadow_of(event) or {}
    price = _price(state, price_of)
    if price is None:
        return None
    each = price.from_cache if state["is_cached"] else price.input
    return (_without(event) - _with(event)) * each / PER_MILLION


def _cost_dollars(state: Mapping[str, Any], price_of: PriceOf) -> float | None:
    """What a compaction would have cost, below 0: its summary, and the lost cache."""
    price, summary = _price(state, price_of), _summary_dollars(state, price_of)
    if price is None or summary is None:
        return None
    lost = state["with_tokens"] * price.lost_cache / PER_MILLION if state["is_cached"] else 0.0
    return -(summary + lost)


def _summary_dollars(state: Mapping[str, Any], price_of: PriceOf) -> float | None:
    model = state.get("summary_model")
    if not model:
        return 0.0
    price = price_of(str(model))
    if price is None:
        return None
    read, wrote = int(state["source_tokens"]), int(state["summary_tokens"])
    return (read * price.input + wrote * price.output) / PER_MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowSwitch(Plain):
    """The overrides of a scope before and after shadow mode is switched off there."""

    scope: Scope
    before: JsonObject
    after: JsonObject


def switched_on(
    scope: Scope, own: PolicyVersion | None, *, is_inherited: bool
) -> ShadowSwitch | None:
    """What has the policy of a scope act; None where it is not in shadow mode.

    `is_inherited`: whether wider scopes, environment or file set shadow mode.
    """
    before = dict(own.overrides) if own else {}
    if not before.get(SWITCH, is_inherited):
        return None
    rest = {name: value for name, value in before.items() if name != SWITCH}
    return ShadowSwitch(
        scope=scope, before=before, after={**rest, SWITCH: False} if is_inherited else rest
    )
