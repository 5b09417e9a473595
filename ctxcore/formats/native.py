"""Tells exports of this library from other files; `ctxcore.engine.native` reads them."""

from __future__ import annotations

import json

KIND = "ctxcore.session"


def is_native(text: str) -> bool:
    """Whether `text` is an export of this library."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    if KIND not in first:
        return False
    try:
        head = json.loads(first)
    except ValueError:
        return False
    return isinstance(head, dict) and head.get("type") == KIND
