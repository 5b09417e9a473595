"""Reads what a provider says it left out of a request: Anthropic's context editing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

EDITS: Final = "context_management"
"""Where a request asks for edits, and an answer tells of those made."""
_COUNTS: Final = ("cleared_tool_uses", "cleared_thinking_turns")


class Cleared(NamedTuple):
    """What a provider left out of one request by itself; None where it reported no edit."""

    cleared_parts: int | None = None
    """Uses of tools, and turns with thinking."""
    cleared_tokens: int | None = None
    """Their tokens, as the provider counted them; its count of the input has them no more."""


NOTHING_CLEARED = Cleared()


def read_cleared(answer: object) -> Cleared:
    """The sums over the applied edits that an answer tells of."""
    told = answer.get(EDITS) if isinstance(answer, Mapping) else None
    edits = told.get("applied_edits") if isinstance(told, Mapping) else None
    found = [edit for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else []
    if not found:
        return NOTHING_CLEARED
    parts = sum(_count(edit.get(name)) for edit in found for name in _COUNTS)
    return Cleared(parts, sum(_count(edit.get("cleared_input_tokens")) for edit in found))


def _count(value: object) -> int:
    return value if isinstance(value, int) and value is not True and value > 0 else 0
