"""Tables: sheets of records whose rows and columns can be left out, written as in `lossless`.

Sums are kept for every row and every column, so the price of leaving any out is always known.
A column with few different values can be left out of the rows and keep those values in a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Final

from ctxcore.compression.json_text import render_json
from ctxcore.compression.markers import ELISION, Elision, amount, gone_ranges, member_path
from ctxcore.compression.records import SPARSE, Column, render_header, render_row
from ctxcore.compression.target import estimate_tokens
from ctxcore.compression.tree import MARKER_TOKENS, Branch, Container, Leaf, Node

ROW_TOKENS: Final = 1  # of the brackets and commas of a row
FRAME_TOKENS: Final = 6  # chosen: about what `{"table":[[],…]}` takes
VALUES_TOKENS: Final = 5  # of `"values":{…}`, and of each list in it
MOST_VALUE_TOKENS: Final = 6  # chosen: a list of longer values saves little
MOST_VALUES_SHARE: Final = 0.5  # chosen: with more different values than this of the rows, no list
VALUES_FACTOR: Final = 0.7  # chosen: of the salience of a value whose rows are unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The form of a table, and where its rows are in the source."""

    form: str
    """`table`, `table by NAME` or `tables`, as in `lossless`."""
    paths: Sequence[str]
    """The path of each row below that of the table."""
    groups: Sequence[int] = ()
    """The list that each row is of, where the source was a list of lists."""
    places: Sequence[int] = ()
    """The place of each row in the source, of `total`, where others were left out before."""
    total: int = 0


