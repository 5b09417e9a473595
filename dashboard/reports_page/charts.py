"""Charts of the reports page: values in, plotly figures as plain dictionaries out."""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.engine.savings import Saving
from dashboard.widgets import Figure

COLORS = {"unsent": "#009E73", "summaries": "#C44E52", "rewritten": "#E69F00"}
HEIGHT = 260


def monthly_savings(
    sums: Mapping[str, Saving], *, names: Mapping[str, str], in_dollars: bool, axis: str
) -> Figure:
    """A bar a month: what was saved above the line, what that cost below it."""
    parts = {
        name: [_part(one, name, in_dollars=in_dollars) for one in sums.values()] for name in names
    }
    form = "$,.2f" if in_dollars else ","
    traces: list[Figure] = [
        {
            "type": "bar",
            "name": names[name],
            "x": list(sums),
            "y": values,
            "marker": {"color": COLORS[name], "line": {"width": 0}},
            "hovertemplate": f"%{{x}} · {names[name]}: %{{y:{form}}}<extra></extra>",
        }
        for name, values in parts.items()
        if any(values)
    ]
    layout: Figure = {
        "barmode": "relative",
        "bargap": 0.4,
        "height": HEIGHT,
        "margin": {"l": 8, "r": 8, "t": 16, "b": 32},
        "legend": {"orientation": "h", "y": -0.2, "yanchor": "top"},
        "xaxis": {"type": "category"},
        "yaxis": {"title": {"text": axis}, "tickformat": form, "automargin": True},
    }
    return {"data": traces, "layout": layout}


def _part(one: Saving, name: str, *, in_dollars: bool) -> float:
    if name == "unsent":
        return (one.unsent_dollars or 0.0) if in_dollars else one.unsent_tokens
    if name == "summaries":
        return -((one.summary_dollars or 0.0) if in_dollars else one.summary_tokens)
    return -(one.rewritten_dollars or 0.0) if in_dollars else 0.0
