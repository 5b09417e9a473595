"""A state belongs to the messages it was made from."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.records import NOT_REBUILT, Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import compact, plan_compaction
from ctxcore.compaction.results import CompactionResult
from ctxcore.errors import StateError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy

BUDGET = 3_000


def turn(number: int, rows: int = 110) -> list[JsonObject]:
    """A turn in which a tool says much of one city."""
    look: JsonObject = {"name": "look", "arguments": json.dumps({"q": f"city{number}"})}
    output = "\n".join(f"row {n}: city{number} value {n * 7919}" for n in range(rows))
    return [
        {"role": "user", "content": f"question {number}"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": look}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": output},
        {"role": "assistant", "content": f"answer {number}"},
    ]


def said(role: str, text: str) -> JsonObject:
    """A message of words alone."""
    return {"role": role, "content": text}


SYSTEM = said("system", "You are careful.")
HISTORY: list[JsonObject] = [SYSTEM, *(message for number in range(4) for message in turn(number))]
NEXT: list[JsonObject] = [*turn(4), said("user", "and city4?")]


def compacted(messages: list[JsonObject] = HISTORY, **wanted: Any) -> CompactionResult:
    """A first compaction of `messages`."""
    return compact(messages, **{"max_tokens": BUDGET, "model": "gpt-4o", **wanted})


STATE = compacted().state


def again(messages: list[JsonObject], **wanted: Any) -> CompactionResult:
    """A later one, with the state of the first."""
    return compacted(messages, **{"state": STATE, **wanted})


def results(result: CompactionResult) -> dict[str, str]:
    """What is sent of each call's output."""
    tools = (one for one in result.context.messages if one["role"] == "tool")
    return {str(one["tool_call_id"]): str(one["content"]) for one in tools}


def codes(result: CompactionResult) -> list[str]:
    """The codes of what is told."""
    return [notice.code for notice in result.notices]


def test_an_output_is_never_sent_with_the_rows_of_another_once_the_oldest_turn_is_gone() -> None:
    result = again([SYSTEM, *HISTORY[5:], *NEXT])

    for call_id, sent in results(result).items():
        cities = {word for word in sent.split() if word.startswith("city")}
        assert cities <= {f"city{call_id[1:]}"}
    assert codes(result) == ["front_missing"]
    assert result.notices[0].facts["messages"] == 4
    assert result.context.notices == result.notices


def test_the_summary_stands_where_covered_messages_are_gone_from_the_front() -> None:
    assert STATE.active is not None
    moved = again([SYSTEM, *HISTORY[5:], *turn(4, 3)]).state.active

    assert moved is not None
    assert moved.summary == STATE.active.summary
    assert moved.covered_until == STATE.active.covered_until - 4
    assert moved.generation == NOT_REBUILT
    assert moved.facts.startswith("Original request:\n- question 0")


def test_it_stands_where_all_that_is_covered_is_gone() -> None:
    state = compacted(force=True, policy=Policy(recent_ratio=0.05)).state
    assert state.active is not None
    behind = HISTORY[state.active.covered_until :]

    result = again([SYSTEM, *behind, *turn(4, 3)], state=state)

    assert result.state.active is not None
    assert result.state.active.covered_until == 0
    assert result.state.active.summary in str(result.context.messages[1]["content"])


def test_facts_of_messages_that_are_gone_outlast_the_next_compaction() -> None:
    told = [SYSTEM, said("user", "Never book before 9. My code is QX-4711.")]
    state = compacted([*told, *HISTORY[2:]], force=True).state
    messages = [SYSTEM, *HISTORY[5:], *NEXT]

    result = again(messages, state=state, force=True)

    assert codes(result) == ["front_missing"]
    assert "Never book before 9" in str(result.context.messages)


@pytest.mark.parametrize(
    ("change", "at"),
    [
        (lambda h: [*h[:4], said("assistant", "something else"), *h[5:]], 4),
        (lambda h: [*h[:5], *turn(9), *h[5:]], 5),
        (lambda h: [*h[:5], *h[9:]], 5),
        (lambda h: [*h[:1], *h[5:9], *h[1:5], *h[9:]], 1),
        (lambda _: [SYSTEM, *turn(7), *turn(8), *turn(9), *turn(10), *turn(11)], 1),
        (lambda h: h[:7], 7),
    ],
    ids=["edited", "inserted", "dropped in the middle", "reordered", "another", "cut off"],
)
def test_the_first_message_that_differs_is_named(change: Any, at: int) -> None:
    with pytest.raises(StateError, match="on_mismatch") as caught:
        again(change(HISTORY))

    assert caught.value.at == at
    assert caught.value.place == f"message {at}"
    with pytest.raises(StateError):
        fit(change(HISTORY), max_tokens=BUDGET, state=STATE)
    with pytest.raises(StateError):
        plan_compaction(change(HISTORY), policy=Policy(), max_tokens=BUDGET, state=STATE)


