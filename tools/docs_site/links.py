"""Links of the pages: what a Markdown file links to, and where links out of `docs/` lead."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
REPOSITORY: Final = "https://github.com/ctxcore-window/ctxcore-window/blob/main"
GLOSSARY: Final = "glossary"
OPTIONAL: Final = ("login", "scaling")
"""Pages of the navigation that a release may not have."""

_FENCE: Final = re.compile(r"^( *)(`{3,}|:{3,}).*?^\1\2$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_HEADING: Final = re.compile(r"^(#{1,6}) +(.+?)\s*$", re.MULTILINE)
_MARKUP: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*]")
_ROW: Final = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)


def without_code(text: str) -> str:
    """The text of a page without its fenced blocks."""
    return _FENCE.sub("", text)


def links(text: str) -> list[str]:
    """Targets of the links and pictures of a page, in order, those in code left out."""
    return _LINK.findall(re.sub(r"`[^`\n]+`", "", without_code(text)))


def headings(text: str) -> list[tuple[int, str]]:
    """Level and words of each heading of a page."""
    found = _HEADING.findall(without_code(text))
    return [(len(marks), _MARKUP.sub(r"\1", words)) for marks, words in found]


def slug(words: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", words.replace("`", "").lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """What may stand behind the `#` of a link to a page; of the glossary also its terms."""
    text = page.read_text(encoding="utf-8")
    found = {slug(words) for _, words in headings(text)}
    return found | (set(terms(text)) if page == DOCS / f"{GLOSSARY}.md" else set())


def terms(text: str) -> dict[str, str]:
    """The terms in the first column of the glossary, by their anchors."""
    named = [name for row in _ROW.findall(text)[1:] for name in row.split(", ")]
    return {slug(name): name for name in named}


def rewritten(text: str, folder: Path) -> str:
    """The text of a page in `folder`, with links out of `docs/` leading to the repository."""

    def outside(match: re.Match[str]) -> str:
        target = match[1]
        if "://" in target or target.startswith(("#", "mailto:")):
            return target
        path = (folder / target.partition("#")[0]).resolve()
        if path.is_relative_to(DOCS):
            return target
        return f"{REPOSITORY}/{PurePosixPath(path.relative_to(ROOT))}"

    return _LINK.sub(outside, text)
