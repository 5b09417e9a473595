"""The charts of a trial, and their numbers as tables; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ctxcore.tokens.costs import dollars_text
from ctxcore.trials.comparing import (
    are_priced,
    compared_rows,
    frontier,
    kept_share,
    spent,
    usual_measure,
)
from ctxcore.trials.report import change_text, share_text
from ctxcore.trials.values import Figures, Trial, Tried
from dashboard.texts import t
from dashboard.widgets import Figure, Row

Name = Callable[[int], str]
"""The name of a candidate by its place."""
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"


def trial_rows(trial: Trial, name: Name, reference: str | None) -> list[Row]:
    """A row a candidate: what it sends, costs, takes and keeps."""
    change = t("lab.column.change", reference=reference) if reference else None
    return [
        _row(at, name(at), figures, changed, change)
        for at, (_, figures, changed) in enumerate(compared_rows(trial))
    ]


def _row(at: int, name: str, figures: Figures, changed: float | None, change: str | None) -> Row:
    unknown = t("common.unknown")
    return {
        "#": at + 1,
        t("lab.column.policy"): name,
        t("lab.column.sent"): figures.sent_tokens,
        t("lab.column.cost"): unknown if figures.cost is None else dollars_text(figures.cost),
        **({change: change_text(changed, "–")} if change else {}),
        t("lab.column.compactions"): figures.compactions,
        t("lab.column.refused"): figures.refused,
        t("lab.column.reused"): share_text(figures.reuse_share, "–"),
        t("lab.column.literals"): share_text(figures.literals_share, "–"),
        t("lab.column.facts"): share_text(figures.facts_share, "–"),
        t("lab.column.rules"): share_text(figures.rules_share, "–"),
    }


def pareto_figure(trial: Trial, name: Name) -> Figure | None:
    """Spending across, what is kept upwards; the line has what nothing beats.

    Candidates that had calls refused did less, and are not drawn. None where nothing is left.
    """
    totals = trial.totals
    measure, is_priced = usual_measure(totals), are_priced(totals)
    points = [
        (at, spent(one, is_priced=is_priced), share)
        for at, one in enumerate(totals)
        if not one.over and (share := kept_share(one, measure)) is not None
    ]
    if not points:
        return None
    place = {at: (x, y) for at, x, y in points}
    best = [at for at in frontier(totals, measure) if at in place]
    line: Figure = {
        "type": "scatter",
        "mode": "lines",
        "x": [place[at][0] for at in best],
        "y": [place[at][1] for at in best],
        "line": {"color": GREY, "dash": "dot", "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    dots: Figure = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [x for _, x, _ in points],
        "y": [y for _, _, y in points],
        "text": [str(at + 1) for at, *_ in points],
        "textfont": {"color": "#ffffff"},
        "customdata": [at for at, *_ in points],
        "hovertext": [name(at) for at, *_ in points],
        "hovertemplate": "%{hovertext}<br>%{x}<br>%{y:.0%}<extra></extra>",
        "marker": {
            "size": 22,
            "color": [BLUE if at in best else GREY for at, *_ in points],
        },
        "showlegend": False,
    }
    across = t("lab.chart.cost" if is_priced else "lab.chart.tokens")
    return {
        "data": [line, dots],
        "layout": {
            "height": 340,
            "margin": {"l": 60, "r": 16, "t": 16, "b": 48},
            "xaxis": {"title": {"text": across}, "tickprefix": "$" if is_priced else ""},
            "yaxis": {"title": {"text": t(f"lab.chart.{measure}")}, "tickformat": ".0%"},
        },
    }


def calls_figure(tried: Tried, other: Tried | None, names: Sequence[str]) -> Figure:
    """The tokens of each call under a candidate, and under another one beside it."""
    return {
        "data": [
            _line(one, name, color)
            for one, name, color in zip((tried, other), names, (BLUE, ORANGE), strict=False)
            if one is not None
        ],
        "layout": {
            "height": 260,
            "margin": {"l": 60, "r": 16, "t": 8, "b": 40},
            "xaxis": {"title": {"text": t("lab.world.call")}},
            "yaxis": {"title": {"text": t("common.tokens")}, "rangemode": "tozero"},
            "legend": {"orientation": "h", "y": 1.12},
        },
    }


def _line(tried: Tried, name: str, color: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": list(range(1, len(tried.calls) + 1)),
        "y": [call[1] or None for call in tried.calls],
        "line": {"color": color, "width": 2},
        "marker": {
            "size": 6,
            "symbol": ["triangle-down" if call[3] else "circle" for call in tried.calls],
        },
    }


def call_rows(tried: Tried) -> list[Row]:
    """A row a call."""
    return [
        {
            t("lab.world.call"): number,
            t("usage.messages"): at + 1,
            t("common.tokens"): tokens or None,
            t("lab.column.reused"): reused,
            t("lab.column.compactions"): compactions,
            t("lab.world.missed"): missed,
        }
        for number, (at, tokens, reused, compactions, missed) in enumerate(tried.calls, 1)
    ]
