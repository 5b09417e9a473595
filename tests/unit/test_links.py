"""Links of the documentation lead to files and headings that exist; the pages load nothing."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

import pytest

from tests.pages import PAGES, ROOT
from tools.docs_site.built import loaded_from_elsewhere
from tools.docs_site.links import (
    DOCS,
    OPTIONAL,
    REPOSITORY,
    anchors,
    headings,
    links,
    rewritten,
    slug,
    terms,
)
from tools.docs_site.pages import lead_included
from tools.docs_site.references import codes_text

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_TREE: Final = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ALL: Final = (*PAGES, "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def _targets(page: str) -> list[str]:
    return links((ROOT / page).read_text(encoding="utf-8"))


def _is_external(target: str) -> bool:
    return "://" in target or target.startswith("mailto:")


@pytest.mark.parametrize("page", _ALL)
def test_the_links_of_a_page_lead_somewhere(page: str) -> None:
    wrong = [
        target for target in _targets(page) if not _is_external(target) and _lost(page, target)
    ]

    assert wrong == []


def _lost(page: str, target: str) -> bool:
    """Whether there is no such file beside the page, or no such heading in it."""
    file, _, anchor = target.partition("#")
    path = ((ROOT / page).parent / file).resolve() if file else ROOT / page
    if not path.exists():
        return True
    if path == DOCS / "codes.md":  # made from the code
        return anchor not in {"", *(slug(words) for _, words in headings(codes_text()))}
    return bool(anchor) and anchor not in anchors(path)


@pytest.mark.parametrize("page", _ALL)
def test_links_to_other_sites_are_whole_addresses(page: str) -> None:
    for target in filter(_is_external, _targets(page)):
        parts = urlsplit(target)

        assert parts.scheme in ("https", "http", "mailto"), target
        assert parts.scheme == "mailto" or "." in parts.netloc, target


def test_every_page_can_be_reached_from_the_start_page() -> None:
    reached, ahead = set[Path](), [DOCS / "index.md"]
    while ahead:
        page = ahead.pop()
        if page in reached or page.suffix != ".md" or not page.is_relative_to(DOCS):
            continue
        reached.add(page)
        targets = _targets(str(page.relative_to(ROOT)))
        ahead += [(page.parent / t.partition("#")[0]).resolve() for t in targets if ":" not in t]

    listed_at_build = set(DOCS.glob("adr/0*.md"))
    included = {DOCS / "changelog.md", DOCS / "contributing.md", DOCS / "_navigation.md"}
    assert set(DOCS.rglob("*.md")) - reached - listed_at_build - included == set()


def test_every_page_is_in_the_navigation_once() -> None:
    named = Counter[Path]()
    for page in DOCS.rglob("*.md"):
        for tree in _TREE.findall(page.read_text(encoding="utf-8")):
            lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
            names = [line.rpartition("<")[2].rstrip(">") for line in lines]
            named.update(page.parent / f"{name}.md" for name in names)

    pages = set(DOCS.rglob("*.md")) - set(DOCS.glob("adr/0*.md"))
    pages -= {DOCS / "index.md", DOCS / "_navigation.md"}
    optional = {DOCS / f"{name}.md" for name in OPTIONAL}
    assert set(named) - optional == pages - optional
    assert max(named.values()) == 1


def test_each_term_of_a_row_of_the_glossary_has_an_anchor() -> None:
    found = terms((DOCS / "glossary.md").read_text(encoding="utf-8"))

    assert found["standing-instruction"] == "standing instruction"
    assert {"tool-call", "tool-result", "tool-output"} <= set(found)


def test_links_out_of_the_folder_lead_to_the_repository() -> None:
    text = "[a](../README.md) [b](how-it-works.md#recall) [c](https://x.org) [d](#here)"

    assert rewritten(text, DOCS).startswith("[a](https://github.com/")
    assert rewritten(text, DOCS).endswith(
        "/README.md) [b](how-it-works.md#recall) [c](https://x.org) [d](#here)"
    )


def test_links_of_a_file_that_a_page_includes_lead_there_too() -> None:
    included = ["[a](deploy/README.md) [b](docs/how-it-works.md)"]

    lead_included(cast("Sphinx", None), Path("../CHANGELOG.md"), "changelog", included)

    assert included == [f"[a]({REPOSITORY}/deploy/README.md) [b](docs/how-it-works.md)"]


def test_an_anchor_is_that_of_github() -> None:
    assert slug("`default`: what it does (0.5)") == "default-what-it-does-05"


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/a.css">',
        '<img src="http://example.org/a.png">',
        "<style>@font-face { src: url(https://example.org/a.woff2) }</style>",
        '<p style="background: url(https://example.org/a.png)">',
    ],
)
def test_what_a_page_loads_from_elsewhere_is_found(html: str) -> None:
    assert len(loaded_from_elsewhere(html)) == 1


def test_links_of_a_page_load_nothing() -> None:
    html = '<a href="https://example.org">a</a><link rel="canonical" href="https://example.org">'

    assert loaded_from_elsewhere(html) == []
