"""A trial as one HTML page: sums, a chart of spending against what is kept, every session.

The page holds all it needs, runs no script, and follows the reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import inf
from typing import Final

from ctxcore.html_page import html_page, html_table
from ctxcore.json_types import JsonObject
from ctxcore.messages.canonical import printable
from ctxcore.tokens.costs import dollars_text
from ctxcore.trials.comparing import (
    are_priced,
    compared_rows,
    frontier,
    kept_share,
    reference_at,
    spent,
    usual_measure,
)
from ctxcore.trials.values import Figures, Trial

WORDS: Final[Mapping[str, str]] = {
    "title": "Policies tried on recorded sessions",
    "scope": "{sessions} sessions, {calls} calls to a model. No model was called; summaries quote.",
    "policy": "Policy",
    "sent": "Tokens sent",
    "cost": "Cost",
    "change": "Against {reference}",
    "compactions": "Compactions",
    "refused": "Refused",
    "reused": "From cache",
    "literals": "Literals there",
    "facts": "Facts there",
    "rules": "Instructions there",
    "session": "Session",
    "sessions": "Each session",
    "chart": "Spending and what is kept",
    "spent_cost": "Cost of all calls (US dollars)",
    "spent_tokens": "Tokens sent in all calls",
    "kept_literals": "Literals there when calls use them",
    "kept_facts": "Facts there at calls",
    "frontier": "On the line: no other policy spends less and keeps more.",
    "not_drawn": "Not drawn, because calls were refused and so less was done: {names}.",
    "fields": "Fields that differ from the preset",
    "terms": "Refused: calls that did not fit, or that a provider would reject. From cache: the "
    "part of what is sent that a prompt cache can reuse. Literals: exact strings of earlier "
    "messages, such as ids, paths and dates, that a tool call uses. Facts: rules, decisions, "
    "values and open questions that hold at a call.",
    "estimated": "Tokens are estimated where the model's vocabulary is not public.",
    "unknown": "unknown",
    "failed": "Could not be tried",
}
"""The texts of the page, by key."""

_STYLE = """
svg .front{stroke:var(--accent);fill:none;stroke-dasharray:4 3}
svg .point{stroke:var(--accent);stroke-width:2;fill:var(--accent)}
svg .number{fill:var(--page);font-weight:600;text-anchor:middle}
"""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 720, 400, 64, 48, 16, 24
_TICKS = 5


def render_report(trial: Trial, words: Mapping[str, str] = WORDS, language: str = "en") -> str:
    """The page of a trial; `words` are those of `WORDS` in another language."""
    calls = max((figures.calls for figures in trial.totals), default=0)
    scope = words["scope"].format(sessions=f"{len(trial.sessions):,}", calls=f"{calls:,}")
    parts = (
        f"<p>{escape(scope)}</p>",
        _table(trial, words),
        _chart(trial, words),
        f"<p>{escape(words['terms'])}</p>",
        "" if trial.is_exact else f"<p>{escape(words['estimated'])}</p>",
        *_sessions(trial, words),
        *_fields(trial, words),
    )
    return html_page(words["title"], parts, language=language, style=_STYLE)


def reference_name(trial: Trial) -> str | None:
    """The candidate that the others are compared with."""
    at = reference_at(trial.candidates, trial.totals)
    return None if at is None else trial.candidates[at].name


def change_text(change: float | None, unknown: str) -> str:
    """How much more or less is spent, as `+12 %`."""
    if change is None:
        return unknown
    percent = round(change * 100)
    return f"{percent:+,} %".replace("-", "−") if percent else "0 %"


def share_text(share: float | None, unknown: str) -> str:
    """A share as a percentage, never rounded to 0 or 100 %."""
    if share is None:
        return unknown
    if 0 < share < 0.01:
        return "<1 %"
    return "99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")


def _table(trial: Trial, words: Mapping[str, str]) -> str:
    """The sums, a row a candidate."""
    reference = reference_name(trial)
    change = words["change"].format(reference=reference) if reference else None
    heads = [
        "#",
        *(words["policy"], words["sent"], words["cost"]),
        *([change] if change else []),
        *(words[name] for name in ("compactions", "refused", "reused")),
        *(words[name] for name in ("literals", "facts", "rules")),
    ]
    rows = (
        _row(f"{number}", candidate.name, figures, changed if change else ..., words)
        for number, (candidate, figures, changed) in enumerate(compared_rows(trial), 1)
    )
    return html_table(heads, rows)


def _row(
    first: str,
    name: str,
    figures: Figures,
    change: float | object | None,
    words: Mapping[str, str],
) -> str:
    unknown = words["unknown"]
    cells = [
        f"<td>{escape(first)}</td>",
        f'<td class="name">{escape(printable(name))}</td>',
        f"<td>{figures.sent_tokens:,}</td>",
        f"<td>{unknown if figures.cost is None else dollars_text(figures.cost)}</td>",
    ]
    if change is not ...:
        known = change if isinstance(change, float) else None
        cells.append(f"<td>{escape(change_text(known, '–'))}</td>")
    refused = f"{figures.refused:,}"
    cells += [
        f"<td>{figures.compactions:,}</td>",
        f'<td class="warn">{refused}</td>' if figures.refused else f"<td>{refused}</td>",
        *(
            f"<td>{escape(share_text(share, '–'))}</td>"
            for share in (
                figures.reuse_share,
                figures.literals_share,
                figures.facts_share,
                figures.rules_share,
            )
        ),
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _chart(trial: Trial, words: Mapping[str, str]) -> str:
    """Spending across, what is kept upwards; each point has the number of its row."""
    totals = trial.totals
    measure, is_priced = usual_measure(totals), are_priced(totals)
    points = {
        at: (spent(one, is_priced=is_priced), share)
        for at, one in enumerate(totals)
        if not one.over and (share := kept_share(one, measure)) is not None
    }
    if not points:
        return ""
    across = _Axis.of([x for x, _ in points.values()], _LEFT, _WIDTH - _RIGHT)
    up = _Axis.of([y for _, y in points.values()], _HEIGHT - _BOTTOM, _TOP + 10, most=1.0)
    place = {at: (across.place(x), up.place(y)) for at, (x, y) in points.items()}
    line = " ".join(
        f"{x:.1f},{y:.1f}" for x, y in map(place.__getitem__, frontier(totals, measure))
    )
    dots = "".join(_dot(at + 1, trial.candidates[at].name, *place[at]) for at in points)
    below = words["spent_cost" if is_priced else "spent_tokens"]
    title = escape(words["chart"])
    out = [one.name for one, figures in zip(trial.candidates, totals, strict=True) if figures.over]
    missing = words["not_drawn"].format(names=", ".join(map(printable, out))) if out else ""
    note = f"{words['frontier']} {missing}".strip()
    return (
        f"<h2>{title}</h2><figure>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">'
        f"{''.join(_grid(across, up, is_priced=is_priced))}"
        f'<polyline class="front" points="{line}"></polyline>{dots}'
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(below)}</text>'
        f'<text x="{_LEFT}" y="12">{escape(words[f"kept_{measure}"])}</text></svg>'
        f"<figcaption>{escape(note)}</figcaption></figure>"
    )


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float, most: float = inf) -> _Axis:
        """The axis around `values`, with room beside them."""
        low, high = min(values), max(values)
        room = (high - low) * 0.15 or high * 0.1 or 1.0
        return cls(max(0.0, low - room), min(most, high + room), start, end)

    def place(self, value: float) -> float:
        """Where a value is drawn."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """The values that are named."""
        return [self.low + at * (self.high - self.low) / _TICKS for at in range(_TICKS + 1)]


def _dot(number: int, name: str, x: float, y: float) -> str:
    return (
        f'<g><circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="10"></circle>'
        f'<text class="number" x="{x:.1f}" y="{y + 4:.1f}">{number}</text>'
        f"<title>{escape(printable(name))}</title></g>"
    )


def _grid(across: _Axis, up: _Axis, *, is_priced: bool) -> Iterator[str]:
    for value in up.ticks:
        y = up.place(value)
        yield (
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}">'
            f'</line><text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.0%}</text>'
        )
    for value in across.ticks:
        text = dollars_text(value) if is_priced else f"{value:,.0f}"
        x, y = across.place(value), _HEIGHT - _BOTTOM + 18
        yield f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{text}</text>'


def _sessions(trial: Trial, words: Mapping[str, str]) -> Iterator[str]:
    """A table a session, folded away, and those that could not be tried."""
    if len(trial.sessions) > 1:
        yield f"<h2>{escape(words['sessions'])}</h2>"
        for session in trial.sessions:
            alone = Trial(candidates=trial.candidates, sessions=(session,))
            name = escape(printable(session.title or session.id))
            yield f"<details><summary>{name}</summary>{_table(alone, words)}</details>"
    if trial.failed:
        yield f"<h2>{escape(words['failed'])}</h2><ul>"
        for one in trial.failed:
            yield f"<li>{escape(printable(one.title or one.id))}: {escape(str(one.reason))}</li>"
        yield "</ul>"


def _fields(trial: Trial, words: Mapping[str, str]) -> Iterator[str]:
    """The fields of the candidates that are no plain presets."""
    listed = [(one.name, one.overrides) for one in trial.candidates if len(one.overrides) > 1]
    if not listed:
        return
    yield f"<h2>{escape(words['fields'])}</h2>"
    for name, overrides in listed:
        yield (
            f"<details><summary>{escape(printable(name))}</summary>"
            f"<p>{escape(_written(overrides))}</p></details>"
        )


def _written(overrides: JsonObject) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(overrides.items()))
