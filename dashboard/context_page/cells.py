"""The map of a history: cells of equal size in tokens, each with what became of its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.assembly.verdicts import Run, VerdictKind
from dashboard.widgets import Figure
from dashboard.window_chart import VERDICT_COLORS

MOST_CELLS = 200
ROW_CELLS = 40  # chosen: five rows beside each other fit a wide screen, and a narrow one
_ROW_PIXELS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A part of the history; sequence numbers of messages count from 1."""

    first: int
    last: int
    verdict: VerdictKind
    """What became of most of it."""
    tokens: int
    """Its size before anything was left out."""


def cells_of(runs: Sequence[Run], most: int = MOST_CELLS) -> list[Cell]:
    """At most `most` cells of nearly equal size over all messages of `runs`, in their order."""
    total = sum(run.before_tokens for run in runs)
    count = min(most, total)
    cells: list[Cell] = []
    at, run_start = 0, 0
    for nth in range(count):
        start, end = total * nth // count, total * (nth + 1) // count
        shares: dict[VerdictKind, int] = {}
        first = last = None
        while at < len(runs):
            run, run_end = runs[at], run_start + runs[at].before_tokens
            taken = min(end, run_end) - max(start, run_start)
            if taken > 0:
                shares[run.verdict] = shares.get(run.verdict, 0) + taken
                places = _places(run, max(start, run_start) - run_start, taken)
                first = places[0] if first is None else first
                last = places[1]
            if run_end > end or at == len(runs) - 1:
                break
            at, run_start = at + 1, run_end
        if first is not None and last is not None:
            verdict = max(shares, key=lambda kind: shares[kind])
            cells.append(Cell(first=first, last=last, verdict=verdict, tokens=end - start))
    return cells


def _places(run: Run, skipped: int, taken: int) -> tuple[int, int]:
    """The messages of a run that `taken` of its tokens behind `skipped` belong to, about."""
    count, size = run.last - run.first + 1, run.before_tokens
    first = run.first + skipped * count // size
    last = run.first + (skipped + taken - 1) * count // size
    return first + 1, last + 1


def cells_figure(
    cells: Sequence[Cell],
    *,
    names: Mapping[VerdictKind, str],
    told: Callable[[Cell], str],
) -> Figure:
    """The map as a plotly figure, a bar a cell, since of bars a click selects one.

    `told` is the hover text. A curve holds the cells of one verdict, in the order of `by_verdict`.
    """
    rows = -(-len(cells) // ROW_CELLS)
    axis: Figure = {"visible": False, "fixedrange": True}
    layout: Figure = {
        "height": rows * _ROW_PIXELS + 48,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "barmode": "overlay",
        "hovermode": "closest",
        "dragmode": False,
        "legend": {"orientation": "h", "y": -0.05, "yanchor": "top"},
        "xaxis": {**axis, "range": [-0.5, ROW_CELLS - 0.5]},
        "yaxis": {**axis, "range": [rows, 0]},
    }
    traces = [_bars(cells, kind, names[kind], places, told) for kind, places in by_verdict(cells)]
    return {"data": traces, "layout": layout}


def by_verdict(cells: Sequence[Cell]) -> list[tuple[VerdictKind, list[int]]]:
    """The verdicts that occur, each with the places of its cells."""
    found = {
        kind: [at for at, cell in enumerate(cells) if cell.verdict == kind]
        for kind in VERDICT_COLORS
    }
    return [(kind, places) for kind, places in found.items() if places]


def _bars(
    cells: Sequence[Cell],
    kind: VerdictKind,
    name: str,
    places: Sequence[int],
    told: Callable[[Cell], str],
) -> Figure:
    return {
        "type": "bar",
        "name": name,
        "x": [at % ROW_CELLS for at in places],
        "base": [at // ROW_CELLS for at in places],
        "y": [0.86] * len(places),
        "width": 0.9,
        "text": [told(cells[at]) for at in places],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": VERDICT_COLORS[kind], "line": {"width": 0}},
        "unselected": {"marker": {"opacity": 0.45}},
    }
