"""Owns the fields that policies once had; what is stored may still name them.

The table is only ever added to. What people write now, in code or a file, may not name them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxcore.json_types import JsonObject, JsonValue

REMOVED: Mapping[str, str] = {
    "keep_others": "0.1.0",
    "lookback_target_messages": "0.1.0",
    "max_failures": "0.1.0",
    "max_memories": "0.1.0",
    "max_messages": "0.1.0",
    "recent_max_tokens": "0.1.0",
    "recent_min_tokens": "0.1.0",
    "summary_min_chars": "0.1.0",
    "tool_call_tokens": "0.1.0",
}
"""Each with the release that no longer has it; ADR 0032 says what holds in its place."""


def without_removed(stored: Mapping[str, JsonValue]) -> tuple[JsonObject, tuple[str, ...]]:
    """What is `stored` without fields that were removed, and the names of those."""
    kept = {name: value for name, value in stored.items() if name not in REMOVED}
    return kept, tuple(name for name in stored if name in REMOVED)