class Table(Container):
    """Records with their keys written once; rows and columns are left out whole.

    `rows[r][c]` is None where the record has no such member. Constant columns have one node in
    `constants` and no cells. `matches` are rows that were lifted out as whole objects.
    """

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
        self.lifted: Sequence[int] = ()
        self.shown_rows = list(range(len(rows)))
        """Those that are not lifted."""
        self.out_rows: set[int] = set()
        self.out_columns: set[int] = set()
        self.listed: set[int] = set()
        self.bare: set[int] = set()
        self.distinct = cache(self._find_distinct)
        self.objects = cache(self._find_objects)
        super().__init__(0, 0.0)
        for c, node in constants.items():
            node.parent, node.place = self, (-1, c)
        for r, row in enumerate(rows):
            for c, cell in enumerate(row):
                if cell is not None:
                    cell.parent, cell.place = self, (r, c)
        self.header_tokens = [
            estimate_tokens(column.name) + (2 if c in constants else 1)
            for c, column in enumerate(columns)
        ]
        self._sum_up()

    def _sum_up(self) -> None:
        """Computes the sums before anything is left out."""
        width = len(self.columns)
        self.row_tokens = [sum(map(_cell_tokens, row)) for row in self.rows]
        self.row_salience = [sum(map(_cell_salience, row)) for row in self.rows]
        self.column_tokens, self.column_salience = [0] * width, [0.0] * width
        for r in self.shown_rows:
            self._add_row_to_columns(r, 1)
        for c, node in self.constants.items():
            self.column_tokens[c], self.column_salience[c] = node.tokens + 1, node.salience
        tokens = FRAME_TOKENS + sum(self.header_tokens) + sum(self.column_tokens)
        tokens += len(self.shown_rows) * ROW_TOKENS + (MARKER_TOKENS if self.unlisted else 0)
        salience = sum(self.column_salience)
        if self.matches is not None:
            tokens, salience = tokens + self.matches.tokens + 3, salience + self.matches.salience
        self._grow(tokens - self.tokens, salience - self.salience)

    def lift(self, chosen: Sequence[int]) -> Branch:
        """Moves the chosen rows, in order, out of the table, each as a whole object before it.

        Only before anything is left out or priced. Constants stay with the table.
        """
        self.matches = Branch([self._as_object(r) for r in chosen])
        self.matches.parent, self.matches.place = self, (-1, -1)
        self.lifted = chosen
        self.shown_rows = [r for r in self.shown_rows if r not in chosen]
        self._sum_up()
        return self.matches

    def _as_object(self, r: int) -> Node:
        """The row as an object; a nested member keeps its whole path where names collide."""
        cells: list[tuple[tuple[str, ...], Node]] = []
        for column, cell in zip(self.columns, self.rows[r], strict=True):
            if isinstance(cell, Branch) and column.name == SPARSE and cell.keys is not None:
                keys = ((key,) for key in cell.keys)
                cells += zip(keys, cell.children, strict=True)
            elif cell is not None:
                cells.append((column.path, cell))
        names = [path[-1] for path, _ in cells]
        if len(set(names)) < len(names):
            names = [".".join(path) for path, _ in cells]
        return Branch([cell for _, cell in cells], names, keeps_names=True)

    def is_out(self, child: Node) -> bool:
        r, c = child.place
        return c >= 0 and (self._is_off(c) or r in self.out_rows)

    def _is_off(self, c: int) -> bool:
        return c in self.out_columns or c in self.listed

    def child_grew(self, child: Node, tokens: int, salience: float) -> None:
        """Adds the change to a row's sums for columns present, to a column's for rows present."""
        r, c = child.place
        if r >= 0 and not self._is_off(c):
            self.row_tokens[r] += tokens
            self.row_salience[r] += salience
        if c >= 0 and r not in self.out_rows:
            self.column_tokens[c] += tokens
            self.column_salience[c] += salience
        super().child_grew(child, tokens, salience)

    def _marker_tokens(self) -> int:
        """Tokens of a marker that is not there yet."""
        return 0 if self.out_rows or self.out_columns or self.unlisted else MARKER_TOKENS

    # rows

    def row_freed(self, r: int) -> int:
        """Tokens freed by leaving the row out; the first one pays for the marker."""
        return self.row_tokens[r] + ROW_TOKENS - self._marker_tokens()

    def set_row_out(self, r: int, is_out: bool) -> None:
        """Leaves the row out, or restores it."""
        self.out_rows.discard(r)
        sign, freed = -1 if is_out else 1, self.row_freed(r)
        if is_out:
            self.out_rows.add(r)
        self._add_row_to_columns(r, sign)
        self._grow(sign * freed, sign * self.row_salience[r])

    def _add_row_to_columns(self, r: int, sign: int) -> None:
        for c, cell in enumerate(self.rows[r]):
            self.column_tokens[c] += sign * _cell_tokens(cell)
            self.column_salience[c] += sign * _cell_salience(cell)

    # columns

    def column_price(self, c: int) -> tuple[float, int]:
        """Salience lost and tokens freed with the column, or with the list of its values."""
        salience, tokens = self._values_size(c) if c in self.listed else self._column_size(c)
        return salience, tokens - self._marker_tokens()

    def _column_size(self, c: int) -> tuple[float, int]:
        return self.column_salience[c], self.column_tokens[c] + self.header_tokens[c]

    def set_column_out(self, c: int, is_out: bool) -> None:
        """Leaves the column out, or the list of its values if there is one; or restores it."""
        self.out_columns.discard(c)
        sign, (lost, freed) = -1 if is_out else 1, self.column_price(c)
        if is_out:
            self.out_columns.add(c)
        if c not in self.listed:
            self._add_column_to_rows(c, sign)
        self._grow(sign * freed, sign * lost)

    def _add_column_to_rows(self, c: int, sign: int) -> None:
        if c in self.constants:
            return
        for r in self.shown_rows:
            cell = self.rows[r][c]
            self.row_tokens[r] += sign * _cell_tokens(cell)
            self.row_salience[r] += sign * _cell_salience(cell)

    # values of a column, without the rows that have them

    def _find_distinct(self, c: int) -> list[Leaf] | None:
        """The first cell of each value of a column with few short ones; else None."""
        if c in self.constants:
            return None
        found: dict[str, Leaf] = {}
        most = MOST_VALUES_SHARE * len(self.shown_rows)
        for r in self.shown_rows:
            cell = self.rows[r][c]
            if cell is None:
                continue
            if not isinstance(cell, Leaf) or not isinstance(cell.value, str | int | float):
                return None
            found.setdefault(cell.render(), cell)
            if cell.tokens > MOST_VALUE_TOKENS or len(found) > most:
                return None
        return list(found.values()) if 1 < len(found) <= most else None

    def _values(self, c: int) -> list[str]:
        return [cell.render() for cell in self.distinct(c) or ()]

    def _values_size(self, c: int) -> tuple[float, int]:
        """Salience and tokens of the list of a column's values."""
        salience = VALUES_FACTOR * sum(cell.salience for cell in self.distinct(c) or ())
        own = sum(estimate_tokens(text) + 1 for text in self._values(c))
        return salience, own + self.header_tokens[c] + VALUES_TOKENS // 2

    def listing_price(self, c: int) -> tuple[float, int]:
        """Salience lost and tokens freed by `set_listed`."""
        column, values = self._column_size(c), self._values_size(c)
        return column[0] - values[0], column[1] - values[1]

    def set_listed(self, c: int, is_listed: bool) -> None:
        """Leaves the column out of the rows and keeps its values in a list, or restores it."""
        lost, gained = self._column_size(c), self._values_size(c)
        if not is_listed:
            lost, gained = gained, lost
        self._grow(-lost[1], -lost[0])
        self._add_column_to_rows(c, -1 if is_listed else 1)
        (self.listed.add if is_listed else self.listed.discard)(c)
        self._grow(gained[1], gained[0])

    # names in the cells of a column

    def _find_objects(self, c: int) -> list[Branch]:
        """The cells of a column of objects that can all be bare; empty for any other column."""
        cells = [cell for r in self.shown_rows if (cell := self.rows[r][c]) is not None]
        found = [cell for cell in cells if isinstance(cell, Branch) and cell.can_be_bare]
        return found if len(found) == len(cells) else []

    def names_price(self, c: int) -> tuple[float, int]:
        """Salience lost and tokens freed by leaving out the names in the cells of the column."""
        prices = [
            cell.names_price(marks=False)
            for cell in self.objects(c)
            if cell.place[0] not in self.out_rows
        ]
        return sum(salience for salience, _ in prices), sum(tokens for _, tokens in prices)

    def set_bare(self, c: int, is_bare: bool) -> None:
        """Leaves the names in the cells of the column out, or restores them."""
        (self.bare.add if is_bare else self.bare.discard)(c)
        for cell in self.objects(c):
            cell.set_bare(is_bare, marks=False)

    # what is left, and what is gone

    def render(self) -> str:
        parts = [] if self.matches is None else [f'"match":{self.matches.render()}']
        shown = [c for c in range(len(self.columns)) if not self._is_off(c)]
        rows = [r for r in self.shown_rows if r not in self.out_rows]
        if shown and (rows or any(c in self.constants for c in shown)):
            lines = [render_header([self._head(c) for c in shown]), *self._render_rows(rows, shown)]
            parts.append(f"{render_json(self.origin.form)}:[{','.join(lines)}]")
        values = [
            f"{render_json('.'.join(self.columns[c].path))}:[{','.join(self._values(c))}]"
            for c in sorted(self.listed - self.out_columns)
        ]
        if values:
            parts.append(f'"values":{{{",".join(values)}}}')
        counts = {"rows": len(self.out_rows) + self.unlisted, "columns": len(self.out_columns)}
        gone = [amount(count, unit) for unit, count in counts.items() if count]
        if gone:
            parts.append(f'"{ELISION}":"{", ".join(gone)}"')
        return f"{{{','.join(parts)}}}"

    def _head(self, c: int) -> Column:
        column = self.columns[c]
        if c in self.constants:
            return Column(column.path, constant=self.constants[c].render())
        if c in self.bare:
            path = (*column.path[:-1], f"{column.name} {ELISION} names")
            return Column(path, column.is_optional)
        return column

    def _render_rows(self, rows: Sequence[int], shown: Sequence[int]) -> list[str]:
        varying = [c for c in shown if c not in self.constants]
        if not varying:
            return []
        columns = [self.columns[c] for c in varying]
        groups: dict[int, list[str]] = {}
        for r in rows:
            cells = (self.rows[r][c] for c in varying)
            row = render_row([None if cell is None else cell.render() for cell in cells], columns)
            groups.setdefault(self.origin.groups[r] if self.origin.groups else -1, []).append(row)
        if not self.origin.groups:
            return groups.get(-1, [])
        return [f"[{','.join(group)}]" for group in groups.values()]

    def gone(self, path: str) -> Iterator[Elision]:
        matches = self.matches.children if self.matches is not None else []
        lifted = zip(self.lifted, matches, strict=True)
        present = {r: match for r, match in lifted if match.is_present}
        gone = self.out_rows | (set(self.lifted) - present.keys())
        places = self.origin.places or range(len(self.rows))
        kept = [places[r] for r in range(len(self.rows)) if r not in gone]
        yield from gone_ranges("rows", len(self.rows) + self.unlisted, kept, path=path)
        for c in sorted(self.out_columns | self.listed):
            column = reduce(member_path, self.columns[c].path, f"{path}[]")
            yield Elision(unit="columns", count=1, path=column)
        for r, match in present.items():
            yield from match.gone(path + self.origin.paths[r])
        for c, node in self.constants.items():
            if c not in self.out_columns:
                yield from node.gone(member_path(f"{path}[]", self.columns[c].name))
        for r in self.shown_rows:
            for c, cell in enumerate(self.rows[r]):
                if cell is not None and not self.is_out(cell):
                    row = path + self.origin.paths[r]
                    yield from cell.gone(reduce(member_path, self.columns[c].path, row))

    def leaves(self) -> Iterator[Leaf]:
        cells = (cell for row in self.rows for cell in row if cell is not None)
        for node in (*self.constants.values(), *cells):
            yield from node.leaves()


def _cell_tokens(cell: Node | None) -> int:
    return 2 if cell is None else cell.tokens + 1


def _cell_salience(cell: Node | None) -> float:
    return 0.0 if cell is None else cell.salience
