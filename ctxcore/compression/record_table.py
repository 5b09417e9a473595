"""Owns tables: a sheet of records whose rows and columns can be left out, written as in `codec`.

Sums are kept for every row and every column, so the price of taking one out is known at any time.
A column with few different values can be left out row by row and keep those values in a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, Elision, Unit, amount, gone_ranges, member_path
from ctxcore.compression.records import SPARSE, Column, render_cell, render_header
from ctxcore.compression.target import estimate_tokens
from ctxcore.compression.tree import MARKER_TOKENS, Branch, Container, Leaf, Node

ROW_TOKENS: Final = 1
FRAME_TOKENS: Final = 6
VALUES_TOKENS: Final = 5  # of `"values":{…}`, and of each list in it
MOST_VALUE_TOKENS: Final = 6
MOST_VALUES_SHARE: Final = 0.5  # more different values than this of the rows are not a summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a table was: its form's name, and where each row stands in the source."""

    form: str
    """`table`, `table by NAME` or `tables`, as in `codec`."""
    paths: Sequence[str]
    """The path of each row below that of the table."""
    groups: Sequence[int] = ()
    """The list that each row is of, where the source was a list of lists."""
    places: Sequence[int] = ()
    """The place of each row in the source, of `total`, where others were left out before."""
    total: int = 0


