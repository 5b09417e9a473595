"""What a provider says it left out of a request."""

from __future__ import annotations

import pytest

from ctxcore.messages.provider_edits import NOTHING_CLEARED, Cleared, read_cleared

USES = {
    "type": "clear_tool_uses_20250919",
    "cleared_tool_uses": 8,
    "cleared_input_tokens": 50_000,
}
THINKING = {
    "type": "clear_thinking_20251015",
    "cleared_thinking_turns": 3,
    "cleared_input_tokens": 15_000,
}


def edited(*edits: object) -> dict[str, object]:
    return {"context_management": {"applied_edits": list(edits)}}


def test_edits_of_both_kinds_are_added_up() -> None:
    assert read_cleared(edited(USES)) == Cleared(8, 50_000)
    assert read_cleared(edited(USES, THINKING)) == Cleared(11, 65_000)


@pytest.mark.parametrize(
    "answer",
    [None, "text", [], {}, {"context_management": None}, {"context_management": []}, edited()],
)
def test_an_answer_without_edits_has_nothing_cleared(answer: object) -> None:
    assert read_cleared(answer) == NOTHING_CLEARED


@pytest.mark.parametrize("count", [None, "8", -8, True, 8.5, [8]])
def test_what_is_no_count_is_none(count: object) -> None:
    wrong = {"type": "later", "cleared_tool_uses": count, "cleared_input_tokens": count}

    assert read_cleared(edited(wrong, "text", USES)) == Cleared(8, 50_000)
