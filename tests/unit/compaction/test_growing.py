"""What is known of a context that only grew: the same as building it gives, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.messages.values import Message, Reasoning, text_message, tool_result
from ctxcore.policy.values import Policy
from tests.histories import assistant, call, user
from tests.words import words


def turns(count: int, *, calls: int = 2, size: int = 30, thought: str = "") -> list[Message]:
    """A system prompt, then turns of a question, some calls with thinking, and an answer."""
    history = [text_message("system", "You help.")]
    for turn in range(count):
        history.append(user(f"question {turn}: {words(size)}"))
        for step in range(calls):
            asked = assistant("", call(f"c{turn}.{step}", q=turn))
            said = (Reasoning(text=thought),) if thought else ()
            history.append(replace(asked, content=said))
            history.append(tool_result(f"c{turn}.{step}", words(size)))
        history.append(assistant(f"answer {turn}: {words(size)}"))
    return history


def monologue(count: int) -> list[Message]:
    """One question, then many short answers and questions in a row."""
    said = [assistant(f"a {n}") if n % 3 else user(f"and {n}?") for n in range(count)]
    return [user("tell me"), *said]


def reused_ids(count: int) -> list[Message]:
    """Turns that all call by the same id."""
    history = []
    for turn in range(count):
        asked = assistant("", call("same", q=turn))
        history += [user(f"q {turn}"), asked, tool_result("same", "found"), assistant("done")]
    return history


def records(count: int) -> str:
    """A tool output of so many records."""
    return json.dumps([{"id": f"R-{n}", "status": "ok", "n": n} for n in range(count)])


def one_long_output(size: int) -> list[Message]:
    """A turn of which one output of many is long."""
    history = [text_message("system", "You help."), user("never call me")]
    for step in range(3):
        history.append(assistant("", call(f"c{step}")))
        history.append(tool_result(f"c{step}", records(size) if step == 1 else ""))
    return [*history, assistant("done")]


def long_outputs(turns: int, *, calls: int, size: int) -> list[Message]:
    """Turns that ask for an order of the first turn, with long outputs of their calls."""
    history = [text_message("system", "You help.")]
    for turn in range(turns):
        history.append(user(f"question {turn}: why is ORD-2026-417 late, the parcel to Lisbon?"))
        for step in range(calls):
            history.append(assistant("", call(f"c{turn}.{step}", q=turn)))
            output = records(size) if step % 2 else f"{words(9)} ORD-2026-417 left at {turn}"
            history.append(tool_result(f"c{turn}.{step}", output))
        history.append(assistant(f"answer {turn}: ORD-2026-417 waits in Lisbon since day {turn}"))
    return history


OFF = {"is_shadow": True}  # nothing compacts, so that contexts fill up
CASES: dict[str, tuple[list[Message], Policy, int]] = {
    "compacting": (turns(20), Policy(), 2_000),
    "compacting with room": (turns(30, size=60), Policy(), 8_000),
    "filling up": (turns(20), Policy(**OFF), 2_000),  # type: ignore[arg-type]  # one field
    "thinking": (turns(12, calls=4, thought=words(40)), Policy(), 9_000),
    "thinking that hardly fits": (turns(6, calls=9, thought=words(40)), Policy(), 1_500),
    "many outputs": (turns(9, size=400), Policy(), 3_000),
    "outputs shortened at once": (turns(3, size=900), Policy.preset("dual-threshold"), 9_000),
    "history limit": (turns(25), Policy.preset("sliding-summary", **OFF), 3_000),
    "history with room": (turns(20, size=2), Policy.preset("sliding-summary", **OFF), 90_000),
    "chains skipped": (turns(20, calls=5), Policy.preset("dual-threshold", **OFF), 6_000),
    "merged": (monologue(90), Policy(), 600),
    "merged and cut": (monologue(90), Policy.preset("pi", **OFF), 400),
    "ids used again": (reused_ids(20), Policy(), 5_000),
    "a request that is covered": (
        [user("fix it"), *turns(1, calls=40)[2:], *turns(3)[1:]],
        Policy(check_at="before_send"),
        1_200,
    ),
    "a late rule": ([*turns(4), text_message("system", words(50)), *turns(4)[1:]], Policy(), 9_000),
    "an output longer while it is new": (one_long_output(46), Policy(), 461),
    "an output hidden within a turn": (one_long_output(46), Policy(), 919),
    "a compaction behind what was recalled": (
        long_outputs(24, calls=3, size=46),
        Policy(check_at="before_send"),
        1_880,
    ),
    "no answer to a call": ([*turns(2), assistant("", call("x")), *turns(4)[1:]], Policy(), 9_000),
}


@pytest.mark.parametrize(("history", "policy", "usable"), CASES.values(), ids=CASES)
def test_a_context_that_grew_is_known_as_it_would_be_built(
    history: list[Message], policy: Policy, usable: int
) -> None:
    recording = Recording(history, model="claude-sonnet-4-5")
    given: dict[str, Any] = {"max_tokens": usable}

    known = Walk(recording, policy, **given).result()
    built = Walk(recording, policy, builds_all=True, **given).result()

    assert [one.tokens for one in known.calls] == [one.tokens for one in built.calls]
    assert known.calls == built.calls
    assert known.state == built.state


def test_thinking_is_sent_within_its_turn_and_left_out_behind_it() -> None:
    thought = Reasoning(text="let me look")
    history = []
    for turn in range(2):
        history.append(user(f"question {turn}"))
        for step in range(2):
            asked = call(f"c{turn}{step}", q=turn)
            history.append(Message(role="assistant", content=(thought,), calls=(asked,)))
            history.append(tool_result(asked.id, "found"))
        history.append(assistant("answer"))

    walk = Walk(Recording(history, model="claude-sonnet-4-5"), Policy(), max_tokens=9_000)
    thinking = {
        call.at: [at for at, group in enumerate(walk.sent) if group.has_reasoning] for call in walk
    }

    assert thinking == {1: [], 3: [1], 5: [1, 3], 7: [], 9: [7], 11: [7, 9]}


def test_an_id_that_was_used_before_gets_the_name_that_building_gives_it() -> None:
    history = [user("look")]
    for n in range(5):
        history += [assistant("", call("same", q=n)), tool_result("same", "found")]
    history.append(assistant("done"))

    def ids(*, builds_all: bool) -> list[list[str]]:
        walk = Walk(Recording(history), Policy(), max_tokens=9_000, builds_all=builds_all)
        return [[one.id for group in walk.sent for one in group.message.calls] for _ in walk]

    assert ids(builds_all=False) == ids(builds_all=True)
    assert len(set(ids(builds_all=False)[-1])) == 5
