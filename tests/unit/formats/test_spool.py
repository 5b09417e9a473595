"""What is read of a very long session is kept in a temporary file, and comes back as it was."""

from __future__ import annotations

import pickle
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from ctxcore.errors import FormatError
from ctxcore.formats import file_messages, spool
from ctxcore.formats.reading import parse_transcripts, read_transcripts
from ctxcore.formats.spool import LazySequence, Spool, SpoolError
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import JsonObject
from tests.small_transcript import claude_code_lines
from tests.unit.formats.transcript_files import TIME, jsonl

WORDS = "words " * 100


@pytest.fixture
def few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_MOST_HELD", 10)


@pytest.mark.usefixtures("few_held")
def test_values_come_back_in_any_order_and_as_often_as_asked_for() -> None:
    kept = Spool[str]()

    places = [kept.append(letter * 4, size=4) for letter in "abcde"]

    assert places == [0, 1, 2, 3, 4]
    assert not kept.is_held
    assert list(kept) == list(kept) == ["aaaa", "bbbb", "cccc", "dddd", "eeee"]
    assert [kept[at] for at in (4, 0, 3, -1, -5)] == ["eeee", "aaaa", "dddd", "eeee", "aaaa"]
    assert list(kept[1:4]) == ["bbbb", "cccc", "dddd"]
    assert kept.append("f", size=1) == 5  # behind those in the file, however small it is
    assert kept[5] == "f"
    with pytest.raises(IndexError):
        kept[6]


def test_a_short_session_needs_no_file() -> None:
    kept = Spool[str]()

    kept.append("short", size=5)

    assert kept.is_held
    assert list(kept) == ["short"]


@pytest.mark.usefixtures("few_held")
def test_its_file_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def noted(*, buffering: int) -> Any:
        opened.append(TemporaryFile(buffering=buffering))  # noqa: SIM115 – the spool closes it
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", noted)
    kept = Spool[str]()
    kept.append("x" * 20, size=20)
    [file] = opened
    assert not file.closed

    del kept

    assert file.closed


class FullDisk:
    """A file on a disk that takes a few bytes and no more."""

    def seek(self, at: int) -> None: ...

    def close(self) -> None: ...

    def write(self, data: memoryview) -> int:
        if len(data) > 5:
            return 5
        raise OSError(28, "No space left on device")


@pytest.mark.usefixtures("few_held")
def test_a_full_disk_is_told_with_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: FullDisk())
    monkeypatch.setattr(tempfile, "tempdir", "/full")
    with pytest.raises(SpoolError):
        Spool[str]().append("x" * 20, size=20)
    path = tmp_path / "rollout.jsonl"
    path.write_text(rollout(calls=2))

    with pytest.raises(FormatError) as raised:
        read_transcripts(path)

    assert raised.value.code == "file.no_room"
    assert str(path) in str(raised.value)
    assert "/full" in str(raised.value)


def rollout(*, calls: int) -> str:
    def record(kind: str, payload: JsonObject) -> JsonObject:
        return {"timestamp": TIME, "type": kind, "payload": payload}

    records = [record("session_meta", {"id": "t", "timestamp": TIME, "cwd": "/"})]
    for nth in range(calls):
        made = {"type": "function_call", "name": "ls", "call_id": f"c{nth}", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"c{nth}", "output": WORDS * 10}
        records += [record("response_item", {**made}), record("response_item", {**output})]
    return jsonl(*records)


def test_a_long_rollout_takes_little_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spool, "_MOST_HELD", 100_000)
    path = tmp_path / "rollout.jsonl"
    path.write_text(rollout(calls=1_000))
    read_transcripts(path)  # what is loaded once

    tracemalloc.start()
    [found] = read_transcripts(path)
    chars = sum(len(message.text) for message in found.messages)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert isinstance(found, Transcript)
    assert chars == 1_000 * len(WORDS * 10)
    assert peak < path.stat().st_size / 3


@pytest.mark.usefixtures("few_held")
@pytest.mark.parametrize("lines", [rollout(calls=3), claude_code_lines()])
def test_a_long_session_can_be_sent_to_another_process(
    monkeypatch: pytest.MonkeyPatch, lines: str
) -> None:
    monkeypatch.setattr(file_messages, "_LEAST_BYTES", 0)
    [found] = parse_transcripts(lines, name="long.jsonl")
    assert isinstance(found.messages, LazySequence)

    there = pickle.loads(pickle.dumps(found))

    assert there == replace(found, messages=tuple(found.messages), usage=tuple(found.usage))
