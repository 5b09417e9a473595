"""The search of the documentation's site takes English by words and Chinese by pairs of signs."""

from __future__ import annotations

import pytest

from tools.docs_site.search import SearchBoth


@pytest.fixture
def search() -> SearchBoth:
    return SearchBoth({})


def test_english_is_split_into_words_and_chinese_into_signs_and_pairs(search: SearchBoth) -> None:
    assert search.split("compacted sessions") == ["compacted", "sessions"]
    assert search.split("压缩后") == ["压", "缩", "后", "压缩", "缩后"]


def test_words_that_touch_are_split_where_the_script_changes(search: SearchBoth) -> None:
    assert search.split("用ctxcore压缩") == ["用", "ctxcore", "压", "缩", "压缩"]


def test_stop_words_are_left_out_and_single_signs_are_not(search: SearchBoth) -> None:
    assert [word for word in ("the", "token", "压") if search.word_filter(word)] == ["token", "压"]


def test_the_splitter_of_the_page_has_the_same_signs(search: SearchBoth) -> None:
    assert "HAN" not in search.js_splitter_code
    assert r"\p{L}" in search.js_splitter_code
