"""The figures of the calls before and under each version of a policy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from ctxcore.engine.policies import ModelCatalog
from ctxcore.engine.policy_effects import LEAST_CALLS, CallRecords, VersionEffect, effects_of
from ctxcore.store.values import (
    CallTally,
    CompactionTally,
    PolicyChange,
    PolicyVersion,
    Scope,
    SignalCounts,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def change(version_id: int, version: int) -> PolicyChange:
    saved = PolicyVersion(
        id=version_id,
        scope=Scope(),
        version=version,
        overrides={"trigger_ratio": version / 10},
        created_by="root",
        created_at=NOON,
    )
    return PolicyChange(version=saved, before={})


def tally(
    version: int | None,
    calls: int,
    tokens: int,
    *,
    purpose: str = "answer",
    cost: float | None = 1.0,
    cached: int | None = None,
) -> CallTally:
    return CallTally(
        user_id="ada",
        policy_version_id=version,
        month="2026-03",
        model="m",
        purpose=purpose,
        calls=calls,
        cost=cost,
        input_tokens=tokens,
        output_tokens=1,
        cached_tokens=cached,
        cache_write_tokens=None,
        cache_hour_tokens=None,
        input_calls=calls,
        cache_told_tokens=0 if cached is None else tokens,
        refused=1 if version == 20 else 0,
    )


def effects(calls: Sequence[CallTally], **others: Sequence[object]) -> list[VersionEffect]:
    """Those of two versions, with the ids 10 and 20."""
    records = {"compactions": (), "signals": (), "failures": (), **others}
    return effects_of(
        [change(20, 2), change(10, 1)],
        CallRecords(calls=calls, **records),  # type: ignore[arg-type]  # spelled out by each test
        ModelCatalog(),
    )


def test_a_version_is_in_force_from_its_own_number_up_to_the_next_one_of_its_scope() -> None:
    # 9 and None: before the first; 15 is a version of another scope, saved between both.
    calls = [tally(version, 60, 6_000) for version in (None, 9, 10, 15, 20, 31)]

    second, first = effects(calls)

    assert (first.before.calls, first.after.calls) == (120, 120)
    assert (second.before.calls, second.after.calls) == (120, 120)
    assert second.change.version.version == 2


def test_figures_are_averages_of_the_calls() -> None:
    before = [tally(10, 50, 100_000, cost=5.0, cached=75_000)]
    after = [
        tally(20, 100, 50_000, cost=1.0, cached=10_000),
        tally(20, 3, 9_000, purpose="summary", cost=1.0),
    ]
    compactions = [
        CompactionTally(
            user_id="ada", policy_version_id=20, month="2026-03", compactions=4, failed=1
        )
    ]
    signals = [SignalCounts(policy_version_id=20, turns=50, forgetful_turns=2)]

    newest = effects(
        [*before, *after], compactions=compactions, signals=signals, failures=[20, None]
    )[0]

    assert newest.is_told
    assert (newest.before.call_tokens, newest.after.call_tokens) == (2_000, 500)
    assert newest.before.call_dollars == pytest.approx(0.1)
    assert newest.after.call_dollars == pytest.approx(0.02)
    assert (newest.before.cached_ratio, newest.after.cached_ratio) == (0.75, 0.2)
    assert (newest.before.compactions_per_100, newest.after.compactions_per_100) == (0, 4)
    assert (newest.after.failed_summaries, newest.after.refused) == (2, 1)
    assert newest.after.forgetful_per_100 == 4
    assert newest.before.forgetful_per_100 is None


@pytest.mark.parametrize(("calls", "is_told"), [(LEAST_CALLS - 1, False), (LEAST_CALLS, True)])
def test_both_sides_need_fifty_calls(calls: int, is_told: bool) -> None:
    newest = effects([tally(10, 200, 1), tally(20, calls, 1)])[0]

    assert newest.is_told is is_told
    assert newest.after.has_enough is is_told


def test_a_cost_is_unknown_if_that_of_one_call_is() -> None:
    known, free = tally(20, 60, 600), tally(20, 2, 20, cost=None)

    newest = effects([known, free])[0]

    assert newest.after.call_dollars is None
    assert newest.after.unpriced_calls == 2


def test_without_any_call_nothing_is_known() -> None:
    newest = effects([])[0]

    assert newest.after.calls == 0
    assert newest.after.call_tokens is None
    assert newest.after.cached_ratio is None
    assert newest.after.compactions_per_100 is None
