"""A browser and a running dashboard: `streamlit run app.py` on a port and a database of its own."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.policies import save_figures
from ctxcore.store.sql import open_store
from tests.limits import BROWSER_SECONDS, HANG_SECONDS

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
    port = _free_port()
    variables = {
        "CTXCORE_DATABASE_URL": database,
        "CTXCORE_MODEL": "scripted/demo",
        "CTXCORE_SCRIPTED_MODELS": str(scripts),
        "CTXCORE_WARM_UP": "0",
    }
    with (folder / "server.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdout=log,
            stderr=log,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
            yield Server(url=f"http://127.0.0.1:{port}", engine=engine)
        finally:
            process.terminate()
            process.wait(timeout=HANG_SECONDS)
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


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=HANG_SECONDS) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(address)
