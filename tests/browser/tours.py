"""Tours: what a person does on the pages for one purpose, with its clicks counted.

`make screenshots` names a folder for pictures in `CTXCORE_SCREENSHOTS`; else none are taken.
Typing and Enter are no clicks; everything that a mouse or a tap does is one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.store.values import SessionInfo
from dashboard.demos import demos, prepare_readers
from tests.browser.conftest import Server

SCREENSHOTS_VARIABLE = "CTXCORE_SCREENSHOTS"
IS_IDLE = '[data-test-script-state="notRunning"]'


@dataclass(slots=True, kw_only=True)
class Tour:
    """One tour in a browser."""

    page: Page
    name: str
    most_clicks: int
    clicks: int = 0
    _shots: int = field(default=0)

    def start(self, address: str) -> None:
        """Opens the page where the tour begins."""
        self.page.goto(address)
        self.page.get_by_test_id("stSidebarNavLink").first.wait_for()
        self.settle()

    def settle(self) -> None:
        """Waits until the page is drawn."""
        self.page.wait_for_selector(IS_IDLE)

    def click(self, target: Locator) -> None:
        """Clicks and waits for what it leads to."""
        self.clicks += 1
        target.click()
        self.settle()

    def click_row(self, table: Locator, row: int) -> None:
        """Clicks row `row`, from 0, of a table, whose cells are drawn on a canvas."""
        grid = table.get_by_test_id("data-grid-canvas").first
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        assert box is not None
        rows = int(grid.locator("table").get_attribute("aria-rowcount") or "2")
        self.clicks += 1
        height = box["height"] / rows
        self.page.mouse.click(box["x"] + box["width"] / 3, box["y"] + (row + 1.5) * height)
        self.settle()

    def go(self, title: str) -> None:
        """Opens a page by its title in the navigation."""
        self.click(self.page.get_by_test_id("stSidebarNavLink").filter(has_text=title))

    def type(self, target: Locator, text: str) -> None:
        """Types into a field and presses Enter; no click."""
        target.fill(text)
        target.press("Enter")
        self.settle()

    def upload(self, files: list[Path]) -> None:
        """Picks files in the uploader of the page: one click, as the rest is the system's."""
        self.clicks += 1
        self.page.locator('[data-testid="stFileUploaderDropzoneInput"]').first.set_input_files(
            [str(path) for path in files]
        )
        self.settle()

    def sees(self, text: str) -> None:
        """Checks that the page shows a text."""
        expect(self.page.get_by_text(text).first).to_be_visible()

    def shot(self) -> None:
        """Takes the next picture of the tour, if pictures are asked for."""
        self._shots += 1
        take_picture(self.page, f"tours/tour-{self.name}-{self._shots}")

    def end(self) -> None:
        """Checks that the tour took no more clicks than it may."""
        assert 0 < self.clicks <= self.most_clicks, f"{self.name}: {self.clicks} clicks"


def take_picture(page: Page, name: str) -> None:
    """Takes a picture of the page once all of it is there, if pictures are asked for."""
    if folder := os.environ.get(SCREENSHOTS_VARIABLE):
        page.wait_for_selector(IS_IDLE)
        expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
        page.screenshot(path=Path(folder) / f"{name}.png", animations="disabled")


def demo_session(server: Server, file: str, model: str) -> tuple[ContextEngine, SessionInfo]:
    """A demo session with its prepared answers, and an engine that can ask its model."""
    prepare_readers()
    engine = ContextEngine(server.engine.store, gateway=LiteLLMGateway())
    demo = next(one for one in demos() if one.file == file)
    (session,) = engine.import_(demo.path.read_text(encoding="utf-8"), name=demo.file)
    engine.set_model(session.id, model)
    return engine, session
