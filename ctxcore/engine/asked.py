"""Owns what a caller wants of a turn, as every part of it sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxcore.compaction.confirming import Answer, Confirm
from ctxcore.messages.values import ToolCall

RunTool = Callable[[ToolCall], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a caller wants of a turn."""

    session_id: str
    model: str | None = None
    tools: Sequence[Mapping[str, object]] | None = None
    knowledge: Mapping[str, str] = field(default_factory=dict)
    run_tool: RunTool | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    confirm: Confirm | None = None
    """Who is asked before a compaction."""
    answers: list[Answer] = field(default_factory=list)
    """What a person has answered already; used up by the first compaction."""
