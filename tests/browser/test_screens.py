"""Every page on a dark screen in Chinese and on a light phone in English: nothing is cut off, no
script fails, and nothing is asked of another server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from dashboard.page_registry import PAGES
from dashboard.texts import Language, translate
from tests.browser.conftest import Server, fresh_page
from tests.browser.test_pages import long_session
from tests.browser.tours import IS_IDLE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OWN = ("data:", "blob:")
# A deep link looks for the server's own address below itself first, and does not find it there.
EXPECTED = "404"
CUT_OFF = """() => {
    const main = document.querySelector('[data-testid="stMain"]');
    const shown = [...main.querySelectorAll('h1, h2, h3, p, label, button, a')]
        .filter(one => one.innerText.trim() && one.checkVisibility())
        .filter(one => !one.closest('[data-testid="stDataFrame"], pre, [role="tooltip"]'));
    const outside = shown.filter(one => {
        const { left, right, width } = one.getBoundingClientRect();
        return width > 0 && (left < -1 || right > innerWidth + 1);
    });
    const scrolled = main.scrollWidth > main.clientWidth + 1 ? ['the page'] : [];
    return [...scrolled, ...outside.map(one => one.innerText)];
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """How somebody looks at the pages."""

    width: int
    height: int
    theme: Literal["light", "dark"]
    locale: str
    language: Language


SCREENS = (
    Screen(width=1440, height=900, theme="dark", locale="zh-CN", language="zh"),
    Screen(width=390, height=844, theme="light", locale="en-GB", language="en"),
)


@pytest.mark.parametrize("screen", SCREENS, ids=lambda one: f"{one.width} {one.theme} {one.locale}")
def test_every_page_fits(browser: Browser, server: Server, screen: Screen) -> None:
    server.engine.store.save_setting("language:local", screen.language)
    session = long_session(server)
    size = {"width": screen.width, "height": screen.height}
    try:
        with fresh_page(
            browser, viewport=size, locale=screen.locale, color_scheme=screen.theme
        ) as page:
            problems = watched(page, server)
            for name, registered in PAGES.items():
                page.goto(f"{server.url}/{name}?session={session.id}")
                title = translate(registered.title, screen.language)
                expect(page).to_have_title(f"{title} · ctxcore")
                page.wait_for_selector(IS_IDLE)
                expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
                assert page.evaluate(CUT_OFF) == [], name
            assert problems == []
    finally:
        server.engine.store.save_setting("language:local", None)


def watched(page: Page, server: Server) -> list[str]:
    """What goes wrong in a page, as it happens."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda said: (
            problems.append(said.text)
            if said.type == "error" and EXPECTED not in said.text
            else None
        ),
    )
    own = (server.url, server.url.replace("http", "ws"), *OWN)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(own) else problems.append(asked.url),
    )
    return problems
