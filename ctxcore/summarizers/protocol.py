"""Owns what a summarizer is: folded messages and the summary so far in, one text out.

A summarizer never changes history; it returns a text within `max_tokens` or raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from ctxcore.messages.values import Message

Language: TypeAlias = Literal["en", "zh"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What is to be summarized, and the room there is for it."""

    messages: tuple[Message, ...]
    """What is folded now, oldest first."""
    max_tokens: int
    """Hard limit of the result, by the summarizer's counter."""
    previous: str = ""
    """The summary so far; its content is carried on."""
    language: Language = "en"
    """The language of the words the summary adds (its speakers), not of what it quotes."""


class Summarizer(Protocol):
    """Turns folded messages into a text that stands for them."""

    @property
    def name(self) -> str:
        """The name that summaries are stored and shown under, e.g. `extractive`."""
        ...

    def summarize(self, request: SummaryRequest) -> str:
        """A summary of at most `max_tokens`; raises `SummarizerError` where there is none."""
        ...
