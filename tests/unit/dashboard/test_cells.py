"""The map of a history: cells of equal size, what became of them, and their messages."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.reasons.codes import VerdictCode
from dashboard.context_page.cells import MOST_CELLS, Cell, by_verdict, cells_figure, cells_of

KINDS: tuple[VerdictKind, ...] = ("kept", "compressed", "summarized", "recalled", "dropped")
NAMES: dict[VerdictKind, str] = {kind: kind for kind in KINDS}


def run(first: int, last: int, verdict: VerdictKind, tokens: int) -> Run:
    return Run(
        first=first,
        last=last,
        verdict=verdict,
        reason=VerdictCode.RECENT(),
        before_tokens=tokens,
        after_tokens=0,
    )


def test_cells_share_the_tokens_evenly_and_name_their_messages() -> None:
    runs = [run(0, 9, "summarized", 500), run(10, 10, "kept", 250), run(11, 12, "dropped", 250)]

    cells = cells_of(runs, 4)

    assert [(cell.first, cell.last, cell.verdict, cell.tokens) for cell in cells] == [
        (1, 5, "summarized", 250),
        (6, 10, "summarized", 250),
        (11, 11, "kept", 250),
        (12, 13, "dropped", 250),
    ]


def test_a_cell_over_several_runs_has_the_verdict_of_most_of_it() -> None:
    runs = [run(0, 0, "kept", 40), run(1, 1, "dropped", 60), run(2, 2, "kept", 100)]

    assert [cell.verdict for cell in cells_of(runs, 2)] == ["dropped", "kept"]
    assert cells_of([], 4) == []
    assert cells_of([run(0, 0, "kept", 0)], 4) == []


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 5), st.integers(0, 900)), max_size=60)
)
def test_the_cells_cover_the_history_in_order(
    drawn: list[tuple[VerdictKind, int, int]],
) -> None:
    runs, at = [], 0
    for verdict, count, tokens in drawn:
        runs.append(run(at, at + count - 1, verdict, tokens))
        at += count

    cells = cells_of(runs)

    total = sum(one.before_tokens for one in runs)
    assert len(cells) == min(MOST_CELLS, total)
    assert sum(cell.tokens for cell in cells) == total
    firsts = [cell.first for cell in cells]
    assert firsts == sorted(firsts)
    assert all(1 <= cell.first <= cell.last <= at for cell in cells)


def test_a_click_on_the_map_is_told_by_curve_and_point() -> None:
    cells = [
        Cell(first=1, last=1, verdict="kept", tokens=5),
        Cell(first=2, last=2, verdict="dropped", tokens=5),
        Cell(first=3, last=3, verdict="kept", tokens=5),
    ]

    figure: dict[str, Any] = cells_figure(cells, names=NAMES, told=lambda cell: f"#{cell.first}")

    assert by_verdict(cells) == [("kept", [0, 2]), ("dropped", [1])]
    assert [trace["text"] for trace in figure["data"]] == [["#1", "#3"], ["#2"]]
    assert [trace["x"] for trace in figure["data"]] == [[0, 2], [1]]
