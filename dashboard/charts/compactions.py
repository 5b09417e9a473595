"""Owns the chart of a compaction: the window with and without it, as two stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.charts.usage import Figure

SEPARATOR = "rgba(127,127,127,0.5)"  # tells neighbours apart on light and on dark


def before_and_after(
    contexts: Sequence[tuple[str, Mapping[str, int]]],
    *,
    names: Mapping[str, str],
    colors: Mapping[str, str],
    axis: str,
) -> Figure:
    """One horizontal bar a context, stacked by segment in the order of `names`."""
    labels = [label for label, _ in contexts]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": names[segment],
            "y": labels,
            "x": [parts.get(segment, 0) for _, parts in contexts],
            "marker": {"color": colors[segment], "line": {"width": 1, "color": SEPARATOR}},
            "hovertemplate": f"{names[segment]}: %{{x:,}}<extra></extra>",
        }
        for segment in names
        if any(parts.get(segment) for _, parts in contexts)
    ]
    layout: Figure = {
        "barmode": "stack",
        "height": 250,
        "bargap": 0.35,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 40},
        "legend": {"orientation": "h", "traceorder": "normal", "y": -0.35, "yanchor": "top"},
        "xaxis": {"title": {"text": axis}, "tickformat": ",", "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
    }
    return {"data": traces, "layout": layout}
