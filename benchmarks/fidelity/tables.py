"""Tables of means: collected value by value, printed with the ratio to the best peer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from benchmarks.fidelity.methods import Method

MOST_HARM = 0.05
"""A peer whose results can more often not be used is no safe one."""

OVER = "over"
"""The column for the share of folds above the budget, or where nothing could be sent."""

Best = Literal["high", "low", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A figure that each method has."""

    name: str
    best: Best = "high"
    digits: int = 3


@dataclass(slots=True, kw_only=True)
class Table:
    """Means of what was added, a row for each method and a column for each figure."""

    title: str
    columns: Sequence[Column]
    harms: Sequence[str] = ()
    """Columns that tell how often a result cannot be used at all."""
    notes: list[str] = field(default_factory=list)
    _values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    _ours: dict[str, bool] = field(default_factory=dict)

    def add(self, method: Method, column: str, values: Iterable[float]) -> None:
        """Adds `values` to what the mean of a cell is taken over."""
        self._ours[method.name] = method.is_ours
        self._values.setdefault((method.name, column), []).extend(values)

    def mean(self, row: str, column: str) -> float | None:
        """The mean of a cell; None if nothing was added."""
        values = self._values.get((row, column))
        return fmean(values) if values else None

    def best_peer(self, column: Column, *, safe: bool = False) -> float | None:
        """The best mean of those that are not ours; with `safe` of those that do no harm."""
        peers = [row for row, is_ours in self._ours.items() if not is_ours]
        means = [self.mean(row, column.name) for row in peers if not safe or self._is_safe(row)]
        found = [mean for mean in means if mean is not None]
        if column.best == "none" or not found:
            return None
        return max(found) if column.best == "high" else min(found)

    def _is_safe(self, row: str) -> bool:
        return all((self.mean(row, column) or 0.0) <= MOST_HARM for column in self.harms)

    def to_json(self) -> dict[str, object]:
        """Title, notes, and all means by method and column."""
        return {
            "title": self.title,
            "notes": self.notes,
            "rows": {
                row: {column.name: self.mean(row, column.name) for column in self.columns}
                for row in self._ours
            },
        }

    def render(self) -> str:
        """The table as lines of text; `÷ best peer` below says how the first of ours stands."""
        lines = [f"\n{self.title}"]
        lines += [f"  {note}" for note in self.notes]
        lines.append(_line("", [column.name for column in self.columns]))
        lines += [_line(row, self._cells(row)) for row in self._ours]
        first = next((row for row, is_ours in self._ours.items() if is_ours), None)
        has_peers = any(self.best_peer(column) is not None for column in self.columns)
        if first is not None and has_peers:
            lines.append(_line(f"{first} ÷ best peer", self._ratios(first)))
            if self.harms:
                ratios = self._ratios(first, safe=True)
                lines.append(_line(f"{first} ÷ best safe peer", ratios))
        return "\n".join(lines)

    def _cells(self, row: str) -> list[str]:
        means = [(self.mean(row, column.name), column.digits) for column in self.columns]
        return ["–" if mean is None else f"{mean:,.{digits}f}" for mean, digits in means]

    def _ratios(self, row: str, *, safe: bool = False) -> list[str]:
        pairs = [
            (self.mean(row, column.name), self.best_peer(column, safe=safe))
            for column in self.columns
        ]
        return [f"{own / best:.2f}×" if own is not None and best else "" for own, best in pairs]


def _line(name: str, cells: Sequence[str]) -> str:
    return f"  {name:<32}" + "".join(f"{cell:>9}" for cell in cells)
