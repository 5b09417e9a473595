"""One question sent under two policies: price first, both answers kept, the session unchanged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NoModelError
from ctxcore.engine.live_trials import (
    LIVE_ANSWERS,
    LIVE_OFFER,
    LiveAnswer,
    answer_jobs,
    delete_offer,
    load_answers,
    start_answers,
    start_offer,
)
from ctxcore.engine.policies import save_connections, save_figures
from ctxcore.errors import TrialError
from ctxcore.gateway.scripted import ScriptedReply, ScriptedRequest
from ctxcore.gateway.values import Connection
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import ToolCall
from ctxcore.reasons.problems import ProviderProblem, TrialProblem
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import JobInfo
from ctxcore.tokens.count import counter_for
from ctxcore.trials.candidates import Candidate, last_messages, no_compaction, of_preset, today
from ctxcore.trials.live import LiveOffer
from tests.engines import ENDLESS, engine_with, saying
from tests.histories import assistant, user
from tests.limits import HANG_SECONDS

QUESTION = "Which order was late first?"
MODEL = "scripted/live"
BOTH = (today(), last_messages(4))


def talk(engine: ContextEngine, turns: int = 12) -> str:
    """A session of some 40 tokens a turn."""
    session = engine.create_session("orders", system="You help.")
    said = [
        message
        for at in range(turns)
        for message in (
            user(f"Order ORD-{at} is late. " * 3),
            assistant(f"ORD-{at} is noted. " * 3),
        )
    ]
    engine.append(session.id, said)
    return session.id


def finished(engine: ContextEngine, job: JobInfo) -> JobInfo:
    """The job once nobody works on it any more."""
    assert engine.jobs.wait(job.id, HANG_SECONDS)
    return engine.jobs.job(job.id)


def offered(
    engine: ContextEngine, session_id: str, candidates: tuple[Candidate, Candidate] = BOTH
) -> tuple[str, LiveOffer]:
    """The job of an offer, and the offer."""
    job = finished(engine, start_offer(engine, session_id, QUESTION, candidates))
    assert job.result is not None, job.error
    return job.id, LiveOffer.from_dict(job.result)


def test_an_offer_is_worked_out_anew_once_calls_have_taught_another_factor() -> None:
    def one_and_a_quarter(text: str) -> int:
        return round(counter_for("unknown").count(text) * 1.25)

    with engine_with(count_tokens=one_and_a_quarter) as (engine, model):
        prices = {"input_price": 3e-6, "output_price": 15e-6}
        limits = {"window_tokens": 8_000, "max_output_tokens": 200}
        save_figures(engine.store, model.model, {**limits, **prices})
        session_id = talk(engine)
        before, untaught = offered(engine, session_id)
        again, _ = offered(engine, session_id)
        teacher = engine.create_session("Desks")
        for turn in range(6):
            list(engine.chat(teacher.id, f"{turn}: " + "We moved the desks upstairs. " * 40))
        after, taught = offered(engine, session_id)

    assert before == again != after
    low, high = untaught.sides[0].most_cost, taught.sides[0].most_cost
    assert low is not None
    assert high is not None
    assert low < high


def answered(engine: ContextEngine, offer_id: str) -> list[LiveAnswer | None]:
    """The answers of an offer."""
    job = finished(engine, start_answers(engine, offer_id))
    assert job.result is not None, job.error
    return load_answers(job.result)


def test_each_side_is_sent_as_it_was_offered_and_both_answers_are_kept() -> None:
    replies = [saying("The first was ORD-0."), saying("I see ORD-10 only.")]
    with engine_with(replies, name="live") as (engine, model):
        session_id = talk(engine)
        offer_id, offer = offered(engine, session_id)
        assert not len(model.requests)

        first, second = answered(engine, offer_id)

        assert first is not None
        assert second is not None
        assert (first.text, second.text) == ("The first was ORD-0.", "I see ORD-10 only.")
        assert first.usage.output_tokens == 4
        assert first.first_token_seconds is not None
        for side, request in zip(offer.sides, model.requests, strict=True):
            sent: list[JsonValue] = [one.message for one in side.messages]
            assert to_canonical(sent) == to_canonical(list(request.messages))
            assert request.max_output_tokens == side.max_output_tokens
            assert request.last_user_text.endswith(QUESTION)
        assert "ORD-0 is late" in str(model.requests[0].messages)
        assert "ORD-0 is late" not in str(model.requests[1].messages)


def test_what_differs_is_told_by_messages_and_their_numbers() -> None:
    with engine_with(name="live") as (engine, _):
        session_id = talk(engine)

        _, offer = offered(engine, session_id)
        _, same = offered(engine, session_id, (no_compaction(), today()))

        only = [place for one in offer.only_in(0) for place in one.places]
        assert only[:2] == [2, 3]
        assert not offer.is_same
        assert same.is_same
        assert same.only_in(0) == []


def test_the_session_its_calls_and_its_cost_are_as_they_were() -> None:
    with engine_with(name="live") as (engine, _):
        session_id = talk(engine)
        before = engine.export(session_id), engine.digest(session_id)

        offer_id, _ = offered(engine, session_id)
        answered(engine, offer_id)

        assert (engine.export(session_id), engine.digest(session_id)) == before
        assert engine.calls(session_id) == []
        assert engine.compactions(session_id) == []


def test_the_price_is_the_most_that_it_can_cost() -> None:
    prices = {"input_price": 1e-6, "output_price": 2e-6, "cache_write_price": 3e-6}
    with engine_with(name="live") as (engine, _):
        save_figures(
            engine.store, MODEL, {"window_tokens": 4_000, "max_output_tokens": 50, **prices}
        )
        session_id = talk(engine)

        offer_id, offer = offered(engine, session_id)
        answers = answered(engine, offer_id)

        for side, answer in zip(offer.sides, answers, strict=True):
            assert side.max_output_tokens == 50
            assert side.most_cost == pytest.approx(3e-6 * side.tokens + 2e-6 * 50)
            assert answer is not None
            assert answer.cost is not None
            assert 0 < answer.cost < (side.most_cost or 0.0)
        costs = [side.most_cost or 0.0 for side in offer.sides]
        assert offer.most_cost == pytest.approx(sum(costs))


def test_an_unknown_price_is_not_guessed() -> None:
    with engine_with(name="live") as (engine, _):
        offer_id, offer = offered(engine, talk(engine))

        assert (offer.price, offer.most_cost) == (None, None)
        assert [answer.cost for answer in answered(engine, offer_id) if answer] == [None, None]


def test_a_side_that_does_not_fit_is_refused_before_and_the_other_is_sent() -> None:
    with engine_with([saying("Noted.")], name="live", window=600) as (engine, model):
        offer_id, offer = offered(engine, talk(engine, turns=40), (no_compaction(), today()))
        refused, sent = offer.sides

        first, second = answered(engine, offer_id)

        assert refused.refused is not None
        assert refused.refused.mentions(TrialProblem.NOT_WHOLE)
        assert sent.refused is None
        assert first is None
        assert second is not None
        assert second.text == "Noted."
        assert len(model.requests) == 1


def test_where_nothing_fits_nothing_is_sent() -> None:
    with engine_with(name="live", window=600) as (engine, model):
        both = (no_compaction(), no_compaction())
        offer_id, offer = offered(engine, talk(engine, turns=40), both)

        with pytest.raises(TrialError, match="none of the policies"):
            start_answers(engine, offer_id)

        assert offer.sendable == ()
        assert not len(model.requests)


def test_a_side_that_fails_keeps_what_arrived_and_the_other_still_answers() -> None:
    broken = ScriptedReply(
        text="The first one", chunk_chars=4, error="content_filter", error_after_chunks=2
    )
    with engine_with([broken, saying("ORD-8.")], name="live") as (engine, _):
        offer_id, _ = offered(engine, talk(engine))

        first, second = answered(engine, offer_id)

        assert first is not None
        assert first.error is not None
        assert first.error.mentions(ProviderProblem.CONTENT_FILTER)
        assert first.text == "The firs"
        assert second is not None
        assert (second.text, second.error) == ("ORD-8.", None)


def test_a_cancelled_job_closes_the_stream_and_sends_no_other_side() -> None:
    with engine_with([ENDLESS], name="live") as (engine, model):
        offer_id, _ = offered(engine, talk(engine))
        job = start_answers(engine, offer_id)
        while not len(model.requests):
            engine.jobs.wait(job.id, 0.01)

        cancelled = engine.jobs.cancel(job.id)

        assert cancelled.state == "cancelled"
        assert finished(engine, job).result is None
        assert (len(model.requests), model.cancelled) == (1, 1)


def test_an_attempt_is_sent_once_however_often_it_is_clicked() -> None:
    with engine_with(name="live") as (engine, model):
        offer_id, _ = offered(engine, talk(engine))

        clicks = [start_answers(engine, offer_id) for _ in range(3)]
        finished(engine, clicks[0])
        late = start_answers(engine, offer_id)

        assert {job.id for job in (*clicks, late)} == {clicks[0].id}
        once = len(model.requests)
        finished(engine, start_answers(engine, offer_id, attempt=2))
        assert (once, len(model.requests)) == (2, 4)
        assert [job.spec["attempt"] for job in answer_jobs(engine, offer_id)] == [2, 1]


def test_no_job_holds_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVE_KEY", "sk-live-0123456789")
    connection = Connection(
        name="ours", model=MODEL, key_env="LIVE_KEY", options={"api_version": "2099-01-01"}
    )
    with engine_with(name="live") as (engine, _):
        save_connections(engine.store, [connection])
        offer_id, _ = offered(engine, talk(engine))
        answered(engine, offer_id)

        jobs = [engine.jobs.job(one.id) for one in engine.jobs.recent()]
        stored = to_canonical([[job.spec, job.result] for job in jobs])

        assert {job.kind for job in jobs} == {LIVE_OFFER, LIVE_ANSWERS}
        for word in ("sk-live", "LIVE_KEY", "2099-01-01", "ours"):
            assert word not in stored


def test_what_is_excluded_is_not_sent_and_what_is_pinned_is() -> None:
    with engine_with(name="live") as (engine, _):
        session_id = talk(engine)
        engine.exclude(session_id, 23)
        engine.pin(session_id, 1)

        _, offer = offered(engine, session_id)

        told = [{place for one in side.messages for place in one.places} for side in offer.sides]
        assert [24 in places for places in told] == [False, False]
        assert [2 in places for places in told] == [True, True]


def asking_for_its_tool(request: ScriptedRequest) -> ScriptedReply:
    """Calls the first tool of the request, by the name that was sent."""
    function = request.tools[0]["function"]
    assert isinstance(function, dict)
    return ScriptedReply(calls=(ToolCall(id="c1", name=str(function["name"]), arguments="{}"),))


def test_a_tool_that_a_model_asks_for_has_the_name_of_the_session_and_is_not_run() -> None:
    tool: JsonObject = {"type": "function", "function": {"name": "find.order", "parameters": {}}}
    with engine_with(otherwise=asking_for_its_tool, name="live") as (engine, model):
        session_id = talk(engine)
        engine.set_tools(session_id, [tool])
        offer_id, offer = offered(engine, session_id)

        answers = answered(engine, offer_id)

        names = [call.name for answer in answers if answer for call in answer.calls]
        assert names == ["find.order", "find.order"]
        assert offer.sides[0].own_tools is not None
        assert "find.order" not in offer.sides[0].own_tools
        assert len(model.requests) == 2


def test_an_answer_reads_back_as_it_was() -> None:
    reply = ScriptedReply(
        text="Looking.",
        reasoning="Where?",
        calls=(ToolCall(id="c1", name="find", arguments='{"n":1}'),),
    )
    with engine_with([reply, reply], name="live") as (engine, _):
        offer_id, offer = offered(engine, talk(engine))

        first, _ = answered(engine, offer_id)

        assert first is not None
        assert (first.reasoning, first.finish_reason) == ("Where?", "tool_calls")
        assert [call.name for call in first.calls] == ["find"]
        assert LiveAnswer.from_dict(first.to_dict()) == first
        assert LiveOffer.from_dict(offer.to_dict()) == offer


def test_refusals_name_what_is_missing() -> None:
    with engine_with(name="live") as (engine, _):
        session_id = talk(engine)
        with pytest.raises(TrialError, match="no question"):
            start_offer(engine, session_id, "  ", BOTH)
        with pytest.raises(RecordNotFoundError):
            start_answers(engine, "nothing")
        with pytest.raises(NoModelError):
            start_offer(ContextEngine(engine.store), session_id, QUESTION, BOTH)
        offer_id, _ = offered(engine, session_id)
        with pytest.raises(NoModelError):
            start_answers(ContextEngine(engine.store, model=MODEL), offer_id)


def test_deleting_an_offer_erases_its_answers() -> None:
    with engine_with(name="live") as (engine, _):
        offer_id, _ = offered(engine, talk(engine))
        answered(engine, offer_id)

        delete_offer(engine, offer_id)

        assert engine.jobs.recent() == []


def test_presets_are_sides_too_and_a_question_is_worked_out_once() -> None:
    with engine_with(name="live") as (engine, _):
        session_id = talk(engine)
        sides = (of_preset("pi"), of_preset("ladder"))
        first, offer = offered(engine, session_id, sides)

        again, _ = offered(engine, session_id, sides)

        assert first == again
        assert [side.candidate.name for side in offer.sides] == ["pi", "ladder"]
        engine.append(session_id, [user("One more."), assistant("Yes.")])
        later, longer = offered(engine, session_id, sides)
        assert later != first
        assert longer.sides[0].tokens > offer.sides[0].tokens
        assert replace(longer, sides=()) == replace(offer, sides=())
