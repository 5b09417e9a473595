"""Verdicts: what became of each message in a context, why, and its size before and after.

Every message has exactly one. They are stored as runs of neighbours, so that their number is
bounded by the window and never by the length of the history. Also the sizes of a context's parts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, overload

from ctxcore.messages.values import JsonValue
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason, from_json, to_json

VerdictKind = Literal["kept", "compressed", "summarized", "recalled", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Plain):
    """What became of one message."""

    verdict: VerdictKind
    reason: Reason
    before_tokens: int
    after_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Plain):
    """Neighbouring messages `first` … `last` (places from 0) that share a verdict and a reason."""

    first: int
    last: int
    verdict: VerdictKind
    reason: Reason
    before_tokens: int
    after_tokens: int


def run_to_json(run: Run) -> list[JsonValue]:
    """A run as a list: a context has hundreds, so that names would be most of what is stored."""
    places: list[JsonValue] = [run.first, run.last]
    return [*places, run.verdict, to_json(run.reason), run.before_tokens, run.after_tokens]


def run_from_json(stored: Sequence[Any]) -> Run:
    """The run that `run_to_json` wrote.

    Raises:
        ValueError: it is none.
    """
    first, last, verdict, reason, before, after = stored
    return Run(
        first=first,
        last=last,
        verdict=verdict,
        reason=from_json(reason),
        before_tokens=before,
        after_tokens=after,
    )


class Verdicts(Sequence[Verdict]):
    """One verdict a message, read from runs; the size of a message in a long run is looked up."""

    def __init__(self, runs: Sequence[Run], sizes: Callable[[int, int], Sequence[int]]) -> None:
        self.runs = tuple(runs)
        self._firsts = [run.first for run in self.runs]
        self._sizes = sizes

    def __len__(self) -> int:
        return self.runs[-1].last + 1 if self.runs else 0

    @overload
    def __getitem__(self, at: int) -> Verdict: ...
    @overload
    def __getitem__(self, at: slice) -> list[Verdict]: ...
    def __getitem__(self, at: int | slice) -> Verdict | list[Verdict]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        place = at + len(self) if at < 0 else at
        if not 0 <= place < len(self):
            raise IndexError(f"message {at} of {len(self)}")
        run = self.runs[bisect_right(self._firsts, place) - 1]
        single = run.first == run.last
        before = run.before_tokens if single else self._sizes(place + 1, place + 1)[0]
        return Verdict(
            verdict=run.verdict,
            reason=run.reason,
            before_tokens=before,
            after_tokens=run.after_tokens if single else 0,
        )


def merge_runs(runs: Sequence[Run]) -> tuple[Run, ...]:
    """`runs` in order; neighbours are joined where neither is in the context."""
    merged: list[Run] = []
    for run in runs:
        if run.after_tokens or not merged or not _joins(merged[-1], run):
            merged.append(run)
        else:
            last = merged[-1]
            before = last.before_tokens + run.before_tokens
            merged[-1] = replace(last, last=run.last, before_tokens=before)
    return tuple(merged)


def _joins(run: Run, absent: Run) -> bool:
    is_same = run.verdict == absent.verdict and run.reason == absent.reason
    return is_same and not run.after_tokens


Segment = Literal[
    "system",
    "tools",
    "pinned",
    "facts",
    "summary",
    "kept",
    "recent",
    "recalled",
    "knowledge",
    "unattributed",
    "free",
    "reserve",
]
SEGMENTS: tuple[Segment, ...] = get_args(Segment)
INPUT_SEGMENTS = SEGMENTS[:-2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Tokens of each segment; `window` is None where the model's window is unknown."""

    system: int = 0
    tools: int = 0
    pinned: int = 0
    facts: int = 0
    summary: int = 0
    kept: int = 0
    recent: int = 0
    recalled: int = 0
    knowledge: int = 0
    unattributed: int = 0
    reserve: int = 0
    free: int = 0
    window: int | None = None

    @property
    def input_tokens(self) -> int:
        """What is sent: every segment but reserve and free."""
        return sum(getattr(self, name) for name in INPUT_SEGMENTS)

    def to_dict(self) -> dict[str, int]:
        """The segments by name, in the order in which they are shown."""
        return {name: getattr(self, name) for name in SEGMENTS}


def make_breakdown(
    tokens: Mapping[Segment, int], *, window_tokens: int | None, reserve_tokens: int
) -> Breakdown:
    """The breakdown of an input with these segments; what is left of the window is free."""
    segments = {str(name): size for name, size in tokens.items()}
    if window_tokens is None:
        return Breakdown(**segments)
    free = window_tokens - reserve_tokens - sum(segments.values())
    return Breakdown(**segments, reserve=reserve_tokens, free=free, window=window_tokens)
