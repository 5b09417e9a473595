"""What becomes of the wire logs of Kimi Code and Kimi CLI, and of the files beside them."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.formats.reading import find_transcripts, read_transcripts
from ctxcore.messages.values import JsonObject, JsonValue, Media
from tests.unit.formats.transcript_files import jsonl, read, read_all, refusal, shape

MS = 1_772_359_200_000
HEAD: JsonObject = {"type": "metadata", "protocol_version": "1.4", "created_at": MS}


def op(kind: str, **fields: JsonValue) -> JsonObject:
    return {"type": kind, "time": MS, **fields}


def said(words: str, origin: str = "user", role: str = "user") -> JsonObject:
    content: list[JsonValue] = [{"type": "text", "text": words}]
    given: JsonObject = {"role": role, "content": content, "origin": {"kind": origin}}
    return op("context.append_message", message=given)


def loop(kind: str, step: str, **fields: JsonValue) -> JsonObject:
    key = "uuid" if kind.startswith("step") else "stepUuid"
    return op("context.append_loop_event", event={"type": kind, key: step, **fields})


def part(step: str, kind: str, words: str) -> JsonObject:
    return loop("content.part", step, part={"type": kind, kind: words})


CALL = loop("tool.call", "s1", toolCallId="Read_0", name="Read", args={"path": "a"})
RESULT = loop("tool.result", "", toolCallId="Read_0", result={"output": "A"})
STATE: JsonObject = {"title": "a title", "agents": {"main": {"homedir": "/s/x/agents/main"}}}
USAGE: JsonObject = {"inputOther": 5, "output": 2, "inputCacheRead": 30, "inputCacheCreation": 4}
TURN = (
    op("turn.prompt", input=[{"type": "text", "text": "go"}]),
    said("go"),
    loop("step.begin", "s1"),
    part("s1", "think", "hm"),
    part("s1", "text", "I look"),
    *(CALL, RESULT),
    loop("step.end", "s1", usage=USAGE),
)
TURN_SHAPE = ["user: go", 'assistant: I look +Read(Read_0 {"path":"a"})', "tool(Read_0): A"]


def test_steps_are_answers_with_usage_and_thinking() -> None:
    tools: list[JsonValue] = [{"name": "Read", "description": "reads", "parameters": {}}]
    found = read(
        HEAD,
        op("config.update", systemPrompt="be brief"),
        op("config.update", systemPrompt="be brief", modelAlias="kimi/k-2"),
        op("llm.tools_snapshot", hash="h", tools=tools),
        *TURN,
        loop("step.begin", "s2"),
    )

    assert shape(found) == ["system: be brief", *TURN_SHAPE]
    assert found.messages[2].reasoning == "hm"
    [usage] = found.usage
    assert (usage.after, usage.input_tokens, usage.cache_read_tokens) == (2, 5, 30)
    assert (usage.cache_write_tokens, usage.output_tokens, usage.model) == (4, 2, "k-2")
    assert (found.format, found.model, found.title) == ("kimi", "k-2", "go")
    assert found.tools == [{"type": "function", "function": tools[0]}]
    assert dict(found.ignored)["blank assistant"] == 1
    assert found.times[0] is not None
    assert found.times[0].year == 2026


def test_results_with_media_notes_and_none_at_all() -> None:
    image: JsonObject = {"type": "image_url", "image_url": {"url": "https://a/b.png"}}
    found = read(
        HEAD,
        *TURN[:-2],
        loop(
            "tool.result", "", toolCallId="Read_0", result={"output": [image], "note": "an image"}
        ),
        loop("tool.call", "s2", name="Stop"),
        loop("tool.result", "", toolCallId="call_1", result={"output": None}),
    )

    assert isinstance(found.messages[2].content[0], Media)
    assert shape(found)[2:] == [
        "tool(Read_0): [image]\nan image",
        "assistant:  +Stop(call_1 {})",
        "tool(call_1): ",
    ]


def test_messages_of_other_roles() -> None:
    call: JsonObject = {"id": "c", "name": "Read", "arguments": "{}"}
    older: JsonObject = {"id": "d", "type": "function", "function": {"name": "Read"}}
    thought: JsonObject = {"type": "think", "think": "hm"}
    answer: JsonObject = {"role": "assistant", "content": [thought], "toolCalls": [call, older]}
    result: JsonObject = {"role": "tool", "content": "A", "toolCallId": "c"}
    found = read(
        HEAD,
        said("go"),
        op("context.append_message", message=answer),
        op("context.append_message", message=result),
    )

    assert shape(found)[1:] == ["assistant:  +Read(c {}) +Read(d {})", "tool(c): A"]
    assert found.messages[1].reasoning == "hm"


def test_compactions_and_a_cleared_context() -> None:
    found = read(
        HEAD,
        *TURN,
        op("full_compaction.begin", source="manual"),
        op("context.apply_compaction", summary="so far", tokensBefore=900, compactedCount=3),
        said("more"),
        op("context.clear"),
    )

    marks = [(one.at, one.summary, one.trigger, one.before_tokens) for one in found.compactions]
    assert marks == [(3, "so far", "manual", 900), (4, "", "clear", None)]


def test_undone_prompts_are_left_out_with_what_followed() -> None:
    found = read(
        HEAD,
        *TURN,
        said("again"),
        said("<reminder>", origin="injection"),
        loop("step.begin", "s9"),
        part("s9", "text", "no"),
        op("context.undo", count=1),
        op("context.undo", count=7),
        said("better"),
    )

    assert shape(found) == [*TURN_SHAPE, "user: better"]
    assert dict(found.ignored)["left branch"] == 3


def test_a_prompt_before_a_compaction_cannot_be_undone() -> None:
    cut = op("context.apply_compaction", summary="so far")

    assert shape(read(HEAD, *TURN, cut, op("context.undo", count=1))) == TURN_SHAPE


def test_folders_name_the_session_and_its_sub_agents(tmp_path: Path) -> None:
    session = tmp_path / "session_1"
    for agent in ("main", "agent-0"):
        wire = session / "agents" / agent / "wire.jsonl"
        wire.parent.mkdir(parents=True)
        wire.write_text(jsonl(HEAD, *TURN))
    (session / "state.json").write_text(json.dumps(STATE))

    files = find_transcripts(tmp_path)
    sub, main = (read_transcripts(file)[0] for file in files)

    assert [file.name for file in files] == ["wire.jsonl"] * 2
    assert (main.id, main.title, main.parent_id) == ("session_1", "a title", None)
    assert (sub.id, sub.title, sub.parent_id) == ("session_1/agent-0", "go", "session_1")


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(HEAD, said("go"), '{"type": "con', ["x"], op("context.append_message"), *TURN[2:])

    assert shape(found) == TURN_SHAPE
    assert sorted(problem.line or 0 for problem in found.problems) == [3, 4, 5]


def test_the_file_beside_a_log_is_refused_by_name() -> None:
    refused = refusal(STATE)

    assert "this looks like a Kimi session" in refused
    assert "read wire.jsonl instead" in refused


def event(kind: str, **payload: JsonValue) -> JsonObject:
    return {"timestamp": 1_772_359_200.5, "message": {"type": kind, "payload": payload}}


def cli_call(call_id: str, arguments: str | None) -> JsonObject:
    function: JsonObject = {"name": "Task", "arguments": arguments}
    return event("ToolCall", type="function", id=call_id, function=function)


CLI_USAGE: JsonObject = {"input_other": 5, "output": 2, "input_cache_read": 30}
CLI = (
    event("TurnBegin", user_input="go"),
    event("StepBegin", n=1),
    event("ContentPart", type="think", think="hm"),
    event("ContentPart", type="text", text="I ask"),
    cli_call("t", '{"n":'),
    event("ToolCallPart", arguments_part="1}"),
    event("StatusUpdate", token_usage=CLI_USAGE, message_id="m"),
    event("SubagentEvent", task_tool_call_id="t", event={"type": "StepBegin", "payload": {"n": 1}}),
    event(
        *("SubagentEvent",),
        task_tool_call_id="t",
        event={"type": "ContentPart", "payload": {"type": "text", "text": "sub"}},
    ),
    event("ToolResult", tool_call_id="t", return_value={"output": "A", "message": "in 1 s"}),
    event("CompactionBegin"),
    event("CompactionEnd"),
    event("StepBegin", n=2),
    event("ContentPart", type="text", text="done"),
)


def test_events_of_kimi_cli_with_a_sub_agent() -> None:
    main, sub = read_all({"type": "metadata", "protocol_version": "1.1"}, *CLI)

    assert shape(main) == [
        "user: go",
        'assistant: I ask +Task(t {"n":1})',
        "tool(t): A\nin 1 s",
        "assistant: done",
    ]
    assert main.messages[1].reasoning == "hm"
    assert [(one.after, one.input_tokens, one.cache_read_tokens) for one in main.usage] == [
        (1, 5, 30)
    ]
    assert [one.at for one in main.compactions] == [3]
    assert (shape(sub), sub.id, sub.parent_id) == (["assistant: sub"], "t", main.id)


def test_a_context_of_kimi_cli() -> None:
    call: JsonObject = {"id": "c", "type": "function", "function": {"name": "Read"}}
    thought: JsonObject = {"type": "think", "think": "hm"}
    found = read(
        {"role": "_system_prompt", "content": "be brief"},
        {"role": "_checkpoint", "id": 0},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [thought], "tool_calls": [call]},
        {"role": "_usage", "token_count": 9},
        {"role": "tool", "content": "A", "tool_call_id": "c"},
        {"role": "nobody", "content": "?"},
    )

    assert shape(found) == ["system: be brief", "user: go", "assistant:  +Read(c {})", "tool(c): A"]
    assert dict(found.ignored) == {"_checkpoint": 1, "_usage": 1}
    assert [problem.line for problem in found.problems] == [7]


def test_a_context_beside_a_wire_log_is_not_read_twice(tmp_path: Path) -> None:
    (tmp_path / "wire.jsonl").write_text(jsonl(*CLI))
    (tmp_path / "context.jsonl").write_text(jsonl({"role": "_checkpoint", "id": 0}))

    assert find_transcripts(tmp_path) == [tmp_path / "wire.jsonl"]
