"""The survival map: what became of each message in each call, from the verdicts of the calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.store.values import CallInfo
from dashboard.call_view.sizes import estimate_tokens
from dashboard.widgets import Figure
from dashboard.window_chart import VERDICT_COLORS

MOST_CALLS = 160
MOST_ROWS = 125  # with the calls 20,000 cells, which a browser draws without delay
_ROW_PIXELS = 14
_LEAST_PIXELS, _MOST_PIXELS = 220, 620


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """Rows of messages and columns of calls; all numbers count from 1."""

    calls: tuple[int, ...]
    rows: tuple[tuple[int, int], ...]
    """The first and the last message of each row."""
    cells: tuple[tuple[VerdictKind | None, ...], ...]
    """What became of most messages of a row, a call each; None: they were not said yet."""


def sampled_calls(calls: Sequence[CallInfo], most: int = MOST_CALLS) -> dict[int, CallInfo]:
    """The calls that recorded verdicts, by number; of many the first, the last, and some evenly."""
    found = {
        number: call
        for number, call in enumerate(calls, start=1)
        if call.purpose != "summary" and estimate_tokens(call)
    }
    if len(found) <= most:
        return found
    numbers = list(found)
    last = len(numbers) - 1
    places = dict.fromkeys(round(nth * last / (most - 1)) for nth in range(most))
    return {numbers[at]: found[numbers[at]] for at in places}


def survival_of(runs: Mapping[int, Sequence[Run]], most_rows: int = MOST_ROWS) -> Survival:
    """The map of the calls with these verdicts, by number of the call."""
    shown = {number: found for number, found in sorted(runs.items()) if found}
    length = max((found[-1].last + 1 for found in shown.values()), default=0)
    size = max(1, -(-length // most_rows))
    count = -(-length // size)
    columns = [_column(found, size, count) for found in shown.values()]
    return Survival(
        calls=tuple(shown),
        rows=tuple((at * size + 1, min(length, (at + 1) * size)) for at in range(count)),
        cells=tuple(tuple(column[at] for column in columns) for at in range(count)),
    )


def _column(runs: Sequence[Run], size: int, count: int) -> list[VerdictKind | None]:
    """What became of most messages of each row in one call."""
    rows: list[dict[VerdictKind, int]] = [{} for _ in range(count)]
    for run in runs:
        for at in range(run.first // size, run.last // size + 1):
            shared = min(run.last + 1, (at + 1) * size) - max(run.first, at * size)
            rows[at][run.verdict] = rows[at].get(run.verdict, 0) + shared
    return [_most(row) for row in rows]


def _most(counts: Mapping[VerdictKind, int]) -> VerdictKind | None:
    kinds: list[VerdictKind] = sorted(counts, key=lambda kind: counts[kind])
    return kinds[-1] if kinds else None


def survival_figure(
    survival: Survival, *, names: Mapping[VerdictKind, str], call: str, messages: str
) -> Figure:
    """The map as a plotly figure; `call` and `messages` name the axes."""
    kinds = list(VERDICT_COLORS)
    numbers = {kind: at for at, kind in enumerate(kinds)}
    shown = {kind for row in survival.cells for kind in row if kind}
    height = len(survival.rows) * _ROW_PIXELS
    heatmap: Figure = {
        "type": "heatmap",
        "x": [f"{number:,}" for number in survival.calls],
        "y": [
            f"{first:,}" if first == last else f"{first:,}–{last:,}"
            for first, last in survival.rows
        ],
        "z": [[None if kind is None else numbers[kind] for kind in row] for row in survival.cells],
        "text": [["" if kind is None else names[kind] for kind in row] for row in survival.cells],
        "hovertemplate": f"{call} %{{x}}<br>{messages} %{{y}}<br>%{{text}}<extra></extra>",
        "hoverongaps": False,
        "zmin": -0.5,
        "zmax": len(kinds) - 0.5,
        "colorscale": _steps([VERDICT_COLORS[kind] for kind in kinds]),
        "showscale": False,
        "xgap": 1 if len(survival.calls) <= MOST_CALLS // 2 else 0,
        "ygap": 1 if len(survival.rows) <= MOST_ROWS // 2 else 0,
    }
    legend: list[Figure] = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [None],
            "y": [None],
            "name": names[kind],
            "marker": {"color": VERDICT_COLORS[kind], "symbol": "square", "size": 12},
        }
        for kind in kinds
        if kind in shown
    ]
    layout: Figure = {
        "height": min(max(height, _LEAST_PIXELS), _MOST_PIXELS) + 96,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        "xaxis": {"type": "category", "title": {"text": call}, "nticks": 12},
        "yaxis": {
            "type": "category",
            "title": {"text": messages},
            "autorange": "reversed",
            "nticks": 12,
        },
    }
    return {"data": [heatmap, *legend], "layout": layout}


def _steps(colors: Sequence[str]) -> list[list[object]]:
    """A scale in which each color has a band of its own."""
    count = len(colors)
    return [[edge / count, color] for at, color in enumerate(colors) for edge in (at, at + 1)]
