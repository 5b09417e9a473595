"""Forgetting signals on the turns labelled by hand, and the rules that the labels rest on."""

from __future__ import annotations

import pytest

from benchmarks.forgetting.__main__ import scores_of
from benchmarks.forgetting.cases import load_cases


@pytest.mark.parametrize("name", ["tuning", "held_out"])
def test_nine_of_ten_signals_are_right_and_most_are_found(name: str) -> None:
    whole = scores_of(load_cases(name))["all"]

    assert whole.precision >= 0.9
    assert whole.recall >= 0.8
