"""A Chinese page has the structure of its English one, so that it cannot fall behind unseen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.pages import ROOT, Block, blocks
from tools.docs_site.links import headings, links, without_code

_CHINESE: Final = sorted(path.name for path in (ROOT / "docs/zh").glob("*.md"))
_BESIDE: Final = {"dashboard.md", "index.md", "tour.md", "tutorial.md"}


def _both(name: str) -> tuple[str, str]:
    paths = (ROOT / "docs" / name, ROOT / "docs/zh" / name)
    english, chinese = (path.read_text(encoding="utf-8") for path in paths)
    return english, chinese


def _shape(text: str) -> list[str]:
    """The paragraphs, rows, list items and pictures of a page by their kind, in order."""
    kinds = {"|": "row", "- ": "item", "!": "picture", "#": "heading", "{": "class"}
    lines = [line.strip() for line in without_code(text).splitlines() if line.strip()]
    numbered = re.compile(r"\d+\. ")
    return [
        next(
            (kind for mark, kind in kinds.items() if line.startswith(mark)),
            "step" if numbered.match(line) else "paragraph",
        )
        for line in lines
        if not line.startswith("<!--")
    ]


def test_the_pages_about_the_dashboard_are_in_chinese() -> None:
    assert set(_CHINESE) == _BESIDE


@pytest.mark.parametrize("name", _CHINESE)
def test_a_chinese_page_has_the_headings_of_the_english_one(name: str) -> None:
    english, chinese = _both(name)

    assert [level for level, _ in headings(chinese)] == [level for level, _ in headings(english)]


@pytest.mark.parametrize("name", _CHINESE)
def test_a_chinese_page_has_the_paragraphs_rows_and_pictures_of_the_english_one(name: str) -> None:
    english, chinese = _both(name)

    assert _shape(chinese) == _shape(english)


@pytest.mark.parametrize("name", _CHINESE)
def test_a_chinese_page_has_the_code_of_the_english_one(name: str) -> None:
    def code(folder: str) -> list[Block]:
        return blocks(str(Path(folder, name)))

    assert code("docs/zh") == code("docs")


@pytest.mark.parametrize("name", _CHINESE)
def test_a_chinese_page_links_to_what_the_english_one_links_to(name: str) -> None:
    english, chinese = _both(name)

    def targets(text: str) -> set[str]:
        found = (target.rpartition("../")[2] for target in links(text))
        return {target.removeprefix("zh/") for target in found}

    assert targets(chinese) == targets(english)
