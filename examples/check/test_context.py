"""Fails where a policy would lose what recorded conversations need; run it with pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxcore.integrations.pytest_plugin import ContextCheck

RECORDED = sorted((Path(__file__).parents[2] / "data").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_nothing_that_is_needed_is_lost(ctxcore_check: ContextCheck, path: Path) -> None:
    ctxcore_check(path, policy="default", window=32_000, max_facts_lost=0)