def test_rebuilding_leaves_out_what_is_no_longer_true_and_says_so() -> None:
    edited = [*HISTORY[:4], said("assistant", "it is 17 degrees"), *HISTORY[5:]]

    result = again([*edited, *NEXT], on_mismatch="rebuild", force=True)
    fitted = fit(edited, max_tokens=BUDGET, state=STATE, on_mismatch="rebuild")

    assert codes(result)[0] == "rebuilt"
    assert result.notices[0].facts["at"] == 4
    assert "answer 0" not in str(result.context.messages)
    assert fitted.notices[0].code == "rebuilt"
    assert "conversation_summary" not in str(fitted.messages)


def test_after_a_rebuild_the_list_is_known_again() -> None:
    edited = [*HISTORY[:4], said("assistant", "it is 17 degrees"), *HISTORY[5:]]
    rebuilt = again(edited, on_mismatch="rebuild", force=True)

    assert again([*edited, *turn(4, 3)], state=rebuilt.state).notices == ()


def test_ids_metadata_and_cache_marks_change_nothing() -> None:
    marked = [dict(message) for message in HISTORY]
    for number, message in enumerate(marked):
        message["id"] = f"msg_{number}"
        if isinstance(message["content"], str):
            part: JsonObject = {"type": "text", "text": message["content"]}
            message["content"] = [{**part, "cache_control": {"type": "ephemeral"}}]

    assert again([*marked, *turn(4, 3)]).notices == ()


def test_system_prompt_and_tools_may_change_which_breaks_the_cache() -> None:
    tool: JsonObject = {"type": "function", "function": {"name": "look", "parameters": {}}}
    changed = [said("system", "It is 10:05."), *HISTORY[1:]]

    result = again(changed, tools=[tool])

    parts = [notice.facts["part"] for notice in result.notices]
    assert codes(result) == ["prefix_changed", "prefix_changed"]
    assert parts == ["system", "tools"]
    assert "It is 10:05." in str(result.context.messages[0])


def test_a_system_message_may_come_and_go() -> None:
    more = [SYSTEM, said("system", "Answer in German."), *HISTORY[1:]]

    longer, shorter = again(more), again(HISTORY[1:])

    assert STATE.active is not None
    covered = [one.state.active.covered_until for one in (longer, shorter) if one.state.active]
    assert covered == [STATE.active.covered_until + 1, STATE.active.covered_until - 1]


def test_the_words_of_the_original_request_may_change() -> None:
    edited = [SYSTEM, said("user", "question 0, at noon"), *HISTORY[2:]]

    result = again(edited)

    assert [notice.facts["part"] for notice in result.notices] == ["goal"]
    assert "question 0, at noon" in str(result.context.messages)


def test_what_lies_behind_the_covered_part_may_be_edited() -> None:
    state = compacted([*HISTORY, *turn(4, 3)], force=True).state
    assert state.active is not None
    edited = [*HISTORY, *turn(4, 3)[:-1], said("assistant", "another answer")]

    result = again(edited, state=state)

    assert state.active.covered_until < len(edited)
    assert "another answer" in str(result.context.messages)


def test_marks_go_with_their_messages() -> None:
    state = compacted(state=CompactionState(excluded=frozenset({13}), pinned=frozenset({9}))).state

    moved = again([SYSTEM, *HISTORY[5:], *NEXT], state=state).state
    gone = again([SYSTEM, *HISTORY[13:], *NEXT], state=state, on_mismatch="rebuild")

    assert (moved.excluded, moved.pinned) == (frozenset({9}), frozenset({5}))
    assert "mark_dropped" in codes(gone)
    assert gone.state.pinned == frozenset()


