"""Reports of an engine: savings, effects of policies, shadow mode, changes, hints, alerts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxcore.engine.alerts import AlertError, AlertRules
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.events import ALERT, PLANNED
from ctxcore.engine.policies import save_figures
from ctxcore.errors import PolicyError
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.gateway.values import ModelUsage
from ctxcore.messages.values import JsonObject, Message
from ctxcore.reasons.report_codes import AlertCode, HintCode
from ctxcore.store.values import Event, Scope
from tests.engines import ended, engine_with
from tests.histories import assistant, user

ME = Scope(kind="user", owner="local")
PRICES = {"input_price": 3e-6, "output_price": 15e-6}
FOLDING: JsonObject = {"strategies": ["fold_oldest"], "check_at": "before_send"}
Made = tuple[ContextEngine, ScriptedModel]


@pytest.fixture
def made() -> Iterator[Made]:
    """An engine of an operator, whose model has a window of 2,000 tokens and a price."""
    with engine_with(window=2_000) as (engine, model):
        save_figures(engine.store, model.model, {"window_tokens": 2_000, **PRICES})
        assert engine.user().is_operator
        yield engine, model


def of(engine: ContextEngine, user_id: str) -> ContextEngine:
    """The same store as another user sees it."""
    other = ContextEngine(engine.store, user_id=user_id)
    other.user()
    return other


def talk(engine: ContextEngine, turns: int, *, words: int = 60) -> str:
    session = engine.create_session("boats", system="Be brief.")
    for turn in range(turns):
        ended(engine.chat(session.id, f"pebble {turn} " + "word " * words))
    engine.wait(session.id)
    return session.id


def long_talk(turns: int) -> list[Message]:
    pairs = ((user(f"pebble {at} " + "word " * 60), assistant("shell")) for at in range(turns))
    return [message for pair in pairs for message in pair]


# savings


def test_calls_without_a_compaction_would_have_sent_the_same(made: Made) -> None:
    engine, _ = made

    session_id = talk(engine, 3)

    calls = engine.calls(session_id)
    assert [call.without_tokens for call in calls] == [call.sent_tokens for call in calls]
    [saving] = engine.reports.savings()
    assert (saving.calls, saving.compared_calls, saving.unsent_tokens) == (3, 3, 0)
    assert saving.net_dollars == 0


def test_a_call_under_a_compaction_is_compared_with_the_whole_history_in_the_window(
    made: Made,
) -> None:
    engine, _ = made
    session = engine.create_session("boats", system="Be brief.")
    engine.append(session.id, long_talk(6))
    whole = engine.context(session.id).tokens
    assert engine.compact(session.id) is not None

    ended(engine.chat(session.id, "and now?"))

    [call] = engine.calls(session.id)
    asked = 12  # the new message, with what frames it
    assert call.sent_tokens is not None
    assert call.without_tokens is not None
    assert whole < call.without_tokens < whole + asked
    [saving] = engine.reports.savings()
    assert saving.unsent_tokens == call.without_tokens - call.sent_tokens > 0
    assert saving.unsent_dollars == pytest.approx(saving.unsent_tokens * 3e-6)


def test_what_has_no_room_in_the_window_was_not_saved(made: Made) -> None:
    engine, _ = made
    engine.save_policy(ME, FOLDING)

    session_id = talk(engine, 40)

    budget = engine.call_target(session_id).call.budget
    assert budget is not None
    under = [call for call in engine.calls(session_id) if call.compaction_id]
    assert len(under) > 10
    assert max(call.without_tokens or 0 for call in under) <= budget.usable_tokens


def test_an_exported_session_says_what_its_calls_would_have_sent(made: Made) -> None:
    engine, _ = made
    session_id = talk(engine, 2)
    without = [call.without_tokens for call in engine.calls(session_id)]

    [copy] = engine.import_(engine.export(session_id))

    assert [call.without_tokens for call in engine.calls(copy.id)] == without


# effects


def test_each_version_has_the_figures_before_and_under_it(made: Made) -> None:
    engine, _ = made
    talk(engine, 3)
    engine.save_policy(ME, FOLDING)
    talk(engine, 25)
    engine.save_policy(Scope(kind="user", owner="eve"), {"name": "pi"})

    [effect] = engine.reports.effects(ME)

    assert (effect.before.calls, effect.after.calls) == (3, 25)
    assert (effect.before.compactions, effect.after.compactions > 0) == (0, True)
    assert effect.before.call_dollars is not None
    assert not effect.is_told
    assert engine.reports.effects(Scope()) == []


# shadow


def shadowed(engine: ContextEngine, turns: int, **overrides: object) -> list[Event]:
    engine.save_policy(ME, {**FOLDING, "is_shadow": True, **overrides})  # type: ignore[dict-item]
    session_id = talk(engine, turns)
    return engine.store.events(session_id, kind=PLANNED)


def test_shadow_mode_counts_a_compaction_again_only_when_the_rest_has_grown(made: Made) -> None:
    engine, _ = made

    events = shadowed(engine, 40)

    [result] = engine.reports.shadow()
    assert engine.store.events(kind="context_compacted") == []
    assert 1 < result.compactions < len(events) / 2
    assert result.next_calls == len(events)
    assert 0 < result.with_tokens < result.without_tokens
    assert result.dollars == pytest.approx(result.saved_tokens * 3e-6)
    with_real_ones = _compactions_of(engine, 40)
    assert abs(result.compactions - with_real_ones) <= 1


def _compactions_of(engine: ContextEngine, turns: int) -> int:
    """How many compactions the same policy makes where it acts."""
    engine.save_policy(ME, FOLDING)
    return len(engine.compactions(talk(engine, turns)))


def test_shadow_mode_counts_the_facts_and_rules_that_would_be_lost(made: Made) -> None:
    engine, _ = made
    engine.save_policy(ME, {**FOLDING, "is_shadow": True, "strategies": ["truncate"]})
    session = engine.create_session("boats")
    ended(engine.chat(session.id, "Never deploy on a Friday. The ticket is INC-48213."))
    for turn in range(30):
        ended(engine.chat(session.id, f"pebble {turn} " + "word " * 60))

    [result] = engine.reports.shadow()

    assert result.facts_lost >= 1
    assert result.facts_lost >= result.rules_lost


def test_switching_on_removes_the_switch_or_overrules_the_one_above(made: Made) -> None:
    engine, _ = made
    engine.save_policy(ME, {"trigger_ratio": 0.5, "is_shadow": True})

    [own] = engine.reports.shadow_switches("local")
    engine.save_policy(Scope(), {"is_shadow": True})
    engine.save_policy(ME, own.after)
    mine, everybody = engine.reports.shadow_switches("local")

    assert (own.scope, own.after) == (ME, {"trigger_ratio": 0.5})
    assert (mine.scope, mine.after) == (ME, {"trigger_ratio": 0.5, "is_shadow": False})
    assert (everybody.scope, everybody.after) == (Scope(), {})
    engine.save_policy(ME, mine.after)
    assert [one.scope for one in engine.reports.shadow_switches("local")] == [Scope()]
    assert of(engine, "eve").reports.shadow_switches("eve")[0].after == {"is_shadow": False}


# changes and files


def test_a_user_sees_the_changes_that_concern_them(made: Made) -> None:
    engine, _ = made
    eve = of(engine, "eve")
    engine.save_policy(Scope(), {"trigger_ratio": 0.7})
    engine.save_policy(ME, {"trigger_ratio": 0.6})
    eve.save_policy(Scope(kind="user", owner="eve"), {"name": "pi"})

    assert len(engine.reports.changes()) == 3
    assert [one.version.scope.kind for one in eve.reports.changes(user_id="eve")] == [
        "user",
        "default",
    ]
    assert len(engine.reports.changes(by="eve")) == 1
    assert engine.reports.authors() == ["eve", "local"]


def test_a_draft_tells_what_a_file_changes_and_saves_nothing(made: Made) -> None:
    engine, _ = made
    engine.save_policy(ME, {"trigger_ratio": 0.6})

    draft = engine.reports.draft(ME, "policy:\n  name: pi\n", name="mine.yaml")

    assert [change.field for change in draft.changes] == ["name", "trigger_ratio"]
    assert engine.store.policy(ME).overrides == {"trigger_ratio": 0.6}  # type: ignore[union-attr]
    assert engine.reports.draft(ME, engine.reports.policy_text(ME), name="m").changes == []


def test_a_file_must_fit_what_the_scope_inherits(made: Made) -> None:
    engine, _ = made
    engine.save_policy(Scope(), {"summary_history_ratio": 0.6, "recent_history_ratio": 0.3})

    with pytest.raises(PolicyError):
        engine.reports.draft(ME, "policy:\n  recent_history_ratio: 0.7\n", name="mine.yaml")


# hints


def test_the_hints_of_a_session_count_the_calls_that_showed_an_output_whole() -> None:
    with engine_with(window=60_000) as (engine, model):
        save_figures(engine.store, model.model, {"window_tokens": 60_000, **PRICES})
        session = engine.create_session("boats")
        engine.append(
            session.id,
            [
                {"role": "user", "content": "look"},
                {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "read_file", "arguments": '{"path": "a.py"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "line of code " * 500},
            ],
        )
        for turn in range(11):
            ended(engine.chat(session.id, f"and {turn}?"))

        [hint] = engine.reports.hints(session.id)

        assert hint.reason.code == HintCode.OUTPUT_STAYED
        assert (hint.reason.facts["calls"], hint.at) == (11, 2)
        assert hint.dollars is not None


def test_a_clock_in_the_system_prompt_of_each_turn_is_found() -> None:
    usage = ModelUsage(input_tokens=900, output_tokens=5, cached_tokens=0)
    replies = [ScriptedReply(text="Yes.", usage=usage)] * 3
    with engine_with(replies) as (engine, _):
        session = engine.create_session("boats")
        for minute in range(3):
            system = f"You help. It is 2026-03-02 09:0{minute}."
            ended(engine.chat(session.id, f"and {minute}?", system=system))

        [hint] = engine.reports.hints(session.id)

        assert hint.reason == HintCode.CLOCK(times=2)
        assert hint.tokens == 1_800


def test_an_empty_session_has_no_hints(made: Made) -> None:
    engine, _ = made
    session = engine.create_session("empty")

    assert engine.reports.hints(session.id) == []


# alerts


def test_a_budget_is_told_once_a_day_and_as_an_event(made: Made) -> None:
    engine, _ = made
    heard: list[Event] = []
    engine.subscribe(heard.append)
    engine.reports.save_alert_rules(AlertRules(day_dollars=1e-6, month_dollars=1_000.0))

    session_id = talk(engine, 3)

    [alert] = engine.reports.alerts()
    assert alert.reason.code == AlertCode.BUDGET_DAY
    assert (alert.user_id, alert.session_id) == ("local", session_id)
    [event] = [event for event in heard if event.kind == ALERT]
    assert event.body["alert_id"] == alert.id
    assert engine.reports.unseen_alerts() == 1
    assert engine.reports.see_alerts([alert.id]) == 1
    assert engine.reports.unseen_alerts() == 0


def test_a_budget_counts_what_was_spent_before_it_was_set(made: Made) -> None:
    engine, _ = made
    session_id = talk(engine, 2)
    spent = sum(call.cost or 0 for call in engine.calls(session_id))
    engine.reports.save_alert_rules(AlertRules(month_dollars=spent * 1.01))

    ended(engine.chat(session_id, "one more"))

    [alert] = engine.reports.alerts()
    assert alert.reason.code == AlertCode.BUDGET_MONTH


def test_without_rules_nothing_is_told_and_nothing_summed(made: Made) -> None:
    engine, _ = made

    talk(engine, 2)

    assert engine.reports.alerts() == []
    assert engine.reports.alert_rules() == AlertRules()


def test_a_failed_summary_is_told_once_a_session_and_day() -> None:
    def failing(*_: object) -> str:
        raise RuntimeError("down")

    with engine_with(window=2_000) as (engine, model):
        broken = ContextEngine(engine.store, summarizer=failing, model=model.model)
        broken.reports.save_alert_rules(AlertRules(failed_summaries=True))
        session = broken.create_session("boats")
        broken.append(session.id, long_talk(30))
        broken.compact(session.id)
        broken.compact(session.id)

        [alert] = broken.reports.alerts()

        assert alert.reason.code == AlertCode.FAILED_SUMMARY
        assert alert.session_id == session.id


def test_lost_rules_are_told_with_their_words(made: Made) -> None:
    engine, _ = made
    engine.reports.save_alert_rules(AlertRules(rules_lost=True))
    engine.save_policy(ME, {"strategies": ["truncate"], "facts_ratio": None})
    session = engine.create_session("boats")
    told = "Never deploy on a Friday."
    first, *rest = long_talk(30)
    engine.append(session.id, [first, assistant("Yes."), user(told), assistant("Noted."), *rest])

    info = engine.compact(session.id)

    assert info is not None
    [alert] = engine.reports.alerts()
    assert alert.reason.code == AlertCode.RULES_LOST
    assert told in str(alert.reason)


@pytest.mark.parametrize("limit", [0, -1.0, float("inf"), float("nan")])
def test_a_budget_is_above_nothing(limit: float) -> None:
    with pytest.raises(AlertError):
        AlertRules(day_dollars=limit)


# whose


def test_other_users_see_nothing_of_others(made: Made) -> None:
    engine, _ = made
    session_id = talk(engine, 1)
    eve = of(engine, "eve").reports

    for refused in (
        lambda: eve.savings(),
        lambda: eve.savings("local"),
        lambda: eve.shadow(),
        lambda: eve.shadow_switches("local"),
        lambda: eve.effects(Scope()),
        lambda: eve.effects(ME),
        lambda: eve.changes(),
        lambda: eve.authors(),
        lambda: eve.policy_text(ME),
        lambda: eve.draft(Scope(), "policy: {}", name="x"),
        lambda: eve.hints(session_id),
        lambda: eve.alerts(),
        lambda: eve.alert_rules(),
        lambda: eve.save_alert_rules(AlertRules()),
        lambda: eve.see_alerts([1]),
    ):
        with pytest.raises(NotAllowedError):
            refused()

    assert eve.savings("eve") == []
    assert eve.unseen_alerts() == 0
