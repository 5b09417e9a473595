"""What the summary of a model leaves out is carried beside it as it has room, or listed as lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxcore.compaction.compacting import CompactionResult, compact
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import PRESETS, Policy
from ctxcore.summarizers.protocol import SummaryRequest


class Writer:
    """A summarizer that writes texts that were set, one after another."""

    name = "scripted"

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> str:
        self.requests.append(request)
        return self.texts[min(len(self.requests), len(self.texts)) - 1]


def user(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def assistant(text: str) -> JsonObject:
    return {"role": "assistant", "content": text}


def called(number: int) -> list[JsonObject]:
    """A look-up of an order."""
    arguments = json.dumps({"order": f"ORD-{4_100 + number}"})
    call: JsonObject = {"name": "find_order", "arguments": arguments}
    return [
        user(
            f"What about order ORD-{4_100 + number} of customer CU-{880 + number}? "
            + "I ask since the shop told me so little about it on the phone this week. " * 5
        ),
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": "It left. " + "ok " * 60},
        assistant(f"Parcel {number} left the warehouse. " + "Nothing else is known. " * 10),
    ]


ORDERS = [user("You look after my orders."), *(one for n in range(40) for one in called(n))]


def compacted(messages: list[JsonObject], writer: Writer, **options: object) -> CompactionResult:
    return compact(
        messages,
        max_tokens=6_000,
        model="gpt-4o",
        summarizer=writer,
        force=True,
        **options,  # type: ignore[arg-type]  # whatever the test passes
    )


def test_what_a_short_summary_leaves_out_is_carried_within_the_target() -> None:
    short = compacted(ORDERS, Writer("Goal: look after orders."))

    budget = short.context.budget
    assert budget is not None
    assert short.facts_restored
    assert set(short.facts_restored).isdisjoint(short.facts_lost or ())
    assert all(text in str(short.context.messages) for text in short.facts_restored)
    assert short.after_tokens <= budget.target_tokens
    assert short.state.active is not None
    assert short.state.active.facts_restored == short.facts_restored


def test_quotes_take_all_their_room_and_restore_nothing() -> None:
    quoted = compact(ORDERS, max_tokens=6_000, model="gpt-4o", force=True)

    assert quoted.facts_restored == ()


@pytest.mark.parametrize("preset", ["default", "ladder", "sliding-summary", "pi"])
def test_the_default_form_alone_is_told_what_is_shown_beside_it(preset: str) -> None:
    writer = Writer("Goal: look after orders.")

    compacted(ORDERS, writer, policy=PRESETS[preset])

    carried = writer.requests[0].carried
    assert ("Identifiers:\n- " in carried) == (preset == "default")
    assert bool(carried) == (preset == "default")


FIRST = """Goal: look after orders.
Rules in force:
- Sign every letter with Ada's initials.
Decided:
- Couriers from Ghent deliver bulky furniture.
Open:
- Who insures the antique clocks?"""


def in_two_steps(second: str, *between: JsonObject) -> CompactionResult:
    writer = Writer(FIRST, second)
    first = compacted(ORDERS, writer, policy=POLICY)
    more = [one for number in range(40, 60) for one in called(number)]
    return compacted([*ORDERS, *between, *more], writer, policy=POLICY, state=first.state)


POLICY = Policy(unsupported_ratio=None)  # the items are in no message
ITEMS = (
    "Sign every letter with Ada's initials.",
    "Couriers from Ghent deliver bulky furniture.",
    "Who insures the antique clocks?",
)


def test_items_of_the_summary_before_that_a_reply_lost_are_carried() -> None:
    again = in_two_steps("Goal: look after orders.")

    assert set(ITEMS) <= {*again.facts_restored}
    assert all(item in str(again.context.messages) for item in ITEMS)


def test_items_for_which_there_is_no_room_are_listed_as_lost() -> None:
    long = "Goal: look after orders.\nDone:\n" + "- It left the warehouse.\n" * 300

    again = in_two_steps(long)

    assert again.facts_restored == ()
    assert set(ITEMS) <= {*(again.facts_lost or ())}
    assert {fact.kind for fact in again.lost if fact.text in ITEMS} == {
        "instruction",
        "decision",
        "question",
    }


def test_items_that_the_reply_says_are_not_carried_twice() -> None:
    again = in_two_steps(FIRST)

    assert set(ITEMS).isdisjoint(again.facts_restored)


def test_an_item_that_new_messages_speak_of_is_the_writers_affair() -> None:
    answered = user("The insurance of the antique clocks is settled: Baloise insures them.")

    again = in_two_steps("Goal: look after orders.", answered)

    assert ITEMS[2] not in again.facts_restored
    assert ITEMS[2] not in (again.facts_lost or ())
    assert ITEMS[1] in again.facts_restored


def test_what_was_carried_once_is_carried_on() -> None:
    writer = Writer(FIRST, "Goal: look after orders.")
    result = compacted(ORDERS, writer, policy=POLICY)
    messages = ORDERS
    for step in (40, 60, 80):
        messages = [*messages, *(one for n in range(step, step + 20) for one in called(n))]
        result = compacted(messages, writer, policy=POLICY, state=result.state)

        assert set(ITEMS) <= {*result.facts_restored}


def test_the_demo_in_sections_keeps_what_people_asked_for() -> None:
    path = Path(__file__).parents[3] / "data" / "demo_trip_zh.json"
    messages = json.loads(path.read_text(encoding="utf-8"))["messages"]
    writer = Writer("目标：带父母和女儿去云南。\n已决定：路线为昆明和大理，不去丽江。")

    result = compact(messages, max_tokens=4_000, model="gpt-4o", summarizer=writer)

    assert result.check is not None
    assert result.check.sentences == ()
    assert [bool(one.messages) for one in result.lineage] == [True, True]
    assert "必须住有电梯的酒店" in writer.requests[0].carried
    assert "必须住有电梯的酒店" in str(result.context.messages)