def test_a_state_made_by_hand_fits_any_list_that_is_long_enough() -> None:
    by_hand = CompactionState(active=Compaction(covered_until=4, summary="so far"))

    assert "so far" in str(fit(HISTORY, max_tokens=BUDGET, state=by_hand).messages)
    with pytest.raises(StateError, match="pass the whole conversation"):
        fit(HISTORY[:2], max_tokens=BUDGET, state=by_hand)


@pytest.mark.parametrize("given", [{"version": 1}, 7, ["so far"]])
def test_what_is_no_state_is_refused(given: Any) -> None:
    with pytest.raises(StateError, match="expected a CompactionState"):
        fit(HISTORY, max_tokens=BUDGET, state=given)


def test_an_unknown_way_with_mismatches_is_refused() -> None:
    given: Any = "ignore"
    with pytest.raises(ValueError, match="on_mismatch"):
        again(HISTORY, on_mismatch=given)


@pytest.mark.parametrize("preset", Policy.presets())
def test_what_was_sent_may_be_stored_in_place_of_what_was_passed(preset: str) -> None:
    policy, messages, state = Policy.preset(preset), [SYSTEM], CompactionState()
    for number in range(12):
        messages = [*messages, *turn(number, 40)]
        result = compact(messages, max_tokens=2_500, policy=policy, state=state, force=number > 3)
        messages, state = result.context.messages, result.state

        own = "conversation_summary>", "Summary of what came before", "[Context: Summary"
        sent = str(messages)
        assert all(sent.count(mark) <= (2 if mark.endswith(">") else 1) for mark in own)
        assert sent.count("not shown") <= 1
        assert f"question {number}" in sent
    assert result.state.summaries + result.state.truncations > 1


def test_an_own_summary_in_a_plain_list_is_continued() -> None:
    first = compacted(force=True)
    stored = [*first.context.messages, *turn(4)]

    result = compact(stored, max_tokens=BUDGET, model="gpt-4o", force=True)

    assert codes(result) == ["summary_found"]
    assert "conversation_summary" not in result.summary
    assert "Understood. I have" not in result.summary
    assert str(result.context.messages).count("<conversation_summary>") == 1


def test_a_plain_summary_that_was_written_back_is_not_said_twice() -> None:
    context = fit(HISTORY[1:5], max_tokens=BUDGET, state="The user likes trains.")

    again = fit(context.messages, max_tokens=BUDGET, state="The user likes trains.")

    assert str(again.messages).count("The user likes trains.") == 1


def test_how_many_messages_were_left_out_is_still_counted_after_a_write_back() -> None:
    wanted: dict[str, Any] = {
        "policy": Policy.preset("truncate-or-summarize"),
        "max_tokens": 2_500,
        "force": True,
    }
    first = compact(HISTORY, **wanted)
    result = compact([*first.context.messages, *turn(4)], state=first.state, **wanted)

    newly = sum(verdict.verdict == "dropped" for verdict in result.context.verdicts)
    assert codes(result) == ["context_read_back"]
    assert newly > 0
    assert left_out(result) == left_out(first) + newly


def left_out(result: CompactionResult) -> int:
    """How many messages the marker says are not shown."""
    (found,) = re.findall(r"\[(\d+) earlier messages are not shown\]", str(result.context.messages))
    return int(found)


def test_a_summary_that_somebody_edited_in_the_list_is_the_one_that_goes_on() -> None:
    first = compacted(force=True)
    edited = [
        said(str(one["role"]), text.replace("\n</conv", "\nuser: and city9\n</conv"))
        if isinstance(text := one.get("content"), str) and one["role"] == "user"
        else one
        for one in first.context.messages
    ]

    result = again([*edited, *turn(4, 3)], state=first.state)

    assert codes(result) == ["summary_read_back"]
    assert "and city9" in result.summary


def test_a_summary_cut_to_a_small_window_is_whole_again_in_a_larger_one() -> None:
    first = compacted(force=True)
    assert first.state.active is not None
    small = fit(HISTORY, max_tokens=220, model="gpt-4o", state=first.state)
    assert first.state.active.summary not in str(small.messages[1]["content"])

    result = again(small.messages, state=first.state)

    assert result.summary == first.state.active.summary


def test_a_state_made_by_hand_that_knows_too_much_is_left_out_on_request() -> None:
    by_hand = CompactionState(active=Compaction(covered_until=99, summary="so far"))

    result = again(HISTORY, state=by_hand, on_mismatch="rebuild")

    assert codes(result) == ["rebuilt"]
    assert "so far" not in str(result.context.messages)
