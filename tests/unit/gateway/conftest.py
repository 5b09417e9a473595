"""What the tests of the gateway share."""

from __future__ import annotations

import warnings

import pytest

from ctxcore.litellm_loading import LITELLM_WARNINGS


@pytest.fixture(autouse=True)
def quiet_litellm() -> None:
    """pytest restores the filters before each test, so the gateway's own are set again."""
    for message, category in LITELLM_WARNINGS:
        warnings.filterwarnings("ignore", message=message, category=category)
