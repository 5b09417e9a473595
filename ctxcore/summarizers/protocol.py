"""Owns what a summarizer is: folded messages and the summary so far in, one text out.

A summarizer never changes history; it returns a text within `max_tokens` or raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from ctxcore.messages.values import Message
from ctxcore.policy.values import SummaryForm
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import Language

Detail: TypeAlias = Literal["brief", "key_points", "layered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUsage:
    """What one request to a model took while a summary was written, refused summaries too.

    A number that the provider did not report is None.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    """US dollars."""
    latency_seconds: float | None = None
    error: Reason | None = None


def _unreported(usage: SummaryUsage) -> None:
    """Nobody asked what a summary costs."""


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
    form: SummaryForm = "plain"
    """What the summary is asked to be like."""
    detail: Detail | None = None
    """How detailed it is asked to be, where the form asks for that."""
    asked_chars: int | None = None
    """The length that is asked for; a hint, not a limit."""
    max_chars: int | None = None
    """Hard limit of the result in characters; None: tokens alone limit it."""
    dates: tuple[datetime | None, ...] = ()
    """When each of `messages` was said, where it is known; empty where nothing is."""
    outdated: tuple[str, ...] = ()
    """Sentences in `messages` or `previous` that were taken back: who quotes leaves them out."""
    report: Callable[[SummaryUsage], None] = field(default=_unreported, repr=False, compare=False)
    """Told of every request that was sent to a model, as soon as it is over."""


class Summarizer(Protocol):
    """Turns folded messages into a text that stands for them."""

    @property
    def name(self) -> str:
        """The name that summaries are stored and shown under, e.g. `extractive`."""
        ...

    def summarize(self, request: SummaryRequest) -> str:
        """A summary of at most `max_tokens`; raises `SummarizerError` where there is none."""
        ...
