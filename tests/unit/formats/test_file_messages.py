"""Messages of a long session are read from their file when they are asked for, and are the same."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from ctxcore.formats import file_messages
from ctxcore.formats.file_messages import FileMessages
from ctxcore.formats.reading import parse_transcripts, read_transcripts
from ctxcore.messages.values import Message
from tests.unit.formats.session_lines import answer, call, jsonl, prompt, result, text

SESSION = jsonl(
    prompt("u1", None, "look at both"),
    answer("a1", "u1", "m1", text("I look"), call("c1")),
    answer("a2", "a1", "m1", call("c2")),
    prompt(
        "r1",
        "a2",
        [
            {"type": "tool_result", "tool_use_id": "c2", "content": "two"},
            {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
            text("and hurry"),
        ],
    ),
    prompt("n1", "r1", "a note", isMeta=True),
    answer("a3", "n1", "m2", text("done")),
)


@pytest.fixture
def read_later(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages as a tuple; from here on they are read when they are asked for."""
    (whole,) = parse_transcripts(SESSION, name="s.jsonl")
    monkeypatch.setattr(file_messages, "_LEAST_BYTES", 0)
    monkeypatch.setattr(file_messages, "_BATCH_BYTES", 300)
    return list(whole.messages)


def test_they_are_the_same_in_any_order_and_as_often_as_asked_for(
    read_later: list[Message],
) -> None:
    (found,) = parse_transcripts(SESSION, name="s.jsonl")

    assert isinstance(found.messages, FileMessages)
    assert len(found.messages) == len(read_later) == 7
    assert list(found.messages) == list(found.messages) == read_later
    assert [found.messages[at] for at in range(-7, 7)] == read_later * 2
    assert list(found.messages[4:1:-1]) == read_later[4:1:-1]
    with pytest.raises(IndexError):
        found.messages[7]


def test_a_file_that_changed_meanwhile_is_an_error(
    read_later: list[Message], tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(SESSION, encoding="utf-8")
    (found,) = read_transcripts(path)
    path.write_text(SESSION.replace("look at both", "            "), encoding="utf-8")

    assert found.messages[-1] == read_later[-1]
    with pytest.raises(ValueError, match="changed since it was read"):
        found.messages[0]


def test_of_a_long_session_little_is_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    filler = "word " * 4_000
    with path.open("w", encoding="utf-8") as file:
        for at in range(600):
            before = f"r{at - 1}" if at else None
            file.write(jsonl(answer(f"a{at}", before, f"m{at}", call(f"c{at}"))))
            file.write(jsonl(result(f"r{at}", f"a{at}", (f"c{at}", filler))))
    tracemalloc.start()
    (found,) = read_transcripts(path)
    chars = sum(len(message.text) for message in found.messages)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert chars == 600 * len(filler)
    assert peak < chars / 1.5
    assert json.dumps(found.title)
