"""Draws a context window as HTML: a bar of its segments with trigger and target, and tables.

HTML instead of a chart: it is there with the first paint, can be redrawn in place while an answer
streams, and is read out as a table. All text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ctxcore.assembly.verdicts import INPUT_SEGMENTS, SEGMENTS, Breakdown, Segment, VerdictKind
from ctxcore.budget import TokenBudget
from dashboard import numbers

SEGMENT_COLORS: Final[dict[Segment, str]] = {
    "system": "#0072B2",
    "tools": "#E69F00",
    "pinned": "#CC79A7",
    "facts": "#F0E442",
    "summary": "#009E73",
    "kept": "#726DB1",
    "recent": "#56B4E9",
    "recalled": "#A6761D",
    "knowledge": "#66A61E",
    "unattributed": "#999999",
    "reserve": "#808790",
    "free": "#80879033",
}
"""Hues of Okabe and Ito, distinguishable with colour blindness; `free` is translucent."""

VERDICT_COLORS: Final[dict[VerdictKind, str]] = {
    "kept": "#56B4E9",
    "compressed": "#E69F00",
    "summarized": "#009E73",
    "recalled": "#CC79A7",
    "dropped": "#999999",
}

TRIGGER_COLOR = "#D55E00"
TARGET_COLOR = "#009E73"

Label = Callable[[str], str]

CELL = "padding:3px 4px;border:0;border-bottom:1px solid rgba(128,135,144,.25)"

_HATCH = "repeating-linear-gradient(45deg,{0} 0 3px,transparent 3px 7px)"
_HEIGHT = "26px"
_SLIM = "8px"
LIGHT_TEXT: frozenset[Segment] = frozenset({"system", "kept"})
"""The segments dark enough for white text; the others have black text."""
BLACK, WHITE = "#111111", "#ffffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One segment of the bar; `share` is of the whole bar."""

    segment: Segment
    tokens: int
    share: float


def window_parts(breakdown: Breakdown) -> tuple[Part, ...]:
    """The segments that are not empty, in order; together they are the window.

    If the window is unknown or the input exceeds it, they are shares of the input.
    """
    sizes: list[tuple[Segment, int]] = [
        (segment, getattr(breakdown, segment)) for segment in SEGMENTS
    ]
    shown = [(segment, size) for segment, size in sizes if size > 0]
    whole = sum(size for _, size in shown)
    return tuple(Part(segment=segment, tokens=size, share=size / whole) for segment, size in shown)


def with_reply(breakdown: Breakdown, reply_tokens: int) -> Breakdown:
    """The breakdown with `reply_tokens` of an answer added to the recent messages."""
    taken = {name: getattr(breakdown, name) for name in SEGMENTS}
    taken["recent"] += reply_tokens
    if breakdown.window is not None:
        taken["free"] -= reply_tokens
    return Breakdown(**taken, window=breakdown.window)


def window_bar(breakdown: Breakdown, budget: TokenBudget | None, label: Label) -> str:
    """The bar as HTML; `label` returns the text for a key.

    It is empty where the window is unknown: a bar of the input alone would look full.
    """
    if breakdown.window is None:
        return ""
    parts = window_parts(breakdown)
    whole = sum(part.tokens for part in parts)
    pieces = "".join(_piece(part, label) for part in parts)
    ticks = "".join(_ticks(budget, whole, label))
    return (
        f'<div role="img" aria-label="{escape(_spoken(parts, label))}" '
        f'style="position:relative;padding:16px 0 18px 0">'
        f'<div style="display:flex;height:{_HEIGHT};border-radius:5px;overflow:hidden">'
        f"{pieces}</div>"
        f"{ticks}</div>"
    )


def slim_bar(breakdown: Breakdown, budget: TokenBudget | None, label: Label) -> str:
    """The same bar without names and scale, as a line; empty where the window is unknown."""
    if breakdown.window is None:
        return ""
    parts = window_parts(breakdown)
    whole = sum(part.tokens for part in parts)
    pieces = "".join(
        f'<div title="{escape(label(part.segment))}: {part.tokens:,}" '
        f'style="width:{part.share:.4%};{_fill(part.segment)}"></div>'
        for part in parts
    )
    mark = ""
    if budget is not None and budget.trigger_tokens <= whole:
        mark = (
            f'<div title="{escape(label("trigger"))}: {budget.trigger_tokens:,}" '
            f'style="position:absolute;left:{budget.trigger_tokens / whole:.4%};top:-3px;'
            f'bottom:-3px;border-left:2px solid {TRIGGER_COLOR}"></div>'
        )
    return (
        f'<div role="img" aria-label="{escape(_spoken(parts, label))}" '
        f'style="position:relative;height:{_SLIM}">'
        f'<div style="display:flex;height:{_SLIM};border-radius:4px;overflow:hidden">{pieces}</div>'
        f"{mark}</div>"
    )


def _spoken(parts: Sequence[Part], label: Label) -> str:
    """The bar as a screen reader says it."""
    sizes = ", ".join(f"{label(part.segment)} {part.tokens:,}" for part in parts)
    return f"{label('bar')}: {sizes}"


def window_table(breakdown: Breakdown, label: Label, *, is_exact: bool) -> str:
    """The same numbers as an HTML table: segment, tokens, share of the window."""
    rows = [
        _segment_row(part, breakdown, label, is_exact=is_exact) for part in window_parts(breakdown)
    ]
    return _table(("segment", "tokens", "share"), rows, label)


