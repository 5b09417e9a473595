"""Presets and strategies compared at one moment of a session, and proposals by one of them."""

from __future__ import annotations

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAllowedError
from ctxcore.engine.policies import save_figures
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.values import Policy
from ctxcore.replay.alternatives import Alternative, Compared, alternatives
from ctxcore.store.values import Scope
from tests.engines import engine_with
from tests.histories import assistant, user

RULE = "Never call the harbour before nine."
CODE = "The berth is QX-4417."
FILLER = "And what about the weather there, would it matter? " * 12


def session_with(engine: ContextEngine) -> str:
    session = engine.create_session("Ferry", model="test")
    talk = [user(f"Hello. {RULE}"), assistant("Fine."), user(CODE), assistant("Noted.")]
    filler = [message for _ in range(14) for message in (user(FILLER), assistant(FILLER))]
    end = [user("Is QX-4417 the right berth?"), assistant("QX-4417 it is.")]
    engine.append(session.id, [*talk, *filler, *end])
    return session.id


def test_every_preset_and_strategy_has_a_row_and_the_policy_in_force_comes_first() -> None:
    with engine_with(window=3_000) as (engine, _):
        session_id = session_with(engine)

        rows = engine.compare_compactions(session_id)

        named = [(row.alternative.kind, row.alternative.name) for row in rows]
        presets = [name for name in Policy.presets() if name != "default"]
        assert named == [
            ("policy", "default"),
            *(("preset", name) for name in presets),
            *(("strategy", str(name)) for name in STRATEGIES),
        ]
        assert engine.compactions(session_id) == []
        assert all(row.needed == rows[0].needed for row in rows)
        assert all(row.gone <= row.needed for row in rows)


def test_a_row_says_what_its_proposal_then_does() -> None:
    with engine_with(window=3_000) as (engine, _):
        session_id = session_with(engine)

        for row in engine.compare_compactions(session_id):
            proposal = engine.propose(session_id, way=row.alternative)

            assert proposal.effect == row.effect, row.alternative
            if row.effect is None:
                assert proposal.outcome.reason == row.reason
                continue
            assert len(proposal.folded) == row.messages
            assert len(proposal.outcome.lost) == row.lost
            assert proposal.after is not None
            assert proposal.after.tokens == row.effect.with_tokens


def test_what_is_confirmed_by_another_way_is_what_the_next_call_has() -> None:
    with engine_with(window=3_000) as (engine, _):
        session_id = session_with(engine)
        way = Alternative(kind="preset", name="pi")
        proposal = engine.propose(session_id, way=way)
        assert proposal.effect is not None

        info = engine.confirm(proposal)

        assert info is not None
        assert info.details["way"] == "preset:pi"
        assert info.effect == proposal.effect
        assert engine.context(session_id).tokens == proposal.effect.with_tokens
        assert engine.policy(session_id).policy.name == "default"
        engine.undo(session_id)
        assert engine.context(session_id).tokens == proposal.effect.without_tokens


def test_prices_make_dollars_of_it_and_unknown_ones_tokens() -> None:
    with engine_with(window=3_000) as (engine, _):
        session_id = session_with(engine)
        before = engine.compare_compactions(session_id)[0].payback
        figures = {"input_price": 2e-6, "output_price": 8e-6, "cache_read_price": 2e-7}
        save_figures(engine.store, "test", {"window_tokens": 3_000, **figures})

        after = engine.compare_compactions(session_id)[0].payback

        assert before is not None
        assert after is not None
        assert (before.unit, after.unit) == ("tokens", "dollars")
        assert before.once == 0
        assert after.once > 0
        assert after.rewritten_tokens == before.rewritten_tokens


def test_a_model_that_writes_summaries_is_priced_and_not_called() -> None:
    with engine_with(window=3_000) as (engine, model):
        session_id = session_with(engine)
        scope = Scope(kind="session", owner=session_id)
        engine.save_policy(scope, {"summary_model": "gpt-4o"})

        row = engine.compare_compactions(session_id)[0]

        assert row.payback is not None
        assert row.payback.summary.input_tokens > 600
        assert row.payback.summary.output_tokens > 0
        assert model.requests == ()


def test_the_job_has_the_same_rows_and_is_done_once() -> None:
    with engine_with(window=3_000) as (engine, _):
        session_id = session_with(engine)

        job = engine.start_comparison(session_id)
        assert engine.jobs.wait(job.id, 60)
        done = engine.jobs.job(job.id)

        assert (done.state, done.total) == ("done", len(alternatives(Policy())))
        assert done.result is not None
        rows = done.result["rows"]
        assert isinstance(rows, list)
        read = [Compared.from_dict(row) for row in rows if isinstance(row, dict)]
        assert read == engine.compare_compactions(session_id)
        assert engine.start_comparison(session_id).id == job.id
        engine.pin(session_id, 2)
        assert engine.start_comparison(session_id).id != job.id


def test_nobody_compares_the_session_of_another() -> None:
    with engine_with() as (engine, _):
        session_id = session_with(engine)
        engine.create_user("eve")
        other = ContextEngine(engine.store, user_id="eve")

        for attempt in (other.compare_compactions, other.start_comparison):
            with pytest.raises(NotAllowedError):
                attempt(session_id)
