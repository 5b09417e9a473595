"""Which files are read, and how their bytes become text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import FormatError
from ctxcore.formats.reading import find_transcripts, parse_transcripts, read_transcripts
from ctxcore.formats.records import decode_text
from ctxcore.json_types import JsonObject

ONE = '[{"role": "user", "content": "grüß dich"}]'


def test_a_folder_gives_its_json_files_sorted_and_a_file_itself(tmp_path: Path) -> None:
    for name in ("b.jsonl", "deep/er/a.json", "A.JSON", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ONE, encoding="utf-8")

    found = find_transcripts(tmp_path)

    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["A.JSON", "b.jsonl", "deep/er/a.json"]
    assert find_transcripts(tmp_path / "notes.txt") == [tmp_path / "notes.txt"]


def test_a_path_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file or folder"):
        find_transcripts(tmp_path / "gone")
    with pytest.raises(FormatError, match="cannot be read"):
        read_transcripts(tmp_path)


@pytest.mark.parametrize("kind", [Path, str])
def test_the_name_of_a_file_does_not_matter(tmp_path: Path, kind: type[Path] | type[str]) -> None:
    path = tmp_path / "conversation.txt"
    path.write_text(ONE, encoding="utf-8")

    (found,) = read_transcripts(kind(path))

    assert (found.path, found.messages[0].text) == (str(path), "grüß dich")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_in_every_encoding_that_says_so(encoding: str) -> None:
    assert decode_text(ONE.encode(encoding)) == ONE


def test_broken_bytes_are_replaced() -> None:
    assert decode_text(b"a\xffb") == "a\ufffdb"


@given(st.binary(max_size=200))
def test_any_bytes_give_transcripts_or_a_format_error(data: bytes) -> None:
    try:
        found = parse_transcripts(decode_text(data), name="upload")
    except FormatError:
        return
    assert all(one.messages for one in found)


HUGE = 2**63


def asked(counted: int) -> JsonObject:
    """A request to OpenAI with its response."""
    answer: JsonObject = {"message": {"role": "assistant", "content": "b"}, "finish_reason": "stop"}
    usage: JsonObject = {"prompt_tokens": counted, "completion_tokens": 1}
    return {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "a"}],
        "response": {"object": "chat.completion", "choices": [answer], "usage": usage},
    }


def answered(counted: int) -> JsonObject:
    """An answer in a session of Claude Code."""
    usage: JsonObject = {"input_tokens": 1, "output_tokens": counted}
    said: JsonObject = {
        "id": f"m{counted}",
        "role": "assistant",
        "content": [{"type": "text", "text": "b"}],
        "usage": usage,
    }
    return {"type": "assistant", "uuid": str(counted), "sessionId": "s", "message": said}


@pytest.mark.parametrize(
    ("record", "field"), [(asked, "prompt_tokens"), (answered, "output_tokens")]
)
def test_a_count_that_no_database_holds_is_refused_with_line_and_field(
    record: Callable[[int], JsonObject], field: str
) -> None:
    text = "\n".join(json.dumps(record(counted)) for counted in (7, HUGE))

    with pytest.raises(FormatError, match=f"{field}.*larger than any count") as refused:
        parse_transcripts(text, name="a.jsonl")

    assert (refused.value.path, refused.value.line) == ("a.jsonl", 2)
