"""In how many calls each message of a transcript was sent, and so how much was sent of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from ctxcore.assembly.verdicts import Run
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import text_message
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class Stays:
    """How often each message was sent."""

    messages: Sequence[float]
    """By message: the calls that sent it; of one that was shortened, the share that was sent."""
    summary_tokens: int
    """The summaries that were sent, each counted for every call."""
    calls: int
    """How many calls there were."""


def stays_in(transcript: Transcript, counter: TokenCounter) -> Stays:
    """The calls that the file has usage of: each sent all messages since the compaction before."""
    folds = sorted(transcript.compactions, key=lambda fold: fold.at)
    places = [fold.at for fold in folds]
    sizes = [
        count_message(text_message("user", fold.summary), counter) if fold.summary else 0
        for fold in folds
    ]
    changes = [0.0] * (len(transcript.messages) + 1)
    summaries = 0
    for usage in transcript.usage:
        nth = bisect_right(places, usage.after)
        _add(changes, places[nth - 1] if nth else 0, usage.after, 1.0)
        summaries += sizes[nth - 1] if nth else 0
    return Stays(
        messages=list(accumulate(changes[:-1])),
        summary_tokens=summaries,
        calls=len(transcript.usage),
    )


def stays_of_runs(contexts: Iterable[Sequence[Run]], length: int, *, summary_tokens: int) -> Stays:
    """The calls whose `contexts` are known by the verdicts on the first `length` messages.

    `summary_tokens` are those of all these contexts together.
    """
    changes = [0.0] * (length + 1)
    calls = 0
    for runs in contexts:
        calls += 1
        for run in runs:
            if run.after_tokens and run.first < length:
                share = run.after_tokens / run.before_tokens if run.before_tokens else 1.0
                _add(changes, run.first, min(run.last + 1, length), share)
    return Stays(
        messages=[max(0.0, value) for value in accumulate(changes[:-1])],
        summary_tokens=summary_tokens,
        calls=calls,
    )


def _add(changes: list[float], start: int, end: int, weight: float) -> None:
    """Adds `weight` to the messages from `start` to before `end`, as two changes."""
    changes[start] += weight
    changes[max(start, end)] -= weight
