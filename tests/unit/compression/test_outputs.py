"""`compress` itself: whose tokens are counted, and what its result says."""

from __future__ import annotations

import dataclasses
import json

import pytest

from ctxcore.compression.outputs import Compressed, compress
from ctxcore.tokens.count import count_tokens

SHIPS = json.dumps([{"ship": f"vessel {n}", "tonnage": 1000 + n} for n in range(200)])


@pytest.mark.parametrize("model", [None, "gpt-4o", "gpt-4"])
@pytest.mark.parametrize("max_tokens", [40, 100, 200])
def test_the_budget_is_in_tokens_of_the_model(model: str | None, max_tokens: int) -> None:
    compressed = compress(SHIPS, max_tokens=max_tokens, model=model)

    assert compressed.tokens == count_tokens(compressed.text, model) <= max_tokens
    assert compressed.original_tokens == count_tokens(SHIPS, model)


def test_most_of_the_budget_is_used() -> None:
    assert compress(SHIPS, max_tokens=200, model="gpt-4o").tokens > 170


def test_a_result_cannot_be_changed() -> None:
    compressed = compress("short")

    assert compressed == Compressed(text="short", tokens=1, original_tokens=1, kind="text")
    with pytest.raises(dataclasses.FrozenInstanceError):
        compressed.text = "other"  # type: ignore[misc]  # the point of the test
