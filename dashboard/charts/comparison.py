"""Owns the table that sets two windows side by side, segment by segment."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from ctxcore.assembly.verdicts import INPUT_SEGMENTS, Breakdown, Segment
from dashboard.charts.window import CELL, Label, swatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One segment before and after."""

    segment: Segment
    before_tokens: int
    after_tokens: int


def changes(before: Breakdown, after: Breakdown) -> tuple[Change, ...]:
    """The input's segments that take anything before or after, in order."""
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in INPUT_SEGMENTS]
    return tuple(
        Change(segment=name, before_tokens=was, after_tokens=now)
        for name, was, now in pairs
        if was or now
    )


def comparison_table(
    before: Breakdown, after: Breakdown, label: Label, *, outside: tuple[int, int] = (0, 0)
) -> str:
    """Before, after and change of each segment as an HTML table, with the whole input below.

    `outside` is what does not fit before and after; it is part of the whole.
    """
    heads = "".join(
        f'<th scope="col" style="text-align:{side};{CELL}">{escape(label(name))}</th>'
        for name, side in (
            ("segment", "left"),
            ("before", "right"),
            ("after", "right"),
            ("change", "right"),
        )
    )
    rows = "".join(
        _row(
            f"{swatch(change.segment)}{escape(label(change.segment))}",
            change.before_tokens,
            change.after_tokens,
        )
        for change in changes(before, after)
    )
    if any(outside):
        rows += _row(escape(label("outside")), *outside)
    total = _row(
        f"<strong>{escape(label('total'))}</strong>",
        before.input_tokens + outside[0],
        after.input_tokens + outside[1],
    )
    return (
        '<table style="width:100%;border-collapse:collapse;font-size:0.875rem;border:0">'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}{total}</tbody></table>"
    )


def _row(name: str, before: int, after: int) -> str:
    change = after - before
    cells = (f"{before:,}", f"{after:,}", f"{change:+,}".replace("-", "−") if change else "±0")
    numbers = "".join(
        f'<td style="text-align:right;font-variant-numeric:tabular-nums;{CELL}">{cell}</td>'
        for cell in cells
    )
    return f'<tr><td style="{CELL}">{name}</td>{numbers}</tr>'
