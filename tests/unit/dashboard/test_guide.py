"""The guided path: what does each step, and what is stored of it."""

from __future__ import annotations

import pytest

from dashboard.chat_page.guided import steps_line
from dashboard.guide import STEPS, Guide, comparing_page, to_guide, visited_by

PAGES = ("chat", "context", "compaction")


def test_the_next_step_is_the_first_that_is_not_done() -> None:
    assert Guide().next_step == "send"
    assert Guide(done=frozenset({"send", "compact"})).next_step == "watch"
    assert Guide(done=frozenset(STEPS)).next_step is None


@pytest.mark.parametrize("stored", [None, [], "done", 3])
def test_a_user_who_was_never_offered_the_guide_has_none(stored: object) -> None:
    assert to_guide(stored) is None  # type: ignore[arg-type]  # what a setting may hold


def test_what_is_stored_is_read_without_what_it_does_not_know() -> None:
    found = to_guide({"done": ["send", "dance"], "closed": True})

    assert found == Guide(done=frozenset({"send"}), is_closed=True)


def test_visits_do_the_steps_that_look_at_something() -> None:
    assert visited_by("context", PAGES) == "watch"
    assert visited_by("compaction", PAGES) == "compare"
    assert visited_by("usage", PAGES) is None


def test_policies_are_compared_in_the_lab_where_there_is_one() -> None:
    assert comparing_page(PAGES) == "compaction"
    assert comparing_page([*PAGES, "lab"]) == "lab"


def test_the_line_marks_done_steps_and_the_next_one() -> None:
    line = steps_line(Guide(done=frozenset({"send"})))

    assert ":green[:material/check_circle: Send]" in line
    assert "**2 Watch**" in line
