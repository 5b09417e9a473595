"""What the words of a text say: that something went wrong, and what a query shares with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.compression.target import shared_by_line, terms_of
from ctxcore.text.joined_lines import JoinedLines
from ctxcore.text.signals import mentions_error, suspect_lines

TEXTS = st.text(st.sampled_from("aB7é中文ア・.@#:/-_ '"), max_size=40)


@given(TEXTS, st.lists(TEXTS, max_size=6))
def test_a_line_shares_the_terms_that_a_query_is_about_too(query: str, lines: list[str]) -> None:
    terms = terms_of(query)
    own = {at: terms & terms_of(line) for at, line in enumerate(lines)}
    shared = shared_by_line(terms, JoinedLines(lines))
    assert shared == {at: both for at, both in own.items() if both}
    assert list(shared) == sorted(shared)


def test_an_identifier_is_known_by_its_parts_too() -> None:
    lines = JoinedLines(["ROWS", "src/load_rows.c"])
    assert shared_by_line(terms_of("fix load_rows in rows.py"), lines) == {
        0: {"rows"},
        1: {"load", "rows"},
    }


def test_of_very_many_terms_all_are_found() -> None:
    terms = terms_of(" ".join(f"part_{at}" for at in range(200)))
    lines = JoinedLines(["nothing", "part_7.c and part_70"])
    assert shared_by_line(terms, lines) == {1: {"part", "7", "70", "part_70"}}


@pytest.mark.parametrize(
    "text",
    [
        "2 errors", "EXCEPTION", "a failure", "it Failed", "fatal:", "Traceback", "access denied",
        "refused", "panic!", "critical", "timeout", "timed out", "time-out", "unauthorised",
        "Unauthorized", "forbidden", "invalid", "Not Found", "on_error", "ValueError",
        "StopException",
    ],
)  # fmt: skip
def test_texts_that_tell_of_an_error_are_known(text: str) -> None:
    assert mentions_error(text)


@given(st.lists(st.text(st.sampled_from("ERrOo fail\u0130Σ拒绝_-"), max_size=12), max_size=6))
def test_lines_that_are_not_suspect_mention_no_error(lines: list[str]) -> None:
    suspect = suspect_lines(JoinedLines(lines))
    assert not any(mentions_error(line) for at, line in enumerate(lines) if at not in suspect)


@pytest.mark.parametrize("text", ["errorless", "failsafe", "the outlook", "foundation", "prefail"])
def test_words_that_only_look_like_errors_are_none(text: str) -> None:
    assert not mentions_error(text)
