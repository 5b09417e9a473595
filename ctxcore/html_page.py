"""A self-contained HTML page: no script, nothing from elsewhere, light and dark.

Cells are HTML already; the callers escape what is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--page:#fff;
--accent:#0b62a3;--warn:#b35900;--card:#f6f8fa}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--line:#3d444d;
--page:#0d1117;--accent:#58a6ff;--warn:#f0883e;--card:#161b22}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);
max-width:70rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
p,figcaption{color:var(--soft)}
.wide{overflow-x:auto}
figure{margin:1rem 0}
table{border-collapse:collapse;width:100%}
th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{white-space:normal;vertical-align:bottom}
th:first-child,td:first-child,td.name,th.name{text-align:left}
td.name{white-space:normal;min-width:9rem;overflow-wrap:anywhere}
.warn{color:var(--warn);font-weight:600}
svg{width:100%;max-width:46rem;height:auto}
svg text{fill:var(--soft);font-size:12px}
svg .axis,svg .grid{stroke:var(--line)}
"""


def html_page(title: str, parts: Iterable[str], *, language: str = "en", style: str = "") -> str:
    """The page; `style` is added to its own."""
    head = (
        "<!doctype html>",
        f'<html lang="{escape(language)}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
    )
    return "\n".join(part for part in (*head, *parts, "</body></html>") if part) + "\n"


def html_table(heads: Sequence[str], rows: Iterable[str], *, names: Iterable[int] = (1,)) -> str:
    """A table that scrolls by itself; the columns at `names` hold text."""
    texts = frozenset(names)
    named = "".join(
        f'<th scope="col"{" class=name" if at in texts else ""}>{escape(head)}</th>'
        for at, head in enumerate(heads)
    )
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table><thead><tr>{named}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
