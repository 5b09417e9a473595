"""What the usage page tells of turns and calls, with numbers small enough to add up by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.verdicts import INPUT_SEGMENTS, Run, VerdictKind
from ctxcore.reasons.codes import VerdictCode
from ctxcore.store.values import CallInfo, CompactionInfo, TurnInfo
from dashboard.call_view.sizes import estimate_tokens, sent_tokens
from dashboard.usage.rows import (
    Compared,
    KnownSum,
    bars,
    compared,
    error_band,
    known_sum,
    not_sent,
    totals_of,
    turn_rows,
)

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def call(
    number: int,
    *,
    turn_id: str | None = None,
    seq: int | None = None,
    estimate: dict[str, int] | None = None,
    input_tokens: int | None = None,
    cached: int | None = None,
    cost: float | None = None,
    purpose: str = "answer",
) -> CallInfo:
    return CallInfo(
        id=f"c{number}",
        session_id="s",
        created_at=START + timedelta(minutes=number),
        purpose=purpose,
        turn_id=turn_id,
        seq=seq,
        estimate=estimate or {},
        input_tokens=input_tokens,
        cached_tokens=cached,
        cost=cost,
        is_imported=turn_id is None,
    )


def turn(turn_id: str, first: int) -> TurnInfo:
    return TurnInfo(
        id=turn_id,
        session_id="s",
        number=1,
        state="done",
        model=None,
        partial="",
        error=None,
        first_seq=first,
        last_seq=first + 1,
        history_messages=0,
        history_tokens=0,
        started_at=START,
        ended_at=START,
    )


def compaction(number: int, minutes: float) -> CompactionInfo:
    return CompactionInfo(
        id=f"k{number}",
        session_id="s",
        number=number,
        parent_id=None,
        compaction=Compaction(covered_until=1),
        policy_version_id=None,
        details={},
        created_at=START + timedelta(minutes=minutes),
    )


def test_calls_belong_to_the_turn_that_made_them() -> None:
    calls = [call(1, turn_id="a", seq=2), call(2, turn_id="b"), call(3, turn_id="b", seq=5)]

    rows = turn_rows([(1, "one"), (3, "two")], 5, [turn("a", 1), turn("b", 3)], calls)

    assert [len(row.calls) for row in rows] == [1, 2]
    assert [(row.first_seq, row.last_seq) for row in rows] == [(1, 2), (3, 5)]
    assert [row.state for row in rows] == ["done", "done"]


def test_imported_calls_belong_to_the_turn_of_the_message_that_answered() -> None:
    calls = [call(1, seq=2), call(2, seq=4), call(3, seq=6)]

    rows = turn_rows([(1, "one"), (5, "two")], 6, [], calls)

    assert [len(row.calls) for row in rows] == [2, 1]
    assert rows[0].state is None


def test_a_call_without_a_place_stays_with_the_one_before() -> None:
    rows = turn_rows([(1, ""), (3, "")], 4, [], [call(1, seq=4), call(2)])

    assert [len(row.calls) for row in rows] == [0, 2]


def test_a_compaction_is_told_with_the_turn_before_it() -> None:
    calls = [call(1, seq=2), call(5, seq=4)]

    rows = turn_rows([(1, ""), (3, "")], 4, [], calls, [compaction(1, 2), compaction(2, 9)])

    assert [[info.number for info in row.compactions] for row in rows] == [[1], [2]]


def test_unknown_stays_unknown_and_is_counted() -> None:
    calls = [call(1, cost=0.5), call(2)]

    assert known_sum(calls, lambda one: one.cost) == KnownSum(value=0.5, missing=1)
    assert known_sum(calls[1:], lambda one: one.cost) == KnownSum(value=None, missing=1)
    assert known_sum([], lambda one: one.cost) == KnownSum(value=None)


def test_reserve_and_free_are_not_sent() -> None:
    ours = call(1, estimate={"system": 10, "recent": 30, "reserve": 100, "free": 500})

    assert estimate_tokens(ours) == 40
    assert sent_tokens(ours) == 40
    assert sent_tokens(call(2, input_tokens=70)) == 70
    assert sent_tokens(call(3)) is None


def test_the_three_modes_are_three_different_sums() -> None:
    calls = [
        call(1, seq=2, estimate={"recent": 10}),
        call(2, seq=3, estimate={"recent": 20}),
        call(3, seq=5, estimate={"recent": 5, "summary": 1}),
    ]
    rows = turn_rows([(1, ""), (4, "")], 5, [], calls)

    def recent(mode: str) -> list[int]:
        assert mode in ("turn", "context", "total")
        return [bar.parts["recent"] for bar in bars(rows, mode, "estimate")]  # type: ignore[arg-type]  # checked above

    assert recent("turn") == [30, 5]
    assert recent("context") == [20, 5]
    assert recent("total") == [30, 35]


def test_the_provider_parts_add_up_to_its_input() -> None:
    rows = turn_rows([(1, "")], 2, [], [call(1, seq=2, input_tokens=100, cached=60)])

    assert bars(rows, "turn", "provider")[0].parts == {"fresh": 40, "cache_write": 0, "cached": 60}
    assert bars(rows, "turn", "estimate") == []


def test_only_calls_counted_by_both_sides_are_compared() -> None:
    calls = [call(1, seq=2, estimate={"recent": 90}, input_tokens=100), call(2, input_tokens=7)]

    edited = replace(call(3, seq=2, estimate={"recent": 90}, input_tokens=50), cleared_tokens=40)

    (row,) = compared(turn_rows([(1, "")], 2, [], [*calls, edited]))

    assert (row.estimate_tokens, row.provider_tokens, row.difference) == (90, 100, 10)


def verdict_run(verdict: VerdictKind, **tokens: int) -> Run:
    return Run(first=0, last=4, verdict=verdict, reason=VerdictCode.RECENT(), **tokens)


def test_the_error_band_ignores_small_calls_and_reports_far_off() -> None:
    reported = [(1_000, 1_100), (1_000, 1_120), (1_000, 1_140), (1_000, 300), (90, 500)]
    rows = [
        Compared(turn=at, call=1, estimate_tokens=ours, provider_tokens=theirs)
        for at, (ours, theirs) in enumerate(reported, start=1)
    ]

    band = error_band(rows)

    assert (band.value, band.calls) == (1.12, 3)
    assert band.error_ratio == pytest.approx(0.02 / 1.12, abs=1e-4)
    assert error_band(rows[2:]).error_ratio is None


def test_what_was_not_sent_is_what_the_verdicts_took_away() -> None:
    runs = [
        verdict_run("summarized", before_tokens=500, after_tokens=0),
        verdict_run("compressed", before_tokens=80, after_tokens=30),
        verdict_run("kept", before_tokens=10, after_tokens=10),
    ]

    assert not_sent(runs) == {"summarized": 500, "compressed": 50}


@given(st.lists(st.lists(st.integers(0, 1_000), min_size=1, max_size=4), min_size=1, max_size=8))
def test_the_last_cumulative_bar_is_the_sum_of_all_turns(sizes: list[list[int]]) -> None:
    starts = [(1 + 10 * at, "") for at in range(len(sizes))]
    calls = [
        call(100 * at + number, seq=2 + 10 * at + number, estimate={"recent": size})
        for at, turn_sizes in enumerate(sizes)
        for number, size in enumerate(turn_sizes)
    ]
    rows = turn_rows(starts, 10 * len(sizes), [], calls)

    totals = bars(rows, "total", "estimate")

    assert sum(totals[-1].parts.values()) == sum(map(sum, sizes))
    assert set(totals[-1].parts) == set(INPUT_SEGMENTS)


def with_a_summary() -> list[CallInfo]:
    """An answer of the first turn, a summary behind it, an answer of the second."""
    return [
        call(1, turn_id="t1", estimate={"recent": 100}, cost=0.01),
        call(2, input_tokens=80, cost=0.02, purpose="summary"),
        call(3, turn_id="t2", estimate={"recent": 40}, cost=0.03),
    ]


def begun(turn_id: str, first: int, minutes: float) -> TurnInfo:
    return replace(turn(turn_id, first), started_at=START + timedelta(minutes=minutes))


def test_a_summary_belongs_to_the_turn_in_whose_time_it_was_made() -> None:
    starts = [(1, "one"), (3, "two")]

    after, before = (
        turn_rows(starts, 4, [begun("t1", 1, 0), begun("t2", 3, minutes)], with_a_summary())
        for minutes in (2.5, 1.5)
    )

    assert [[one.id for one in row.calls] for row in after] == [["c1", "c2"], ["c3"]]
    assert [[one.id for one in row.calls] for row in before] == [["c1"], ["c2", "c3"]]


def test_summaries_are_a_part_of_what_was_sent_but_of_no_context() -> None:
    rows = turn_rows([(1, "one")], 2, [turn("t1", 1)], with_a_summary()[:2])

    [sent], [context] = bars(rows, "turn", "estimate"), bars(rows, "context", "estimate")

    assert (sent.parts["recent"], sent.parts["summaries"]) == (100, 80)
    assert "summaries" not in context.parts
    assert rows[0].context_tokens == 100
    assert rows[0].sent_tokens == KnownSum(value=180)


def test_what_was_spent_is_the_sum_of_answers_and_summaries() -> None:
    calls = with_a_summary()
    summaries = [one for one in calls if one.purpose == "summary"]

    assert totals_of(calls).sent == KnownSum(value=220)
    assert totals_of(summaries).cost == KnownSum(value=0.02)
    assert totals_of(calls).calls == 3
