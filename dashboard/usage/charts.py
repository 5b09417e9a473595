"""Charts of the usage page: rows in, plotly figures as plain dictionaries out.

Names and colours are arguments, so that the functions serve every language and theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dashboard.usage.rows import Bar, Compared, Share
from dashboard.widgets import Figure

LINE_COLOR = "#999999"
CLOSE_SHARE = 0.1  # of the height; chosen: a line of text on a screen 390 px wide
LABEL_PLACES = ((1.0, "right", "bottom"), (0.5, "center", "top"), (0.0, "left", "top"))
ROOM = 1.5  # width of the longest bar with its label, in bars, on a screen 390 px wide
PROVIDER_COLORS = {"fresh": "#D55E00", "cache_write": "#E69F00", "cached": "#56B4E9"}
SHARE_COLORS = {
    "system": "#0072B2",
    "user": "#CC79A7",
    "assistant": "#009E73",
    "thinking": "#F0E442",
    "summary": "#D55E00",
    "orphan": "#999999",
    "call": "#E69F00",
    "result": "#56B4E9",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A limit drawn across a chart."""

    name: str
    tokens: int
    dash: str = "dash"


def stacked_turns(
    bars: Sequence[Bar],
    *,
    names: Mapping[str, str],
    colors: Mapping[str, str],
    axis: str,
    turn: str,
    lines: Sequence[Line] = (),
    marked: Sequence[int] = (),
    marker: str = "",
) -> Figure:
    """One bar per turn, stacked by part; `marked` turns carry a compaction."""
    parts = [name for name in names if any(bar.parts.get(name) for bar in bars)]
    turns = [bar.turn for bar in bars]
    traces: list[Figure] = [
        {
            "type": "bar",
            "name": names[part],
            "x": turns,
            "y": [bar.parts.get(part, 0) for bar in bars],
            "marker": {"color": colors[part], "line": {"width": 0}},
            "hovertemplate": f"{turn} %{{x}} · {names[part]}: %{{y:,}}<extra></extra>",
        }
        for part in parts
    ]
    if marks := _marks(bars, marked, marker, turn):
        traces.append(marks)
    return {"data": traces, "layout": _layout(turns, axis, turn, lines, bars)}


def estimate_against_provider(
    rows: Sequence[Compared], *, ours: str, theirs: str, axis: str, turn: str
) -> Figure:
    """Both counts of each call, side by side."""
    labels = [f"{row.turn}.{row.call}" for row in rows]
    values = {
        ours: [row.estimate_tokens for row in rows],
        theirs: [row.provider_tokens for row in rows],
    }
    colors = ("#0072B2", "#D55E00")
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": labels,
            "y": counted,
            "line": {"color": color, "dash": dash},
            "marker": {"symbol": symbol},
            "hovertemplate": f"{turn} %{{x}} · {name}: %{{y:,}}<extra></extra>",
        }
        for (name, counted), color, dash, symbol in zip(
            values.items(), colors, ("solid", "dot"), ("circle", "diamond"), strict=True
        )
    ]
    layout = _layout([], axis, turn, (), ())
    layout["xaxis"] = {"type": "category", "title": {"text": turn}, "nticks": 20}
    return {"data": traces, "layout": layout}


def where_tokens_went(
    parts: Sequence[Share], *, labels: Sequence[str], total: int, axis: str
) -> Figure:
    """One horizontal bar per share, the largest on top, with its number and percentage."""
    sizes = [share.tokens for share in parts]
    texts = [f"{size:,} · {size / max(total, 1):.1%}" for size in sizes]
    trace = {
        "type": "bar",
        "orientation": "h",
        "y": list(labels),
        "x": sizes,
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": [SHARE_COLORS[share.kind] for share in parts]},
        "hovertemplate": "%{y}: %{text}<extra></extra>",
    }
    layout: Figure = {
        "height": 60 + 28 * len(parts),
        "margin": {"l": 8, "r": 8, "t": 8, "b": 40},
        "showlegend": False,
        "bargap": 0.25,
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
        "xaxis": {"title": {"text": axis}, "range": [0, max(sizes, default=1) * ROOM]},
    }
    return {"data": [trace], "layout": layout}


def _marks(bars: Sequence[Bar], marked: Sequence[int], name: str, turn: str) -> Figure | None:
    """A triangle above every turn that carries a compaction."""
    tops = {bar.turn: sum(bar.parts.values()) for bar in bars}
    at = [number for number in marked if number in tops]
    if not at:
        return None
    lift = max(tops.values()) * 0.04
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": at,
        "y": [tops[number] + lift for number in at],
        "marker": {"symbol": "triangle-down", "size": 12, "color": "#D55E00"},
        "hovertemplate": f"{name} · {turn} %{{x}}<extra></extra>",
    }


def _layout(
    turns: Sequence[int], axis: str, turn: str, lines: Sequence[Line], bars: Sequence[Bar]
) -> Figure:
    few = len(turns) <= 30
    top = max((sum(bar.parts.values()) for bar in bars), default=0)
    x_axis: Figure = {"title": {"text": turn}, **({"dtick": 1} if few else {})}
    return {
        "barmode": "stack",
        "bargap": 0.25 if few else 0.05,
        "height": 360,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 40},
        "hovermode": "closest",
        "legend": {"orientation": "h", "traceorder": "normal", "y": -0.22, "yanchor": "top"},
        "xaxis": x_axis,
        "yaxis": {
            "title": {"text": axis},
            "rangemode": "tozero",
            "tickformat": ",",
            "automargin": True,
        },
        **limit_marks(lines, top),
    }


def limit_marks(lines: Sequence[Line], top: int) -> Figure:
    """The limits across a chart whose highest value is `top`, as parts of its layout.

    One far above would flatten all that is drawn; a caption names it instead.
    """
    shown = [line for line in lines if line.tokens <= top * 4]
    return {
        "shapes": [_shape(line) for line in shown],
        "annotations": _labels(shown, top),
    }


def _shape(line: Line) -> Figure:
    stroke = {"color": LINE_COLOR, "width": 2, "dash": line.dash}
    ends = {"x0": 0, "x1": 1, "y0": line.tokens, "y1": line.tokens}
    return {"type": "line", "xref": "paper", "line": stroke, **ends}


def _labels(lines: Sequence[Line], top: int) -> list[Figure]:
    """The names of the limits, highest first; one close below another is named aside, below it."""
    close = CLOSE_SHARE * max([top, *(line.tokens for line in lines)])
    found: list[Figure] = []
    place, above = 0, float("inf")
    for line in sorted(lines, key=lambda line: -line.tokens):
        place = (place + 1) % len(LABEL_PLACES) if above - line.tokens < close else 0
        found.append(_label(line, *LABEL_PLACES[place]))
        above = line.tokens
    return found


def _label(line: Line, x: float, xanchor: str, yanchor: str) -> Figure:
    return {
        "xref": "paper",
        "x": x,
        "y": line.tokens,
        "xanchor": xanchor,
        "yanchor": yanchor,
        "showarrow": False,
        "text": f"{line.name} {line.tokens:,}",
    }
