"""Owns tables: records with the same members, written with their keys once, still as JSON.

Sums are kept for every row and every column, so the price of taking one out is known at any time.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, amount
from ctxcore.compression.target import estimate_tokens
from ctxcore.compression.tree import MARKER_TOKENS, Branch, Container, Leaf, Node


class Table(Container):
    """Records with the same members, their keys written once: rows and columns come out whole.

    `key_column` names the column that was the key of each record, when they were an object's
    members or lists of lists; `matches` are rows that were lifted out as whole objects.
    """

    __slots__ = (
        "column_tokens", "column_worth", "columns", "constants", "key_column", "matches",
        "out_columns", "out_rows", "row_tokens", "row_worth", "rows", "unlisted",
    )  # fmt: skip

    def __init__(
        self,
        columns: list[str],
        rows: list[list[Node]],
        *,
        constants: Branch | None = None,
        key_column: str | None = None,
        unlisted: int = 0,
    ) -> None:
        self.columns, self.rows = columns, rows
        self.constants, self.key_column, self.unlisted = constants, key_column, unlisted
        self.matches: Branch | None = None
        self.out_rows: set[int] = set()
        self.out_columns: set[int] = set()
        super().__init__(0, 0.0)
        if constants is not None:
            constants.parent, constants.place = self, (-1, -1)
        self._place_cells()

    def _place_cells(self) -> None:
        for r, row in enumerate(self.rows):
            for c, cell in enumerate(row):
                cell.parent, cell.place = self, (r, c)
        columns = [[row[c] for row in self.rows] for c in range(len(self.columns))]
        self.row_tokens = [sum(cell.tokens + 1 for cell in row) for row in self.rows]
        self.row_worth = [sum(cell.worth for cell in row) for row in self.rows]
        self.column_tokens = [sum(cell.tokens + 1 for cell in column) for column in columns]
        self.column_worth = [sum(cell.worth for cell in column) for column in columns]
        around = [part for part in (self.constants, self.matches) if part is not None]
        header = sum(estimate_tokens(column) + 1 for column in self.columns)
        tokens = 10 + header + sum(self.row_tokens) + 2 * len(self.rows)
        tokens += sum(part.tokens + 3 for part in around)
        worth = sum(self.row_worth) + sum(part.worth for part in around)
        self._grow(tokens - self.tokens, worth - self.worth)

    def lift(self, chosen: list[int]) -> Branch:
        """Move the chosen rows out of the table, each as a whole object; they come first."""
        lifted = [Branch(self.rows[r], list(self.columns)) for r in chosen]
        self.matches = Branch(list[Node](lifted))
        self.matches.parent, self.matches.place = self, (-1, -2)
        self.rows = [row for r, row in enumerate(self.rows) if r not in set(chosen)]
        self._place_cells()
        return self.matches

    def is_out(self, child: Node) -> bool:
        r, c = child.place
        return r >= 0 and (r in self.out_rows or c in self.out_columns)

    def child_grew(self, child: Node, tokens: int, worth: float) -> None:
        r, c = child.place
        if r >= 0:
            self._add_to_sums(r, c, tokens, worth)
        if not self.is_out(child):
            self._grow(tokens, worth)

    def _add_to_sums(self, r: int, c: int, tokens: int, worth: float) -> None:
        """A row's sums cover the columns that are in, a column's the rows that are in."""
        if c not in self.out_columns:
            self.row_tokens[r] += tokens
            self.row_worth[r] += worth
        if r not in self.out_rows:
            self.column_tokens[c] += tokens
            self.column_worth[c] += worth

    def row_freed(self, r: int) -> int:
        """Tokens that taking out the row frees; the first one pays for the marker."""
        return self.row_tokens[r] + 2 - (0 if self.out_rows or self.unlisted else MARKER_TOKENS)

    def column_freed(self, c: int) -> int:
        """Tokens that taking out the column frees, its name too."""
        marker = 0 if self.out_columns else MARKER_TOKENS
        return self.column_tokens[c] + estimate_tokens(self.columns[c]) + 1 - marker

    def take_out_row(self, r: int) -> None:
        freed = self.row_freed(r)
        self.out_rows.add(r)
        self._resum_columns(r, -1)
        self._grow(-freed, -self.row_worth[r])

    def put_back_row(self, r: int) -> None:
        self.out_rows.discard(r)
        self._resum_columns(r, 1)
        self._grow(self.row_freed(r), self.row_worth[r])

    def take_out_column(self, c: int) -> None:
        freed = self.column_freed(c)
        self.out_columns.add(c)
        self._resum_rows(c, -1)
        self._grow(-freed, -self.column_worth[c])

    def put_back_column(self, c: int) -> None:
        self.out_columns.discard(c)
        self._resum_rows(c, 1)
        self._grow(self.column_freed(c), self.column_worth[c])

    def _resum_columns(self, r: int, sign: int) -> None:
        for c, cell in enumerate(self.rows[r]):
            self.column_tokens[c] += sign * (cell.tokens + 1)
            self.column_worth[c] += sign * cell.worth

    def _resum_rows(self, c: int, sign: int) -> None:
        for r, row in enumerate(self.rows):
            self.row_tokens[r] += sign * (row[c].tokens + 1)
            self.row_worth[r] += sign * row[c].worth

    def render(self) -> str:
        parts = [f'"by":{render_json(self.key_column)}'] if self.key_column is not None else []
        if self.constants is not None:
            parts.append(f'"all":{self.constants.render()}')
        if self.matches is not None:
            parts.append(f'"match":{self.matches.render()}')
        shown = [c for c in range(len(self.columns)) if c not in self.out_columns]
        if self.rows:
            parts.append(f'"cols":{render_json([self.columns[c] for c in shown])}')
            parts.append(f'"rows":[{",".join(self._render_rows(shown))}]')
        gone = [amount(count, unit) for unit, count in self._own_gone() if count]
        if gone:
            parts.append(f'"{ELISION}":"{", ".join(gone)} left out"')
        return f"{{{','.join(parts)}}}"

    def _render_rows(self, shown: list[int]) -> Iterator[str]:
        for r, row in enumerate(self.rows):
            if r not in self.out_rows:
                yield f"[{','.join(row[c].render() for c in shown)}]"

    def _own_gone(self) -> Iterator[tuple[str, int]]:
        yield "rows", len(self.out_rows) + self.unlisted
        yield "columns", len(self.out_columns)

    def gone(self) -> Iterator[tuple[str, int]]:
        yield from self._own_gone()
        for part in (self.constants, self.matches):
            if part is not None:
                yield from part.gone()
        for row in self.rows:
            for cell in row:
                if not self.is_out(cell):
                    yield from cell.gone()

    def leaves(self) -> Iterator[Leaf]:
        for part in (self.constants, self.matches):
            if part is not None:
                yield from part.leaves()
        for row in self.rows:
            for cell in row:
                yield from cell.leaves()
