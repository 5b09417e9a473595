"""What becomes of OpenCode's storage, a folder of small files, and of its exports."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.formats.reading import find_transcripts, read_transcripts
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import JsonObject, JsonValue, Media
from tests.unit.formats.transcript_files import read, refusal, shape

SESSION: JsonObject = {
    "id": "ses_1",
    "projectID": "p",
    "title": "a title",
    "version": "1.0",
    "time": {"created": 1_772_359_200_000},
}


def message(own_id: str, role: str, *parts: JsonValue, **info: JsonValue) -> JsonObject:
    time: JsonObject = {"created": 1_772_359_200_000 + int(own_id)}
    head: JsonObject = {"id": own_id, "sessionID": "ses_1", "role": role, "time": time, **info}
    return {"info": head, "parts": list(parts)}


def text(words: str, **extra: JsonValue) -> JsonObject:
    return {"id": "t", "type": "text", "text": words, **extra}


def tool(call_id: str | None, **state: JsonValue) -> JsonObject:
    given: JsonObject = {"input": {"path": "a"}, **state}
    return {"id": "c", "type": "tool", "callID": call_id, "tool": "read", "state": given}


def export(*messages: JsonValue, **about: JsonValue) -> JsonObject:
    return {"info": {**SESSION, **about}, "messages": list(messages)}


ASKED: JsonObject = {"id": "c", "type": "compaction", "auto": True}
START: JsonObject = {"id": "s", "type": "step-start"}
DONE = tool("a", status="completed", output="A")
CALL = 'read(a {"path":"a"})'


def finish(**tokens: JsonValue) -> JsonObject:
    return {"id": "f", "type": "step-finish", "tokens": tokens}


def stored(
    root: Path, *messages: JsonObject, session: str = "session/p", flat: bool = False
) -> Path:
    """Writes messages as files into a storage folder; the file of the session."""
    for nth, one in enumerate(messages):
        info, parts = one["info"], one["parts"]
        assert isinstance(info, dict)
        assert isinstance(parts, list)
        write(root / "message" / "ses_1" / f"{info['id']}.json", info)
        for at, part in enumerate(parts):
            assert isinstance(part, dict)
            folder = root / "part" if flat else root / "part" / str(info["id"])
            write(folder / f"{nth}{at}.json", {**part, "messageID": info["id"]})
    write(root / session / "ses_1.json", SESSION)
    return root / session / "ses_1.json"


def write(path: Path, value: JsonValue) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def read_file(path: Path) -> Transcript:
    [found] = read_transcripts(path)
    return found


TALK = (
    message("1", "user", text("go")),
    message("2", "assistant", START, text("I look"), DONE, START, text("done"), modelID="m-1"),
)
TALK_SHAPE = ["user: go", f"assistant: I look +{CALL}", "tool(a): A", "assistant: done"]


def test_each_step_of_an_answer_is_a_message_with_its_usage() -> None:
    cache: JsonObject = {"read": 30, "write": 4}
    found = read(
        export(
            message("1", "user", text("go"), text("hidden", ignored=True), system="be brief"),
            message(
                "2",
                "assistant",
                START,
                {"id": "r", "type": "reasoning", "text": "hm"},
                DONE,
                finish(input=5, output=2, reasoning=1, cache=cache, total=42),
                START,
                text("done"),
                finish(input=9, output=3, reasoning=1, cache={}),
                {"id": "p", "type": "patch", "hash": "h", "files": []},
                modelID="m-1",
            ),
        )
    )

    expected = ["user: go", f"assistant:  +{CALL}", "tool(a): A", "assistant: done"]
    assert shape(found) == ["system: be brief", *expected]
    assert found.messages[2].reasoning == "hm"
    first, last = found.usage
    assert (first.after, first.input_tokens, first.cache_read_tokens) == (2, 5, 30)
    assert (first.cache_write_tokens, first.output_tokens, first.model) == (4, 3, "m-1")
    assert (last.after, last.input_tokens, last.output_tokens) == (4, 9, 3)
    assert (found.format, found.id, found.title) == ("opencode", "ses_1", "a title")
    assert dict(found.ignored) == {"ignored text": 1, "patch": 1}
    assert found.times[1] is not None
    assert found.times[1].year == 2026


def test_without_steps_what_follows_a_result_is_a_message_of_its_own() -> None:
    tokens: JsonObject = {"input": 5, "output": 2}
    found = read(
        export(
            message("1", "user", text("go")),
            message("2", "assistant", DONE, text("done"), tokens=tokens),
        )
    )

    assert shape(found) == ["user: go", f"assistant:  +{CALL}", "tool(a): A", "assistant: done"]
    assert [usage.after for usage in found.usage] == [3]


def test_calls_that_failed_or_did_not_end() -> None:
    found = read(
        export(
            message("1", "user", text("go")),
            message(
                *("2", "assistant", tool("a", status="error", error="no such file")),
                *(tool(None, status="running"), tool("c", status="success", output={"n": 1})),
                tool(
                    "d", status="error", error="no", metadata={"interrupted": True, "output": "D"}
                ),
            ),
        )
    )

    assert shape(found)[1:] == [
        "assistant:  " + " ".join(f'+read({i} {{"path":"a"}})' for i in ("a", "call_1", "c", "d")),
        "tool(a): no such file",
        'tool(c): {"n":1}',
        "tool(d): D",
    ]


def test_images_are_kept_and_files_counted_whose_text_follows() -> None:
    image: JsonObject = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk="}
    note: JsonObject = {"type": "file", "mime": "text/plain", "url": "file:///a.txt"}
    shown = tool("a", status="completed", output="shown", attachments=[image])
    found = read(
        export(
            message("1", "user", text("look"), image, note),
            message("2", "assistant", START, shown),
        )
    )

    assert [type(part) for part in found.messages[0].content][1] is Media
    assert isinstance(found.messages[2].content[1], Media)
    assert dict(found.ignored) == {"file": 1}


def test_a_compaction_is_a_prompt_for_it_and_its_summary() -> None:
    found = read(
        export(
            *TALK,
            message("3", "user", ASKED),
            message("4", "assistant", text("so far"), summary=True, tokens={"input": 70}),
            message("5", "user", ASKED),
            message("6", "assistant", text("so"), summary=True, error={"name": "Aborted"}),
            message("7", "user", text("go on", synthetic=True)),
        )
    )

    [compaction] = found.compactions
    assert (compaction.at, compaction.summary, compaction.trigger) == (4, "so far", "auto")
    assert compaction.before_tokens == 70
    assert shape(found) == [*TALK_SHAPE, "user: go on"]
    assert dict(found.ignored) == {"compaction": 2, "failed compaction": 1}


def test_what_was_taken_back_is_left_out() -> None:
    after = message("3", "user", text("no"))

    whole = read(export(*TALK, after, revert={"messageID": "3"}))
    part = read(export(*TALK, after, revert={"messageID": "2", "partID": "c"}))

    assert shape(whole) == TALK_SHAPE
    assert shape(part) == ["user: go", "assistant: I look"]
    assert [dict(found.ignored)["left branch"] for found in (whole, part)] == [1, 1]


def test_a_session_file_is_read_with_the_files_beside_it(tmp_path: Path) -> None:
    session = stored(tmp_path, *TALK)

    assert find_transcripts(tmp_path) == [session]
    assert shape(read_file(session)) == TALK_SHAPE


def test_older_folders_are_read(tmp_path: Path) -> None:
    loose = stored(tmp_path / "a", *TALK, flat=True)
    oldest = stored(tmp_path / "b" / "session", session="info")
    result: JsonObject = {"toolCallId": "a", "toolName": "read", "args": {}, "result": "A"}
    called: JsonObject = {"type": "tool-invocation", "toolInvocation": result}
    counted: JsonObject = {"modelID": "m-0", "tokens": {"input": 3, "output": 1}}
    about: JsonObject = {"sessionID": "ses_1", "time": {"created": 9}, "assistant": counted}
    said: JsonObject = {"id": "1", "role": "assistant", "parts": [called], "metadata": about}
    write(tmp_path / "b" / "session" / "message" / "ses_1" / "1.json", said)

    assert shape(read_file(loose)) == TALK_SHAPE
    assert shape(read_file(oldest)) == ["assistant:  +read(a {})", "tool(a): A"]
    assert (read_file(oldest).model, read_file(oldest).usage[0].input_tokens) == ("m-0", 3)


def test_damaged_files_beside_a_session_are_named(tmp_path: Path) -> None:
    session = stored(tmp_path, *TALK)
    (tmp_path / "part" / "2" / "11.json").write_text('{"type": "te')
    (tmp_path / "message" / "ses_1" / "3.json").write_text("[]")

    found = read_file(session)

    assert shape(found)[1] == f"assistant:  +{CALL}"
    assert [str(problem.placed) for problem in found.problems] == [
        "part/2/11.json: the JSON is damaged or cut off: Unterminated string starting at column 10",
        "message/ses_1/3.json: is JSON, but not a session record",
    ]


def test_files_that_hold_no_conversation_are_refused_by_name(tmp_path: Path) -> None:
    said, part = TALK[0]["info"], {**text("go"), "messageID": "1"}

    assert "its messages are in other files" in refusal(SESSION)
    for value in (said, part):
        assert "an OpenCode session" in refusal(value)
        assert "read storage/session/*/*.json instead" in refusal(value)


def test_an_id_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    session = stored(tmp_path / "a", *TALK)
    write(session, {**SESSION, "id": "../../b"})
    write(tmp_path / "b" / "1.json", TALK[0]["info"])

    [problem] = [line for line in refusal({**SESSION, "id": "../../b"}).splitlines() if line]
    assert "other files" in problem


def test_a_sub_agent_knows_its_parent() -> None:
    assert read(export(*TALK, parentID="ses_0")).parent_id == "ses_0"
