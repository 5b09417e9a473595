"""Traditional characters read as simplified ones, at their places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.text.languages import simplified
from tests.processes import printed_by


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("請回覆訊息", "请回复讯息"),
        ("從現在開始不要覆蓋檔案", "从现在开始不要覆盖档案"),
        ("請 \ud800 x", "请 \ud800 x"),
        ("plain words", "plain words"),
    ],
)
def test_traditional_is_read_as_simplified(said: str, read: str) -> None:
    assert simplified(said) == read


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x2FFFF), max_size=60))
def test_places_stay(said: str) -> None:
    assert len(simplified(said)) == len(said)


def test_english_loads_no_dictionary() -> None:
    code = "import sys; from ctxcore.text.languages import simplified; simplified('a rule')"

    assert printed_by(f"{code}; print('opencc' in sys.modules)").strip() == "False"
