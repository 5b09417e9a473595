"""What the built pages load: everything must come from the site itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

_LOADING: Final = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
    "embed": "src",
    "use": "href",
}
_ELSEWHERE: Final = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_IN_STYLES: Final = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
_NOT_LOADED: Final = {"canonical", "author", "license", "next", "prev", "index", "search"}


class _Loads(HTMLParser):
    """Collects what a page loads from other servers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "link" and set(given.get("rel", "").split()) <= _NOT_LOADED:
            return
        address = given.get(_LOADING.get(tag, ""), "")
        if _ELSEWHERE.match(address):
            self.found.append(f"<{tag}> {address}")
        self.found += _IN_STYLES.findall(given.get("style", ""))


def loaded_from_elsewhere(html: str) -> list[str]:
    """What a page of HTML loads from other servers: scripts, styles, fonts, pictures."""
    page = _Loads()
    page.feed(html)
    styles = re.findall(r"<style[^>]*>(.*?)</style>", html, re.DOTALL)
    return [*page.found, *(one for style in styles for one in _IN_STYLES.findall(style))]


def foreign_parts(site: Path) -> Iterator[tuple[Path, str]]:
    """Each page or style sheet of a site with what it loads from elsewhere."""
    for page in sorted(site.rglob("*.html")):
        for part in loaded_from_elsewhere(page.read_text(encoding="utf-8")):
            yield page, part
    for sheet in sorted(site.rglob("*.css")):
        for part in _IN_STYLES.findall(sheet.read_text(encoding="utf-8")):
            yield sheet, part
