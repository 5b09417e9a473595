"""What becomes of the events of Copilot CLI: answers, results, sub-agents, compactions."""

from __future__ import annotations

from ctxcore.messages.values import JsonObject, JsonValue
from tests.unit.formats.transcript_files import TIME, read, read_all, refusal, shape


def event(kind: str, **data: JsonValue) -> JsonObject:
    return {"type": kind, "data": data, "id": "e", "timestamp": TIME, "parentId": None}


def call(call_id: str) -> JsonObject:
    return {"toolCallId": call_id, "name": "bash", "arguments": {"n": 1}, "type": "function"}


def result(call_id: str, text: str) -> JsonObject:
    return event(
        *("tool.execution_complete",),
        toolCallId=call_id,
        success=True,
        result={"content": text, "detailedContent": "more"},
    )


START = event("session.start", sessionId="s-1", selectedModel="m-0")


def test_answers_with_thinking_and_results() -> None:
    found = read(
        START,
        event("system.message", content="be brief", role="system"),
        event("user.message", content="list", transformedContent="<now>\nlist"),
        event("assistant.turn_start", turnId="0"),
        event("assistant.reasoning", content="hm"),
        event(
            "assistant.message",
            content="I look",
            reasoningText="hm",
            toolRequests=[call("a"), call("b")],
        ),
        event("tool.execution_start", toolCallId="a", toolName="bash"),
        result("a", "A"),
        event("tool.execution_complete", toolCallId="b", success=False, error={"message": "no"}),
        event("assistant.message", content="done", toolRequests=[], model="m-1"),
        event("session.resume"),
        event("system.message", content="be brief", role="system"),
    )

    assert shape(found) == [
        "system: be brief",
        "user: <now>\nlist",
        'assistant: I look +bash(a {"n":1}) +bash(b {"n":1})',
        "tool(a): A",
        "tool(b): no",
        "assistant: done",
    ]
    assert found.messages[2].reasoning == "hm"
    assert (found.format, found.id, found.title, found.model) == ("copilot", "s-1", "list", "m-1")
    assert ("duplicate", 1) in found.ignored


def test_older_versions_kept_chat_messages() -> None:
    function: JsonObject = {"name": "bash", "arguments": "{}"}
    messages: list[JsonValue] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": function}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "narrator", "content": "no"},
    ]
    found = read({"sessionId": "s-0", "chatMessages": messages, "timeline": []})

    assert (found.id, shape(found)) == (
        "s-0",
        ["user: go", "assistant:  +bash(c {})", "tool(c): x"],
    )
    assert len(found.problems) == 1


def test_sub_agents_are_conversations_of_their_own() -> None:
    main, agent = read_all(
        START,
        event("user.message", content="go"),
        event("assistant.message", content="", toolRequests=[call("task")]),
        event("assistant.message", content="I explore", toolRequests=[], parentToolCallId="task"),
        result("task", "explored"),
    )

    assert shape(main)[1:] == ['assistant:  +bash(task {"n":1})', "tool(task): explored"]
    assert shape(agent) == ["assistant: I explore"]
    assert (agent.id, agent.parent_id) == ("task", "s-1")


def test_events_that_were_taken_back_are_a_left_branch() -> None:
    found = read(
        START,
        {**event("user.message", content="one"), "id": "1"},
        {**event("user.message", content="two"), "id": "2"},
        {**event("assistant.message", content="2"), "id": "3"},
        event("session.snapshot_rewind", upToEventId="2"),
        {**event("user.message", content="three"), "id": "4"},
        event("session.snapshot_rewind", eventIds=["1"]),
    )

    assert shape(found) == ["user: three"]
    assert ("left branch", 3) in found.ignored


def test_a_call_that_no_answer_requests_is_read_from_its_start() -> None:
    found = read(
        START,
        event("user.message", content="go"),
        event("tool.execution_start", toolCallId="a", toolName="bash", arguments={"n": 1}),
        result("a", "A"),
    )

    assert shape(found)[1:] == ['assistant:  +bash(a {"n":1})', "tool(a): A"]
    assert not found.repairs


def test_a_compaction_and_one_that_failed() -> None:
    found = read(
        START,
        event("user.message", content="go"),
        event("session.compaction_complete", success=False),
        event(
            "session.compaction_complete",
            success=True,
            summaryContent="so far",
            preCompactionTokens=90,
        ),
        event("user.message", content="on"),
    )

    [compaction] = found.compactions
    assert (compaction.at, compaction.summary, compaction.before_tokens) == (1, "so far", 90)


def test_usage_is_read_where_it_is_kept() -> None:
    used: JsonObject = {"inputTokens": 100, "cacheReadTokens": 30, "outputTokens": 5}
    found = read(
        START,
        event("user.message", content="go"),
        event("assistant.message", content="done", toolRequests=[], outputTokens=5),
        event("assistant.usage", **used),
    )

    [usage] = found.usage
    assert (usage.after, usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (
        *(1, 70, 30, 5),
    )


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(
        START,
        event("user.message", content="go"),
        '{"type": "assistant.mess',
        {**event("assistant.message"), "data": "text"},
        result("unknown", "A"),
        event("assistant.message", content="done", toolRequests=[]),
    )

    assert shape(found) == ["user: go", "tool(unknown): A", "assistant: done"]
    assert sorted(problem.line or 0 for problem in found.problems) == [3, 4]
    assert [repair.reason.code for repair in found.repairs] == ["repair.no_call"]


def test_a_session_without_a_message_is_recognized() -> None:
    assert "this looks like a Copilot CLI session" in refusal(START, event("session.shutdown"))
