"""The chart of the timeline: points in, a plotly figure as a plain dictionary out.

Names and colours are arguments, so that it serves every language and theme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.usage.charts import LINE_COLOR, Line, limit_marks
from dashboard.usage.timeline_rows import CallPoint
from dashboard.widgets import Figure

HEIGHT = 460  # pixels; chosen: three charts under each other on one screen
COMPACTION_COLOR = "#D55E00"
BREAK_COLOR = "#CC79A7"
COST_COLOR = "#0072B2"
CACHED_COLOR = "#56B4E9"
CHOSEN_COLOR = "#000000"

_TOKENS, _CACHED, _COST = [0.38, 1.0], [0.19, 0.31], [0.0, 0.12]
"""The heights of the three charts, as shares of the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The words of the chart in the page's language."""

    tokens: str
    call: str
    cached: str
    cost: str
    compaction: str
    cache_break: str


def timeline_figure(
    points: Sequence[CallPoint],
    *,
    names: Mapping[str, str],
    colors: Mapping[str, str],
    wording: Wording,
    told: Callable[[CallPoint], str],
    lines: Sequence[Line] = (),
) -> Figure:
    """What each call sent, stacked, over its cached share and its cost; `told` is its hover text.

    A click on a call selects a point whose `x` is its number.
    """
    shown = [point for point in points if point.parts]
    parts = [name for name in names if any(point.parts.get(name) for point in shown)]
    traces = [_area(shown, part, names[part], colors[part]) for part in parts]
    traces += filter(None, (_compactions(shown, wording), _breaks(shown, wording)))
    traces += [_targets(shown, told, wording), _cached(shown, wording), _costs(shown, wording)]
    return {"data": traces, "layout": _layout(shown, wording, lines)}


def _area(points: Sequence[CallPoint], part: str, name: str, color: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "sent",
        "name": name,
        "x": [point.number for point in points],
        "y": [point.parts.get(part, 0) for point in points],
        "line": {"width": 0, "shape": "hvh"},
        "fillcolor": color,
        "hoverinfo": "skip",
    }


def _compactions(points: Sequence[CallPoint], wording: Wording) -> Figure | None:
    """A triangle at the first call after each compaction."""
    folded = [point for point in points if point.is_compacted]
    top = max((point.sent_tokens for point in points), default=0)
    if not folded:
        return None
    marks = _marks(folded, wording.compaction, "triangle-down", COMPACTION_COLOR)
    return {**marks, "y": [point.sent_tokens + top * 0.04 for point in folded]}


def _breaks(points: Sequence[CallPoint], wording: Wording) -> Figure | None:
    """A cross at each call for which the prompt cache was lost without a compaction."""
    broken = [point for point in points if point.cache_break and not point.is_compacted]
    return _marks(broken, wording.cache_break, "x", BREAK_COLOR) if broken else None


def _marks(points: Sequence[CallPoint], name: str, symbol: str, color: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [point.number for point in points],
        "y": [point.sent_tokens for point in points],
        "marker": {"symbol": symbol, "size": 10, "color": color},
        "unselected": {"marker": {"opacity": 1}},
        "hoverinfo": "skip",
    }


def _targets(
    points: Sequence[CallPoint], told: Callable[[CallPoint], str], wording: Wording
) -> Figure:
    """Unseen points that carry the hover text and take the clicks."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": wording.call,
        "showlegend": False,
        "x": [point.number for point in points],
        "y": [point.sent_tokens for point in points],
        "text": [told(point) for point in points],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 9, "opacity": 0, "color": CHOSEN_COLOR},
        "selected": {"marker": {"opacity": 1, "color": CHOSEN_COLOR}},
        "unselected": {"marker": {"opacity": 0}},
    }


def _cached(points: Sequence[CallPoint], wording: Wording) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": wording.cached,
        "showlegend": False,
        "yaxis": "y2",
        "x": [point.number for point in points],
        "y": [point.cached_ratio for point in points],
        "line": {"width": 1, "shape": "hvh", "color": CACHED_COLOR},
        "fill": "tozeroy",
        "hoverinfo": "skip",
    }


def _costs(points: Sequence[CallPoint], wording: Wording) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": wording.cost,
        "showlegend": False,
        "yaxis": "y3",
        "x": [point.number for point in points],
        "y": [point.call.cost for point in points],
        "line": {"width": 1, "shape": "hvh", "color": COST_COLOR},
        "fill": "tozeroy",
        "hoverinfo": "skip",
    }


def _layout(points: Sequence[CallPoint], wording: Wording, lines: Sequence[Line]) -> Figure:
    top = max((point.sent_tokens for point in points), default=0)
    marks = limit_marks(lines, top)
    return {
        "height": HEIGHT,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 40},
        "hovermode": "x",
        "dragmode": "zoom",
        "legend": {"orientation": "h", "traceorder": "normal", "y": -0.14, "yanchor": "top"},
        "xaxis": {"title": {"text": wording.call}, "anchor": "y3", "tickformat": ",d"},
        "yaxis": _axis(wording.tokens, _TOKENS, ","),
        "yaxis2": {**_axis(wording.cached, _CACHED, ".0%"), "range": [0, 1], "nticks": 3},
        "yaxis3": {**_axis(wording.cost, _COST, "$,.2~f"), "nticks": 3},
        **marks,
    }


def _axis(title: str, domain: Sequence[float], form: str) -> Figure:
    return {
        "title": {"text": title, "font": {"size": 11}},
        "domain": list(domain),
        "rangemode": "tozero",
        "tickformat": form,
        "automargin": True,
        "gridcolor": f"{LINE_COLOR}33",
    }
