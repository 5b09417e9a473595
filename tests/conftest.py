"""What all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A vocabulary is loaded with the first exact count, which takes longer than hypothesis allows.
# The default asks the same questions as long as the same modules are loaded, so that a change fails
# for what it changed; HYPOTHESIS_PROFILE=thorough looks for new ones.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    max_examples=16,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "thorough", parent=settings.get_profile("default"), derandomize=False, max_examples=300
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto` half as many more workers as cores: tests wait for browsers and processes."""
    named = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    return int(named) if named else (os.cpu_count() or 1) * 3 // 2


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs on PostgreSQL is slow, but for the part that is marked; so is what measures."""
    for item in items:
        if item.get_closest_marker("measures") is not None:
            item.add_marker(pytest.mark.slow)
        on_postgres = "postgres_url" in getattr(item, "fixturenames", ()) or (
            "on_postgres" in item.name
        )
        if on_postgres and item.get_closest_marker("postgres") is None:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Everything that all tests share is left out of garbage collections.

    Streamlit collects after every run of a page, and would look at a million objects each time.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_main() -> Iterator[None]:
    """A page that was run puts itself in the place of `__main__`, which new processes import."""
    own = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = own


@pytest.fixture(scope="session", autouse=True)
def _once() -> Iterator[None]:
    """Some things are done once per process, if a test that is run needs them at all."""
    with ExitStack() as stack:
        if "ctxcore.store.database" in sys.modules:  # all tests are imported by now
            from tests.compiled_statements import compiled_once
            from tests.new_databases import repeated_migration

            stack.enter_context(repeated_migration())
            stack.enter_context(compiled_once())
        if "streamlit.testing.v1" in sys.modules:
            from tests.components import one_scan_for_components

            stack.enter_context(one_scan_for_components())
        yield


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[str]:
    """The address of a PostgreSQL database of this worker, with the schema."""
    from ctxcore.store import open_store
    from tools import postgres

    if reason := postgres.missing():
        pytest.skip(reason)
    with postgres.server() as server, postgres.database(server) as url:
        open_store(url).close()
        yield url


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    """The address of a PostgreSQL database with the schema and no rows."""
    from tests.new_databases import empty

    empty(postgres_database)
    return postgres_database


@pytest.fixture(params=["in_file", "on_postgres"])
def stored_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database that other processes can open too, of each kind."""
    if request.param == "on_postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path / 'chat.db'}"
