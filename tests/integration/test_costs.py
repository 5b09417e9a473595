"""Costs of sessions: recorded and imported calls, one figure in pages, lists, exports, commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.statements import statements_run
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.costs import cost_of_calls
from ctxcore.engine.policies import save_connections, save_figures
from ctxcore.gateway.values import Connection
from ctxcore.reasons.codes import CostCode
from ctxcore.store.sql import open_store
from ctxcore.store.values import CallInfo
from ctxcore.tokens.prices import cost_of, list_price
from tests.engines import START, engine_with
from tests.small_transcript import claude_code_lines
from tests.unit.cli.files import results, run_json

MODELS = ("claude-sonnet-4-5", "gpt-4o", "nobody/knows", None)
TOKENS = st.none() | st.integers(0, 1_000_000)


def imported(engine: ContextEngine, text: str | None = None) -> str:
    (session,) = engine.import_(text or claude_code_lines(), name="small.jsonl")
    return session.id


def test_imported_usage_costs_the_list_price_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "small.jsonl"
    path.write_text(claude_code_lines())
    with engine_with() as (engine, _):
        session = engine.session(imported(engine))
        calls = engine.calls(session.id)

        total = cost_of_calls(calls)

        price = list_price("claude-sonnet-4-5")
        assert [call.cost for call in calls] == [cost_of(call, price) for call in calls]
        assert total.unknown == ()
        assert total.dollars == pytest.approx(
            ((9_000 + 3 * 20) * 3 + 500 * 20 * 0.3 + 400 * 3.75 + 160 * 15) / 1e6
        )
        (listed,) = engine.costs([session]).values()
        assert listed.document() == total.document()
        head = json.loads(engine.export(session.id).splitlines()[0])
        assert head["cost"] == total.document()
        (inspected,) = results(run_json("inspect", path))
        assert inspected["cost"] == total.document()


def test_what_is_written_for_an_hour_costs_more() -> None:
    lines = claude_code_lines().replace(
        '"output_tokens"', '"cache_creation": {"ephemeral_1h_input_tokens": 100}, "output_tokens"'
    )
    with engine_with() as (engine, _):
        plain, hour = (engine.calls(imported(engine, text)) for text in (None, lines))
        assert [call.cache_hour_tokens for call in hour] == [100] * 4
        more = (cost_of_calls(hour).dollars or 0) - (cost_of_calls(plain).dollars or 0)
        assert more == pytest.approx(400 * (6 - 3.75) / 1e6)
        exported = engine.export(hour[0].session_id)
        (again,) = engine.import_(exported, name="again.jsonl")
        assert [call.cache_hour_tokens for call in engine.calls(again.id)] == [100] * 4


def test_a_price_entered_later_counts_where_none_was_recorded() -> None:
    lines = claude_code_lines().replace("claude-sonnet-4-5", "nobody/knows")
    with engine_with() as (engine, _):
        session_id = imported(engine, lines)
        unknown = cost_of_calls(engine.calls(session_id))
        own = {"input_price": 1e-6, "output_price": 2e-6}
        save_figures(engine.store, "nobody/knows", own)

        known = cost_of_calls(engine.calls(session_id))

        (gap,) = unknown.unknown
        assert (gap.reason, gap.calls) == (CostCode.NO_PRICE(model="nobody/knows"), 4)
        assert unknown.dollars is None
        assert known.dollars == pytest.approx((9_060 + 500 * 20 + 400 + 2 * 160) / 1e6)


def test_a_recorded_cost_stays_what_was_paid() -> None:
    with engine_with() as (engine, model):
        save_figures(engine.store, model.model, {"input_price": 1e-6, "output_price": 2e-6})
        session = engine.create_session()
        list(engine.chat(session.id, "How far is it?"))
        (paid,) = engine.calls(session.id)
        save_figures(engine.store, model.model, {"input_price": 1.0, "output_price": 2.0})

        assert paid.cost is not None
        assert [call.cost for call in engine.calls(session.id)] == [paid.cost]


def test_an_own_server_has_no_list_price() -> None:
    own = Connection(name="own", model="gpt-4o", api_base="http://localhost:1")
    with engine_with() as (engine, _):
        session = engine.create_session()
        call = CallInfo(
            id="c",
            session_id=session.id,
            created_at=START,
            purpose="answer",
            model="gpt-4o",
            input_tokens=10,
            output_tokens=10,
        )
        engine.store.record_calls([call, replace(call, id="d", is_imported=True)])
        save_connections(engine.store, [own])

        here, elsewhere = engine.calls(session.id)

        assert (here.cost, elsewhere.cost) == (None, cost_of(call, list_price("gpt-4o")))


def test_costs_of_many_sessions_take_few_statements_and_show_no_other_user_s() -> None:
    with engine_with() as (engine, _):
        for _ in range(3):
            imported(engine)
        other = ContextEngine(engine.store, user_id="bob", model="gpt-4o")
        sessions = engine.sessions()

        with statements_run() as few:
            engine.costs(sessions[:1])
        with statements_run() as many:
            assert len(engine.costs(sessions)) == 3

        assert len(many) == len(few)
        assert not other.user().is_operator
        assert other.costs(sessions) == {}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(MODELS),
            st.booleans(),
            st.none() | st.floats(0, 10),
            TOKENS,
            TOKENS,
            st.integers(0, 1_000),
            st.integers(0, 1_000),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(deadline=None, max_examples=40)
def test_sums_of_the_store_cost_what_the_calls_cost(
    drawn: list[tuple[str | None, bool, float | None, int | None, int | None, int, int, int]],
) -> None:
    store = open_store("sqlite://")
    engine = ContextEngine(store, model="gpt-4o")
    session = engine.create_session()
    store.record_calls(
        [
            CallInfo(
                id=f"c{number}",
                session_id=session.id,
                created_at=START,
                purpose="answer",
                model=model,
                is_imported=is_imported,
                cost=cost,
                input_tokens=None if read is None else read + cached + written + hour,
                output_tokens=made,
                cached_tokens=cached,
                cache_write_tokens=written + hour,
                cache_hour_tokens=hour,
            )
            for number, (model, is_imported, cost, read, made, cached, written, hour) in enumerate(
                drawn
            )
        ]
    )

    one_by_one = cost_of_calls(engine.calls(session.id))
    summed = engine.costs([session])[session.id]

    assert summed.dollars == pytest.approx(one_by_one.dollars)
    assert set(summed.unknown) == set(one_by_one.unknown)
    store.close()
