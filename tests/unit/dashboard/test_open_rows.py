"""Which row of a table a click or a key opens."""

from __future__ import annotations

import pytest

from dashboard.widgets import Selection, opened_row


def selection(rows: list[int], cells: list[tuple[int, str]]) -> Selection:
    return {"rows": rows, "columns": [], "cells": cells}


@pytest.mark.parametrize(
    ("selected", "opens"),
    [
        (selection([1], [(3, "a")]), 3),  # a click into another row, or an arrow key
        (selection([4], [(1, "a")]), 4),  # the mark of another row, the cell as it was
        (selection([1], [(1, "b")]), 1),  # another cell of the open row
        (selection([1], []), 1),  # Escape takes the cell away
        (selection([], []), 1),
    ],
)
def test_a_row_opens_by_its_mark_or_by_a_cell(selected: Selection, opens: int) -> None:
    assert opened_row(selected, 1) == opens
