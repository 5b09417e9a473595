"""What becomes of ChatGPT's data export."""

from __future__ import annotations

import json

import pytest

from ctxcore.formats.reading import format_of, parse_transcripts
from ctxcore.formats.records import Records
from ctxcore.json_types import JsonObject, JsonValue
from tests.unit.formats.transcript_files import read, refusal, shape


def message(
    role: str,
    *parts: JsonValue,
    name: str | None = None,
    to: str = "all",
    content: JsonObject | None = None,
    **fields: JsonValue,
) -> JsonObject:
    """A message of text, or of other `content`; `to` is a tool where it is a call."""
    said: JsonObject = {"content_type": "text", "parts": list(parts)}
    author: JsonObject = {"role": role, "name": name}
    about: JsonObject = {"author": author, "content": content or said, "recipient": to}
    return {**about, "metadata": {}, "create_time": 1_700_000_000.5, **fields}


def tree(*messages: JsonObject | None, **fields: JsonValue) -> JsonObject:
    """A conversation of messages, each below the one before; `parent` puts one elsewhere."""
    mapping: JsonObject = {}
    for at, one in enumerate(messages):
        parent = one.pop("parent", None) if one else None
        above = parent if parent is not None else (f"n{at - 1}" if at else None)
        held = {**one, "id": f"n{at}"} if one else None
        mapping[f"n{at}"] = {"id": f"n{at}", "parent": above, "children": [], "message": held}
    current = f"n{len(messages) - 1}"
    about: JsonObject = {"title": "Ferns", "conversation_id": "c-1", "current_node": current}
    return {**about, "mapping": mapping, **fields}


def export(*conversations: JsonValue) -> str:
    return json.dumps(list(conversations))


def test_a_conversation_is_read_with_title_model_and_times() -> None:
    answer = message("assistant", "Water them.", metadata={"model_slug": "gpt-test"})

    found = read(export(tree(None, message("system", ""), message("user", "Dry ferns?"), answer)))

    assert (found.id, found.title, found.format) == ("c-1", "Ferns", "chatgpt")
    assert shape(found) == ["user: Dry ferns?", "assistant: Water them."]
    assert found.model == "gpt-test"
    assert found.times[0] is not None
    assert found.times[0].isoformat() == "2023-11-14T22:13:20.500000+00:00"
    assert found.ignored == (("blank system", 1),)


def test_the_branch_of_the_current_node_is_read() -> None:
    first, old, new = message("user", "a"), message("assistant", "b"), message("assistant", "c")
    new["parent"] = "n0"

    found = read(export(tree(first, old, new)))
    other = read(export(tree(first, old, {**new, "parent": "n0"}, current_node="n1")))

    assert shape(found) == ["user: a", "assistant: c"]
    assert shape(other) == ["user: a", "assistant: b"]
    assert found.ignored == (("left branch", 1),)


def test_without_a_current_node_the_newest_leaf_ends_the_branch() -> None:
    first, late = message("user", "a"), message("assistant", "late", create_time=1_800_000_000)
    early = message("assistant", "early", parent="n0")

    found = read(export(tree(first, late, early, current_node="gone")))

    assert shape(found) == ["user: a", "assistant: late"]


def test_a_message_to_a_tool_is_a_call_and_what_the_tool_says_its_result() -> None:
    code: JsonObject = {"content_type": "code", "language": "python", "text": "1+1"}
    printed: JsonObject = {"content_type": "execution_output", "text": "2"}

    found = read(
        export(
            tree(
                message("user", "add"),
                message("assistant", to="python", content=code),
                message("tool", name="python", content=printed),
                message("assistant", '{"q": "sum"}', to="web.run"),
                message("tool", "found", name="web.run"),
                message("assistant", "It is 2."),
            )
        )
    )

    assert shape(found) == [
        "user: add",
        'assistant:  +python(n1 {"code":"1+1"})',
        "tool(n1): 2",
        'assistant:  +web.run(n3 {"q": "sum"})',
        "tool(n3): found",
        "assistant: It is 2.",
    ]
    assert found.repairs == ()


def test_what_a_tool_says_without_a_call_is_kept_and_reported() -> None:
    quote: JsonObject = {"content_type": "tether_quote", "title": "T", "url": "u", "text": "q"}
    blank = message("tool", content={"content_type": "tether_browsing_display", "result": ""})

    search = message("tool", name="file_search", content=quote)

    found = read(export(tree(blank, search, message("user", "a"))))

    assert [one.text for one in found.messages] == ["T\nu\nq", "a"]
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_id", "repair.no_call"]
    assert found.ignored == (("blank tool", 1),)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "tether_browsing_display", "result": "page", "summary": ""}, "page"),
        ({"content_type": "system_error", "name": "E", "text": "no"}, "E\nno"),
        ({"content_type": "never_seen", "thing": [1]}, '{"thing":[1]}'),
        ({"content_type": "text", "parts": [{"text": "spoken"}]}, "spoken"),
        (
            {
                "content_type": "multimodal_text",
                "parts": [
                    {
                        "content_type": "image_asset_pointer",
                        "asset_pointer": "file-service://f-1",
                        "width": 4,
                        "height": 3,
                    },
                    "look",
                ],
            },
            "[image 4×3: file-service://f-1]\nlook",
        ),
    ],
)
def test_every_kind_of_content_becomes_text(content: JsonObject, text: str) -> None:
    found = read(export(tree(message("user", "hi"), message("assistant", content=content))))

    assert found.messages[1].text == text


def test_instructions_of_the_user_are_a_system_message_and_thinking_stays_thinking() -> None:
    own: JsonObject = {"content_type": "user_editable_context", "user_instructions": "Be brief."}
    thoughts: JsonValue = [{"summary": "s", "content": "Let me think."}]

    found = read(
        export(
            tree(
                message("user", content=own),
                message("user", "hi"),
                message("assistant", content={"content_type": "thoughts", "thoughts": thoughts}),
                message("assistant", content={"content_type": "reasoning_recap", "content": "5s"}),
                message("assistant", "hello"),
            )
        )
    )

    assert shape(found) == ["system: Be brief.", "user: hi", "assistant: hello"]
    assert found.messages[2].reasoning == "Let me think."
    assert found.ignored == (("reasoning_recap", 1),)


def test_conversations_are_read_one_by_one_also_without_a_list() -> None:
    one, two = tree(message("user", "a")), tree(message("user", "b"), conversation_id="c-2")

    assert read(json.dumps(one)).id == "c-1"
    listed = parse_transcripts(json.dumps([one, two]), name="conversations-001.json")
    wrapped = parse_transcripts(json.dumps({"conversations": [one, two]}), name="c.json")
    assert [found.id for found in listed] == [found.id for found in wrapped] == ["c-1", "c-2"]


def test_a_tree_that_turns_in_circles_is_read_once() -> None:
    first = message("user", "a", parent="n1")

    assert shape(read(export(tree(first, message("assistant", "b"))))) == [
        "user: a",
        "assistant: b",
    ]


def test_a_damaged_message_is_reported_and_an_unknown_version_named() -> None:
    found = read(export(tree(message("user", "a"), message("assistant", content={}, author="?"))))
    said = refusal(export({"mapping": {"a": {"node": 1}}, "current_node": "a"}))

    assert [one.reason.code for one in found.problems] == ["file.no_content"]
    assert "this looks like a ChatGPT export" in said


def test_other_objects_with_a_mapping_are_not_taken() -> None:
    records = Records.of_text(json.dumps({"mapping": {"a": "b"}}), name="a.json")

    assert format_of(records) is None
