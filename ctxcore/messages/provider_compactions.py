"""What providers call the compactions that they make themselves, and what can be read of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from ctxcore.json_types import JsonValue

COMPACTIONS: Final = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""The types of Anthropic's block and of OpenAI's items."""


def is_compaction(raw: Mapping[str, object]) -> bool:
    """Whether a block or an item is a compaction by the provider."""
    kind = raw.get("type")
    return isinstance(kind, str) and kind in COMPACTIONS


def summary_in(raw: Mapping[str, object]) -> str | None:
    """The summary in a compaction; None where it has none, or an encrypted one."""
    summary = raw.get("content")
    return summary if isinstance(summary, str) and summary.strip() else None


def summary_of(kind: str, raw: str) -> str | None:
    """The summary in a part of type `kind` that is the JSON text `raw`; None in all others."""
    if kind not in COMPACTIONS:
        return None
    block: JsonValue = json.loads(raw)
    return summary_in(block) if isinstance(block, dict) else None
