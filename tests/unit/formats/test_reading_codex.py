"""What becomes of a Codex rollout: items, usage, compactions, rolled back turns, old layouts."""

from __future__ import annotations

import json

from ctxcore.formats.reading import parse_transcripts
from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, read, refusal, shape

META: JsonObject = {"id": "thread-1", "timestamp": TIME, "cwd": "/w", "cli_version": "0.140.0"}


def record(kind: str, payload: JsonValue) -> JsonObject:
    return {"timestamp": TIME, "type": kind, "payload": payload}


def item(kind: str, **fields: JsonValue) -> JsonObject:
    return record("response_item", {"type": kind, **fields})


def event(kind: str, **fields: JsonValue) -> JsonObject:
    return record("event_msg", {"type": kind, **fields})


def said(role: str, text: str) -> JsonObject:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def call(call_id: str, command: str = "ls") -> JsonObject:
    arguments = json.dumps({"command": command})
    return item("function_call", name="shell", call_id=call_id, arguments=arguments)


def output(call_id: str, text: JsonValue) -> JsonObject:
    return item("function_call_output", call_id=call_id, output=text)


def tokens(new: int, *, cached: int = 0, out: int = 5, total: int | None = None) -> JsonObject:
    last: JsonObject = {
        "input_tokens": new,
        "cached_input_tokens": cached,
        "output_tokens": out,
        "total_tokens": new + out,
    }
    added: JsonObject = {"input_tokens": total or new}
    info: JsonObject = {"last_token_usage": last, "total_token_usage": added}
    return event("token_count", info=info)


HEAD = record("session_meta", META)


def test_items_of_an_answer_are_one_message_with_its_results() -> None:
    found = read(
        record("session_meta", {**META, "base_instructions": {"text": "be brief"}}),
        record("turn_context", {"model": "m-1"}),
        said("developer", "sandboxed"),
        said("user", "# AGENTS.md instructions for /w\nuse tabs"),
        event("user_message", message="list them"),
        said("user", "list them"),
        item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="x"),
        call("c1"),
        item("custom_tool_call", name="apply_patch", call_id="c2", input="*** Begin"),
        output("c1", "a.txt"),
        item(
            "custom_tool_call_output", call_id="c2", output=[{"type": "input_text", "text": "ok"}]
        ),
        event("agent_message", message="done"),
        said("assistant", "done"),
    )

    assert shape(found) == [
        "system: be brief",
        "developer: sandboxed",
        "user: # AGENTS.md instructions for /w\nuse tabs",
        "user: list them",
        'assistant:  +shell(c1 {"command": "ls"}) +apply_patch(c2 {"input":"*** Begin"})',
        "tool(c1): a.txt",
        "tool(c2): ok",
        "assistant: done",
    ]
    assert found.messages[4].reasoning == "hm"
    assert (found.format, found.id, found.title, found.model) == (
        "codex",
        "thread-1",
        "list them",
        "m-1",
    )
    assert dict(found.ignored) == {"event_msg/agent_message": 1, "event_msg/user_message": 1}


def test_usage_belongs_to_the_answer_before_and_excludes_cached_input() -> None:
    found = read(
        HEAD,
        said("user", "go"),
        call("c1"),
        tokens(100, cached=30),
        tokens(100, cached=30),  # again, with new rate limits
        event("token_count", info=None),
        output("c1", "x"),
        said("assistant", "done"),
        tokens(160, cached=100, total=260),
    )

    assert [(one.after, one.input_tokens, one.cache_read_tokens) for one in found.usage] == [
        (1, 70, 30),
        (3, 60, 100),
    ]


def test_older_versions_record_usage_before_the_answer() -> None:
    found = read(
        HEAD,
        said("user", "go"),
        tokens(100),
        call("c1"),
        output("c1", "x"),
        call("c2"),
        output("c2", "y"),
        tokens(160, total=260),
        said("assistant", "done"),
    )

    assert shape(found)[1].count("+shell") == 2
    assert [(one.after, one.input_tokens) for one in found.usage] == [(1, 100), (4, 160)]


def test_usage_that_is_only_added_up_is_split() -> None:
    def added(new: int, cached: int) -> JsonObject:
        total: JsonObject = {"input_tokens": new, "cached_input_tokens": cached}
        return event("token_count", info={"total_token_usage": total})

    found = read(
        *(HEAD, said("user", "go"), call("c1"), added(100, 30), output("c1", "x")),
        *(said("assistant", "done"), added(260, 130)),
    )

    assert [(one.input_tokens, one.cache_read_tokens) for one in found.usage] == [
        (70, 30),
        (60, 100),
    ]


def test_a_compaction_holds_its_summary_once() -> None:
    found = read(
        HEAD,
        said("user", "go"),
        said("assistant", "done"),
        tokens(9_000),
        said("assistant", "what was done"),
        record("compacted", {"message": "Another model began.\nwhat was done"}),
        said("user", "on"),
    )

    [compaction] = found.compactions
    assert shape(found) == ["user: go", "assistant: done", "user: on"]
    assert (compaction.at, compaction.before_tokens) == (2, 9_005)
    assert compaction.summary.endswith("what was done")
    assert ("summary", 1) in found.ignored


