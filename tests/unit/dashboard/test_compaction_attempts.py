"""What changed nothing is told as its event says, and nothing more."""

from __future__ import annotations

from ctxcore.engine.events import FAILED, PLANNED, SKIPPED
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import to_json
from ctxcore.store.values import Event
from dashboard.compactions_page.rows import attempts, plans
from tests.engines import START


def event(kind: str, body: JsonObject) -> Event:
    return Event(id=1, session_id="s", kind=kind, body=body, created_at=START)


def test_a_failure_is_told_with_what_it_took() -> None:
    body: JsonObject = {
        "trigger": to_json(TriggerCode.ASKED(tokens=9)),
        "strategies": ["summarize"],
        "reason": to_json(OutcomeCode.STAYS(tokens=9)),
        "seconds": 2.5,
        "cost": 0.01,
    }

    [failed] = attempts([event(FAILED, body)])

    assert failed.has_failed
    assert (failed.strategies, failed.seconds, failed.cost) == (("summarize",), 2.5, 0.01)
    assert failed.trigger == TriggerCode.ASKED(tokens=9)
    assert failed.reason == OutcomeCode.STAYS(tokens=9)


def test_what_was_skipped_took_nothing() -> None:
    [skipped] = attempts([event(SKIPPED, {"trigger": to_json(TriggerCode.MARKED())})])

    assert not skipped.has_failed
    assert (skipped.strategies, skipped.seconds, skipped.cost) == ((), None, None)
    assert (skipped.trigger, skipped.reason) == (TriggerCode.MARKED(), None)


def test_a_plan_is_told_with_its_numbers() -> None:
    body: JsonObject = {
        "trigger": to_json(TriggerCode.MARKED()),
        "strategies": ["fold_oldest"],
        "original_tokens": 500,
        "next_call_tokens": 100,
        "expected_tokens": 40,
        "messages_folded": 7,
    }

    [plan] = plans([event(PLANNED, body)])

    assert (plan.next_call_tokens, plan.expected_tokens, plan.messages) == (100, 40, 7)
    assert plan.saved_ratio == 0.6


def test_a_plan_of_before_next_calls_were_recorded_says_nothing_of_them() -> None:
    [plan] = plans([event(PLANNED, {"original_tokens": 500, "expected_tokens": 40})])

    assert (plan.next_call_tokens, plan.saved_ratio) == (None, None)


def test_a_damaged_reason_is_not_told() -> None:
    told: list[JsonObject] = [{"code": 5}, {"facts": {}}, {"code": "a", "facts": [1]}]
    for damaged in told:
        [failed] = attempts([event(FAILED, {"trigger": damaged, "reason": damaged})])
        assert (failed.trigger, failed.reason) == (None, None)