def _table(heads: Sequence[str], rows: Sequence[str], label: Label) -> str:
    """An HTML table; its first column is aligned left, the others right."""
    head = "".join(
        f'<th scope="col" style="text-align:{"right" if at else "left"};{CELL}">'
        f"{escape(label(name))}</th>"
        for at, name in enumerate(heads)
    )
    return (
        '<table style="width:100%;border-collapse:collapse;font-size:0.875rem;border:0">'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _segment_row(part: Part, breakdown: Breakdown, label: Label, *, is_exact: bool) -> str:
    share = numbers.percent(part.tokens, breakdown.window or breakdown.input_tokens)
    written = numbers.tokens(part.tokens, is_exact=is_exact or part.segment == "reserve")
    return (
        f'<tr><td style="{CELL}">{swatch(part.segment)}{escape(label(part.segment))}</td>'
        f'<td style="text-align:right;font-variant-numeric:tabular-nums;{CELL}">{written}</td>'
        f'<td style="text-align:right;font-variant-numeric:tabular-nums;{CELL}">'
        f"{escape(share)}</td></tr>"
    )


def swatch(segment: Segment) -> str:
    """A small square in the colour of a segment."""
    return (
        '<span style="display:inline-block;width:.75em;height:.75em;border-radius:2px;'
        f'margin-right:.5em;{_fill(segment)}"></span>'
    )


def _fill(segment: Segment) -> str:
    color = SEGMENT_COLORS[segment]
    if segment == "reserve":
        return f"background:{_HATCH.format(color)};box-shadow:inset 0 0 0 1px {color}"
    return f"background:{color}"


def _piece(part: Part, label: Label) -> str:
    """One segment; its name, at its beginning, wraps out of sight if it does not fit."""
    name = escape(label(part.segment))
    text = "" if part.segment in ("free", "reserve") else name
    color = WHITE if part.segment in LIGHT_TEXT else BLACK
    return (
        f'<div title="{name}: {part.tokens:,}" style="width:{part.share:.4%};{_fill(part.segment)};'
        f"color:{color};font-size:.75rem;line-height:{_HEIGHT};height:{_HEIGHT};overflow:hidden;"
        "display:flex;flex-wrap:wrap;column-gap:5px;align-content:flex-start;"
        'white-space:nowrap;box-sizing:border-box;border-right:1px solid rgba(255,255,255,.55)">'
        f'<span style="width:1px;height:{_HEIGHT}"></span><span>{text}</span></div>'
    )


def _ticks(budget: TokenBudget | None, whole: int, label: Label) -> Sequence[str]:
    if budget is None or not whole:
        return ()
    marks = (
        ("trigger", budget.trigger_tokens, TRIGGER_COLOR, "top:0"),
        ("target", budget.target_tokens, TARGET_COLOR, "bottom:0"),
    )
    return [
        _tick(label(name), at, at / whole, color, edge)
        for name, at, color, edge in marks
        if at <= whole
    ]


def _tick(name: str, tokens: int, share: float, color: str, edge: str) -> str:
    anchor = "right:4px" if share > 0.5 else "left:4px"
    return (
        f'<div title="{escape(name)}: {tokens:,}" style="position:absolute;left:{share:.4%};top:0;'
        f'bottom:0;width:0;border-left:2px solid {color}">'
        f'<span style="position:absolute;{edge};{anchor};font-size:.7rem;line-height:14px;'
        f'white-space:nowrap;color:{color};font-weight:600">{escape(name)} '
        f"{numbers.short_tokens(tokens)}</span></div>"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One segment before and after."""

    segment: Segment
    before_tokens: int
    after_tokens: int


def changes(before: Breakdown, after: Breakdown) -> tuple[Change, ...]:
    """The segments of the input that are not empty before or after, in order."""
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in INPUT_SEGMENTS]
    return tuple(
        Change(segment=name, before_tokens=was, after_tokens=now)
        for name, was, now in pairs
        if was or now
    )


def comparison_table(
    before: Breakdown,
    after: Breakdown,
    label: Label,
    *,
    is_exact: bool,
    outside: tuple[int, int] = (0, 0),
) -> str:
    """Before, after and change of each segment as an HTML table, with the total.

    `outside` are the tokens that wait outside the window, before and after: no part of the total.
    """
    # The total alone is marked: a mark on each number would hide the numbers.
    rows = [
        _change_row(
            f"{swatch(change.segment)}{escape(label(change.segment))}",
            change.before_tokens,
            change.after_tokens,
        )
        for change in changes(before, after)
    ]
    rows.append(
        _change_row(
            f"<strong>{escape(label('total'))}</strong>",
            before.input_tokens,
            after.input_tokens,
            mark="" if is_exact else "≈",
        )
    )
    if any(outside):
        rows.append(_change_row(escape(label("outside")), *outside))
    return _table(("segment", "before", "after", "change"), rows, label)


def _change_row(name: str, before: int, after: int, *, mark: str = "") -> str:
    change = after - before
    cells = (
        f"{mark}{before:,}",
        f"{mark}{after:,}",
        f"{change:+,}".replace("-", "−") if change else "±0",
    )
    numbers = "".join(
        f'<td style="text-align:right;font-variant-numeric:tabular-nums;{CELL}">{cell}</td>'
        for cell in cells
    )
    return f'<tr><td style="{CELL}">{name}</td>{numbers}</tr>'
