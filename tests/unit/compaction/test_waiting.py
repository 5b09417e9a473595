"""What outputs that the model has yet to see keep of a compaction in a small room."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.texts import has_words
from ctxcore.compaction.compacting import CompactionResult, compact
from ctxcore.compaction.keeping import level_within, text_of
from ctxcore.messages.values import Message, tool_result
from tests.histories import assistant, call, user
from tests.words import Words, words

LOG = "\n".join(f"12:00 ERROR worker-{n} could not reach the replica {7 * n}" for n in range(800))


def history(*outputs: str) -> list[Message]:
    talk = [
        user(f"question {n} {words(80)}") if n % 2 == 0 else assistant(f"answer {n} {words(80)}")
        for n in range(8)
    ]
    calls = [call(f"c{at}", "read", at=at) for at in range(len(outputs))]
    results = [tool_result(f"c{at}", output) for at, output in enumerate(outputs)]
    return [*talk, user("why was it late?"), assistant("", *calls), *results]


def outputs_in(result: CompactionResult) -> list[str]:
    shown = (str(one["content"]) for one in result.context.messages if one["role"] == "tool")
    return list(shown)


@pytest.mark.parametrize("window", [700, 1_000, 1_500, 3_000, 8_000])
def test_every_output_that_waits_keeps_its_share_of_a_compaction(window: int) -> None:
    result = compact(history(LOG, LOG, LOG), max_tokens=window)

    sizes = {len(output) for output in outputs_in(result)}
    assert len(sizes) == 1
    assert min(sizes) >= 90
    assert result.state.active is not None
    assert all(has_words(text) for _, text in result.state.active.shortened)


def test_a_small_output_that_waits_stays_whole_beside_large_ones() -> None:
    result = compact(history(LOG, "the replica is down", LOG), max_tokens=1_000)

    first, small, last = outputs_in(result)
    assert small == "the replica is down"
    assert min(len(first), len(last)) > len(small)


def test_outputs_that_wait_take_what_others_leave() -> None:
    result = compact(history(LOG, LOG, LOG), max_tokens=8_000)

    budget = result.context.budget
    assert budget is not None
    assert result.context.tokens > budget.target_tokens * 0.6


def test_a_bare_mark_of_an_earlier_release_hides_no_output_that_waits() -> None:
    messages = history(LOG, "the replica is down")
    state = compact(messages, max_tokens=700).state
    assert state.active is not None
    marks = replace(state.active, shortened=((11, "…"), (12, "…")))
    state = replace(state, active=marks)

    context = fit(messages, max_tokens=8_000, state=state)

    first, second = (one["content"] for one in context.messages if one["role"] == "tool")
    assert len(str(first)) > 2_000
    assert second == "the replica is down"


def test_of_a_message_without_a_piece_worth_its_room_the_first_words_stay() -> None:
    row = ListHistory([assistant("== Report: " + words(90))], Words()).get([1])[0]

    assert text_of(row, (None, None), begins=True) == f"Report: {words(4)[:16]} …"
    assert text_of(row, (None, "word."), begins=True) == "… word."
    assert text_of(row, ("42", None), begins=True) == "42 …"


def test_sizes_share_a_room_alike() -> None:
    assert level_within([10, 50, 100], 1_000) == 100
    assert level_within([10, 50, 100], 90) == 40
    assert level_within([10, 50], 0) == 0
    assert level_within([], 10) == 0
