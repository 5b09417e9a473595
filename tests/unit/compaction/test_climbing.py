"""The steps of `default`: each is measured, the next follows where it was not enough; and what a
waiting request asks for stays.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ctxcore.assembly.building import NOTHING_COVERED, build_context
from ctxcore.assembly.fitting import prepare
from ctxcore.compaction.compacting import compact
from ctxcore.compaction.triggers import measure
from ctxcore.messages.values import Message, Reasoning, Text, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from tests.histories import assistant, call, user
from tests.words import words


def sold(day: int) -> str:
    return f"On day {day} Maria sold {day + 3} lamps in Lund for {day * 7} euros."


def chatter(turns: int) -> list[Message]:
    """Turns that tell about the same of each day."""
    lines = [(sold(day), f"Noted, day {day}.") for day in range(turns)]
    return [message for line in lines for message in (user(line[0]), assistant(line[1]))]


def days_left(*newest: Message) -> set[int]:
    """The days of a long talk of which something is still said, at a fifth of its size."""
    result = compact([*chatter(100), *newest], max_tokens=1_000, target_tokens=1_000, force=True)
    said = "\n".join(str(message["content"]) for message in result.context.messages)
    return {day for day in range(100) if sold(day) in said}


@pytest.mark.parametrize("day", [10, 20, 25])
def test_what_a_waiting_request_asks_for_stays(day: int) -> None:
    asks = user(f"How many lamps did Maria sell on day {day}?")
    answered = (asks, assistant("A few of them."))

    assert day in days_left(asks)
    assert day not in days_left(*answered)
    assert day not in days_left(*answered, user("Thank you very much."))


def reading(call_id: str, records: int) -> list[Message]:
    """A call and a long output, as JSON."""
    found = [{"id": f"R-{n}", "state": "open", "note": words(10)} for n in range(records)]
    return [assistant("", call(call_id)), tool_result(call_id, json.dumps(found))]


def test_thinking_of_the_open_turn_makes_no_further_step() -> None:
    old = [message for n in range(4) for message in (user(f"Look up {n}."), *reading(f"c{n}", 25))]
    thinking = Reasoning(text=words(1_000))
    opened = Message(role="assistant", content=(thinking, Text(text="Now.")), calls=(call("z"),))
    newest = [*chatter(2), user("And now?"), opened, tool_result("z", "[]")]

    result = compact([*old, *newest], max_tokens=3_000, target_tokens=1_500, force=True)

    assert [(step.strategy, step.outcome.code) for step in result.steps] == [
        ("shorten_tool_outputs", OutcomeCode.DONE)
    ]
    assert result.after_tokens > 1_500  # its thinking comes back for as long as the turn is open


def test_an_output_that_is_over_long_by_itself_is_measured_as_it_is_sent() -> None:
    """Totals know only its limit until it is read; a record shortens it from what it takes."""
    history = [user("Look."), *reading("a", 90), *chatter(3)]
    prepared = prepare(
        history,
        policy=Policy(),
        max_tokens=4_000,
        model=None,
        tools=None,
        knowledge=None,
        state=None,
    )
    view, call_ = prepared.view, prepared.call
    taken = view.get([3])[0].sent_tokens
    record = replace(NOTHING_COVERED, shortened=((3, "short"),))

    measured = measure(view, call_, record)

    assert taken < 1_000  # its limit
    assert measured.input_tokens == build_context(view, call_, record).tokens


@pytest.mark.parametrize("usable", [14_916, 14_943, 15_006])
def test_a_full_window_makes_room_for_what_repairs_add(usable: int) -> None:
    """Messages that are merged count some tokens more than their parts."""
    text = (Path(__file__).parents[3] / "data" / "demo_incident.json").read_text(encoding="utf-8")
    history = json.loads(text)["messages"][:197]

    result = compact(history, max_tokens=usable, target_tokens=usable, model="gpt-4", force=True)

    assert result.applied
    assert result.context.tokens <= usable
