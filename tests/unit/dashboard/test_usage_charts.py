"""The charts of the usage and compaction pages, read as the dictionaries that are drawn."""

from __future__ import annotations

from typing import Any, cast

import plotly.graph_objects as go
import pytest

from dashboard.compactions_page.detail import before_and_after
from dashboard.usage.charts import (
    Line,
    estimate_against_provider,
    limit_marks,
    stacked_turns,
    where_tokens_went,
)
from dashboard.usage.rows import Bar, Compared, Share
from dashboard.widgets import Figure
from dashboard.window_chart import SEGMENT_COLORS

NAMES = {"system": "System", "summary": "Summary", "recent": "Recent"}
COLORS = {name: SEGMENT_COLORS[name] for name in ("system", "summary", "recent")}
BARS = [
    Bar(turn=1, parts={"system": 10, "recent": 30}),
    Bar(turn=2, parts={"system": 10, "recent": 60}),
]


def drawn(figure: Figure) -> Any:
    """The figure as plotly reads it; it refuses what it does not know."""
    return go.Figure(cast("dict[str, Any]", figure))


def stacked(**changes: Any) -> Any:
    settings: dict[str, Any] = {"names": NAMES, "colors": COLORS, "axis": "tokens", "turn": "Turn"}
    return drawn(stacked_turns(BARS, **{**settings, **changes}))


def test_bars_stack_in_the_order_of_the_segments_without_empty_ones() -> None:
    figure = stacked()

    assert [trace.name for trace in figure.data] == ["System", "Recent"]
    assert list(figure.data[1].y) == [30, 60]
    assert figure.layout.barmode == "stack"
    assert figure.data[0].marker.color == SEGMENT_COLORS["system"]


def test_limits_are_lines_with_their_number() -> None:
    figure = stacked(lines=[Line(name="Trigger", tokens=80)])

    assert [shape.y0 for shape in figure.layout.shapes] == [80]
    assert figure.layout.annotations[0].text == "Trigger 80"


def test_names_of_close_limits_stand_side_by_side() -> None:
    lines = [Line(name=str(tokens), tokens=tokens) for tokens in (600, 980, 1_000, 990)]

    labels = cast("list[dict[str, Any]]", limit_marks(lines, 900)["annotations"])

    assert [(mark["y"], mark["x"]) for mark in labels] == [
        (1_000, 1.0),
        (990, 0.5),
        (980, 0.0),
        (600, 1.0),
    ]


def test_a_limit_far_above_every_bar_is_not_drawn() -> None:
    figure = stacked(lines=[Line(name="Window", tokens=100_000)])

    assert not figure.layout.shapes
    assert not figure.layout.annotations


def test_a_compaction_is_a_mark_above_its_turn() -> None:
    figure = stacked(marked=[2, 9], marker="Compaction")

    mark = figure.data[-1]
    assert list(mark.x) == [2]
    assert mark.y[0] > 70


def test_both_counts_of_a_call_stand_at_the_same_place() -> None:
    row = Compared(turn=3, call=2, estimate_tokens=90, provider_tokens=100)

    figure = drawn(
        estimate_against_provider([row], ours="Ours", theirs="Theirs", axis="tokens", turn="Turn")
    )

    assert [list(trace.x) for trace in figure.data] == [["3.2"], ["3.2"]]
    assert [trace.y[0] for trace in figure.data] == [90, 100]


def test_each_part_says_its_number_and_share() -> None:
    parts = [Share(kind="result", name="Read", tokens=75), Share(kind="user", name="", tokens=25)]

    figure = drawn(where_tokens_went(parts, labels=["Read", "User"], total=100, axis="tokens"))

    assert list(figure.data[0].text) == ["75 · 75.0%", "25 · 25.0%"]


@pytest.mark.parametrize("total", [0, 1])
def test_an_empty_account_can_be_drawn(total: int) -> None:
    drawn(where_tokens_went([], labels=[], total=total, axis="tokens"))


def test_both_windows_of_a_compaction_share_one_axis() -> None:
    contexts = [("Without", {"recent": 90}), ("With", {"recent": 30, "summary": 5})]

    figure = drawn(before_and_after(contexts, names=NAMES, colors=COLORS, axis="tokens"))

    assert [trace.name for trace in figure.data] == ["Summary", "Recent"]
    assert list(figure.data[1].x) == [90, 30]
