"""The words around a fact, and a fact on one line."""

from __future__ import annotations

from ctxcore.messages.values import text_message
from dashboard.excerpts import passage, short_fact
from tests.histories import assistant, call


def test_a_passage_is_the_lines_around_the_fact() -> None:
    lines = [f"line {n}" for n in range(20)]

    told = passage(text_message("user", "\n".join(lines)), "LINE 10")

    assert told == "… line 8\nline 9\nline 10\nline 11\nline 12 …"


def test_a_short_message_is_shown_whole() -> None:
    assert passage(text_message("user", "See ABC-12, please."), "ABC-12") == "See ABC-12, please."


def test_a_fact_in_the_arguments_of_a_call_is_found() -> None:
    message = assistant("", call("c1", "Read", file_path="/srv/a.py"))

    assert passage(message, "/srv/a.py") == "/srv/a.py"


def test_a_fact_in_other_words_shows_how_the_message_begins() -> None:
    told = passage(text_message("user", "first\nsecond\nthird\nfourth"), "not there")

    assert told == "first\nsecond\nthird …"


def test_a_long_line_is_cut_on_both_sides() -> None:
    told = passage(text_message("user", "a" * 900 + " KEY-1 " + "b" * 900), "KEY-1")

    assert told.startswith("… aaa")
    assert told.endswith("bbb …")
    assert "KEY-1" in told
    assert len(told) < 450


def test_of_a_long_path_the_end_is_shown_and_of_words_the_begin() -> None:
    path = "/srv/" + "deep/" * 20 + "file.py"

    assert short_fact(path, "path", 20) == f"…{path[-19:]}"
    assert short_fact("Never do that again", "instruction", 10) == "Never do …"
