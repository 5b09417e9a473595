"""A browser and a running dashboard: `streamlit run app.py` on a port and a database of its own."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.store.sql import open_store
from tests.limits import BROWSER_SECONDS
from tests.servers import free_port, serving

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WINDOW_TOKENS = 2_000
LONG_REPLY = "".join(f"word{number} " for number in range(300))
# Lasts longer than a browser may take for any of it.
ENDLESS_REPLY = "".join(f"word{number} " for number in range(20_000))
SCRIPTS = {
    "demo": {"otherwise": {"echo": True}},
    "summaries": {"otherwise": {"text": "They asked what about it.", "first_delay_seconds": 5}},
    "slow": {"otherwise": {"text": LONG_REPLY, "chunk_delay_seconds": 0.03}},
    "endless": {"otherwise": {"text": ENDLESS_REPLY, "chunk_delay_seconds": 0.03}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A dashboard that runs, and an engine on the same database."""

    url: str
    engine: ContextEngine


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests: its first answer loads litellm, which takes seconds."""
    folder = tmp_path_factory.mktemp("dashboard")
    scripts = folder / "scripts.json"
    scripts.write_text(json.dumps(SCRIPTS), encoding="utf-8")
    database = f"sqlite:///{folder / 'test.db'}"
    store = open_store(database)
    engine = ContextEngine(store, model="scripted/demo")
    engine.user()
    store.save_setting("demo_offered:local", True)
    for name in SCRIPTS:
        save_figures(store, f"scripted/{name}", {"window_tokens": WINDOW_TOKENS})
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    variables = {
        "CTXCORE_DATABASE_URL": database,
        "CTXCORE_MODEL": "scripted/demo",
        "CTXCORE_SCRIPTED_MODELS": str(scripts),
    }
    log = folder / "server.log"
    try:
        with serving(command, port, folder=ROOT, log=log, variables=variables) as url:
            yield Server(url=url, engine=engine)
    finally:
        store.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A Chromium of this machine.

    For one module only: while playwright runs, no other test of this thread can use asyncio.
    """
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"no Chromium found; install one of {', '.join(BROWSERS)}")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=BROWSER_SECONDS * 1_000)
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a fresh profile."""
    with fresh_page(browser, viewport={"width": 1280, "height": 900}, locale="en-GB") as opened:
        yield opened


@contextmanager
def fresh_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a profile of its own."""
    context = browser.new_context(**options)
    context.set_default_timeout(BROWSER_SECONDS * 1_000)
    try:
        yield context.new_page()
    finally:
        context.close()
