"""Compactions that start by themselves: when, who is asked, what is told, what is changed."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from ctxcore.compaction.plans import Answer, Confirmation
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import StaleProposalError, TurnStateError
from ctxcore.engine.events import (
    CompactionFinished,
    CompactionRejected,
    CompactionStarted,
    ConfirmationNeeded,
    ContextBuilt,
    SessionStarted,
    TextDelta,
    ToolResultAdded,
    TurnEnded,
    TurnEvent,
)
from ctxcore.engine.proposals import lease_of
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.reasons.codes import TriggerCode
from ctxcore.reasons.values import from_json
from ctxcore.store.values import Event, Scope
from tests.engines import START, ended, engine_with, saying

MARKER = "!!!SUMMARY!!!"


def _use(engine: ContextEngine, preset: str, **overrides: object) -> None:
    values: JsonObject = {"name": preset, **overrides}  # type: ignore[dict-item]  # JSON by the tests' hand
    engine.save_policy(Scope(), values)


def _told(engine: ContextEngine, *, turns: int, words: int = 40) -> str:
    """A session in which so many turns were said elsewhere."""
    session = engine.create_session("long", system="You help.")
    for number in range(turns):
        engine.append(
            session.id,
            [
                {"role": "user", "content": f"Question {number}: " + "words " * words},
                {"role": "assistant", "content": f"Answer {number}: " + "words " * words},
            ],
        )
    return session.id


def _kinds(events: list[TurnEvent]) -> list[type]:
    quiet = (TextDelta, ContextBuilt)
    named = [event for event in events if type(event).__name__ not in ("Waiting", "UsageReported")]
    return [type(event) for event in named if not isinstance(event, quiet)]


# when


@pytest.mark.parametrize(
    ("preset", "when"),
    [
        ("default", "background"),
        ("sliding-summary", "after the answer"),
        ("dual-threshold", "before the call"),
        ("truncate-or-summarize", "before the call"),
        ("pi", "before the call"),
    ],
)
def test_each_preset_compacts_when_its_document_says(preset: str, when: str) -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, preset, requires_confirmation=False)
        session_id = _told(engine, turns=11, words=50)

        events = list(engine.chat(session_id, "and now?"))

        kinds = [type(event) for event in events]
        if when == "background":
            assert CompactionStarted not in kinds
        elif when == "after the answer":
            assert kinds.index(CompactionFinished) > kinds.index(TextDelta)
        else:
            assert kinds.index(CompactionFinished) < kinds.index(ContextBuilt)
        engine.wait(session_id)
        assert len(engine.compactions(session_id)) == 1
        assert ended(events).state == "done"


def test_a_background_compaction_is_dropped_where_a_person_was_faster() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _told(engine, turns=11, words=60)
        proposal = engine.propose(session_id)
        engine.compact(session_id)

        with pytest.raises(StaleProposalError):
            engine.confirm(proposal)
        assert len(engine.compactions(session_id)) == 1


# confirmation


def _asked(engine: ContextEngine, session_id: str) -> ConfirmationNeeded:
    events = list(engine.chat(session_id, "What did I ask first?"))
    [needed] = [event for event in events if isinstance(event, ConfirmationNeeded)]
    assert ended(events).state == "awaiting_confirmation"
    return needed


def test_without_anybody_to_answer_a_confirmation_changes_nothing() -> None:
    with engine_with(window=2_000) as (engine, model):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)

        needed = _asked(engine, session_id)

        assert engine.compactions(session_id) == []
        assert model.requests == ()
        assert engine.store.messages(session_id)[-1].message.text == "What did I ask first?"
        assert needed.max_tokens == 2_000
        assert needed.before_tokens < 1_600  # by the model; by its own rule it is at the trigger
        assert needed.expected_tokens < needed.before_tokens
        pending = engine.pending(session_id)
        assert pending is not None
        assert pending.plan_id == needed.plan_id
        assert pending.messages == needed.messages == 18  # 11 turns less the last 2


def test_compact_goes_on_with_the_turn() -> None:
    with engine_with(window=2_000) as (engine, model):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)
        needed = _asked(engine, session_id)

        events = list(engine.answer(session_id, needed.plan_id, "compact"))

        assert _kinds(events) == [CompactionStarted, CompactionFinished, TurnEnded]
        assert ended(events).state == "done"
        assert "[Summary of what came before]" in str(model.requests[0].messages)
        assert engine.pending(session_id) is None
        with pytest.raises(TurnStateError, match="no compaction waits"):
            engine.answer(session_id, needed.plan_id, "compact")


def test_drop_oldest_leaves_the_messages_out_without_a_summary() -> None:
    with engine_with(window=2_000) as (engine, model):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)
        needed = _asked(engine, session_id)

        events = list(engine.answer(session_id, needed.plan_id, "drop_oldest"))

        [info] = engine.compactions(session_id)
        assert ended(events).state == "done"
        assert (info.compaction.summary, info.details["strategies"]) == ("", ["drop_oldest"])
        assert "17 earlier messages are not shown" in str(model.requests[0].messages)


def test_new_session_goes_on_with_the_question_in_a_session_of_its_own() -> None:
    with engine_with(window=2_000) as (engine, model):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)
        needed = _asked(engine, session_id)

        events = list(engine.answer(session_id, needed.plan_id, "new_session"))

        [started] = [event for event in events if isinstance(event, SessionStarted)]
        said = [info.message.text for info in engine.store.messages(started.session_id)]
        assert said[:2] == ["You help.", "What did I ask first?"]
        assert ended(events).state == "done"
        assert engine.store.last_turn(session_id).state == "stopped"  # type: ignore[union-attr]  # there is one
        assert len(model.requests[0].messages) == 2


def test_refuse_ends_the_turn_with_the_numbers_and_a_way_out() -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)
        needed = _asked(engine, session_id)

        end = ended(engine.answer(session_id, needed.plan_id, "refuse"))

        assert end.state == "failed"
        assert "of 2,000 tokens; compact, drop the oldest messages" in str(end.error)
        assert engine.compactions(session_id) == []


@pytest.mark.parametrize("answer", ["compact", "drop_oldest", "new_session"])
def test_a_callback_answers_at_once(answer: Answer) -> None:
    questions: list[Confirmation] = []

    def confirm(question: Confirmation) -> Answer:
        questions.append(question)
        return answer

    with engine_with(window=2_000) as (engine, _):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)

        events = list(engine.chat(session_id, "and now?", confirm=confirm))

        assert ended(events).state == "done"
        assert [question.max_tokens for question in questions] == [2_000]
        assert "a compaction is due" in str(questions[0])


def test_an_answer_to_what_has_changed_since_is_stale_and_the_turn_can_go_on() -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)
        needed = _asked(engine, session_id)
        engine.pin(session_id, 3)

        with pytest.raises(StaleProposalError, match="a pin or exclusion"):
            list(engine.answer(session_id, needed.plan_id, "compact"))

        asked_anew = ended(engine.continue_turn(session_id))
        assert asked_anew.state == "awaiting_confirmation"
        assert ended(engine.continue_turn(session_id)).state == "done"  # without an answer
        assert len(engine.compactions(session_id)) == 0


def test_an_unknown_answer_is_refused_with_those_there_are() -> None:
    with (
        engine_with() as (engine, _),
        pytest.raises(TurnStateError, match="one of compact, drop_oldest"),
    ):
        engine.answer("any", "any", "maybe")  # type: ignore[arg-type]  # what a careless caller passes


def test_the_same_question_is_not_asked_twice() -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, "pi")
        session_id = _told(engine, turns=11)

        first = _asked(engine, session_id)
        again = _asked(engine, session_id)

        assert again.plan_id == first.plan_id
        assert len(engine.store.events(session_id, kind="confirmation_needed")) == 1


# tools


def _calling(calls: int) -> ScriptedReply:
    return ScriptedReply(
        calls=tuple(
            ToolCall(id=f"c{number}", name="search", arguments="{}") for number in range(calls)
        )
    )


def test_tools_that_find_no_room_are_not_called_and_the_model_is_told_why() -> None:
    ran: list[str] = []

    def run(call: ToolCall) -> str:
        ran.append(call.id)
        return "found"

    with engine_with([_calling(5), saying("then without")], window=2_000) as (engine, _):
        session = engine.create_session()

        events = list(engine.chat(session.id, "search!", run_tool=run))

        results = [event.output for event in events if isinstance(event, ToolResultAdded)]
        assert ran == []
        assert len(results) == 5
        assert "5 tool calls need 2,500 of 1,500" in results[0]
        assert ended(events).text == "then without"


def test_room_for_tools_is_made_by_compacting_first() -> None:
    with engine_with([_calling(1), saying("done")], window=3_000) as (engine, _):
        _use(engine, "default", trigger_ratio=0.99)
        session_id = _told(engine, turns=20)  # about 2,000 of 2,250 usable

        events = list(engine.chat(session_id, "search!", run_tool=lambda call: "found it"))

        kinds = _kinds(events)
        assert kinds.index(CompactionFinished) < kinds.index(ToolResultAdded)
        assert [e.output for e in events if isinstance(e, ToolResultAdded)] == ["found it"]
        [info] = engine.compactions(session_id)
        assert info.compaction.trigger is not None
        assert info.compaction.trigger.code == TriggerCode.NO_ROOM_FOR_TOOLS


@pytest.mark.parametrize("preset", ["default", "ladder"])
def test_the_number_of_folded_messages_is_that_of_what_was_done(preset: str) -> None:
    with engine_with(window=4_000) as (engine, _):
        _use(engine, preset)
        session_id = _told(engine, turns=30)

        info = engine.compact(session_id)

        [event] = engine.store.events(session_id, kind="context_compacted")
        assert info is not None
        record = info.compaction
        folded = record.covered_until - 1 - len({*record.kept, *record.pins})  # 1: system prompt
        assert info.details["folded"] == event.body["messages_folded"] == folded > 0


# shadow


def test_a_shadow_policy_tells_what_it_would_have_done_and_changes_nothing() -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, "sliding-summary", is_shadow=True)
        session_id = _told(engine, turns=11)

        ended(engine.chat(session_id, "and now?"))

        assert engine.compactions(session_id) == []
        assert "Summary" not in str(engine.context(session_id).messages)
        [event] = engine.store.events(session_id, kind="compaction_planned")
        assert event.body["expected_tokens"] < event.body["original_tokens"]  # type: ignore[operator]  # both numbers
        assert event.body["messages_folded"]


def test_a_trigger_ratio_of_one_switches_summarization_off() -> None:
    with engine_with(window=2_000) as (engine, _):
        _use(engine, "sliding-summary", trigger_ratio=1.0)
        session_id = _told(engine, turns=30, words=60)

        ended(engine.chat(session_id, "and now?"))

        assert engine.compactions(session_id) == []
        assert "not shown" in str(engine.context(session_id).messages)


# events and logs


def test_subscribers_are_told_what_is_stored() -> None:
    heard: list[Event] = []
    with engine_with(window=2_000) as (engine, _):
        unsubscribe = engine.subscribe(heard.append)
        session_id = _told(engine, turns=11)
        engine.compact(session_id)
        engine.undo(session_id)
        unsubscribe()
        engine.redo(session_id)

        assert [event.kind for event in heard] == ["context_compacted", "compaction_undone"]
        assert heard == engine.store.events(session_id)[:2]
        body = heard[0].body
        assert {
            *("original_tokens", "new_tokens", "saved_ratio", "summary", "rounds_folded"),
            *("trigger", "steps", "seconds", "cost", "strategies"),
        } <= set(body)
        saved = 1 - body["new_tokens"] / body["original_tokens"]  # type: ignore[operator]  # both numbers
        assert body["saved_ratio"] == pytest.approx(saved, abs=1e-4)


def test_a_subscriber_that_fails_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fails(event: Event) -> None:
        raise RuntimeError("no")

    with engine_with(window=2_000) as (engine, _):
        engine.subscribe(fails)
        session_id = _told(engine, turns=11)

        assert engine.compact(session_id) is not None
    assert "a subscriber failed" in caplog.text


def test_calls_are_logged_with_the_lines_of_the_second_design(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with engine_with(window=4_000) as (engine, _), caplog.at_level(logging.INFO, "ctxcore"):
        _use(engine, "dual-threshold")
        session_id = _told(engine, turns=15, words=60)
        caplog.clear()
        ended(engine.chat(session_id, "and now?"))

    lines = [record.getMessage() for record in caplog.records]
    optimized, reduced, built, sending = (
        next(line for line in lines if line.startswith(start))
        for start in ("context optimized", "context reduced", "context built", "sending to")
    )
    for name in ("window=4000", "target_ratio=60.0%", "usable=2400", "system=", "remaining="):
        assert name in optimized
    for name in ("original_messages=31", "original_tokens=", "summary_budget=", "recent_budget="):
        assert name in optimized
    assert "reduction=" in reduced
    assert "/31 messages) total=" in built
    assert "tokens=" in sending
    assert "words" not in "".join(lines)


# the model asks


def test_the_marker_is_taken_out_and_asks_for_a_compaction() -> None:
    reply = ScriptedReply(text=f"Done. {MARKER}", chunk_chars=3)
    with engine_with([reply], window=4_000) as (engine, _):
        _use(engine, "default", summary_marker=MARKER, check_at="after_answer")
        session_id = _told(engine, turns=11)

        events = list(engine.chat(session_id, "finish"))

        shown = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert shown.strip() == "Done."
        assert ended(events).text == "Done."
        assert engine.store.messages(session_id)[-1].message.text == "Done."
        [info] = engine.compactions(session_id)
        assert info.compaction.trigger == TriggerCode.MARKED()
        ended(engine.chat(session_id, "once more"))
        assert len(engine.compactions(session_id)) == 1


def test_under_ladder_the_marker_and_a_person_get_a_full_summary_before_the_next_call() -> None:
    reply = ScriptedReply(text=f"Done. {MARKER}", chunk_chars=3)
    with engine_with([reply], window=4_000) as (engine, _):
        _use(engine, "ladder", summary_marker=MARKER)
        session_id = _told(engine, turns=11)

        ended(engine.chat(session_id, "finish. <Pin>The key is K-9.</Pin>"))
        assert engine.compactions(session_id) == []
        ended(engine.chat(session_id, "once more"))

        [info] = engine.compactions(session_id)
        assert info.compaction.trigger == TriggerCode.MARKED()
        assert info.compaction.strategies == ("full_summary",)
        assert "The key is K-9." in info.compaction.facts
        asked = engine.compact(session_id)
        assert asked is None or asked.compaction.strategies == ("full_summary",)


# state


def test_the_state_of_a_session_is_read_from_its_records() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _told(engine, turns=11)
        assert engine.state(session_id).summary == ""

        info = engine.compact(session_id)

        assert info is not None
        state = engine.state(session_id)
        assert state.summary == info.compaction.summary
        assert state.summarized_until == info.compaction.covered_until
        assert state.summarized_messages == info.compaction.covered_messages
        assert state.summary_created_at == info.created_at
        assert state.compression_rate == pytest.approx(
            1 - state.summary_tokens / state.original_tokens
        )
        assert not state.is_summarizing


def test_a_lease_says_that_somebody_summarizes_until_it_expires() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id = _told(engine, turns=11)
        name = lease_of(session_id)
        hour, long_ago = timedelta(hours=1), START - timedelta(hours=2)
        engine.store.acquire_lease(name, "other", expires_at=START + hour, at=START)
        assert engine.state(session_id).is_summarizing
        events = list(engine.chat(session_id, "and " + "more " * 900))
        assert any(isinstance(event, CompactionRejected) for event in events)
        engine.wait(session_id)

        engine.store.release_lease(name, "other")
        engine.store.acquire_lease(name, "dead", expires_at=START - hour, at=long_ago)
        assert not engine.state(session_id).is_summarizing
        assert engine.compact(session_id) is not None


# a model writes the summary


def test_a_model_named_by_the_policy_writes_the_summary_and_is_paid_for() -> None:
    with (
        engine_with(window=2_000) as (engine, _),
        _summary_model(
            "writer", [saying("The user asked eleven questions; all were answered.")]
        ) as writer,
    ):
        _use(engine, "default", summary_model=writer.model)
        session_id = _told(engine, turns=11)

        info = engine.compact(session_id)

        assert info is not None
        assert info.compaction.summary == "The user asked eleven questions; all were answered."
        assert info.compaction.summarizer == writer.model
        [call] = engine.store.calls(session_id)
        assert (call.purpose, call.model) == ("summary", writer.model)
        assert call.input_tokens


def test_an_edited_summary_goes_on_beside_what_was_put_back_from_the_one_before() -> None:
    first = """Goal: answer questions.
