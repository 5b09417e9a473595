"""Owns what a compaction plan says: values only, made by `planning`, carried out by `executing`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.drafting import Chooser
from ctxcore.compaction.keeping import Addition, Pieces, Waiting
from ctxcore.compaction.triggers import Trigger
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


def new_session_plan(
    view: HistoryView, active: Compaction | None, planned: CompactionPlan
) -> CompactionPlan:
    """`planned` as if a new session began: nothing stays but the turn that waits for its answer.

    Of what was said before only pins and the original request are shown, as in every context.
    """
    covered = active.covered_until if active else 0
    anchors = view.anchors()
    newest = view.get([view.count()]) if view.count() else []
    is_waiting = bool(newest) and newest[0].message.role != "assistant"
    cut = (anchors.last_user or 1) - 1 if is_waiting else view.count()
    fold = [seq for seq in range(covered + 1, cut + 1) if seq not in anchors.system]
    return replace(
        planned,
        fold_as="truncation",
        strategies=("new_session",),
        covered_until=max(cut, covered),
        keep=tuple(range(cut, view.count())),
        fold=tuple(seq - 1 for seq in fold),
        verbatim=(),
        pieces=None,
        next_best=(),
        competing=None,
        stops=(),
        instead=None,
        shorten=(),
        emergency_until=None,
        starts_anew=True,
        turns_folded=view.turns(after=covered) - view.turns(after=max(cut, covered)),
    )


Answer: TypeAlias = Literal["compact", "drop_oldest", "new_session", "refuse"]

ANSWERS: tuple[Answer, ...] = ("compact", "drop_oldest", "new_session", "refuse")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a person is asked: may this plan be carried out?"""

    plan: CompactionPlan
    current_tokens: int
    max_tokens: int

    def __str__(self) -> str:
        return (
            f"the context is nearly full ({self.current_tokens:,} of {self.max_tokens:,} tokens); "
            f"compact {len(self.plan.fold)} older messages, keeping what matters of them?"
        )


Confirm: TypeAlias = Callable[[Confirmation], Answer]


def dropping(plan: CompactionPlan) -> CompactionPlan:
    """`plan` without a summary: what it would fold is left out."""
    return replace(
        plan,
        fold_as="truncation",
        strategies=("drop_oldest",),
        competing=None,
        stops=(),
        instead=None,
        emergency_until=None,
    )
