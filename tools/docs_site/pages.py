"""What Sphinx does to the pages: navigation, links, terms of the glossary, two languages."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.docs_site.links import DOCS, GLOSSARY, OPTIONAL, rewritten, slug

CHINESE: Final = "zh/"
DECISIONS: Final = "adr/0"
_WORDS: Final = {
    "Search": "搜索",
    "On this page": "本页内容",
    "Back to top": "回到顶部",
    "Next": "下一页",
    "Previous": "上一页",
    "Home": "首页",
    "Skip to content": "跳到正文",
}


def add_navigation(app: Sphinx, page: str, source: list[str]) -> None:
    """Adds the navigation to the start page, and leads links out of `docs/` to the repository."""
    source[0] = rewritten(source[0], (DOCS / page).parent)
    if page == app.config.root_doc:
        source[0] += "\n" + navigation()


def lead_included(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    """Leads the links of a file that a page includes to the repository, as those of pages."""
    content[0] = rewritten(content[0], (DOCS / path).resolve().parent)


def navigation() -> str:
    """The trees of pages; one that a release does not have is left out."""
    lines = (DOCS / "_navigation.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(
        line for line in lines if line not in OPTIONAL or (DOCS / f"{line}.md").exists()
    )


def name_terms(app: Sphinx, doctree: nodes.document) -> None:
    """Gives every term of the glossary an anchor, so that `glossary.md#fold` is a link.

    Decisions are listed on a page and are not in the navigation, which would be as long again.
    """
    env: BuildEnvironment = app.env
    if env.docname.startswith(DECISIONS):
        env.metadata[env.docname]["orphan"] = True
    if env.docname != GLOSSARY:
        return
    slugs: dict[str, Any] = env.metadata[GLOSSARY].setdefault("myst_slugs", {})
    for table in doctree.findall(nodes.tbody):
        for row in table.findall(nodes.row):
            for name in row[0].astext().split(", "):
                anchor = slug(name)
                row["ids"].append(f"term-{anchor}")
                slugs.setdefault(anchor, (row.line or 0, f"term-{anchor}", name))


def switch_language(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Tells a page its language and the address of the page in the other one."""
    is_chinese = page.startswith(CHINESE)
    other = page.removeprefix(CHINESE) if is_chinese else CHINESE + page
    start = app.config.root_doc if is_chinese else f"{CHINESE}index"
    context["is_chinese"] = is_chinese
    context["other_page"] = other if other in app.env.found_docs else start
    if is_chinese:
        context["language"] = "zh-CN"
        for name in ("_", "gettext"):
            context[name] = lambda text: _WORDS.get(text, text)


class DecisionTrees:
    """The navigation of decisions, which is the same beside each: made once, since it is slow."""

    def __init__(self) -> None:
        self._made: dict[tuple[tuple[str, object], ...], str] = {}

    def keep(
        self,
        app: Sphinx,
        page: str,
        template: str,
        context: dict[str, Any],
        doctree: nodes.document | None,
    ) -> None:
        """Gives the page of a decision the tree of those before it."""
        if page.startswith(DECISIONS):
            make = context["toctree"]
            context["toctree"] = lambda **given: self._tree(make, given)

    def _tree(self, make: Callable[..., str], given: dict[str, object]) -> str:
        key = tuple(sorted(given.items()))
        if key not in self._made:
            self._made[key] = make(**given)
        return self._made[key]


def draw_inline(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Puts drawings into the page itself, so that they take its light or dark colours."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        path = DOCS / image["uri"]
        if path.suffix == ".svg":
            drawn = path.read_text(encoding="utf-8")
            named = drawn.replace('role="img"', f'role="img" aria-label="{escape(image["alt"])}"')
            figure = f'<figure class="drawing">{named}</figure>'
            image.parent.replace(image, nodes.raw("", figure, format="html"))


def lead_with_chinese(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Puts the Chinese pages first in the navigation of a Chinese page."""
    if page.startswith(CHINESE):
        tree: str = context["furo_navigation_tree"]
        english, caption, own = tree.rpartition('<p class="caption"')
        context["furo_navigation_tree"] = f'{caption}{own}<div lang="en">{english}</div>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects the steps to those of Sphinx."""
    app.connect("source-read", add_navigation)
    app.connect("include-read", lead_included)
    app.connect("doctree-read", name_terms)
    app.connect("doctree-resolved", draw_inline)
    app.connect("html-page-context", switch_language)
    app.connect("html-page-context", DecisionTrees().keep, priority=400)  # before the theme's
    app.connect("html-page-context", lead_with_chinese, priority=600)  # after the theme's
    return {"parallel_read_safe": True}