class Table(Container):
    """Records with their keys written once: rows and columns come out whole.

    `rows[r][c]` is None where the record has no such member. Constant columns have one node in
    `constants` and no cells. `matches` are rows that were lifted out as whole objects.
    """

    __slots__ = (
        "_distinct", "_objects", "bare", "column_tokens", "column_worth", "columns", "constants",
        "header_tokens", "lifted", "listed", "matches", "origin", "out_columns", "out_rows",
        "row_tokens", "row_worth", "rows", "unlisted",
    )  # fmt: skip

    def __init__(
        self,
        columns: Sequence[Column],
        rows: list[list[Node | None]],
        constants: dict[int, Node],
        origin: Origin,
    ) -> None:
        self.columns, self.rows, self.constants, self.origin = columns, rows, constants, origin
        self.unlisted = max(0, origin.total - len(rows))
        self.matches: Branch | None = None
        self.lifted: frozenset[int] = frozenset()
        self.out_rows: set[int] = set()
        self.out_columns: set[int] = set()
        self.listed: set[int] = set()
        self.bare: set[int] = set()
        self._distinct: dict[int, list[Leaf] | None] = {}
        self._objects: dict[int, list[Branch]] = {}
        super().__init__(0, 0.0)
        for c, node in constants.items():
            node.parent, node.place = self, (-1, c)
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if cell is not None:
                    cell.parent, cell.place = self, (r, c)
        self.header_tokens = [self._header_tokens(c) for c in range(len(columns))]
        self._sum_up()

    def _header_tokens(self, c: int) -> int:
        return estimate_tokens(self.columns[c].name) + (2 if c in self.constants else 1)

    def _shown_rows(self) -> Iterator[int]:
        return (r for r in range(len(self.rows)) if r not in self.lifted)

    def _sum_up(self) -> None:
        """Sums of what is there before anything was taken out."""
        width = len(self.columns)
        self.row_tokens = [sum(map(_cell_tokens, row)) for row in self.rows]
        self.row_worth = [sum(map(_cell_worth, row)) for row in self.rows]
        self.column_tokens, self.column_worth = [0] * width, [0.0] * width
        for r in self._shown_rows():
            for c, cell in enumerate(self.rows[r]):
                self.column_tokens[c] += _cell_tokens(cell)
                self.column_worth[c] += _cell_worth(cell)
        for c, node in self.constants.items():
            self.column_tokens[c], self.column_worth[c] = node.tokens + 1, node.worth
        tokens = FRAME_TOKENS + sum(self.header_tokens) + sum(self.column_tokens)
        tokens += (len(self.rows) - len(self.lifted)) * ROW_TOKENS
        tokens += MARKER_TOKENS if self.unlisted else 0
        worth = sum(self.column_worth)
        if self.matches is not None:
            tokens, worth = tokens + self.matches.tokens + 3, worth + self.matches.worth
        self._grow(tokens - self.tokens, worth - self.worth)

    def lift(self, chosen: Sequence[int]) -> Branch:
        """Move the chosen rows out of the table, each as a whole object; they come first.

        Only before anything is taken out. Constants stay with the table.
        """
        lifted = [self._as_object(r) for r in chosen]
        self.lifted = frozenset(chosen)
        self._distinct.clear()
        self._objects.clear()
        self.matches = Branch(lifted)
        self.matches.parent, self.matches.place = self, (-1, -1)
        self._sum_up()
        return self.matches

    def _as_object(self, r: int) -> Node:
        """The row as an object; inner members go by their last name where that is no other's."""
        cells: list[tuple[tuple[str, ...], Node]] = []
        for column, cell in zip(self.columns, self.rows[r], strict=True):
            if isinstance(cell, Branch) and column.name == SPARSE and cell.keys is not None:
                cells += [
                    ((key,), child) for key, child in zip(cell.keys, cell.children, strict=True)
                ]
            elif cell is not None:
                cells.append((column.path, cell))
        names = [path[-1] for path, _ in cells]
        if len(set(names)) < len(names):
            names = [".".join(path) for path, _ in cells]
        lifted = Branch([cell for _, cell in cells], names)
        lifted.keeps_names = True
        return lifted

    def is_out(self, child: Node) -> bool:
        r, c = child.place
        return c >= 0 and (c in self.out_columns or c in self.listed or r in self.out_rows)

    def child_grew(self, child: Node, tokens: int, worth: float) -> None:
        r, c = child.place
        if c >= 0:
            self._add_to_sums(r, c, tokens, worth)
        if not self.is_out(child):
            self._grow(tokens, worth)

    def _add_to_sums(self, r: int, c: int, tokens: int, worth: float) -> None:
        """A row's sums cover the columns that are in, a column's the rows that are in."""
        if r >= 0 and c not in self.out_columns and c not in self.listed:
            self.row_tokens[r] += tokens
            self.row_worth[r] += worth
        if r not in self.out_rows:
            self.column_tokens[c] += tokens
            self.column_worth[c] += worth

    # rows

    def row_freed(self, r: int) -> int:
        """Tokens that taking out the row frees; the first one pays for the marker."""
        marker = 0 if self.out_rows or self.unlisted or self.out_columns else MARKER_TOKENS
        return self.row_tokens[r] + ROW_TOKENS - marker

    def take_out_row(self, r: int) -> None:
        """Leave the row out."""
        freed = self.row_freed(r)
        self.out_rows.add(r)
        self._resum_columns(r, -1)
        self._grow(-freed, -self.row_worth[r])

    def put_back_row(self, r: int) -> None:
        """Undo `take_out_row`."""
        self.out_rows.discard(r)
        self._resum_columns(r, 1)
        self._grow(self.row_freed(r), self.row_worth[r])

    def _resum_columns(self, r: int, sign: int) -> None:
        for c, cell in enumerate(self.rows[r]):
            self.column_tokens[c] += sign * _cell_tokens(cell)
            self.column_worth[c] += sign * _cell_worth(cell)

    # columns

    def column_freed(self, c: int) -> int:
        """Tokens that taking out the column frees, its name too."""
        marker = 0 if self.out_columns or self.out_rows or self.unlisted else MARKER_TOKENS
        if c in self.listed:
            return self.values_tokens(c) - marker
        return self.column_tokens[c] + self.header_tokens[c] - marker

    def column_lost(self, c: int) -> float:
        """Worth that goes with the column."""
        return self.values_worth(c) if c in self.listed else self.column_worth[c]

    def take_out_column(self, c: int) -> None:
        """Leave the column out, or the list of its values if that is what is left of it."""
        freed, lost = self.column_freed(c), self.column_lost(c)
        self.out_columns.add(c)
        if c not in self.listed:
            self._resum_rows(c, -1)
        self._grow(-freed, -lost)

    def put_back_column(self, c: int) -> None:
        """Undo `take_out_column`."""
        self.out_columns.discard(c)
        if c not in self.listed:
            self._resum_rows(c, 1)
        self._grow(self.column_freed(c), self.column_lost(c))

    def _resum_rows(self, c: int, sign: int) -> None:
        for r, row in enumerate(self.rows):
            if r not in self.lifted and c not in self.constants:
                self.row_tokens[r] += sign * _cell_tokens(row[c])
                self.row_worth[r] += sign * _cell_worth(row[c])

    # values of a column, without saying which row has which

    def distinct(self, c: int) -> list[Leaf] | None:
        """The first cell of each value of a column with few short ones; else None."""
        if c not in self._distinct:
            self._distinct[c] = self._find_distinct(c)
        return self._distinct[c]

    def _find_distinct(self, c: int) -> list[Leaf] | None:
        if c in self.constants:
            return None
        found: dict[str, Leaf] = {}
        most = MOST_VALUES_SHARE * (len(self.rows) - len(self.lifted))
        for r in self._shown_rows():
            cell = self.rows[r][c]
            if cell is None:
                continue
            if not isinstance(cell, Leaf) or not isinstance(cell.value, str | int | float):
                return None
            found.setdefault(cell.render(), cell)
            if cell.tokens > MOST_VALUE_TOKENS or len(found) > most:
                return None
        return list(found.values()) if 1 < len(found) <= most else None

    def values_tokens(self, c: int) -> int:
        """Tokens of the list of a column's values."""
        own = sum(estimate_tokens(text) + 1 for text in self._values(c))
        return own + self.header_tokens[c] + VALUES_TOKENS // 2

    def _values(self, c: int) -> list[str]:
        return [cell.render() for cell in self.distinct(c) or ()]

    def values_worth(self, c: int) -> float:
        """What the list of a column's values is worth: each value once, and not whose it is."""
        return 0.7 * sum(cell.worth for cell in self.distinct(c) or ())

    def listing_price(self, c: int) -> tuple[float, int]:
        """Worth lost and tokens freed by `list_values`."""
        worth = self.column_worth[c] - self.values_worth(c)
        return worth, self.column_tokens[c] + self.header_tokens[c] - self.values_tokens(c)

    def list_values(self, c: int) -> None:
        """Leave the column out of the rows and keep its values in a list."""
        self._grow(-self.column_tokens[c] - self.header_tokens[c], -self.column_worth[c])
        self._resum_rows(c, -1)
        self.listed.add(c)
        self._grow(self.values_tokens(c), self.values_worth(c))

    def unlist_values(self, c: int) -> None:
        """Undo `list_values`."""
        self._grow(-self.values_tokens(c), -self.values_worth(c))
        self.listed.discard(c)
        self._resum_rows(c, 1)
        self._grow(self.column_tokens[c] + self.header_tokens[c], self.column_worth[c])

    # names in the cells of a column

    def objects(self, c: int) -> list[Branch]:
        """The cells of a column of objects whose names can go; empty where one is no such."""
        if c not in self._objects:
            self._objects[c] = self._find_objects(c)
        return self._objects[c]

    def _find_objects(self, c: int) -> list[Branch]:
        cells = [self.rows[r][c] for r in self._shown_rows()]
        found = [cell for cell in cells if isinstance(cell, Branch) and cell.can_be_bare]
        return found if sum(cell is not None for cell in cells) == len(found) else []

    def names_price(self, c: int) -> tuple[float, int]:
        """Worth lost and tokens freed by leaving out the names in the cells of the column."""
        prices = [
            cell.names_price(marks=False)
            for cell in self.objects(c)
            if cell.place[0] not in self.out_rows
        ]
        return sum(worth for worth, _ in prices), sum(tokens for _, tokens in prices)

    def set_bare(self, c: int, is_bare: bool) -> None:
        """Leave the names in the cells of the column out, or put them back."""
        (self.bare.add if is_bare else self.bare.discard)(c)
        for cell in self.objects(c):
            cell.set_bare(is_bare, marks=False)

    # what is left, and what is gone

    def render(self) -> str:
        parts = [] if self.matches is None else [f'"match":{self.matches.render()}']
        shown = [c for c in range(len(self.columns)) if not self._is_off(c)]
        rows = [r for r in self._shown_rows() if r not in self.out_rows]
        if shown and (rows or any(c in self.constants for c in shown)):
            header = self._render_header(shown)
            lines = [header, *self._render_rows(rows, shown)]
            parts.append(f"{render_json(self.origin.form)}:[{','.join(lines)}]")
        values = [c for c in self.listed if c not in self.out_columns]
        if values:
            parts.append(f'"values":{{{",".join(map(self._render_values, sorted(values)))}}}')
        gone = [amount(count, unit) for unit, count in self._own_counts() if count]
        if gone:
            parts.append(f'"{ELISION}":"{", ".join(gone)}"')
        return f"{{{','.join(parts)}}}"

    def _is_off(self, c: int) -> bool:
        return c in self.out_columns or c in self.listed

    def _render_header(self, shown: Sequence[int]) -> str:
        heads = [
            Column(self.columns[c].path, constant=self.constants[c].render())
            if c in self.constants
            else self._head(c)
            for c in shown
        ]
        return render_header(heads)

    def _head(self, c: int) -> Column:
        column = self.columns[c]
        if c not in self.bare:
            return column
        path = (*column.path[:-1], f"{column.name} {ELISION} names")
        return Column(path, column.is_optional)

    def _render_values(self, c: int) -> str:
        name = ".".join(self.columns[c].path)
        return f"{render_json(name)}:[{','.join(self._values(c))}]"

    def _render_rows(self, rows: Sequence[int], shown: Sequence[int]) -> Iterator[str]:
        varying = [c for c in shown if c not in self.constants]
        if not varying:
            return
        lines = {r: self._render_row(r, varying) for r in rows}
        if not self.origin.groups:
            yield from lines.values()
            return
        groups: dict[int, list[str]] = {}
        for r, line in lines.items():
            groups.setdefault(self.origin.groups[r], []).append(line)
        yield from (f"[{','.join(group)}]" for group in groups.values())

    def _render_row(self, r: int, varying: Sequence[int]) -> str:
        cells = [(self.rows[r][c], self.columns[c]) for c in varying]
        while cells and cells[-1][0] is None:
            cells.pop()
        texts = (
            "null" if cell is None else render_cell(cell.render(), column) for cell, column in cells
        )
        return f"[{','.join(texts)}]"

    def _own_counts(self) -> Iterator[tuple[Unit, int]]:
        yield "rows", len(self.out_rows) + self.unlisted
        yield "columns", len(self.out_columns)

    def gone(self, path: str) -> Iterator[Elision]:
        places = self.origin.places or range(len(self.rows))
        gone = self.out_rows | self._dropped_matches()
        kept = [places[r] for r in range(len(self.rows)) if r not in gone]
        total = len(self.rows) + self.unlisted
        yield from gone_ranges("rows", total, kept, path=path)
        for c in sorted({*self.out_columns, *self.listed}):
            column = f"{path}[]"
            for key in self.columns[c].path:
                column = member_path(column, key)
            yield Elision(unit="columns", count=1, path=column)
        yield from self._gone_inside(path)

    def _dropped_matches(self) -> set[int]:
        if self.matches is None:
            return set()
        matches = zip(self.matches.children, sorted(self.lifted), strict=True)
        return {r for match, r in matches if self.matches.is_out(match)}

    def _gone_inside(self, path: str) -> Iterator[Elision]:
        if self.matches is not None:
            for match, r in zip(self.matches.children, sorted(self.lifted), strict=True):
                if not self.matches.is_out(match):
                    yield from match.gone(path + self.origin.paths[r])
        for c, node in self.constants.items():
            if c not in self.out_columns:
                yield from node.gone(member_path(f"{path}[]", self.columns[c].name))
        for r in self._shown_rows():
            for c, cell in enumerate(self.rows[r]):
                if cell is not None and not self.is_out(cell):
                    place = path + self.origin.paths[r]
                    for key in self.columns[c].path:
                        place = member_path(place, key)
                    yield from cell.gone(place)

    def leaves(self) -> Iterator[Leaf]:
        nodes: Iterable[Node | None] = (cell for row in self.rows for cell in row)
        for node in (*self.constants.values(), *nodes):
            if node is not None:
                yield from node.leaves()


def _cell_tokens(cell: Node | None) -> int:
    return 2 if cell is None else cell.tokens + 1


def _cell_worth(cell: Node | None) -> float:
    return 0.0 if cell is None else cell.worth
