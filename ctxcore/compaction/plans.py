"""Values of a compaction plan: `planning` makes it, `executing` carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.drafting import Chooser
from ctxcore.compaction.keeping import Addition, Pieces, Waiting
from ctxcore.compaction.triggers import Trigger
from ctxcore.facts.tasks import Task
from ctxcore.plain import Plain
from ctxcore.policy.names import StrategyName
from ctxcore.reasons.values import Reason

FoldAs = Literal["summary", "truncation"]


def joined(strategies: Sequence[str]) -> str:
    """Returns the names of the strategies of one compaction as one text."""
    return " + ".join(strategies)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan(Plain):
    """What a compaction will do, before anything is summarized or written.

    `keep` and `fold` are indexes of messages in the history, from 0; all other message numbers
    are sequence numbers, from 1.
    """

    trigger: Trigger
    strategies: tuple[str, ...]
    """The strategies that take part; where the policy chooses, its choice."""
    keep: tuple[int, ...]
    fold: tuple[int, ...]
    before_tokens: int
    expected_tokens: int
    covered_until: int
    fold_as: FoldAs = "summary"
    reason: Reason | None = None
    """Why these strategies, where the policy or the kind of task chooses them."""
    focus: str = ""
    """What to keep, in the words of the person who asked for the compaction."""
    verbatim: tuple[int, ...] = ()
    """Covered messages that stay in the context; whole blocks."""
    stops: tuple[int, ...] = ()
    """Messages after which the summary is written once before it continues."""
    pieces: Mapping[int, Pieces] | None = None
    """The pieces of `verbatim` messages that do not stay whole; None: all stay as they are now."""
    next_best: tuple[Addition, ...] = ()
    """What stays as well if the summary leaves room, the best first."""
    is_talk: bool = False
    """Whether hardly any calls compete: quotes and bare facts then say less of the words that
    `next_best` keeps whole."""
    is_meeting: bool = False
    """Whether many people speak: what stays then says something of each topic, as quotes would."""
    competing: Competing | None = None
    """The open choice among covered blocks, which `resolved` makes."""
    shorten: tuple[int, ...] = ()
    """Tool outputs to shorten, and messages whose calls' arguments are."""
    short_sizes: Mapping[int, int] = field(default_factory=dict)
    """The most tokens each of them takes then."""
    steps: tuple[PlannedStep, ...] = ()
    turns_folded: int = 0
    starts_anew: bool = False
    """Whether the previous summary and the messages kept beside it are left out too."""
    task: Task | None = None
    """The kind of task, where it decides the order of the strategies."""
    instead: CompactionPlan | None = None
    """The plan to try if this one fails or frees too little."""
    emergency_until: int | None = None
    """Where to truncate if the summary fails, even if the input would fit."""

    @property
    def strategy(self) -> str:
        """The strategies, joined for people."""
        return joined(self.strategies)

    @property
    def saved_ratio(self) -> float:
        """The share of the input that is expected to go: 1 - after / before."""
        return 1 - self.expected_tokens / self.before_tokens if self.before_tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Competing:
    """Covered blocks of which some may stay, by sequence numbers, and the room for them."""

    blocks: tuple[tuple[int, ...], ...]
    choosers: tuple[Chooser, ...] = ("worth",)
    """What chooses among them, each chooser from what the previous one left."""
    earlier: range = range(0)
    """Messages that earlier compactions covered and whose blocks may come back."""
    opened: tuple[tuple[int, ...], ...] = ()
    """Newest blocks that stay, but whose long messages compete by pieces for lack of room."""
    waiting: Waiting | None = None
    """Outputs that the model has yet to see: they take what the others leave."""
    short_calls: frozenset[int] = frozenset()
    """Messages whose calls an earlier compaction shortened, and which stay so."""
    request: int | None = None
    """The user message that waits for its answer: what it asks for scores higher."""
    room_tokens: int
    summary_tokens: int = 0
    """What the longest summary and its frame take beside that room, more than a marker would."""
    facts_tokens: int = 0
    """What facts take beside it at their longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep(Plain):
    """One strategy with the input expected before and after it."""

    strategy: StrategyName
    before_tokens: int
    expected_tokens: int


def without_summary(plan: CompactionPlan) -> CompactionPlan:
    """Returns `plan` without a summary: what it would fold is left out."""
    return replace(
        plan,
        fold_as="truncation",
        strategies=("drop_oldest",),
        competing=None,
        stops=(),
        instead=None,
        emergency_until=None,
    )


def new_session_plan(
    view: HistoryView, active: Compaction | None, planned: CompactionPlan
) -> CompactionPlan:
    """Returns `planned` as for a new session: only the turn that waits for its answer stays.

    Of earlier messages only pins and the original request are shown, as in every context.
    """
    covered = active.covered_until if active else 0
    anchors, count = view.anchors(), view.count()
    prompts = set(anchors.prompts)
    is_waiting = bool(count) and view.get([count])[0].message.role != "assistant"
    cut = (anchors.last_user or 1) - 1 if is_waiting else count
    covered_until = max(cut, covered)
    return replace(
        without_summary(planned),
        strategies=("new_session",),
        covered_until=covered_until,
        keep=tuple(range(cut, count)),
        fold=tuple(at for at in range(covered, cut) if at + 1 not in prompts),
        verbatim=(),
        pieces=None,
        next_best=(),
        shorten=(),
        starts_anew=True,
        turns_folded=view.turns(after=covered) - view.turns(after=covered_until),
    )


Answer: TypeAlias = Literal["compact", "drop_oldest", "new_session", "refuse"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation(Plain):
    """The question to a person whether a plan may be carried out."""

    plan: CompactionPlan
    current_tokens: int
    """What the triggers compare: the input as if the window had room for everything."""
    max_tokens: int
    next_call_tokens: int | None = None
    """The next call as it would be sent without it; None where it cannot be sent."""
    outside_tokens: int = 0
    """The messages that wait outside the window, no part of the next call."""

    def __str__(self) -> str:
        waiting = f"{self.outside_tokens:,} tokens wait outside the window"
        size = self.current_tokens if self.next_call_tokens is None else self.next_call_tokens
        due = f"{size:,} of {self.max_tokens:,} tokens"
        return (
            f"a compaction is due at {due}{f', and {waiting}' if self.outside_tokens else ''}; "
            f"compact {len(self.plan.fold)} older messages, keeping what matters of them?"
        )


Confirm: TypeAlias = Callable[[Confirmation], Answer]
