"""How much of a text that is still being written is drawn."""

from __future__ import annotations

from dashboard.shown_texts import MOST_CHARS, newest_part


def test_of_a_long_answer_its_newest_lines_are_drawn() -> None:
    text = "line of an answer\n" * 5_000

    part = newest_part(text)

    assert MOST_CHARS - 18 <= len(part) <= MOST_CHARS
    assert part.startswith("line of")
    assert newest_part("short") == "short"
    assert len(newest_part("a" * 50_000)) == MOST_CHARS
