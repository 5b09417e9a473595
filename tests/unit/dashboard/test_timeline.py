"""The timeline: a point a call, what changed between calls, and what is left of very many."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ctxcore.engine.cache_breaks import break_seen
from ctxcore.reasons.codes import BreakCode
from ctxcore.store.values import CallInfo, ImportedCompaction
from dashboard.usage.charts import Line
from dashboard.usage.timeline_chart import Wording, timeline_figure
from dashboard.usage.timeline_rows import CallPoint, call_points, source_of, thinned

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WORDS = Wording(
    tokens="tokens",
    call="Call",
    cached="Cached",
    cost="Cost",
    compaction="Compaction",
    cache_break="Break",
)
NAMES = {"fresh": "New", "cache_write": "Written", "cached": "From cache"}
COLORS = dict.fromkeys(NAMES, "#000000")


def call(number: int, **fields: object) -> CallInfo:
    known: dict[str, object] = {"seq": 2 * number, "model": "m", "input_tokens": 1_000, **fields}
    return CallInfo(
        id=f"c{number}",
        session_id="s",
        created_at=START + timedelta(minutes=number),
        purpose="answer",
        **known,  # type: ignore[arg-type]  # fields by name, as each test sets them
    )


def points(*calls: CallInfo, folds: tuple[int, ...] = ()) -> list[CallPoint]:
    imported = [ImportedCompaction(before_seq=seq, summary="") for seq in folds]
    return call_points(calls, source="provider", starts=[1, 5], imported=imported)


def test_each_call_has_its_turn_and_its_parts() -> None:
    found = points(call(1, cached_tokens=600), call(2), replace(call(3), purpose="summary"))

    assert [(point.number, point.turn) for point in found] == [(1, 1), (2, 1)]
    assert found[0].parts == {"fresh": 400, "cache_write": 0, "cached": 600}
    assert (found[0].sent_tokens, found[0].cached_ratio, found[1].cached_ratio) == (
        1_000,
        0.6,
        None,
    )
    assert [point.turn for point in points(call(1), call(3))] == [1, 2]


def test_a_compaction_stands_at_the_first_call_after_it() -> None:
    ours = [call(1), call(2, compaction_id="a"), call(3, compaction_id="a"), call(4)]
    recorded = points(*(call(number) for number in range(1, 5)), folds=(5,))

    assert [point.is_compacted for point in points(*ours)] == [False, True, False, False]
    assert [point.is_compacted for point in recorded] == [False, False, True, False]


CACHED = call(1, cached_tokens=900)


@pytest.mark.parametrize(
    ("after", "folded", "cause"),
    [
        (call(2, cached_tokens=950), False, None),
        (call(2, cached_tokens=100), False, BreakCode.FRONT_CACHED()),
        (call(2, cached_tokens=100), True, BreakCode.COMPACTION()),
        (call(2, cached_tokens=100, model="n"), False, BreakCode.MODEL()),
        (call(31, cached_tokens=0), False, BreakCode.EXPIRED(minutes=30)),
        (call(2), False, None),
        (call(2, cached_tokens=950, cache_break=BreakCode.TOOLS()), False, BreakCode.TOOLS()),
    ],
)
def test_a_lost_cache_has_its_cause(after: CallInfo, folded: bool, cause: object) -> None:
    assert break_seen(CACHED, after, is_compacted=folded) == cause


def test_what_was_kept_for_an_hour_does_not_expire_before() -> None:
    for_hour = replace(CACHED, cache_write_tokens=100, cache_hour_tokens=100)
    later = call(31, cached_tokens=0)

    assert break_seen(for_hour, later, is_compacted=False) == BreakCode.NONE_CACHED()
    assert break_seen(call(1), later, is_compacted=False) is None


def test_of_very_many_calls_the_peaks_and_the_drops_stay() -> None:
    sizes = [1_000 + (number * 37) % 500 for number in range(10_000)]
    sizes[4_321] = 99_999
    many = points(
        *(call(number + 1, input_tokens=size) for number, size in enumerate(sizes)), folds=(9_001,)
    )

    drawn = thinned(many, 1_500)

    assert len(drawn) <= 1_510
    assert max(point.sent_tokens for point in drawn) == 99_999
    assert any(point.is_compacted for point in drawn)
    assert drawn[-1] == many[-1]
    assert [point.number for point in drawn] == sorted(point.number for point in drawn)
    assert thinned(many[:100], 1_500) == many[:100]


def test_the_chart_stacks_the_parts_and_marks_what_happened() -> None:
    found = points(
        call(1, cached_tokens=900, cost=0.5),
        call(2, cached_tokens=10),
        call(3, input_tokens=None),
        call(4, cached_tokens=800),
        folds=(7,),
    )

    figure: dict[str, Any] = timeline_figure(
        found,
        names=NAMES,
        colors=COLORS,
        wording=WORDS,
        told=lambda point: f"call {point.number}",
        lines=[Line(name="Window", tokens=1_200), Line(name="Far", tokens=90_000)],
    )

    traces = {trace["name"]: trace for trace in figure["data"]}
    assert list(traces) == ["New", "From cache", "Compaction", "Break", "Call", "Cached", "Cost"]
    assert traces["From cache"]["y"] == [900, 10, 800]
    assert traces["Compaction"]["x"] == [4]
    assert traces["Break"]["x"] == [2]
    assert (traces["Call"]["x"], traces["Call"]["text"][1]) == ([1, 2, 4], "call 2")
    assert traces["Cost"]["y"] == [0.5, None, None]
    assert [mark["text"] for mark in figure["layout"]["annotations"]] == ["Window 1,200"]


def test_ours_is_drawn_where_every_call_was_counted() -> None:
    counted = call(1, estimate={"recent": 10})

    assert source_of([counted, replace(call(2), purpose="summary")]) == "estimate"
    assert source_of([counted, call(2)]) == "provider"
