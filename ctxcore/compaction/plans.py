"""Owns what a compaction plan says: values only, made by `planning`, carried out by `executing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ctxcore.compaction.drafting import Chooser
from ctxcore.compaction.keeping import Addition, Pieces
from ctxcore.compaction.triggers import Trigger
from ctxcore.compaction.waiting import Waiting
from ctxcore.facts.tasks import Task
from ctxcore.policy.names import StrategyName
from ctxcore.reasons.values import Reason

FoldAs = Literal["summary", "truncation"]


def joined(strategies: Sequence[str]) -> str:
    """Several strategies that took part in one compaction, for people."""
    return " + ".join(strategies)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What a compaction will do, before anything is summarized or written.

    `keep` and `fold` are places of messages in the history, from 0.
    """

    trigger: Trigger
    strategies: tuple[str, ...]
    """The strategies that take part; where the policy chooses, what it chose."""
    keep: tuple[int, ...]
    fold: tuple[int, ...]
    before_tokens: int
    expected_tokens: int
    covered_until: int
    fold_as: FoldAs = "summary"
    reason: Reason | None = None
    """Why it was chosen, where the policy chooses or the kind of task does."""
    verbatim: tuple[int, ...] = ()
    """Covered messages that stay, by sequence number; whole blocks."""
    stops: tuple[int, ...] = ()
    """Messages after which the summary is written before it goes on, by sequence number."""
    pieces: Mapping[int, Pieces] | None = None
    """Of those of which only pieces stay; None: they stay as they stand so far."""
    next_best: tuple[Addition, ...] = ()
    """What stays too if the summary leaves room, the best first."""
    competing: Competing | None = None
    """Which covered blocks stay is still to be decided, by `resolved`."""
    shorten: tuple[int, ...] = ()
    """Tool outputs to shorten, by sequence number."""
    short_sizes: Mapping[int, int] = field(default_factory=dict)
    """What each of them takes then at most."""
    steps: tuple[PlannedStep, ...] = ()
    turns_folded: int = 0
    starts_anew: bool = False
    """Whether the summary so far and what it kept are left out too."""
    task: Task | None = None
    """The kind of task, where it says which strategies come first."""
    instead: CompactionPlan | None = None
    """What is done where this fails or frees too little."""
    emergency_until: int | None = None
    """Where to truncate if the summary fails, whether or not the input is too large."""

    @property
    def strategy(self) -> str:
        """The strategies, joined for people."""
        return joined(self.strategies)

    @property
    def saved_ratio(self) -> float:
        """How much smaller the input is expected to be: 1 - after / before."""
        return 1 - self.expected_tokens / self.before_tokens if self.before_tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Competing:
    """Blocks that may stay though they are covered, by sequence numbers, and the room there is."""

    blocks: tuple[tuple[int, ...], ...]
    choosers: tuple[Chooser, ...] = ("worth",)
    """Who chooses among them, each of what the one before has left."""
    earlier: range = range(0)
    """Messages that earlier compactions covered and that may come back, or some of their blocks."""
    opened: tuple[tuple[int, ...], ...] = ()
    """Newest blocks that stay, but whose long messages leave no room: they compete by pieces."""
    waiting: Waiting | None = None
    """Outputs behind those that the model has yet to see: they take what the others leave."""
    asked: int | None = None
    """The user message that waits for its answer: what it asks for is worth more."""
    room_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """One strategy with the input it expects before and after itself."""

    strategy: StrategyName
    before_tokens: int
    expected_tokens: int
