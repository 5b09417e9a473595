"""Every page of the dashboard with a long session: reruns on the server, first visits, memory.

Run it as `python -m benchmarks.dashboard`; it makes the session itself, in a temporary folder. A
rerun is the whole script of a page that was open before, as a click causes it, without a browser. A
first visit is a page in a new browser profile, from the request until the page is complete. Memory
of an idle viewer is what each of several open pages adds to the server.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.conversations import DEMO, load_messages, repeated
from benchmarks.first_paint import BROWSERS, FLAGS, IS_COMPLETE, resident_bytes, served
from benchmarks.long_history import APPENDED, grow
from benchmarks.peers import MODEL, is_there
from benchmarks.statements import statements_run
from benchmarks.stored import stored_session
from benchmarks.timing import cost_of, cpu_median, print_command, shown
from ctxcore import ContextEngine
from ctxcore.store.values import CallInfo
from dashboard.page_registry import PAGES
from dashboard.slow_reads import SLOW_READS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parent.parent
MOST_RERUN_SECONDS = 0.3
MOST_VISIT_SECONDS = 2.0
MOST_VIEWER_BYTES = 1_000_000
WINDOW_TOKENS = 32_000
SETTLED_SECONDS = 3.0  # after the last viewer has opened the page
SCRIPT_SECONDS = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """What a page costs on the server, the first time and again."""

    page: str
    first_seconds: float
    seconds: float
    cpu_seconds: float
    statements: int


def main() -> None:
    """Print the tables."""
    options = _options()
    print_command()
    with TemporaryDirectory() as folder:
        session_id = _prepared(Path(folder), options.messages, options.calls)
        database = f"sqlite:///{Path(folder) / 'benchmark.db'}"
        size = f"{options.messages:,} messages and {options.calls:,} calls"
        print(f"\nA session of {size}", flush=True)
        _print_reruns(_reruns(database, session_id, options.pages, options.rounds))
        if not options.no_browser:
            _browse(database, session_id, options.pages, options.viewers)


def _prepared(folder: Path, size: int, calls: int) -> str:
    """The id of a session with so many messages and calls in a database in `folder`."""
    messages = repeated(load_messages(DEMO), min(size, APPENDED))
    engine, session_id = stored_session(messages, folder, model=MODEL, usable_tokens=WINDOW_TOKENS)
    engine.compact(session_id)  # of the first messages only: of all it would take a minute
    length = grow(folder / "benchmark.db", session_id, len(messages), size)
    _record_calls(engine, session_id, length, calls)
    engine.user()
    engine.store.save_setting("demo_offered:local", True)
    engine.store.close()
    return session_id


def _record_calls(engine: ContextEngine, session_id: str, length: int, count: int) -> None:
    """Adds calls with usage, spread over the messages."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    step = max(1, length // max(1, count))
    made = [
        CallInfo(
            id=f"call-{at}",
            session_id=session_id,
            created_at=start + timedelta(minutes=at),
            purpose="answer",
            model=MODEL,
            seq=min(length, 1 + at * step),
            estimate={"system": 400, "recent": 5_000 + 40 * (at % 500)},
            input_tokens=5_600 + 41 * (at % 500),
            output_tokens=200,
            cached_tokens=4_000,
        )
        for at in range(count)
    ]
    for first in range(0, count, 1_000):
        engine.store.record_calls(made[first : first + 1_000])


def _reruns(database: str, session_id: str, pages: Sequence[str], rounds: int) -> Iterator[Rerun]:
    """Each page opened once and then run again, without a browser."""
    from streamlit.testing.v1 import AppTest

    logging.disable(logging.WARNING)  # AppTest has no browser, which Streamlit warns of
    os.environ |= {
        "CTXCORE_DATABASE_URL": database,
        "CTXCORE_MODEL": MODEL,
        "CTXCORE_WARM_UP": "0",
    }
    app = AppTest.from_file(str(ROOT / "dashboard" / "main.py"), default_timeout=SCRIPT_SECONDS)
    app.query_params["session"] = session_id
    app.run()
    for page in pages:
        app.switch_page(f"../pages/{page}.py")
        first = cost_of(app.run)
        while SLOW_READS in app.session_state:
            if not app.session_state[SLOW_READS]:
                break
            app.run()  # until what takes seconds is read, of which the page says so
        with statements_run() as sent:
            costs = [cost_of(app.run) for _ in range(rounds)]
        if app.exception:
            raise SystemExit(f"{page}: {app.exception[0].message}")
        yield Rerun(
            page=page,
            first_seconds=first.seconds,
            seconds=median(cost.seconds for cost in costs),
            cpu_seconds=cpu_median(costs),
            statements=round(len(sent) / rounds),
        )


