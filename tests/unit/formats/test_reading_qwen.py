"""What becomes of Qwen Code sessions: contents in a tree, titles, compressions, sub-agents."""

from __future__ import annotations

import json

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, read, read_all, refusal, shape


def record(
    kind: str, own: str, parent: str | None, *parts: JsonValue, **fields: JsonValue
) -> JsonObject:
    about: JsonObject = {"uuid": own, "parentUuid": parent, "sessionId": "s-1", "timestamp": TIME}
    role = "model" if kind == "assistant" else "user"
    return {**about, "type": kind, "message": {"role": role, "parts": list(parts)}, **fields}


def system(subtype: str, own: str, parent: str | None, **payload: JsonValue) -> JsonObject:
    about: JsonObject = {"uuid": own, "parentUuid": parent, "sessionId": "s-1", "timestamp": TIME}
    return {**about, "type": "system", "subtype": subtype, "systemPayload": payload}


CALL: JsonObject = {"functionCall": {"id": "c", "name": "read", "args": {"path": "a"}}}
RESPONSE: JsonObject = {
    "functionResponse": {"id": "c", "name": "read", "response": {"output": "A"}}
}


def test_contents_usage_and_title() -> None:
    counts: JsonObject = {
        **{"promptTokenCount": 100, "cachedContentTokenCount": 30},
        **{"candidatesTokenCount": 5, "thoughtsTokenCount": 2},
    }
    found = read(
        record("user", "1", None, {"text": "look"}),
        record("assistant", "2", "1", {"text": "hm", "thought": True}),
        record("assistant", "2", "1", CALL, usageMetadata=counts, model="m-1"),
        record("tool_result", "3", "2", RESPONSE),
        record("assistant", "4", "3", {"text": "done"}),
        system("custom_title", "5", "4", customTitle="a title"),
    )

    assert shape(found) == [
        "user: look",
        'assistant:  +read(c {"path":"a"})',
        "tool(c): A",
        "assistant: done",
    ]
    assert found.messages[1].reasoning == "hm"
    assert (found.format, found.id, found.title, found.model) == ("qwen", "s-1", "a title", "m-1")
    [used] = found.usage
    assert (used.after, used.input_tokens, used.cache_read_tokens, used.output_tokens) == (
        *(1, 70, 30, 7),
    )


def test_a_rewind_leaves_a_branch_and_records_about_it_move_nothing() -> None:
    found = read(
        record("user", "1", None, {"text": "one"}),
        record("assistant", "2", "1", {"text": "wrong"}),
        system("rewind", "3", "1", truncatedCount=1),
        record("assistant", "4", "3", {"text": "right"}),
        system("ui_telemetry", "5", "2", uiEvent={}),
    )

    assert shape(found) == ["user: one", "assistant: right"]
    assert dict(found.ignored) == {"left branch": 1, "system/rewind": 1, "system/ui_telemetry": 1}


def test_a_compression_is_a_compaction() -> None:
    history: JsonValue = [{"role": "user", "parts": [{"text": "so far"}]}]
    found = read(
        record("user", "1", None, {"text": "one"}),
        system(
            *("chat_compression", "2", "1"),
            info={"originalTokenCount": 900},
            compressedHistory=history,
        ),
        record("user", "3", "2", {"text": "two"}),
    )

    [compaction] = found.compactions
    assert (compaction.at, compaction.summary, compaction.before_tokens) == (1, "so far", 900)


def test_sub_agents_are_conversations_of_their_own() -> None:
    aside: JsonObject = {"isSidechain": True, "agentId": "a-1"}
    main, agent = read_all(
        record("user", "1", None, {"text": "go"}),
        {**record("user", "2", None, {"text": "explore"}), **aside},
        record("assistant", "3", "1", {"text": "done"}),
    )

    assert (shape(main), shape(agent)) == (["user: go", "assistant: done"], ["user: explore"])
    assert (agent.id, agent.parent_id) == ("a-1", "s-1")


def test_objects_without_a_line_break_between_them_are_read() -> None:
    glued = json.dumps(record("user", "1", None, {"text": '{"a": 1}'})) + json.dumps(
        record("assistant", "2", "1", {"text": "done"})
    )

    assert shape(read(glued)) == ['user: {"a": 1}', "assistant: done"]


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(
        record("user", "1", None, {"text": "one"}),
        '{"uuid": "2',
        {**record("assistant", "3", "1"), "message": "text"},
        record("assistant", "4", "3", {"functionCall": {"args": {}}}),
        record("assistant", "5", "4", {"text": "two"}),
    )

    assert shape(found) == ["user: one", "assistant: two"]
    assert sorted(problem.line or 0 for problem in found.problems) == [2, 3, 4]


def test_a_session_without_a_message_is_recognized() -> None:
    assert "this looks like a Qwen Code session" in refusal(system("ui_telemetry", "1", None))
