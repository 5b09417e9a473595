"""The built site of the documentation, opened from files: search in both languages, the switch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fresh_page
from tests.limits import HANG_SECONDS
from tests.pages import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = ("-m", "sphinx", "--builder", "html", "--quiet", str(ROOT / "docs"), str(folder))
    subprocess.run([sys.executable, *build], cwd=ROOT, check=True, timeout=HANG_SECONDS)
    return folder


@pytest.fixture
def offline(browser: Browser) -> Iterator[Page]:
    """A page that can open no connection."""
    with fresh_page(browser, offline=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("salience", "Glossary"),
        ("restoring backups", "Back up and restore"),
        ("撤销压缩", "仪表板"),
        ("影子模式", "仪表板"),
    ],
)
def test_a_word_is_found_in_either_language(
    words: str, title: str, site: Path, offline: Page
) -> None:
    offline.goto(f"{(site / 'search.html').as_uri()}?q={words}")

    expect(offline.locator("#search-results li a", has_text=title).first).to_be_visible()


def test_the_language_is_switched_on_the_same_page(site: Path, offline: Page) -> None:
    offline.goto((site / "dashboard.html").as_uri())

    offline.locator("nav.languages a").click()

    expect(offline.locator("h1")).to_contain_text("仪表板")
    assert offline.locator("html").get_attribute("lang") == "zh-CN"
