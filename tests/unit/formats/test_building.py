"""A conversation built record by record has the order that providers accept."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.messages.values import Message

AT = datetime(2026, 3, 1, tzinfo=UTC)


def shape(found: Transcript) -> list[str]:
    return [_shape(message) for message in found.messages]


def _shape(message: Message) -> str:
    calls = "".join(f" +{call.name}({call.id} {call.arguments})" for call in message.calls)
    answers = f"({message.answers})" if message.answers else ""
    return f"{message.role}{answers}: {message.text}{calls}"


def builder() -> TranscriptBuilder:
    return TranscriptBuilder(format="mine", path="a/talk.jsonl")


def test_parts_of_one_answer_are_joined_and_its_results_stand_behind_it() -> None:
    made = builder()
    made.say("user", "go", time=AT)
    made.think("hm")
    made.answer("I look")
    made.call("read", {"path": "a"}, call_id="1")
    made.call("read", '{"path":"b"}', call_id="2")
    made.result("B", call_id="2")
    made.say("user", "hurry")
    made.result("A", call_id="1", line=9)
    made.answer("done")

    found = made.build(id=None)

    assert shape(found) == [
        "user: go",
        'assistant: I look +read(1 {"path":"a"}) +read(2 {"path":"b"})',
        "tool(2): B",
        "tool(1): A",
        "user: hurry",
        "assistant: done",
    ]
    assert found.messages[1].reasoning == "hm"
    assert (found.id, found.title, found.times[0]) == ("talk", "go", AT)
    assert [(one.line, one.reason.code) for one in found.repairs] == [(9, "repair.moved")]


def test_parts_with_a_key_join_the_answer_of_that_key() -> None:
    made = builder()
    made.answer("one", key="m1")
    made.answer("two", key="m2")
    made.call("run", None, call_id="1", key="m1")

    assert shape(made.build(id="x")) == ["assistant: one +run(1 {})", "assistant: two"]


def test_missing_ids_are_made_and_results_find_their_call_by_name_and_order() -> None:
    made = builder()
    made.call("ls", {}, call_id=None, line=1)
    made.call("cat", {}, call_id=None, line=2)
    made.result("text", name="cat")
    made.result("files")
    made.result("whose?", line=5)

    found = made.build(id="x")

    assert shape(found)[1:] == ["tool(call_2): text", "tool(call_1): files", "tool(call_3): whose?"]
    codes = [(one.line, one.reason.code) for one in found.repairs]
    assert codes == [
        (1, "repair.no_id"),
        (2, "repair.no_id"),
        (5, "repair.no_id"),
        (5, "repair.no_call"),
    ]


def test_blank_messages_are_counted_and_empty_results_stay() -> None:
    made = builder()
    made.say("user", " \n")
    made.call("run", {}, call_id="1")
    made.result("", call_id="1")
    made.ignore("event")

    found = made.build(id="x")

    assert shape(found) == ["assistant:  +run(1 {})", "tool(1): "]
    assert found.ignored == (("blank user", 1), ("event", 1))


def test_usage_and_compactions_get_their_places() -> None:
    made = builder()
    made.say("user", "go")
    made.call("run", {}, call_id="1")
    made.usage(RecordedUsage(call_id="a", after=0, input_tokens=5))
    made.result("ok", call_id="1")
    made.compaction(RecordedCompaction(at=0, summary="so far"))
    made.answer("done", key="m")
    made.usage(RecordedUsage(call_id="b", after=0, input_tokens=7), key="m")

    found = made.build(id="x")

    assert [(one.call_id, one.after) for one in found.usage] == [("a", 1), ("b", 3)]
    assert [one.at for one in found.compactions] == [3]
