"""The dashboard's first page, in a new process and a real browser; and the memory it takes.

Run it as `python -m benchmarks.first_paint`; it needs the extras `dashboard` and `dev` and a
Chromium. Every process gets a new browser profile, so nothing comes from a cache. The first start
also makes the database and imports the demo sessions; the ones after it find them there.
"""

from __future__ import annotations

import argparse
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
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.peers import is_there
from benchmarks.timing import print_command

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SHELL = '[data-testid="stSidebarNav"]'
INPUT = '[data-testid="stChatInput"]'
IS_COMPLETE = '[data-test-script-state="notRunning"]'
MOST_SECONDS = 60.0
SETTLED_SECONDS = 10.0  # after the first page, when memory is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Moments of a first visit, in seconds; `started` and `listening` count from the process."""

    listening: float
    shell: float
    """From the request on, like the two below."""
    chat_input: float
    complete: float
    resident_bytes: int | None = None

    @property
    def from_process(self) -> float:
        """From the start of the process to the chat input, asked for as soon as it listened."""
        return self.listening + self.chat_input


def main() -> None:
    """Print the tables of time and memory."""
    print_command()
    options = _options()
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None or not (is_there("playwright") and is_there("streamlit")):
        raise SystemExit(f"no browser: install the extra 'dev' and one of {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started, TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=path, args=list(FLAGS))
        database = f"sqlite:///{Path(folder) / 'benchmark.db'}"
        first = _visit(browser, database)
        later = [_visit(browser, database) for _ in range(options.rounds)]
        memory = {
            "without litellm (CTXCORE_WARM_UP=0)": _visit(browser, database, warm_up=False),
            "with litellm imported": _visit(browser, database, settles=True),
        }
        browser.close()
    _print_times(first, later)
    _print_memory(memory)


def _visit(
    browser: Browser, database: str, *, warm_up: bool = True, settles: bool = False
) -> Visit:
    """A server started, visited once, and ended."""
    begun = time.perf_counter()
    with served(database, warm_up=warm_up) as (process, address):
        listening = time.perf_counter() - begun
        page = browser.new_context(locale="en-GB").new_page()
        page.set_default_timeout(MOST_SECONDS * 1000)
        asked = time.perf_counter()
        page.goto(address, wait_until="commit")
        moments = []
        for selector in (SHELL, INPUT, IS_COMPLETE):
            page.wait_for_selector(selector)
            moments.append(time.perf_counter() - asked)
        resident = None
        if settles or not warm_up:
            time.sleep(SETTLED_SECONDS)
            resident = resident_bytes(process.pid)
        page.context.close()
    shell, chat_input, complete = moments
    return Visit(
        listening=listening,
        shell=shell,
        chat_input=chat_input,
        complete=complete,
        resident_bytes=resident,
    )


@contextmanager
def served(database: str, *, warm_up: bool) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A dashboard that listens, on a port of its own."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    variables = {"CTXCORE_DATABASE_URL": database, "CTXCORE_WARM_UP": "1" if warm_up else "0"}
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"{address}/_stcore/health")
        yield process, address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"the dashboard did not start within {MOST_SECONDS:.0f} s")


def resident_bytes(pid: int) -> int | None:
    """Memory of a process and all below it, as Linux tells it; None elsewhere."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    lines = status.read_text(encoding="utf-8").splitlines()
    own = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), "0")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return int(own) * 1024 + sum(resident_bytes(int(child)) or 0 for child in children)


def _print_times(first: Visit, later: list[Visit]) -> None:
    print("\nFirst page of a new process, browser profile new, warm-up on")
    print(f"  {'':<52} {'new database':>13} {'median of ' + str(len(later)):>13}")
    rows = {
        "process start until it listens": "listening",
        "request to sidebar": "shell",
        "request to chat input": "chat_input",
        "request to the page complete": "complete",
        "process start to chat input": "from_process",
    }
    for name, field in rows.items():
        middle = median(float(getattr(visit, field)) for visit in later)
        print(f"  {name:<52} {getattr(first, field):>11.2f} s {middle:>11.2f} s")


def _print_memory(visits: dict[str, Visit]) -> None:
    print(f"\nResident memory of the process tree, {SETTLED_SECONDS:.0f} s after the first page")
    for name, visit in visits.items():
        size = visit.resident_bytes
        print(f"  {name:<52} {'unknown' if size is None else f'{size / 2**20:,.0f} MiB':>13}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
