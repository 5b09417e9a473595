"""Full garbage collections are put off for a while, and only for that."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from ctxcore.engine.collecting import rare_full_collections


@pytest.fixture(autouse=True)
def thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_young_objects_are_looked_through_as_often() -> None:
    with rare_full_collections():
        young, middle, full = gc.get_threshold()

    assert (young, middle) == (700, 10)
    assert full > 100


def test_all_is_as_before_after_an_error() -> None:
    with pytest.raises(ValueError, match="no"), rare_full_collections():
        raise ValueError("no")

    assert gc.get_threshold() == (700, 10, 10)


def test_who_asks_second_changes_nothing() -> None:
    first, second = rare_full_collections(), rare_full_collections()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)

    assert gc.get_threshold() == (700, 10, 10)
