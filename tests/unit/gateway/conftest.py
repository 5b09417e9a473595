"""What the tests of the gateway share."""

from __future__ import annotations

import warnings

import pytest

from ctxcore.gateway.runtime import NOISE


@pytest.fixture(autouse=True)
def quiet_litellm() -> None:
    """pytest restores the filters before each test, so the gateway's own are set again."""
    for message, category in NOISE:
        warnings.filterwarnings("ignore", message=message, category=category)
