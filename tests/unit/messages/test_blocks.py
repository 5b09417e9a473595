"""Blocks: where history may be cut, and which result answers which call."""

from __future__ import annotations

import pytest

from ctxcore.messages.blocks import BlockTracker, block_starts, cut_points, pair_results
from ctxcore.messages.values import tool_result
from tests.effort import processor_seconds
from tests.histories import assistant, call, user

CALLS = (call("a"), call("b"))


def test_calls_and_their_results_are_one_block() -> None:
    history = [user("hi"), assistant("", *CALLS), tool_result("a", "1"), tool_result("b", "2")]

    assert block_starts(history) == [0, 1, 1, 1]
    assert cut_points(history) == [0, 1, 4]


def test_a_result_behind_anything_else_is_a_block_of_its_own() -> None:
    history = [tool_result("a", "1"), assistant("", *CALLS), user("wait"), tool_result("a", "2")]

    assert block_starts(history) == [0, 1, 2, 3]


def test_an_empty_history_can_be_cut_at_its_end() -> None:
    assert cut_points([]) == [0]


def test_results_answer_by_id_in_any_order() -> None:
    results = [tool_result("b", "2"), tool_result("a", "1")]

    assert pair_results(CALLS, results) == ([1, 0], [])


def test_calls_of_one_id_are_answered_in_order() -> None:
    calls = (call("a"), call("a"))

    assert pair_results(calls, [tool_result("a", "1"), tool_result("a", "2")]) == ([0, 1], [])


def test_results_without_an_id_take_what_is_left_by_position() -> None:
    results = [tool_result("", "1"), tool_result("a", "2")]

    assert pair_results(CALLS, results) == ([1, 0], [])


def test_what_answers_nothing_is_an_orphan_and_what_is_unanswered_is_none() -> None:
    results = [tool_result("x", "1"), tool_result("b", "2"), tool_result("b", "3")]

    assert pair_results(CALLS, results) == ([None, 1], [0, 2])


def test_more_results_without_an_id_than_calls_leave_orphans() -> None:
    results = [tool_result("", str(n)) for n in range(3)]

    assert pair_results(CALLS, results) == ([0, 1], [2])


def test_an_output_was_called_for_by_the_last_request_and_its_own_call() -> None:
    history = [
        user("first"),
        user("what of K-7?"),
        assistant("", call("a", name="look", at="K-7"), call("b", name="list")),
        tool_result("b", "[]"),
    ]
    tracker = BlockTracker()
    for seq, message in enumerate(history, start=1):
        tracker = tracker.next(message, seq)

    assert tracker.query(tool_result("a", "")) == 'what of K-7?\nlook {"at": "K-7"}'
    assert tracker.query(tool_result("b", "")) == "what of K-7?\nlist {}"
    assert BlockTracker().query(tool_result("a", "")) == ""


@pytest.mark.measures
def test_many_calls_of_one_message_take_work_in_proportion() -> None:
    def read(count: int) -> None:
        calls = [call(f"c{number}") for number in range(count)]
        results = [tool_result(f"c{number}", "1") for number in range(count)]
        tracker = BlockTracker().next(assistant("", *calls), 1)
        assert all(tracker.function_name(result) for result in results)
        assert pair_results(calls, [*results, tool_result("", "1")])[1] == [count]

    small, large = (processor_seconds(read, count) for count in (1_000, 8_000))

    assert large < small * 8 * 3  # with a look at each call for each result: 64 times
