"""What all tests share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from hypothesis import HealthCheck, settings

# A vocabulary is loaded with the first exact count, which takes longer than hypothesis allows.
# The default asks the same questions as long as the same modules are loaded, so that a change fails
# for what it changed; HYPOTHESIS_PROFILE=thorough looks for new ones.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=300
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session", autouse=True)
def _once() -> Iterator[None]:
    """Some things are done once per process, if a test that is run needs them at all."""
    with ExitStack() as stack:
        if "ctxcore.store.database" in sys.modules:  # all tests are imported by now
            from tests.new_databases import repeated_migration

            stack.enter_context(repeated_migration())
        if "streamlit.testing.v1" in sys.modules:
            from tests.components import one_scan_for_components

            stack.enter_context(one_scan_for_components())
        yield
