"""What the words of a text say: that something went wrong, and what a query shares with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.compression.target import shared_terms, terms_of
from ctxcore.text.signals import mentions_error

TEXTS = st.text(st.sampled_from("aB7é.@#:/-_ '"), max_size=40)


@given(TEXTS, TEXTS)
def test_two_texts_share_the_terms_that_both_are_about(query: str, text: str) -> None:
    assert shared_terms(terms_of(query), text) == terms_of(query) & terms_of(text)


def test_an_identifier_is_known_by_its_parts_too() -> None:
    assert shared_terms(terms_of("fix load_rows in rows.py"), "ROWS") == {"rows"}
    assert shared_terms(terms_of("load_rows"), "src/load_rows.c") == {"load", "rows"}


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


@pytest.mark.parametrize("text", ["errorless", "failsafe", "the outlook", "foundation", "prefail"])
def test_words_that_only_look_like_errors_are_none(text: str) -> None:
    assert not mentions_error(text)
