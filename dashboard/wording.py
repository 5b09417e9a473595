"""Owns words for what the library names itself: rules, reasons, strategies, in the page's language.

The library's own names are English; one without a text is shown as it is.
"""

from __future__ import annotations

import re

from dashboard.texts import has_text, t

_OTHER = re.compile(r"[^a-z0-9]+")


def words_for(area: str, name: str) -> str:
    """The text of `area` for one of the library's names."""
    key = f"{area}.{_OTHER.sub('_', name.lower()).strip('_')}"
    return t(key) if name and has_text(key) else name
