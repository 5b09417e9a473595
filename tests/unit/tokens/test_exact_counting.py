"""Exact counting: the published vocabularies' own numbers, for any text, offline."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.tokens import exact
from ctxcore.tokens.exact import ExactCounter
from tests.effort import processor_seconds

O200K = ExactCounter("o200k_base")
CL100K = ExactCounter("cl100k_base")
LINE = "The quick brown fox, jumps over 12 dogs.\n"

# Computed once with `tiktoken.get_encoding(…).encode_ordinary` of tiktoken 0.14.
KNOWN = [
    ("hello world", 2, 2),
    ("The quick brown fox jumps over the lazy dog.", 10, 10),
    ("你好,世界!今天天气怎么样?", 9, 17),
    ("def add(a: int, b: int) -> int:\n    return a + b\n", 19, 19),
    ('{"id": 12345, "tags": ["a", "b"], "ok": true}', 21, 21),
    ("naïve café déjà vu", 6, 6),
    ("👩‍👩‍👧‍👦 🎉", 13, 21),
    ("  \n\n\t x", 3, 3),
    ("it's I'LL we'Re", 5, 7),
    ("<|endoftext|>", 7, 7),
    ("\x00", 1, 1),
    ("2026-11-21T10:00:00Z ERROR disk /dev/sda1 92%", 23, 23),
]


@pytest.mark.parametrize(("text", "in_o200k", "in_cl100k"), KNOWN)
def test_a_text_counts_as_its_vocabulary_does(text: str, in_o200k: int, in_cl100k: int) -> None:
    assert (O200K.count(text), CL100K.count(text)) == (in_o200k, in_cl100k)


def test_the_empty_text_takes_no_tokens() -> None:
    assert O200K.count("") == 0


def test_an_exact_counter_says_so_and_is_named_after_its_vocabulary() -> None:
    assert (O200K.id, O200K.is_exact) == ("o200k_base", True)
    assert (CL100K.id, CL100K.is_exact) == ("cl100k_base", True)


@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
def test_a_lone_surrogate_counts_as_the_replacement_character(counter: ExactCounter) -> None:
    assert counter.count("a\ud800b") == counter.count("a\ufffdb")
    assert counter.count("word \udfff " * 40) == counter.count("word \ufffd " * 40)


@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u3000"])
def test_a_million_blanks_are_counted(counter: ExactCounter, blank: str) -> None:
    assert 0 < counter.count(blank * 1_200_000) < 1_200_000


@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
def test_ten_megabytes_are_counted_exactly(counter: ExactCounter) -> None:
    assert counter.count(LINE * 250_000) == 250_000 * counter.count(LINE)


@pytest.mark.measures
@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
def test_ten_megabytes_take_about_ten_times_the_processor_of_one(counter: ExactCounter) -> None:
    one, ten = (processor_seconds(counter.count, LINE * lines) for lines in (25_000, 250_000))

    assert ten < 20 * one


def test_a_long_text_is_counted_in_short_pieces() -> None:
    """Time grows faster than length within a piece."""
    cut = list(O200K.pieces(LINE * 25_000))

    assert "".join(cut) == LINE * 25_000
    assert max(map(len, cut)) <= 2**14


def test_a_long_run_of_one_kind_is_cut_so_that_time_stays_linear() -> None:
    run = "a" * 450_000

    cut = list(O200K.pieces(run))

    assert "".join(cut) == run
    assert max(map(len, cut)) <= 3 * 2**13
    assert O200K.count(run) == 450_000 / 8  # letters a token: no cut is within one


@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
def test_text_without_blanks_is_cut_between_kinds_of_signs(counter: ExactCounter) -> None:
    rows = "".join(f'{{"id":{n},"it\'s":"Number{n}/a","说":"好，第{n}。"}},' for n in range(40))

    cut = list(counter.pieces(rows, piece_chars=1))

    assert len(cut) > 300
    assert sum(map(counter.count, cut)) == counter.count(rows)


@given(st.text(list("aZé9²Ⅳ '\"(.,/-_\n\r\t\u3000中，。、😀\u0301"), max_size=30))
def test_no_cut_is_within_what_a_vocabulary_takes_together(text: str) -> None:
    for counter in (O200K, CL100K, ExactCounter("smollm2")):
        pieces = counter.pieces(text, piece_chars=1)
        assert sum(map(counter.count, pieces)) == counter.count(text)


def test_a_very_long_text_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{LINE * 2_000}once"
    assert O200K.count(text) == 2_000 * O200K.count(LINE) + 1
    monkeypatch.setattr(exact, "_count_pieces", None)

    assert O200K.count(text) == 2_000 * O200K.count(LINE) + 1


@pytest.mark.parametrize("counter", [O200K, CL100K], ids=lambda counter: counter.id)
def test_a_line_end_joined_by_a_slash_is_not_cut(counter: ExactCounter) -> None:
    code = "run();\n//\n// then\nstop();\n// done }\n//\n" * 3

    cut = list(O200K.pieces(code, piece_chars=1))

    assert len(cut) > 10
    assert sum(map(counter.count, cut)) == counter.count(code)


def test_a_short_text_is_one_piece() -> None:
    assert list(O200K.pieces("one two three")) == ["one two three"]
    assert list(O200K.pieces("")) == []
