"""What changed with each version of a policy: figures of the calls made under it.

A call names the newest version that took part in its policy. Versions are numbered in the order in
which they are saved, so a version of a scope was in force in the calls that name it or a later one,
up to the next version of the same scope.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ctxcore.engine.costs import cost_of_calls, with_cost
from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.savings import SUMMARY
from ctxcore.plain import Plain
from ctxcore.store.values import CallTally, CompactionTally, PolicyChange, SignalCounts

LEAST_CALLS = 50  # the customer's number: fewer calls say little


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFigures(Plain):
    """The figures of some calls; None where nothing is known, or there is nothing to divide by."""

    calls: int
    """The calls for an answer."""
    input_calls: int
    """Those whose input the provider counted."""
    call_tokens: float | None
    """Their input on average."""
    call_dollars: float | None
    """What a call cost on average, summaries included; None if the cost of any is unknown."""
    unpriced_calls: int
    """The calls, requests for summaries included, whose cost is not known."""
    cached_ratio: float | None
    """The share of the input that came from the cache."""
    compactions: int
    failed_summaries: int
    refused: int
    """Calls that the provider refused as too long."""
    turns: int
    forgetful_turns: int
    """Turns with a signal that something was forgotten."""

    @property
    def has_enough(self) -> bool:
        """Whether there are enough calls to compare."""
        return self.calls >= LEAST_CALLS

    @property
    def compactions_per_100(self) -> float | None:
        """Compactions per 100 calls."""
        return 100 * self.compactions / self.calls if self.calls else None

    @property
    def forgetful_per_100(self) -> float | None:
        """Turns with a signal per 100 turns."""
        return 100 * self.forgetful_turns / self.turns if self.turns else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionEffect(Plain):
    """A version of a scope's policy: what it changed, and the figures before and under it."""

    change: PolicyChange
    before: PolicyFigures
    """Under the version before, or without one."""
    after: PolicyFigures

    @property
    def is_told(self) -> bool:
        """Whether both have enough calls to be compared."""
        return self.before.has_enough and self.after.has_enough


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecords:
    """What is recorded of the calls of a scope, by version of the policy."""

    calls: Sequence[CallTally]
    compactions: Sequence[CompactionTally]
    signals: Sequence[SignalCounts]
    failures: Sequence[int | None]
    """The versions of compactions that failed and changed nothing."""


def effects_of(
    changes: Sequence[PolicyChange], records: CallRecords, models: ModelCatalog
) -> list[VersionEffect]:
    """The effect of each of a scope's versions, newest first."""
    ordered = sorted(changes, key=lambda change: change.version.id)
    ids = [change.version.id for change in ordered]

    def period(version_id: int | None) -> int:
        return 0 if version_id is None else bisect_right(ids, version_id)

    figures = _by_period(records, models, period)
    pairs = list(enumerate(ordered, start=1))
    return [
        VersionEffect(
            change=change,
            before=figures.get(place - 1, _figures(_NOTHING, models)),
            after=figures.get(place, _figures(_NOTHING, models)),
        )
        for place, change in reversed(pairs)
    ]


_NOTHING = CallRecords(calls=(), compactions=(), signals=(), failures=())


class _OfVersion(Protocol):
    @property
    def policy_version_id(self) -> int | None: ...


_T = TypeVar("_T")
_V = TypeVar("_V", bound=_OfVersion)


def _by_period(
    records: CallRecords, models: ModelCatalog, period: Callable[[int | None], int]
) -> dict[int, PolicyFigures]:
    """The figures of the calls between two versions, by the number of versions before them."""

    def split(found: Iterable[_V]) -> dict[int, list[_V]]:
        return _grouped(found, lambda one: period(one.policy_version_id))

    calls, compactions = split(records.calls), split(records.compactions)
    signals, failures = split(records.signals), _grouped(records.failures, period)
    places = {*calls, *compactions, *signals, *failures}
    return {
        place: _figures(
            CallRecords(
                calls=calls.get(place, ()),
                compactions=compactions.get(place, ()),
                signals=signals.get(place, ()),
                failures=failures.get(place, ()),
            ),
            models,
        )
        for place in places
    }


def _grouped(found: Iterable[_T], key: Callable[[_T], int]) -> dict[int, list[_T]]:
    groups: dict[int, list[_T]] = defaultdict(list)
    for one in found:
        groups[key(one)].append(one)
    return groups


def _figures(records: CallRecords, models: ModelCatalog) -> PolicyFigures:
    answers = [tally for tally in records.calls if tally.purpose != SUMMARY]
    calls = sum(tally.calls for tally in answers)
    input_calls = sum(tally.input_calls for tally in answers)
    told = sum(tally.cache_told_tokens for tally in answers)
    cost = cost_of_calls(with_cost(records.calls, models))
    unpriced = sum(gap.calls for gap in cost.unknown)
    return PolicyFigures(
        calls=calls,
        input_calls=input_calls,
        call_tokens=_ratio(sum(tally.input_tokens or 0 for tally in answers), input_calls),
        call_dollars=None if unpriced or cost.dollars is None else _ratio(cost.dollars, calls),
        unpriced_calls=unpriced,
        cached_ratio=_ratio(sum(tally.cached_tokens or 0 for tally in answers), told),
        compactions=sum(tally.compactions for tally in records.compactions),
        failed_summaries=sum(tally.failed for tally in records.compactions) + len(records.failures),
        refused=sum(tally.refused for tally in answers),
        turns=sum(counts.turns for counts in records.signals),
        forgetful_turns=sum(counts.forgetful_turns for counts in records.signals),
    )


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None