def _print_reruns(reruns: Iterable[Rerun]) -> None:
    print("\nReruns on the server, without a browser")
    head = f"  {'page':<12} {'first':>12} {'rerun, p50':>12} {'CPU, p50':>12} {'statements':>11}"
    print(f"{head}  at most {shown(MOST_RERUN_SECONDS)}", flush=True)
    for one in reruns:
        times = (one.first_seconds, one.seconds, one.cpu_seconds)
        cells = "".join(f" {shown(seconds):>12}" for seconds in times)
        verdict = "yes" if one.seconds <= MOST_RERUN_SECONDS else "NO"
        print(f"  {one.page:<12}{cells} {one.statements:>11,}  {verdict}", flush=True)


def _browse(database: str, session_id: str, pages: Sequence[str], viewers: int) -> None:
    """Visits each page in a new profile, then opens one page several times."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None or not is_there("playwright"):
        raise SystemExit(f"no browser: install the extra 'dev' and one of {', '.join(BROWSERS)}")
    from playwright.sync_api import sync_playwright

    os.environ["CTXCORE_MODEL"] = MODEL
    with sync_playwright() as started, served(database, warm_up=False) as (process, address):
        browser = started.chromium.launch(executable_path=path, args=list(FLAGS))
        query = f"session={session_id}"
        _visit(browser, f"{address}/?{query}")  # the process's first, see benchmarks.first_paint
        print("\nFirst visits in Chromium, new profile, server warm")
        print(f"  {'page':<12} {'complete':>12}  at most {shown(MOST_VISIT_SECONDS)}")
        for page in pages:
            place = "" if page == "chat" else page
            _visit(browser, f"{address}/{place}?{query}")  # reads the session into the caches
            seconds = median(_visit(browser, f"{address}/{place}?{query}") for _ in range(3))
            verdict = "yes" if seconds <= MOST_VISIT_SECONDS else "NO"
            print(f"  {page:<12} {shown(seconds):>12}  {verdict}", flush=True)
        _print_memory(browser, f"{address}/?{query}", process.pid, viewers)
        browser.close()


def _visit(browser: Browser, address: str) -> float:
    """The seconds from the request until the page is complete, in a new profile."""
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.set_default_timeout(SCRIPT_SECONDS * 1_000)
    asked = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_selector('[data-testid="stSidebarNav"]')
    page.wait_for_selector(IS_COMPLETE)
    taken = time.perf_counter() - asked
    context.close()
    return taken


def _print_memory(browser: Browser, address: str, pid: int, viewers: int) -> None:
    """Prints what each of several viewers of the chat page adds to the server's memory."""
    contexts = []
    before = resident_bytes(pid)
    for _ in range(viewers):
        contexts.append(browser.new_context(locale="en-GB"))
        page = contexts[-1].new_page()
        page.set_default_timeout(SCRIPT_SECONDS * 1_000)
        page.goto(address, wait_until="commit")
        page.wait_for_selector(IS_COMPLETE)
    time.sleep(SETTLED_SECONDS)
    after = resident_bytes(pid)
    if before is None or after is None:
        print("\nMemory of a viewer: unknown on this system")
        return
    each = (after - before) / viewers
    verdict = "yes" if each <= MOST_VIEWER_BYTES else "NO"
    print(f"\nMemory of the server for each of {viewers} idle viewers of the chat page")
    print(f"  {each / 1_000_000:.2f} MB  at most {MOST_VIEWER_BYTES / 1_000_000:.0f} MB  {verdict}")
    for context in contexts:
        context.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--viewers", type=int, default=10)
    parser.add_argument("--pages", nargs="+", default=list(PAGES), choices=list(PAGES))
    parser.add_argument("--no-browser", action="store_true", help="measure the server alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
