"""Owns what a walk through a recording gives: the calls, the compactions, and their sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ctxcore.assembly.context import Context
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.losing import LostFact
from ctxcore.compaction.triggers import Trigger
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCompaction:
    """A compaction that the policy would have made."""

    at: int
    """How many messages there were."""
    trigger: Trigger
    strategies: tuple[str, ...]
    before_tokens: int
    after_tokens: int
    writes_summary: bool
    truncates: bool
    """Whether it leaves messages out without a summary."""
    reason: Reason
    before: Compaction | None = field(default=None, repr=False)
    """The record that was in force until then."""
    record: Compaction | None = field(default=None, repr=False)
    """The one that it left."""
    lost: tuple[LostFact, ...] = field(default=(), repr=False)
    """What the context no longer says, the most worth first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCall:
    """One request to a model, as it would have been."""

    at: int
    """The place of the recorded answer, from 0."""
    turn: int
    """The turn it belongs to, from 1; 0 before the first user message."""
    tokens: int
    """What would have been sent; 0 where nothing could be."""
    violations: int
    """What the four providers together would refuse in it."""
    is_over: bool
    """Whether what must be kept did not fit, so that nothing could be sent."""
    compactions: tuple[SimulatedCompaction, ...]
    """What was compacted since the call before."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """What a policy would have made of a conversation."""

    policy: Policy
    budget: TokenBudget | None
    calls: tuple[SimulatedCall, ...]
    compactions: tuple[SimulatedCompaction, ...]
    context: Context | None
    """What the next call would be sent; None where what must be kept does not fit."""
    state: CompactionState

    @property
    def summaries(self) -> int:
        """Compactions that wrote a summary."""
        return sum(one.writes_summary for one in self.compactions)

    @property
    def truncations(self) -> int:
        """Compactions that left messages out without one."""
        return sum(one.truncates for one in self.compactions)

    @property
    def illegal_calls(self) -> int:
        """Calls of which some provider would refuse something."""
        return sum(call.violations > 0 for call in self.calls)

    @property
    def over_calls(self) -> int:
        """Calls that could not be made: what must be kept did not fit."""
        return sum(call.is_over for call in self.calls)

    @property
    def sent_tokens(self) -> int:
        """What all calls together would have been sent."""
        return sum(call.tokens for call in self.calls)

    @property
    def peak_tokens(self) -> int:
        """The largest input."""
        return max((call.tokens for call in self.calls), default=0)

    @property
    def final_tokens(self) -> int:
        """What the next call would be sent."""
        return self.context.tokens if self.context else 0

    @property
    def verdicts(self) -> Mapping[str, int]:
        """How many messages have which verdict at the end."""
        counts = dict.fromkeys(("kept", "compressed", "summarized", "recalled", "dropped"), 0)
        for run in self.context.runs if self.context else ():
            counts[run.verdict] += run.last - run.first + 1
        return counts
