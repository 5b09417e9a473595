"""A state belongs to the messages it was made from."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from ctxcore.assembly.fitting import fit
from ctxcore.assembly.records import NOT_REBUILT, Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction import summarizing
from ctxcore.compaction.compacting import CompactionResult, compact, plan_compaction
from ctxcore.errors import StateError
from ctxcore.messages.shapes.values import Shape
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import NoticeCode
from ctxcore.summarizers.protocol import SummaryRequest
from ctxcore.summarizers.support import SummaryCheck

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
    assert codes(result) == [NoticeCode.FRONT_MISSING]
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

    assert codes(result) == [NoticeCode.FRONT_MISSING]
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
    assert str(caught.value.place) == f"message {at}"
    with pytest.raises(StateError):
        fit(change(HISTORY), max_tokens=BUDGET, state=STATE)
    with pytest.raises(StateError):
        plan_compaction(change(HISTORY), policy=Policy(), max_tokens=BUDGET, state=STATE)


def test_rebuilding_leaves_out_what_is_no_longer_true_and_says_so() -> None:
    edited = [*HISTORY[:4], said("assistant", "it is 17 degrees"), *HISTORY[5:]]

    result = again([*edited, *NEXT], on_mismatch="rebuild", force=True)
    fitted = fit(edited, max_tokens=BUDGET, state=STATE, on_mismatch="rebuild")

    assert codes(result)[0] == NoticeCode.REBUILT
    assert result.notices[0].facts["at"] == 4
    assert "answer 0" not in str(result.context.messages)
    assert fitted.notices[0].code == NoticeCode.REBUILT
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
    assert codes(result) == [NoticeCode.PREFIX_CHANGED, NoticeCode.PREFIX_CHANGED]
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
    assert NoticeCode.MARK_DROPPED in codes(gone)
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

    assert codes(result) == [NoticeCode.SUMMARY_FOUND]
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
    assert codes(result) == [NoticeCode.CONTEXT_READ_BACK]
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

    assert codes(result) == [NoticeCode.SUMMARY_READ_BACK]
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

    assert codes(result) == [NoticeCode.REBUILT]
    assert "so far" not in str(result.context.messages)


class Told:
    """A summarizer that says what it is told to."""

    name = "told"

    def __init__(self, text: str) -> None:
        self.text = text

    def summarize(self, request: SummaryRequest) -> str:
        """The text."""
        return self.text


def talk(count: int, owner: str, words: int = 40) -> list[JsonObject]:
    """Messages of one conversation; every word says whose it is."""
    roles = ("user", "assistant")
    return [
        said(roles[at % 2], " ".join([f"{owner}{at}", *(f"{owner}{at}x{n}" for n in range(words))]))
        for at in range(count)
    ]


def all_said(messages: Sequence[JsonObject]) -> str:
    """Everything in the messages, as one text."""
    return " ".join(str(message["content"]) for message in messages)


@pytest.mark.parametrize("preset", [one for one in Policy.presets() if one != "ladder"])
def test_a_state_of_which_nothing_is_passed_any_more_fits_no_other_conversation(
    preset: str,
) -> None:
    wanted: dict[str, Any] = {"max_tokens": 2_000, "policy": Policy.preset(preset)}
    history = [SYSTEM, *talk(30, "alice"), said("user", "ok"), said("assistant", "fine")]
    first = compact(history, force=True, summarizer=Told("ALICE likes trains."), **wanted)
    assert first.state.active is not None
    left = history[first.state.active.covered_until :]
    more = [said("user", "ok"), said("assistant", "more")]
    state = compact([SYSTEM, *left, *more], state=first.state, **wanted).state
    other = [SYSTEM, *talk(4, "bob"), said("user", "ok"), said("assistant", "bobby")]

    with pytest.raises(StateError):
        fit(other, state=state, **wanted)
    rebuilt = fit(other, state=state, on_mismatch="rebuild", **wanted)
    assert "ALICE" not in all_said(rebuilt.messages)


def test_a_rebuild_forgets_the_facts_of_messages_that_nobody_passes() -> None:
    code = said("user", "I am Alice. Never call me before 9. My code is QX-4711.")
    history = [SYSTEM, code, said("assistant", "noted"), *talk(30, "alice")]
    first = compact(history, max_tokens=2_000, force=True)
    cut = compact(
        [SYSTEM, *history[3:], *talk(2, "new")], max_tokens=2_000, state=first.state, force=True
    )
    assert "QX-4711" in cut.state.inherited

    other = [SYSTEM, *talk(30, "bob")]
    result = compact(other, max_tokens=2_000, state=cut.state, on_mismatch="rebuild", force=True)

    assert "QX-4711" not in all_said(result.context.messages) + result.state.inherited


PASTED = [
    "<conversation_facts>\nmy pasted log\n</conversation_facts>",
    "<conversation_summary>\nmy pasted log\n</conversation_summary>",
    "[Context: Summary of earlier conversation (3 turns)]:\nmy pasted log",
    "[Summary of what came before]\nmy pasted log",
]


@pytest.mark.parametrize("pasted", PASTED)
@pytest.mark.parametrize("preset", Policy.presets())
def test_what_users_paste_of_our_texts_stays_theirs(preset: str, pasted: str) -> None:
    wanted: dict[str, Any] = {"max_tokens": 2_000, "policy": Policy.preset(preset)}
    history = [SYSTEM, *talk(28, "m")]
    history[3] = said("user", f"what is this?\n\n{pasted}")
    state = compact(history, force=True, **wanted).state
    grown = [*history, said("user", "hi"), said("assistant", "yes?"), said("user", pasted)]

    context = fit(grown, state=state, **wanted)

    assert context.notices == ()
    assert context.verdict(len(grown) - 1).verdict == "kept"
    assert "my pasted log" in str(context.messages[-1]["content"])


@pytest.mark.parametrize("preset", ["dual-threshold", "ladder"])
def test_a_summary_lost_with_the_system_messages_is_said_again(preset: str) -> None:
    wanted: dict[str, Any] = {"max_tokens": 3_000, "policy": Policy.preset(preset)}
    history = [SYSTEM, *talk(30, "m")]
    first = compact(history, force=True, summarizer=Told("SUMMARY of all"), **wanted)
    stored = [one for one in first.context.messages if one["role"] != "system"]
    now = [said("system", "It is 12:01."), *stored, said("user", "next")]

    context = fit(now, state=first.state, **wanted)

    assert "SUMMARY of all" in all_said(context.messages)


@pytest.mark.parametrize("shape", ["anthropic", "gemini", "responses"])
@pytest.mark.parametrize("preset", Policy.presets())
def test_a_context_in_another_shape_may_be_stored_as_well(preset: str, shape: Shape) -> None:
    wanted: dict[str, Any] = {"max_tokens": 2_000, "policy": Policy.preset(preset)}
    history: list[JsonObject] = [*talk(30, "m"), said("user", "and now?")]
    first = compact(history, force=True, **wanted)
    stored = first.context.in_shape(shape)
    again = fit(stored, state=first.state, **wanted)

    assert again.shape in (shape, "openai")
    sent = str(again.in_shape(shape))
    for mark in ("onversation_summary>", "Conversation summary", "Summary of what came before"):
        assert sent.count(mark) <= (2 if mark.endswith(">") else 1)
    assert "and now?" in sent


def test_users_words_joined_to_a_summary_that_was_cut_are_theirs() -> None:
    policy = Policy.preset("pi").override(unsupported_ratio=1.0)  # what is told stands nowhere
    question = said("user", "QUESTION what about Bergen")
    told = Told("A trip to Oslo. " + " ".join(f"detail{n}" for n in range(60)))
    history = [*talk(12, "m", 20), question]
    first = compact(history, policy=policy, max_tokens=2_000, force=True, summarizer=told)
    for budget in (140, 160, 200):
        small = fit(history, policy=policy, max_tokens=budget, state=first.state)
        stored = [*small.messages, said("assistant", "nice"), said("user", "and then?")]

        context = fit(stored, policy=policy, max_tokens=3_000, state=first.state)

        assert "QUESTION what about Bergen" in all_said(context.messages)
        assert context.summary == told.text


def test_an_exclusion_stays_on_its_own_message() -> None:
    history = [SYSTEM, *talk(8, "m", 10), said("user", "yes"), said("assistant", "x")]
    history += talk(20, "k")
    state = CompactionState(excluded=frozenset({9}))
    first = compact(history, max_tokens=2_000, force=True, state=state)
    more = [said("assistant", "Shall I book?"), said("user", "yes"), said("assistant", "Booked.")]
    stored = [*first.context.messages, *more, said("user", "next")]

    context = fit(stored, max_tokens=2_000, state=first.state)

    assert context.verdict(len(stored) - 3).verdict == "kept"
    assert NoticeCode.MARK_DROPPED in [notice.code for notice in context.notices]


def test_more_may_be_gone_from_the_front_than_was_covered() -> None:
    history = [SYSTEM, *talk(30, "m")]
    first = compact(history, max_tokens=2_000, force=True)
    history += talk(6, "n", 5)
    state = compact(history, max_tokens=2_000, state=first.state).state
    assert state.active is not None
    behind = len(history) - state.active.covered_until

    result = compact([SYSTEM, *history[-4:]], max_tokens=2_000, state=state)

    assert codes(result) == [
        NoticeCode.FRONT_MISSING,
        NoticeCode.MESSAGES_MISSING,
        NoticeCode.SHORTENING_DROPPED,
    ]
    assert result.notices[1].facts["messages"] == behind - 4


def test_retrieved_texts_do_not_pile_up_where_contexts_are_stored() -> None:
    messages, state = [SYSTEM], CompactionState()
    for number in range(6):
        messages = [*messages, said("user", f"question {number}")]
        result = compact(messages, max_tokens=3_000, state=state, knowledge={"doc": "KNOWN fjords"})
        messages = [*result.context.messages, said("assistant", f"answer {number}")]
        state = result.state

    assert str(messages).count("KNOWN fjords") == 1


def test_inherited_facts_do_not_grow_with_every_round() -> None:
    messages, state, sizes = [SYSTEM], CompactionState(), []
    for number in range(24):
        fact = said("user", f"My order is ORD-{number:04}. Always be brief. It costs {number} EUR.")
        messages = [*messages, fact, *talk(5, f"r{number}y")[1:]]
        result = compact(messages, max_tokens=1_500, state=state, force=True)
        messages, state = result.context.messages, result.state
        sizes.append(len(state.inherited.splitlines()))

    assert max(sizes) < 150
    assert state.inherited.count("Always be brief") <= 1


def test_a_summary_that_holds_our_own_tags_is_one_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    # A summary of today is refused for such tags; one of before may hold them.
    monkeypatch.setattr(summarizing, "check_content", lambda *_, **__: SummaryCheck())
    told = Told("One.\n\n<conversation_facts>\nDates:\n- Friday\n</conversation_facts>\n\nTwo.")
    for preset in ("default", "sliding-summary", "pi"):
        wanted: dict[str, Any] = {"max_tokens": 2_000, "policy": Policy.preset(preset)}
        first = compact([SYSTEM, *talk(30, "m")], force=True, summarizer=told, **wanted)
        stored = [*first.context.messages, said("user", "next")]

        context = fit(stored, state=first.state, **wanted)

        assert context.summary == told.text
        assert all_said(context.messages).count("Two.") == 1


def test_a_rebuild_tells_each_thing_once() -> None:
    state = compacted(state=CompactionState(pinned=frozenset({13}))).state
    head = said("user", "begin\n\n[7 earlier messages are not shown]")
    summary = said("user", "<conversation_summary>\nuser: of another\n</conversation_summary>")

    marked = again([SYSTEM, head, *talk(5, "n")[1:]], state=state, on_mismatch="rebuild")
    summed = again([SYSTEM, summary, *talk(5, "n")[1:]], state=state, on_mismatch="rebuild")

    assert (
        codes(marked).count(NoticeCode.MARK_DROPPED)
        == codes(summed).count(NoticeCode.MARK_DROPPED)
        == 1
    )
    assert NoticeCode.CONTEXT_READ_BACK not in codes(marked)
    assert NoticeCode.SUMMARY_FOUND in codes(summed)
    assert "of another" in all_said(summed.context.messages)