Rules in force:
- Sign every letter with Ada's initials.
Decided:
- Couriers from Ghent deliver bulky furniture."""
    replies = [saying(first), saying("Goal: answer qestions."), saying("Goal: answer qestions.")]
    with (
        engine_with(window=2_000) as (engine, _),
        _summary_model("writer", replies) as writer,
    ):
        _use(engine, "default", summary_model=writer.model, unsupported_ratio=None)
        session_id = _told(engine, turns=11)
        engine.compact(session_id)
        for number in range(11):
            engine.append(session_id, [{"role": "user", "content": f"More {number}." + " so" * 60}])
        proposal = engine.propose(session_id)
        assert proposal.record is not None
        restored = proposal.record.facts_restored
        assert "Couriers from Ghent deliver bulky furniture." in restored

        edited = engine.edit(proposal, "Goal: answer questions.").record
        told = engine.edit(proposal, f"Answer questions. {restored[0]}").record

        assert edited is not None
        assert edited.facts_restored == restored
        assert edited.facts == proposal.record.facts
        assert told is not None
        assert told.facts_restored == restored[1:]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (saying(""), "empty"),
        (saying("Error: rate limit reached"), "an error"),
        (ScriptedReply(calls=(ToolCall(id="c", name="x", arguments="{}"),)), "tool call"),
        (ScriptedReply(error="quota"), ""),
    ],
)
def test_an_unusable_summary_changes_nothing_and_is_recorded(
    reply: ScriptedReply, problem: str
) -> None:
    with (
        engine_with(window=2_000) as (engine, _),
        _summary_model("failing", [reply]) as writer,
    ):
        _use(engine, "default", summary_model=writer.model)
        session_id = _told(engine, turns=11)

        assert engine.compact(session_id) is None

        [event] = engine.store.events(session_id, kind="compaction_failed")
        assert problem in str(from_json(event.body["reason"]))
        assert engine.compactions(session_id) == []
        assert len(engine.store.calls(session_id)) >= 1


def _summary_model(name: str, replies: list[ScriptedReply]) -> ScriptedModelContext:
    return ScriptedModelContext(name, replies)


class ScriptedModelContext:
    """A scripted model that is there for the length of a test."""

    def __init__(self, name: str, replies: list[ScriptedReply]) -> None:
        self._name, self._replies = name, replies

    def __enter__(self) -> ScriptedModel:
        self._model = ScriptedModel(self._name, self._replies)
        return self._model

    def __exit__(self, *_: object) -> None:
        self._model.remove()


def test_the_limit_of_three_counts_summaries_whatever_their_words() -> None:
    same = [saying("It went on as before.")] * 5
    with (
        engine_with(window=2_400) as (engine, _),
        _summary_model("writer", same) as writer,
    ):
        _use(
            engine,
            "truncate-or-summarize",
            preference="quality",
            summary_model=writer.model,
            requires_confirmation=False,
        )
        session_id = _told(engine, turns=12)
        for _ in range(5):
            engine.compact(session_id)
            for number in range(12):
                engine.append(session_id, [{"role": "user", "content": f"{number} " + "so " * 80}])

        truncated = [info.compaction.is_truncation for info in engine.compactions(session_id)]

    assert truncated == [False, False, False, True, True]
