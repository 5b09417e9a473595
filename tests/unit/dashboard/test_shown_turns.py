"""The table of turns: the newest, and the one that the address names."""

from __future__ import annotations

import pytest

from dashboard.usage import turns
from dashboard.usage.rows import turn_rows


@pytest.mark.parametrize(
    ("named", "shown"), [(None, [5, 4, 3]), (2, [5, 4, 3, 2]), (4, [5, 4, 3]), (9, [5, 4, 3])]
)
def test_a_long_session_shows_its_newest_turns_and_the_one_of_the_address(
    monkeypatch: pytest.MonkeyPatch, named: int | None, shown: list[int]
) -> None:
    monkeypatch.setattr(turns, "SHOWN_TURNS", 3)
    monkeypatch.setattr(turns, "named", lambda place: named)
    some = turn_rows([(seq, f"said {seq}") for seq in range(1, 6)], 5, [], [])

    assert [turn.number for turn in turns._shown(some)] == shown
