"""The pictures of README.md and the documentation; `make screenshots` keeps them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore import Policy, read_transcripts
from ctxcore.autopsy.examining import examine
from ctxcore.autopsy.page import render_page
from ctxcore.autopsy.summing import sum_up
from tests.browser.conftest import Server, fresh_page
from tests.browser.test_pages import open_page
from tests.browser.tours import SCREENSHOTS_VARIABLE, demo_session, take_picture
from tests.engines import quiet_litellm
from tests.tour_transcripts import write_transcripts

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXAMPLES = Path(__file__).parents[2] / "examples"
SCREEN = {"width": 1280, "height": 860}


@pytest.fixture
def screen(browser: Browser) -> Iterator[Page]:
    quiet_litellm()
    with fresh_page(browser, viewport=SCREEN, locale="en-GB") as opened:
        yield opened


def test_the_chat_shows_the_window_above_the_input(screen: Page, server: Server) -> None:
    _, session = demo_session(server, "quiet_hours.json", "scripted/reader-12k")
    open_page(screen, server, "", session)

    expect(screen.locator(".ctx-strip-words")).to_contain_text("until compaction")

    take_picture(screen, "chat")


def test_the_compaction_dialog_shows_tokens_before_and_after(screen: Page, server: Server) -> None:
    _, session = demo_session(server, "demo_incident.json", "scripted/reader-40k")
    open_page(screen, server, "", session)
    screen.locator(".st-key-chat_compact button").click()

    dialog = screen.get_by_role("dialog")
    expect(dialog.get_by_text("Total input")).to_be_visible()

    take_picture(screen, "compact")


def test_the_usage_page_shows_every_call_of_an_imported_conversation(
    screen: Page, server: Server, tmp_path: Path
) -> None:
    _, berths, _ = write_transcripts(tmp_path)
    (session,) = server.engine.import_(berths.read_text(encoding="utf-8"), name=berths.name)
    open_page(screen, server, "usage", session)

    expect(screen.get_by_role("heading", name="Timeline")).to_be_visible()
    expect(screen.get_by_role("figure", name="What each call sent")).to_be_visible()

    take_picture(screen, "usage")


def test_the_page_of_an_autopsy_fits_and_runs_nothing(browser: Browser) -> None:
    (session,) = read_transcripts(EXAMPLES / "autopsy" / "session.jsonl")
    page = render_page(sum_up([examine(session, Policy.preset("default"))]))
    with fresh_page(browser, viewport={"width": 1100, "height": 1000}) as opened:
        asked: list[str] = []
        opened.on("request", lambda request: asked.append(request.url))
        opened.set_content(page)
        opened.locator("summary").first.click()

        expect(opened.get_by_text("said in message 1, needed in 47").first).to_be_visible()
        assert opened.evaluate("document.documentElement.scrollWidth") <= 1100
        assert asked == []
        if folder := os.environ.get(SCREENSHOTS_VARIABLE):
            opened.screenshot(path=Path(folder) / "autopsy.png")
