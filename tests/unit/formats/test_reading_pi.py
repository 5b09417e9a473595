"""What becomes of sessions of pi and OpenClaw: branches, compactions, usage, messages of others."""

from __future__ import annotations

from ctxcore.messages.values import JsonObject, JsonValue, Media
from tests.unit.formats.transcript_files import TIME, read, refusal, shape

HEAD: JsonObject = {
    **{"type": "session", "version": 3, "id": "s-1"},
    **{"timestamp": TIME, "cwd": "/w"},
}


def entry(kind: str, own: str, parent: str | None, **fields: JsonValue) -> JsonObject:
    return {"type": kind, "id": own, "parentId": parent, "timestamp": TIME, **fields}


def message(
    own: str, parent: str | None, role: str, content: JsonValue, **fields: JsonValue
) -> JsonObject:
    return entry("message", own, parent, message={"role": role, "content": content, **fields})


def text(words: str) -> JsonObject:
    return {"type": "text", "text": words}


def call(call_id: str) -> JsonObject:
    return {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": "a"}}


def test_answers_results_and_usage() -> None:
    usage: JsonObject = {"input": 10, "output": 2, "cacheRead": 5, "cacheWrite": 3}
    found = read(
        HEAD,
        message("1", None, "user", "look"),
        message(
            "2",
            "1",
            "assistant",
            [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
                text("I look"),
                call("c"),
            ],
            model="m-1",
            usage=usage,
        ),
        message("3", "2", "toolResult", [text("A")], toolCallId="c", toolName="read"),
        message("4", "3", "assistant", [], stopReason="aborted", usage={"input": 0}),
        entry("session_info", "5", "4", name="a name"),
    )

    assert shape(found) == ["user: look", 'assistant: I look +read(c {"path": "a"})', "tool(c): A"]
    assert found.messages[1].reasoning == "hm"
    assert (found.format, found.id, found.title, found.model) == ("pi", "s-1", "a name", "m-1")
    [used] = found.usage
    assert (used.after, used.input_tokens, used.cache_read_tokens, used.cache_write_tokens) == (
        *(1, 10, 5, 3),
    )
    assert dict(found.ignored) == {"blank assistant": 1, "session_info": 1}


def test_the_branch_of_the_last_entry_is_read() -> None:
    found = read(
        HEAD,
        message("1", None, "user", "one"),
        message("2", "1", "assistant", [text("wrong")]),
        message("3", "2", "user", "more"),
        entry("branch_summary", "4", "1", summary="what was tried"),
        message("5", "4", "assistant", [text("right")]),
        entry("label", "6", "5", label="here"),
    )

    assert shape(found) == ["user: one", "user: what was tried", "assistant: right"]
    assert dict(found.ignored) == {"label": 1, "left branch": 2}


def test_openclaw_names_parents_by_calls_and_goes_back_with_leaves() -> None:
    found = read(
        HEAD,
        message("1", "s-1", "user", "one"),
        message("2", "1", "assistant", [call("c")]),
        message("3", "c", "toolResult", "A", toolCallId="c"),
        message("4", "3", "assistant", [text("wrong")]),
        {**entry("leaf", "5", "4"), "targetId": "3"},
        message("6", "5", "assistant", [text("right")]),
    )

    assert shape(found)[2:] == ["tool(c): A", "assistant: right"]


def test_the_first_version_has_no_tree() -> None:
    lines: list[JsonObject] = [
        {key: value for key, value in line.items() if key not in ("id", "parentId")}
        for line in (
            message("", None, "user", "one"),
            message("", None, "assistant", [text("two")]),
            entry("thinking_level_change", "", None),
            message("", None, "user", "three"),
        )
    ]
    found = read({**HEAD, "modelId": "m-0"}, *lines)

    assert shape(found) == ["user: one", "assistant: two", "user: three"]
    assert found.model == "m-0"


def test_a_compaction_stands_where_it_was_done() -> None:
    found = read(
        HEAD,
        message("1", None, "user", "one"),
        entry("compaction", "2", "1", summary="short", tokensBefore=90),
        message("3", "2", "user", "two"),
    )

    [compaction] = found.compactions
    assert (compaction.at, compaction.summary, compaction.before_tokens) == (1, "short", 90)


def test_messages_of_the_user_that_are_no_prompts() -> None:
    shell: JsonObject = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2}
    image: JsonObject = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    found = read(
        HEAD,
        message("1", None, "user", [text("see"), image]),
        entry("message", "2", "1", message=shell),
        entry("message", "3", "2", message={**shell, "excludeFromContext": True}),
        entry("custom_message", "4", "3", customType="x", content="noted", display=False),
        message("5", "4", "hookMessage", "hooked"),
        entry("custom", "6", "5", customType="state"),
    )

    assert shape(found) == [
        "user: see\n[image]",
        "user: $ ls\na\nexit code 2",
        "user: noted",
        "user: hooked",
    ]
    assert isinstance(found.messages[0].content[1], Media)
    assert dict(found.ignored) == {"bashExecution": 1, "custom": 1}


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(
        HEAD,
        message("1", None, "user", "one"),
        '{"type": "message", "id": "2", "par',
        message("3", "2", "assistant", [text("two")]),
        message("4", "3", "narrator", "three"),
        entry("message", "5", "4"),
    )

    assert shape(found) == ["user: one", "assistant: two"]
    assert [problem.line for problem in found.problems] == [3, 5, 6]


def test_a_file_without_its_head_is_told_by_answers_and_results_alone() -> None:
    plain = message("1", None, "user", "one")
    answer = message("2", "1", "assistant", [text("two")], provider="p", stopReason="stop")

    assert shape(read(plain, answer)) == ["user: one", "assistant: two"]
    assert "pi or OpenClaw session" not in refusal(plain).partition("expected")[0]


def test_a_session_without_a_message_is_recognized() -> None:
    assert "this looks like a pi or OpenClaw session" in refusal(HEAD, entry("custom", "1", None))
