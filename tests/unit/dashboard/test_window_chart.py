"""The picture of a window adds up to the window, and nothing in it is markup from outside."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.verdicts import INPUT_SEGMENTS, SEGMENTS, Breakdown, make_breakdown
from ctxcore.budget import TokenBudget
from dashboard.window_chart import (
    BLACK,
    LIGHT_TEXT,
    SEGMENT_COLORS,
    WHITE,
    changes,
    comparison_table,
    window_bar,
    window_parts,
    window_table,
    with_reply,
)

BUDGET = TokenBudget(
    window_tokens=8_000,
    reserve_tokens=1_000,
    usable_tokens=7_000,
    history_tokens=6_000,
    summary_tokens=700,
    recent_tokens=2_000,
    trigger_tokens=5_600,
    target_tokens=2_800,
)
BREAKDOWN = make_breakdown(
    {"system": 100, "recent": 1_900}, window_tokens=8_000, reserve_tokens=1_000
)


def plain(name: str) -> str:
    return name


@given(st.dictionaries(st.sampled_from(INPUT_SEGMENTS), st.integers(0, 700)), st.integers(0, 999))
def test_the_parts_are_the_window(sizes: dict[str, int], reserve: int) -> None:
    breakdown = make_breakdown(
        sizes,  # type: ignore[arg-type]  # drawn from the segments
        window_tokens=8_000,
        reserve_tokens=reserve,
    )
    parts = window_parts(breakdown)

    assert sum(part.tokens for part in parts) == 8_000
    assert abs(sum(part.share for part in parts) - 1) < 1e-9


@given(st.integers(0, 5_000))
def test_a_running_reply_takes_its_room_from_what_is_free(reply: int) -> None:
    grown = with_reply(BREAKDOWN, reply)

    assert sum(grown.to_dict().values()) == 8_000
    assert grown.recent == BREAKDOWN.recent + reply


def test_every_segment_has_a_colour_of_its_own() -> None:
    assert set(SEGMENT_COLORS) == set(SEGMENTS)
    assert len(set(SEGMENT_COLORS.values())) == len(SEGMENTS)


def test_the_words_on_a_segment_can_be_read() -> None:
    for segment in set(INPUT_SEGMENTS) - {"free", "reserve"}:
        words = WHITE if segment in LIGHT_TEXT else BLACK

        assert contrast(words, SEGMENT_COLORS[segment]) >= 4.5  # WCAG 2.2, level AA


def test_every_segment_is_named_in_a_line_that_hides_what_does_not_fit() -> None:
    bar = window_bar(BREAKDOWN, BUDGET, plain)

    assert re.findall(r"<span>(\w*)</span>", bar) == ["system", "recent", "", ""]
    assert bar.count("flex-wrap:wrap") == 4


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in shares]
    return sum(weight * one for weight, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_trigger_and_target_stand_where_they_are() -> None:
    bar = window_bar(BREAKDOWN, BUDGET, plain)

    assert "left:70.0000%" in bar  # 5,600 of 8,000
    assert "left:35.0000%" in bar  # 2,800 of 8,000


def test_the_bar_reads_out_as_numbers() -> None:
    assert 'aria-label="bar: system 100, recent 1,900, free 5,000, reserve 1,000"' in window_bar(
        BREAKDOWN, BUDGET, plain
    )


def test_an_unknown_window_gets_no_bar_which_would_look_full() -> None:
    unknown = Breakdown(system=100, recent=300)

    assert not window_bar(unknown, None, plain)
    assert [part.share for part in window_parts(unknown)] == [0.25, 0.75]


def test_an_empty_breakdown_draws_nothing() -> None:
    assert window_parts(Breakdown()) == ()
    assert window_bar(Breakdown(window=0), None, plain)


def test_labels_are_escaped() -> None:
    def evil(name: str) -> str:
        return f"<b>{name}"

    drawn = window_bar(BREAKDOWN, BUDGET, evil) + window_table(BREAKDOWN, evil, is_exact=True)
    drawn += comparison_table(BREAKDOWN, BREAKDOWN, evil, is_exact=True)

    assert "<b>" not in drawn


def test_the_table_marks_estimates_but_not_the_reserve() -> None:
    table = window_table(BREAKDOWN, plain, is_exact=False)

    assert "≈1,900" in table
    assert "≈1,000" not in table


def test_a_comparison_adds_up_without_what_does_not_fit() -> None:
    after = make_breakdown(
        {"system": 100, "summary": 200}, window_tokens=8_000, reserve_tokens=1_000
    )

    table = comparison_table(BREAKDOWN, after, plain, is_exact=False, outside=(3_000, 0))

    assert [one.segment for one in changes(BREAKDOWN, after)] == ["system", "summary", "recent"]
    assert "≈2,000" in table  # 100 + 1,900 before
    assert "−1,700" in table
    assert table.index("total") < table.index("3,000")
