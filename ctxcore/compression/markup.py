"""Owns the lines of markup: of HTML its words, of XML its elements, one of a list a line.

What the tags of a page say is for a browser; what those of a document say is half of its data.
"""

from __future__ import annotations

import re
from typing import Final

SAMPLE_CHARS: Final = 8_000
LEAST_HTML: Final = 0.5  # of the tags in a sample

_TAG: Final = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_OPENING: Final = re.compile(r"<([a-z][\w:.-]*)", re.IGNORECASE)
_PAGE: Final = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
_HTML: Final = frozenset(
    re.findall(
        r"\w+",
        "a article aside b blockquote body br button code dd div dl dt em footer form h1 h2 h3 h4 "
        "h5 h6 head header hr html i iframe img input label li main meta nav ol option p path pre "
        "script section select small span strong style svg table tbody td th thead tr u ul",
    )
)
_NEXT: Final = re.compile(r"(</([\w:.-]+)>)[ \t]*(?=<\2[\s/>])|(/>)[ \t]*(?=<\w)")


def markup_lines(text: str) -> tuple[list[str], int]:
    """The lines of HTML or XML that say something, and how many tags went."""
    tags = 0
    if _is_html(text):
        text, tags = _TAG.subn("\n", text)
    else:
        text = _NEXT.sub(lambda found: f"{found.group(1) or found.group(3)}\n", text)
    return [line for line in map(str.strip, text.splitlines()) if line], tags


def _is_html(text: str) -> bool:
    if _PAGE.match(text):
        return True
    names = [name.lower() for name in _OPENING.findall(text[:SAMPLE_CHARS])]
    return sum(name in _HTML for name in names) >= LEAST_HTML * max(1, len(names))
