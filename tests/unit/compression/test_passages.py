"""What stays of a long text: its ends, and the passages that the query names."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.compression.passages import RARE, Passages
from tests.unit.compression.counters import shrink

WORDS = ["harbour", "lamp", "boat", "net", "fish", "crew", "song", "wind", "salt", "rope", "timber"]
NEEDLE = "The lighthouse at Skerrivore was automated in 1994."
QUERY = "When was the Skerrivore lighthouse automated?"


def prose(sentences: int, seed: int = 3) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences)]


def with_needle() -> str:
    sentences = prose(120)
    return " ".join([*sentences[:60], NEEDLE, *sentences[60:]])


def test_without_terms_the_middle_goes() -> None:
    text = " ".join(prose(60))

    short = Passages(text).shorten(120)

    head, gone, tail = short.split("…")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert gone == f"{len(text) - len(head) - len(tail):,} chars"


def test_a_passage_with_a_rare_term_stays_and_each_gap_is_counted() -> None:
    text = with_needle()

    short = Passages(text, ["skerrivore"]).shorten(400)

    head, before, needle, after, tail = short.split("…")
    assert NEEDLE in needle
    counted = sum(int(gap.removesuffix(" chars").replace(",", "")) for gap in (before, after))
    assert counted + len(head) + len(needle) + len(tail) == len(text)


def test_a_term_that_is_said_often_points_to_no_passage() -> None:
    text = " ".join(["The crew sang."] * (RARE + 1) + prose(50))

    assert Passages(text, ["sang"]).best == ()


def test_of_a_word_only_the_whole_word_is_found() -> None:
    text = " ".join([*prose(30), "Skerrivorean lamps.", *prose(30)])

    assert Passages(text, ["skerrivore"]).best == ()


def test_an_error_in_a_long_text_stays() -> None:
    sentences = prose(120)
    sentences[70] = "Then the crane failed: hydraulic pressure lost at berth 7."

    assert "berth 7" in Passages(" ".join(sentences)).shorten(400)


@pytest.mark.parametrize("max_tokens", [60, 100, 200])
@pytest.mark.parametrize(
    "output",
    [
        with_needle(),
        with_needle().replace(". ", ".\n\n", 3),
        json.dumps({"url": "https://harbours.example/1", "body": with_needle()}),
        "\n".join(f"12:00:{n:02d} INFO {text}" for n, text in enumerate([with_needle()] * 2)),
    ],
)
def test_what_the_query_names_deep_in_a_long_line_is_kept(output: str, max_tokens: int) -> None:
    compressed = shrink(output, max_tokens, QUERY)

    assert "1994" in compressed.text
    assert compressed.tokens <= max_tokens


@given(
    st.text(st.sampled_from("ab. \U0001f600\ud83d"), max_size=400),
    st.lists(st.sampled_from(["a", "ab", "bbbb", "1"]), max_size=3),
    st.integers(0, 500),
)
def test_what_is_gone_and_what_stays_are_the_text(
    text: str, terms: list[str], keep_chars: int
) -> None:
    passages = Passages(text, terms)
    gone = passages.gone(keep_chars)

    bounds = [at for stretch in gone for at in stretch]
    assert bounds == sorted(bounds)
    assert all(0 <= start < stop <= len(text) for start, stop in gone)
    if keep_chars >= len(text):
        assert gone == []
    if not gone:
        assert passages.shorten(keep_chars) == text
