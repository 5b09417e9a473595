"""Verdicts: one a message, kept as runs of neighbours."""

from __future__ import annotations

import pytest

from ctxcore.assembly.verdicts import (
    SEGMENTS,
    Run,
    VerdictKind,
    Verdicts,
    make_breakdown,
    merge_runs,
)
from ctxcore.reasons.values import as_reason

SIZES = [5, 6, 7, 8]


def run(first: int, last: int, verdict: VerdictKind, before: int, after: int = 0) -> Run:
    """A run whose reason tells its verdict."""
    return Run(
        first=first,
        last=last,
        verdict=verdict,
        reason=as_reason(verdict),
        before_tokens=before,
        after_tokens=after,
    )


def verdicts() -> Verdicts:
    """Three messages summarized and one kept."""
    runs = [run(0, 2, "summarized", 18), run(3, 3, "kept", 8, 8)]
    return Verdicts(runs, lambda first, last: SIZES[first - 1 : last])


def test_neighbours_that_are_gone_for_one_reason_become_one_run() -> None:
    merged = merge_runs(
        [run(0, 0, "dropped", 5), run(1, 2, "dropped", 13), run(3, 3, "summarized", 8)]
    )

    assert merged == (run(0, 2, "dropped", 18), run(3, 3, "summarized", 8))


def test_messages_that_are_shown_keep_a_run_of_their_own() -> None:
    shown = (run(0, 0, "kept", 5, 5), run(1, 1, "kept", 6, 6))

    assert merge_runs(shown) == shown


def test_a_message_in_a_long_run_has_its_own_size() -> None:
    verdict = verdicts()[1]

    assert (verdict.verdict, verdict.before_tokens, verdict.after_tokens) == ("summarized", 6, 0)


def test_verdicts_are_a_sequence() -> None:
    found = verdicts()

    assert len(found) == 4
    assert found[-1].verdict == "kept"
    assert [verdict.before_tokens for verdict in found] == SIZES
    assert [verdict.before_tokens for verdict in found[1:3]] == [6, 7]
    with pytest.raises(IndexError, match="message 4 of 4"):
        found[4]


def test_no_messages_have_no_verdicts() -> None:
    assert len(Verdicts([], lambda first, last: [])) == 0


def test_a_breakdown_adds_up_to_its_window_in_the_order_shown() -> None:
    breakdown = make_breakdown(
        {"system": 10, "recent": 50, "knowledge": 5}, window_tokens=100, reserve_tokens=25
    )

    assert tuple(breakdown.to_dict()) == SEGMENTS
    assert SEGMENTS[:4] == ("system", "tools", "pinned", "facts")
    assert SEGMENTS[-3:] == ("unattributed", "free", "reserve")
    assert breakdown.input_tokens == 65
    assert (breakdown.reserve, breakdown.free) == (25, 10)


def test_an_unknown_window_leaves_nothing_free() -> None:
    breakdown = make_breakdown({"recent": 50}, window_tokens=None, reserve_tokens=0)

    assert (breakdown.window, breakdown.free) == (None, 0)