def test_turns_rolled_back_are_a_left_branch() -> None:
    found = read(
        HEAD,
        said("user", "one"),
        said("assistant", "1"),
        said("user", "two"),
        said("user", "<turn_aborted>"),
        said("assistant", "2"),
        event("thread_rolled_back", num_turns=1),
        said("user", "three"),
    )

    assert shape(found) == ["user: one", "assistant: 1", "user: three"]
    assert ("left branch", 3) in found.ignored


def test_sub_agents_name_their_parent_and_forks_none() -> None:
    spawned: JsonObject = {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}
    agent = read(record("session_meta", {**META, "source": spawned}), said("user", "go"))
    copied = record("session_meta", {**META, "id": "older"})
    fork = read(
        record("session_meta", {**META, "forked_from_id": "older"}), copied, said("user", "go")
    )

    assert agent.parent_id == "p"
    assert (fork.id, fork.parent_id) == ("thread-1", None)


def test_tools_of_a_client_are_read_in_openais_form() -> None:
    tool: JsonObject = {"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}
    tools: JsonValue = [{"type": "namespace", "name": "mine", "tools": [tool]}]
    found = read(record("session_meta", {**META, "dynamic_tools": tools}), said("user", "go"))

    assert found.tools == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks.",
                "parameters": {"type": "object"},
            },
        }
    ]


def test_items_the_api_does_not_have_are_read_in_its_form() -> None:
    found = read(
        HEAD,
        said("user", "go"),
        item("tool_search_call", call_id="s", arguments={"query": "q"}, metadata={"turn_id": "t"}),
        item("tool_search_output", call_id="s", tools=[{"name": "found"}]),
        item("tool_call", function={"name": "run"}, arguments={"n": 1}),
        item("tool_result", name="run", result={"stdout": "x"}),
        item("function_call", name="shell", call_id="c", arguments="{}"),
        output("c", {"content": "y", "success": True}),
        item("agent_message", author="/root", content=[{"type": "input_text", "text": "hello"}]),
        item("ghost_snapshot", ghost_commit={}),
    )

    assert shape(found) == [
        "user: go",
        'assistant:  +tool_search(s {"arguments":{"query":"q"}})',
        'tool(s): [{"name":"found"}]',
        'assistant:  +run(call_1 {"n":1})',
        'tool(call_1): {"stdout":"x"}',
        "assistant:  +shell(c {})",
        "tool(c): y",
        "user: hello",
    ]
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_id"]


def test_events_are_messages_where_no_items_are() -> None:
    found = read(
        HEAD,
        event("user_message", message="go"),
        event("agent_message", message="one"),
        event("agent_message", message="two"),
    )

    assert shape(found) == ["user: go", "assistant: one", "assistant: two"]


def test_events_of_a_user_are_messages_where_only_answers_are_items() -> None:
    found = read(
        HEAD,
        event("user_message", message="go"),
        call("c"),
        output("c", "x"),
        event("agent_message", message="done"),
        said("assistant", "done"),
    )

    assert [message.role for message in found.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


def test_the_title_is_the_request_without_the_files_of_an_editor() -> None:
    context = "# Context from my IDE setup:\n## Open tabs:\n## My request for Codex:\nfix it"
    found = read(HEAD, event("user_message", message=context), said("user", context))

    assert found.title == "fix it"


def test_the_first_layouts_have_no_wrapping() -> None:
    head: JsonObject = {"id": "old", "timestamp": TIME, "instructions": None}
    items: list[JsonValue] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]

    lines = read(head, {"record_type": "state"}, *items)
    document = json.dumps({"session": head, "items": items})
    [whole] = parse_transcripts(document, name="rollout.json")

    expected = ["user: go", "assistant:  +shell(c {})", "tool(c): x"]
    assert (lines.id, whole.id) == ("old", "old")
    assert shape(lines) == shape(whole) == expected


def test_messages_and_calls_without_any_head() -> None:
    when: JsonObject = {"timestamp": TIME}
    found = read(
        {**when, "role": "user", "content": "go", "model": "m-1"},
        {**when, "type": "tool_call", "function": {"name": "git"}, "arguments": "status"},
        {**when, "type": "tool_result", "name": "git", "result": "clean"},
        {**when, "type": "function_call", "function": {"name": "git"}, "arguments": {}},
        {**when, "type": "function_result", "name": "git", "result": "dirty"},
        {**when, "role": "user", "message": "drifted"},
        {**when, "role": "assistant", "content": "done"},
        {**when, "type": "error", "text": "oh"},
    )

    assert shape(found) == [
        "user: go",
        "assistant:  +git(call_1 status)",
        "tool(call_1): clean",
        "assistant:  +git(call_2 {})",
        "tool(call_2): dirty",
        "assistant: done",
    ]
    assert (found.format, found.model, dict(found.ignored)) == ("codex", "m-1", {"error": 1})
    assert [problem.line for problem in found.problems] == [6]


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(
        HEAD,
        said("user", "go"),
        '{"timestamp": "2026',
        record("response_item", "text"),
        item("function_call", call_id="c"),
        said("assistant", "done"),
    )

    assert shape(found) == ["user: go", "assistant: done"]
    assert [problem.line for problem in found.problems] == [3, 4, 5]


def test_a_version_that_cannot_be_read_is_recognized() -> None:
    drifted = refusal(
        {"created_at": TIME, "role": "user", "message": "go"},
        record("world_state", {"full": True}),
    )

    assert drifted.startswith("a.jsonl, line 1: this looks like a Codex rollout (.jsonl), but")
    assert "contains no conversation" in refusal(HEAD, event("token_count", info=None))
