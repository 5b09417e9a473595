"""The survival map: what became of each message in each call, aggregated where it is large."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.reasons.codes import VerdictCode
from ctxcore.store.values import CallInfo
from dashboard.usage.survival_rows import (
    MOST_CALLS,
    MOST_ROWS,
    sampled_calls,
    survival_figure,
    survival_of,
)

KINDS: tuple[VerdictKind, ...] = ("kept", "compressed", "summarized", "recalled", "dropped")
NAMES: dict[VerdictKind, str] = {kind: kind.upper() for kind in KINDS}


def run(first: int, last: int, verdict: VerdictKind) -> Run:
    return Run(
        first=first,
        last=last,
        verdict=verdict,
        reason=VerdictCode.RECENT(),
        before_tokens=1,
        after_tokens=1,
    )


def calls(count: int, purpose: str = "answer") -> list[CallInfo]:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return [
        CallInfo(id=str(n), session_id="s", created_at=at, purpose=purpose, estimate={"recent": 5})
        for n in range(count)
    ]


def test_a_cell_says_what_became_of_a_message_in_a_call() -> None:
    found = survival_of(
        {1: [run(0, 1, "kept")], 3: [run(0, 2, "summarized"), run(3, 4, "kept")], 4: []}
    )

    assert found.calls == (1, 3)
    assert found.rows == ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5))
    assert found.cells == (
        ("kept", "summarized"),
        ("kept", "summarized"),
        (None, "summarized"),
        (None, "kept"),
        (None, "kept"),
    )


def test_a_row_of_several_messages_has_the_verdict_of_most() -> None:
    found = survival_of({1: [run(0, 0, "kept"), run(1, 3, "dropped"), run(4, 4, "kept")]}, 2)

    assert found.rows == ((1, 3), (4, 5))
    assert found.cells[0] == ("dropped",)
    assert found.cells[1] in (("dropped",), ("kept",))


def test_of_many_calls_the_first_the_last_and_some_between_are_drawn() -> None:
    assert list(sampled_calls(calls(3))) == [1, 2, 3]
    many = list(sampled_calls(calls(10_000)))
    assert (len(many), many[0], many[-1]) == (MOST_CALLS, 1, 10_000)
    assert sampled_calls(calls(4, "summary")) == {}


@given(st.integers(1, 3_000), st.integers(1, 300))
def test_the_map_never_has_more_than_twenty_thousand_cells(messages: int, count: int) -> None:
    shown = sampled_calls(calls(count))
    found = survival_of({number: [run(0, messages - 1, "kept")] for number in shown})

    assert len(found.rows) * len(found.calls) <= MOST_CALLS * MOST_ROWS == 20_000
    assert found.rows[0][0] == 1
    assert found.rows[-1][1] == messages
    assert all(
        last + 1 == first for (_, last), (first, _) in zip(found.rows, found.rows[1:], strict=False)
    )


def test_the_figure_has_a_color_and_a_name_for_each_verdict() -> None:
    found = survival_of({1: [run(0, 1, "kept")], 2: [run(0, 0, "dropped"), run(1, 1, "kept")]})

    figure = survival_figure(found, names=NAMES, call="Call", messages="Messages")
    data: Any = figure["data"]
    heatmap, *legend = data

    assert heatmap["text"] == [["KEPT", "DROPPED"], ["KEPT", "KEPT"]]
    assert heatmap["z"] == [[0, 4], [0, 0]]
    assert [trace["name"] for trace in legend] == ["KEPT", "DROPPED"]
