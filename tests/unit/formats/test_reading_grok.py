"""What becomes of Grok's chat histories, and of the file beside them."""

from __future__ import annotations

import json
from pathlib import Path

from ctxcore.formats.reading import find_transcripts, read_transcripts
from ctxcore.messages.values import JsonObject, Media, Opaque
from tests.unit.formats.transcript_files import jsonl, read, refusal, shape

USER: JsonObject = {
    "type": "user",
    "content": [{"type": "image", "url": "https://a/b.png"}, {"type": "text", "text": "look"}],
    "prompt_index": 0,
}
CALLING: JsonObject = {
    "type": "assistant",
    "content": "I look",
    "tool_calls": [{"id": "c", "name": "read", "arguments": '{"path":"a"}'}],
    "model_id": "m-1",
}
RESULT: JsonObject = {"type": "tool_result", "tool_call_id": "c", "content": "A"}


def test_answers_thinking_and_results() -> None:
    found = read(
        {"type": "system", "content": "be brief"},
        USER,
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        CALLING,
        RESULT,
        {"type": "backend_tool_call", "kind": {"tool_type": "web_search"}},
        {"type": "assistant", "content": "done", "tool_calls": []},
        {"type": "news"},
    )

    assert shape(found) == [
        "system: be brief",
        "user: [image]\nlook",
        'assistant: I look +read(c {"path":"a"})',
        "tool(c): A",
        "assistant: [backend_tool_call]\ndone",
    ]
    assert isinstance(found.messages[1].content[0], Media)
    assert found.messages[2].reasoning == "hm"
    assert isinstance(found.messages[4].content[0], Opaque)
    assert (found.format, found.model, dict(found.ignored)) == ("grok", "m-1", {"news": 1})


def test_the_file_beside_a_history_names_it_and_is_no_file_of_its_own(tmp_path: Path) -> None:
    history, beside = tmp_path / "chat_history.jsonl", tmp_path / "summary.json"
    history.write_text(jsonl(USER, CALLING))
    about = {"info": {"id": "s-1"}, "generated_title": "a title", "chat_format_version": 1}
    beside.write_text(json.dumps(about))

    [found] = read_transcripts(history)

    assert find_transcripts(tmp_path) == [history]
    assert (found.id, found.title) == ("s-1", "a title")


def test_a_damaged_file_beside_a_history_does_not_matter(tmp_path: Path) -> None:
    history = tmp_path / "s-2" / "chat_history.jsonl"
    history.parent.mkdir()
    history.write_text(jsonl(USER, CALLING))
    history.with_name("summary.json").write_text('{"info"')

    assert read_transcripts(history)[0].id == "s-2"


def test_broken_lines_are_named_and_the_others_read() -> None:
    found = read(USER, '{"type": "assis', {"type": "user", "content": 5}, ["x"], CALLING)

    assert [message.role for message in found.messages] == ["user", "assistant"]
    assert sorted(problem.line or 0 for problem in found.problems) == [2, 3, 4]


def test_a_file_beside_a_history_is_recognized() -> None:
    about: JsonObject = {"info": {"id": "s-1"}, "chat_format_version": 1}

    assert "this looks like a Grok session" in refusal(about)
