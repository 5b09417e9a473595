"""The interface of summarizers: old messages and the summary so far in, one text out.

A summarizer never changes history; it returns a text within `max_tokens` or raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.policy.values import SummaryForm
from ctxcore.reasons.values import Reason
from ctxcore.text.languages import Language

Detail: TypeAlias = Literal["brief", "key_points", "layered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryUsage:
    """The usage of one request to a model for a summary, also where the summary was refused.

    A number that the provider did not report is None.
    """

    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_hour_tokens: int | None = None
    cost: float | None = None
    """US dollars."""
    latency_seconds: float | None = None
    error: Reason | None = None


def _ignore(usage: SummaryUsage) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest(Plain):
    """The messages to summarize, and the limits and the form of the summary."""

    messages: tuple[Message, ...]
    """The messages to summarize, oldest first."""
    max_tokens: int
    """Hard limit of the result, by the summarizer's counter."""
    previous: str = ""
    """The summary so far; the new one carries its content on."""
    language: Language = "en"
    """The language of the words the summary adds (its speakers), not of what it quotes."""
    form: SummaryForm = "plain"
    """The form of the summary."""
    detail: Detail | None = None
    """How detailed a `layered` summary is."""
    asked_chars: int | None = None
    """The wanted length in characters; a hint, not a limit."""
    max_chars: int | None = None
    """Hard limit of the result in characters; None: tokens alone limit it."""
    dates: tuple[datetime | None, ...] = ()
    """The time of each of `messages`, None where it is not known; empty where none is."""
    focus: str = ""
    """What this compaction should keep, in a person's words."""
    instructions: str = ""
    """What every summary should keep and how: the policy's `summary_instructions`."""
    carried: str = ""
    """What the context shows beside the summary, in short: the summary need not repeat it."""
    outdated: tuple[str, ...] = ()
    """Sentences in `messages` or `previous` that were taken back and must not be quoted."""
    noted: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    """The notes that stand for each of `messages` and the size of its text, for quoting; empty
    where texts have to be read."""
    report: Callable[[SummaryUsage], None] = field(default=_ignore, repr=False, compare=False)
    """Called after each request to a model."""


class Summarizer(Protocol):
    """Summarizes messages in a text that replaces them in the context."""

    @property
    def name(self) -> str:
        """The name that summaries are stored and shown under, e.g. `extractive`."""
        ...

    def summarize(self, request: SummaryRequest) -> str:
        """A summary of at most `max_tokens`; raises `SummarizerError` where it has none."""
        ...
