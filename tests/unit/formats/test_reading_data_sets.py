"""What becomes of data sets of instructions, of Glaive, UltraChat and FastChat."""

from __future__ import annotations

import json

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, read_all, shape

TALK: list[JsonValue] = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "hello"},
]


def test_an_instruction_stands_after_its_history() -> None:
    found = read(
        {
            "instruction": "add them",
            "input": "2 and 2",
            "output": "4",
            "system": "be exact",
            "history": [["hi", "hello"], "noise"],
        }
    )

    assert shape(found) == [
        "system: be exact",
        "user: hi",
        "assistant: hello",
        "user: add them\n\n2 and 2",
        "assistant: 4",
    ]
    assert (found.format, found.ignored) == ("alpaca", (("history entry", 1),))


def test_a_list_of_instructions_is_a_conversation_each() -> None:
    found = read_all([{"instruction": f"do {n}", "input": "", "output": "ok"} for n in range(3)])

    assert [one.title for one in found] == ["do 0", "do 1", "do 2"]


def test_a_chosen_answer_to_an_instruction_is_read() -> None:
    found = read({"instruction": "go", "chosen": "yes", "rejected": "no"})

    assert (shape(found), found.ignored) == (
        ["user: go", "assistant: yes"],
        (("rejected answer", 1),),
    )


def test_glaives_dialogue_has_calls_and_results() -> None:
    tool = {"name": "look", "parameters": {"type": "object"}}
    call = '{"name": "look", "arguments": \'{"path": "."}\'}'
    found = read(
        {
            "system": f"SYSTEM: You may call -\n{json.dumps(tool, indent=4)}\n",
            "chat": "USER: which files?\n\n\n"
            f"ASSISTANT: <functioncall> {call} <|endoftext|>\n\n\n"
            'FUNCTION RESPONSE: {"files": ["a.py"]}\n\n\n'
            "ASSISTANT: one: a.py <|endoftext|>\n\n\n",
        }
    )

    assert shape(found)[1:] == [
        "user: which files?",
        'assistant:  +look(call_1 {"path": "."})',
        'tool(call_1): {"files": ["a.py"]}',
        "assistant: one: a.py",
    ]
    assert found.format == "glaive"
    assert found.tools == [{"type": "function", "function": tool}]


def test_texts_in_turn_are_the_users_and_the_models() -> None:
    found = read({"id": "7", "data": ["hi", "hello", "bye"]})

    assert shape(found) == ["user: hi", "assistant: hello", "user: bye"]
    assert (found.format, found.id) == ("ultrachat", "7")


def test_messages_of_a_data_set_are_openais() -> None:
    found = read({"prompt": "hi", "prompt_id": "p", "messages": TALK})

    assert (found.format, shape(found)) == ("openai", ["user: hi", "assistant: hello"])


def test_a_battle_is_two_conversations() -> None:
    first, second = read_all(
        {
            "question_id": "q",
            "model_a": "one",
            "model_b": "two",
            "winner": "model_a",
            "conversation_a": TALK,
            "conversation_b": [TALK[0]],
        }
    )

    assert [(one.format, one.id, one.model) for one in (first, second)] == [
        ("fastchat", "q-a", "one"),
        ("fastchat", "q-b", "two"),
    ]
    assert shape(first) == ["user: hi", "assistant: hello"]


def test_a_conversation_with_one_model_is_read() -> None:
    found = read({"conversation_id": "c", "model": "one", "conversation": TALK, "turn": 1})

    assert (found.format, found.id, found.model) == ("fastchat", "c", "one")


def test_of_a_log_the_last_state_of_each_conversation_is_read() -> None:
    def event(conversation: str, *said: str) -> JsonObject:
        pairs: list[JsonValue] = [[("USER", "BOT")[at % 2], text] for at, text in enumerate(said)]
        state: JsonObject = {"conv_id": conversation, "roles": ["USER", "BOT"], "messages": pairs}
        return {"type": "chat", "model": "one", "state": {**state, "model_name": "one"}}

    first, second = read_all(
        event("x", "hi", "hello"), event("y", "go"), event("x", "hi", "hello", "bye", "see you")
    )

    assert (first.id, shape(first)) == ("y", ["user: go"])
    assert (second.id, len(second.messages), second.ignored) == ("x", 4, (("earlier state", 1),))


def test_turns_may_have_parts() -> None:
    image: JsonObject = {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}
    said: list[JsonValue] = [{"type": "text", "text": "what is it?"}, image]

    found = read({"conversation": [{"role": "user", "content": said}]})

    assert [type(part).__name__ for part in found.messages[0].content] == ["Text", "Media"]
