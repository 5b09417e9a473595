"""Tables, lists and bars of the command line; every cell is plain text, never markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ctxcore.cli.output import one_line, percent, plural

BAR_CELLS = 20  # chosen: one cell for 5 %
WINDOW_CELLS = 72  # chosen: fits a terminal of 80 cells
_LEAST_TAIL_CELLS = 12  # chosen: the end of a file name stays readable

_STYLES = {
    "system": "blue",
    "tools": "cyan",
    "pinned": "magenta",
    "facts": "magenta",
    "summary": "yellow",
    "kept": "green",
    "recent": "green",
    "recalled": "yellow",
    "knowledge": "cyan",
    "unattributed": "red",
    "reserve": "dim",
    "free": "dim",
}


def make_table(*columns: str) -> Table:
    """An empty table; columns named `>…` hold numbers, columns named `*…` wrap their lines.

    On a narrow terminal texts are cut or wrapped; numbers never are.
    """
    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    for column in columns:
        is_number = column.startswith(">")
        table.add_column(
            Text(column.lstrip(">*")),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold" if column.startswith("*") else "ellipsis",
        )
    return table


def add_row(table: Table, *cells: str | RenderableType, style: str = "") -> None:
    """Adds a row of plain texts; a column wraps or cuts those that do not fit."""
    texts = [
        Text(cell, no_wrap=column.overflow == "ellipsis") if isinstance(cell, str) else cell
        for column, cell in zip(table.columns, cells, strict=False)
    ]
    table.add_row(*texts, style=style)


@dataclass(frozen=True, slots=True)
class TailText:
    """A path or a name on one line whose beginning is cut where there is no room."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text
        if cell_len(text) > options.max_width:
            room = max(options.max_width - 1, 0)
            while cell_len(text) > room:
                text = text[1:]
            text = f"…{text}"
        yield Text(text, no_wrap=True, overflow="crop")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self.text)
        return Measurement(min(width, _LEAST_TAIL_CELLS), width)


def section(title: str, note: str = "") -> Text:
    """A heading inside the details of a conversation."""
    heading = Text(f"\n{title}", style="bold")
    heading.append(f"  {note}" if note else "", style="not bold dim")
    return heading


def facts(pairs: Iterable[tuple[str, str | Text]]) -> Table:
    """A grid of names and values; empty values are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            table.add_row(Text(name), value if isinstance(value, Text) else Text(value))
    return table


def bullets(lines: Sequence[str], *, most: int, more: str) -> list[Text]:
    """The first `most` lines, each in its own row; `more` says where the others are."""
    shown = [Text(f"  {one_line(line)}") for line in lines[:most]]
    left = len(lines) - most
    return [*shown, Text(f"  … and {left:,} more {more}", style="dim")] if left > 0 else shown


def closing(notes: Iterable[str], failures: int) -> list[Text]:
    """The lines below a table: its legend, and the number of failures."""
    legend = " · ".join(notes)
    lines = [Text(legend, style="dim")] if legend else []
    if failures:
        why = "the reason is" if failures == 1 else "the reasons are"
        lines.append(Text(f"{plural(failures, 'failure')}; {why} on stderr", style="red"))
    return lines


def quoted(text: str) -> Padding:
    """Text of a conversation, indented; `text` must be escaped already."""
    return Padding(Text(text), (0, 0, 0, 2))


def share_bar(ratio: float) -> str:
    """A bar for a share, with at least one cell for a share above 0."""
    (glyph, *_), _, _ = _glyphs()
    return glyph * min(BAR_CELLS, max(round(ratio * BAR_CELLS), 1 if ratio > 0 else 0))


def gauge(ratio: float) -> Text:
    """A share as a bar with its rest and its percentage."""
    style = "red" if ratio > 1 else "yellow" if ratio > 0.8 else "green"
    filled = share_bar(ratio)
    bar = Text(filled, style=style)
    _, _, free = _glyphs()
    bar.append(free * (BAR_CELLS - len(filled)), style="dim")
    return bar.append(f" {percent(ratio)}", style="default")


def segment_bar(segments: Sequence[tuple[str, int]]) -> tuple[Text, dict[str, Text]]:
    """One bar of all segments, and the glyph of each."""
    used, reserve, free = _glyphs()
    glyphs = cycle(used)
    drawn: dict[str, Text] = {}
    for name, tokens in segments:
        fixed = {"reserve": reserve, "free": free}.get(name)
        drawn[name] = Text(fixed or (next(glyphs) if tokens else " "), style=_STYLES.get(name, ""))
    bar = Text()
    cells = _cells([tokens for _, tokens in segments], WINDOW_CELLS)
    for (name, _), count in zip(segments, cells, strict=True):
        bar.append(str(drawn[name]) * count, style=drawn[name].style)
    return bar, drawn


def _cells(sizes: Sequence[int], cells: int) -> list[int]:
    """`cells` shared out by size, at least one for a size above 0; the largest takes the rest."""
    total = sum(sizes)
    shares = [max(1, round(size * cells / total)) if size else 0 for size in sizes]
    if shares:
        largest = shares.index(max(shares))
        shares[largest] = max(0, shares[largest] + (cells - sum(shares) if total else 0))
    return shares


def _glyphs() -> tuple[tuple[str, ...], str, str]:
    """The glyphs of segments, of the reserve and of free space, for the terminal's encoding."""
    if "utf" in (sys.stdout.encoding or "").lower():
        return ("█", "▓", "▒", "░"), "╱", "·"
    return ("#", "=", "+", "o"), "/", "."
