"""What became of a message: the verdicts of calls behind it, later uses, whether it is found."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from ctxcore.assembly.verdicts import Run
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError, PlaceError
from ctxcore.engine.stories import run_at
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.replay.message_fates import MessageFate
from ctxcore.store.errors import SessionNotFoundError
from ctxcore.store.values import CallInfo, Scope
from tests.engines import START, engine_with
from tests.limits import HANG_SECONDS
from tests.losing_sessions import PART, recorded_session

ODD = "The berth of the ferry is QX-4417, by the way."


def folded_session(engine: ContextEngine) -> str:
    """A session that is compacted after a message of its beginning was answered."""
    engine.save_policy(Scope(kind="user", owner="local"), {"strategies": ["fold_oldest"]})
    session = engine.create_session("Ferry", system="Be brief.")
    list(engine.chat(session.id, "What should we see first?"))
    list(engine.chat(session.id, ODD))
    for number in range(12):
        list(engine.chat(session.id, f"Question {number}: " + "and what about it? " * 20))
    engine.wait(session.id)
    engine.compact(session.id)
    return session.id


def test_a_folded_message_tells_from_which_call_on_and_by_which_compaction() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = folded_session(engine)
        place = next(
            info.seq for info in engine.store.messages(session_id) if info.message.text == ODD
        )
        list(engine.chat(session_id, "Was it QX-4417?"))
        answered = engine.session(session_id).length

        story = engine.story(session_id, place)

        calls = [call for call in engine.calls(session_id) if call.purpose == "answer"]
        first, last = story.steps[0], story.steps[-1]
        assert first.verdict == "kept"
        assert (last.call, last.is_shown) == (len(calls), False)
        assert last.compaction == engine.compactions(session_id)[-1].number
        assert story.hidden_from == answered
        assert story.is_recallable


def test_what_was_used_after_it_was_hidden_is_told() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = folded_session(engine)
        for number in range(2):
            list(engine.chat(session_id, f"Go on, part {number}."))
        list(engine.chat(session_id, "Is QX-4417 the right berth?"))

        story = engine.story(session_id, 4)

        assert engine.store.messages(session_id, 4, 4)[0].message.text == ODD
        assert [use.text for use in story.uses] == ["QX-4417"]
        assert story.uses[0].needed_by == "user"


def test_a_message_that_every_call_had_says_so() -> None:
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session()
        list(engine.chat(session.id, "What should we see first?"))
        list(engine.chat(session.id, "And then?"))

        story = engine.story(session.id, 1)
        newest = engine.story(session.id, 4)

        assert (story.hidden_from, story.uses) == (None, ())
        assert all(step.is_shown for step in story.steps)
        assert newest.steps == ()


def test_an_imported_message_was_folded_where_the_file_says_so() -> None:
    with engine_with() as (engine, _):
        (session,) = engine.import_(recorded_session(), name="recorded.jsonl")
        fold = engine.store.imported_compactions(session.id)[0].before_seq
        read = next(
            info.seq
            for info in engine.store.messages(session.id)
            if any(PART in call.arguments for call in info.message.calls)
        )
        assert read < fold

        call = CallInfo(
            id="before",
            session_id=session.id,
            created_at=START,
            purpose="answer",
            is_imported=True,
            seq=fold - 1,
        )
        later = START + timedelta(hours=1)
        after = replace(call, id="after", seq=session.length, created_at=later)
        engine.store.record_calls([call, after])

        story = engine.story(session.id, read)

        assert [(step.call, step.verdict) for step in story.steps] == [
            (1, "kept"),
            (2, "summarized"),
        ]
        assert story.hidden_from == session.length


def test_only_who_may_see_a_session_reads_its_stories() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.append(session.id, [{"role": "user", "content": "hello"}])
        other = ContextEngine(engine.store, user_id="bob")

        with pytest.raises(NotAllowedError):
            other.story(session.id, 1)
        with pytest.raises(PlaceError):
            engine.story(session.id, 2)
        with pytest.raises(SessionNotFoundError):
            engine.story("nobody's", 1)


def test_a_run_is_found_by_any_of_its_places() -> None:
    runs = [_run(0, 3), _run(5, 5)]

    assert [run_at(runs, at) for at in (0, 3, 4, 5, 6)] == [runs[0], runs[0], None, runs[1], None]
    assert run_at([], 0) is None


def _run(first: int, last: int) -> Run:
    return Run(
        first=first,
        last=last,
        verdict="kept",
        reason=VerdictCode.RECENT(),
        before_tokens=1,
        after_tokens=1,
    )


def test_a_fold_tells_what_triggered_its_compaction() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = folded_session(engine)
        list(engine.chat(session_id, "Was it QX-4417?"))

        fold = engine.story(session_id, 4).steps[-1]

        assert fold.verdict == "summarized"
        assert fold.trigger == engine.compactions(session_id)[-1].compaction.trigger


def with_usage(transcript: str) -> str:
    """The same with what a provider counted for each answer."""
    lines = [json.loads(line) for line in transcript.splitlines()]
    for line in lines:
        if line["type"] == "assistant":
            line["message"]["usage"] = {"input_tokens": 900, "output_tokens": 40}
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def test_a_recorded_fold_names_the_compaction_of_the_file() -> None:
    with engine_with() as (engine, _):
        [session] = engine.import_(with_usage(recorded_session()), name="recorded.jsonl")
        [info] = engine.compactions(session.id)

        steps = [engine.story(session.id, seq).steps for seq in range(1, 6)]

        folds = [step for found in steps for step in found if step.verdict == "summarized"]
        assert folds
        assert {step.compaction for step in folds} == {info.number}
        assert {step.trigger for step in folds} == {info.compaction.trigger}


def test_a_phrase_finds_what_says_it_word_for_word_oldest_first() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        said = [
            "The berth of the tug: a ferry has none.",
            ODD,
            "Ferry, ferry, ferry!",
            f"{ODD} Yes.",
        ]
        engine.append(session.id, [{"role": "user", "content": text} for text in said])

        found = engine.said_about(session.id, "berth of the  FERRY")

        assert [one.seq for one in found] == [2, 4, 1, 3]
        assert engine.said_about(session.id, "zeppelin") == []
        assert engine.said_about(session.id, " ") == []


def test_every_preset_tells_what_it_would_have_made_of_a_message() -> None:
    with engine_with(window=8_000) as (engine, _):
        session_id = folded_session(engine)
        list(engine.chat(session_id, "Is QX-4417 the right berth?"))

        fates = engine.fates(session_id, 4)
        job = engine.start_fates(session_id, 4)
        assert engine.jobs.wait(job.id, HANG_SECONDS)
        done = engine.jobs.job(job.id)

        presets = [name for name in Policy.presets() if name != "default"]
        assert [fate.name for fate in fates] == ["default", *presets]
        assert {fate.needed for fate in fates} == {3}  # two echoes, and the question
        assert fates[0].there >= 1
        assert done.state == "done"
        assert done.result is not None
        found = done.result["fates"]
        assert isinstance(found, list)
        assert [MessageFate.from_dict(one) for one in found if isinstance(one, dict)] == fates
        assert engine.start_fates(session_id, 4).id == job.id
        assert engine.start_fates(session_id, 5).id != job.id


def test_a_message_that_every_call_has_is_there_whenever_it_is_used() -> None:
    with engine_with(window=60_000) as (engine, _):
        session = engine.create_session()
        for text in (ODD, "And the tide?", "Is QX-4417 the right berth?"):
            list(engine.chat(session.id, text))

        own = engine.fates(session.id, 1)[0]

        assert (own.hidden_from, own.is_shown) == (None, True)
        assert own.there == own.needed == 3


def test_fates_are_of_messages_that_exist_and_of_the_own_sessions() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        engine.create_user("eve")
        other = ContextEngine(engine.store, user_id="eve")

        for ask in (engine.fates, engine.start_fates):
            with pytest.raises(PlaceError):
                ask(session.id, 1)
        for ask in (other.fates, other.start_fates):
            with pytest.raises(NotAllowedError):
                ask(session.id, 1)
        with pytest.raises(NotAllowedError):
            other.said_about(session.id, "x")
        with pytest.raises(NotAllowedError):
            other.context_under(session.id, {})


def test_a_policy_is_looked_at_without_being_saved() -> None:
    with engine_with(window=8_000) as (engine, _):
        session = engine.create_session()
        list(engine.chat(session.id, "What should we see first?"))

        under = engine.context_under(session.id, {"reserve_tokens": 700})

        assert under.budget is not None
        assert under.budget.reserve_tokens == 700
        assert engine.store.policy(Scope(kind="session", owner=session.id)) is None
