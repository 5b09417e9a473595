"""The first texts are counted without tiktoken's tables, and their counts are the same."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.tokens.exact import (
    _PUBLISHED,
    VOCABULARIES,
    VocabularyName,
    _load_vocabulary,
    _read_ranks,
)
from ctxcore.tokens.vocabulary import FIRST_CHARS, Vocabulary
from tests.examples import fewer

WORDS = "The quick brown fox isn't 12,345 dogs; naïve 你好，世界 🎉👩‍👩‍👧 ​\r\n\t x=1.5 //_a\n\n"


@pytest.fixture(params=[name for name in VOCABULARIES if name != "smollm2"])
def loaded(request: pytest.FixtureRequest) -> Vocabulary:
    """A vocabulary whose tables are there."""
    vocabulary = _load_vocabulary(request.param)
    assert vocabulary is not None
    assert vocabulary.tables.name == vocabulary.name
    return vocabulary


@cache
def ranks_of(name: VocabularyName) -> dict[bytes, int]:
    published = _read_ranks(name)
    assert published is not None
    return _PUBLISHED[name].parse(published)


def anew(loaded: Vocabulary) -> Vocabulary:
    """The same vocabulary before its first count."""
    ranks = ranks_of(cast("VocabularyName", loaded.name))
    return Vocabulary(loaded.name, loaded.tables._pat_str, dict(ranks))


@fewer(8)
@given(parts=st.lists(st.sampled_from(WORDS.split(" ")) | st.text(max_size=12), max_size=24))
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_ranks_alone_count_as_the_tables_do(name: VocabularyName, parts: list[str]) -> None:
    loaded = _load_vocabulary(name)
    assert loaded is not None
    text = " ".join(parts).encode("utf-8", "replace").decode()
    first = anew(loaded)

    assert first.count(text) == len(loaded.tables.encode_ordinary(text))


def test_a_short_text_needs_no_tables(loaded: Vocabulary) -> None:
    first = anew(loaded)

    assert first.count(WORDS) == loaded.count(WORDS)
    assert not first.has_tables


@pytest.mark.parametrize("text", ["word " * FIRST_CHARS, "x" * 400, "\U0001fffd"])
def test_much_text_long_pieces_and_unknown_characters_are_for_the_tables(
    loaded: Vocabulary, text: str
) -> None:
    first = anew(loaded)

    assert first.count(text) == len(loaded.tables.encode_ordinary(text))
    assert first.has_tables


def test_ranks_are_forgotten_once_there_are_tables_and_counts_stay(loaded: Vocabulary) -> None:
    first = anew(loaded)
    before = first.count(WORDS)

    assert first.tables.name == loaded.name
    assert not first._ranks
    assert first.count(WORDS) == before == loaded.count(WORDS)
