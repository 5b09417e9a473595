"""A file is imported as its text is, without being held as a whole."""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine import exchange
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import ImportRefusedError
from ctxcore.engine.sources import ImportSource
from ctxcore.errors import FormatError
from ctxcore.formats import file_messages
from ctxcore.formats.records import decode_text
from ctxcore.store.sql import open_store
from tests.small_transcript import claude_code_lines
from tests.unit.cli.files import compacted_session

TALKS = [
    {"id": f"talk-{at}", "messages": [{"role": "user", "content": f"Where to, 第{at}?"}]}
    for at in range(3)
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield ContextEngine(store)
    store.close()


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, TALKS)), encoding="utf-8")
    return path


def digests(engine: ContextEngine, ids: list[str]) -> list[str]:
    return [engine.digest(own) for own in ids]


def test_a_file_becomes_the_sessions_that_its_text_becomes(
    engine: ContextEngine, talks: Path
) -> None:
    steps: list[tuple[int, int]] = []
    whole = engine.import_(talks.read_text(encoding="utf-8"), name=str(talks))
    streamed = engine.import_file(talks, on_progress=lambda done, of: steps.append((done, of)))

    assert digests(engine, [one.id for one in streamed]) == digests(
        engine, [one.id for one in whole]
    )
    assert [one.title for one in streamed] == [one.title for one in whole]
    assert steps == [(1, 1)] * 3


def test_a_long_session_is_written_in_small_batches(
    engine: ContextEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = compacted_session(tmp_path / "session.jsonl")
    (short,) = engine.import_file(path)
    monkeypatch.setattr(file_messages, "_LEAST_BYTES", 0)
    monkeypatch.setattr(exchange, "_BATCH_CHARS", 1)
    steps: list[int] = []

    (long,) = engine.import_file(path, on_progress=lambda done, _all: steps.append(done))

    assert engine.digest(long.id) == engine.digest(short.id)
    assert steps == list(range(1, long.length + 1))
    assert len(engine.compactions(long.id)) == len(engine.compactions(short.id)) > 0


def test_only_the_named_places_are_imported_in_the_order_they_are_named(
    engine: ContextEngine, talks: Path
) -> None:
    found = engine.import_file(talks, places=[2, 0])

    assert [one.title for one in found] == ["Where to, 第2?", "Where to, 第0?"]
    assert [*engine.file_imported_before(talks)] == [0, 2]
    with pytest.raises(IndexError):
        engine.import_file(talks, places=[0, 3])
    assert len(engine.sessions()) == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_a_file_and_its_text_are_the_same_import(
    engine: ContextEngine, tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "talk.json"
    path.write_text('[{"role": "user", "content": "Wie spät?"}]', encoding=encoding)
    text = decode_text(path.read_bytes())

    (from_file,) = engine.import_file(path)
    assert engine.imported_before(text)[0].session.id == from_file.id
    (from_text,) = engine.import_(text)
    assert engine.file_imported_before(path)[0].session.id == from_text.id


def test_pieces_end_anywhere_and_the_digest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "日本語 — " * 20
    path = tmp_path / "text"
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    whole = ImportSource.of_text(text, name="")
    expected = whole.digest
    monkeypatch.setattr("ctxcore.formats.records._PIECE_BYTES", 7)

    assert ImportSource.of_file(path).text == text
    assert ImportSource.of_file(path).digest == expected


def test_an_export_comes_back_from_its_file(engine: ContextEngine, tmp_path: Path) -> None:
    (session,) = engine.import_(claude_code_lines(), name="x.jsonl")
    path = tmp_path / "export.jsonl"
    path.write_text(engine.export(session.id), encoding="utf-8")

    (preview,) = engine.preview_file(path)
    (back,) = asyncio.run(engine.aimport_file(path))

    assert (preview.format, preview.messages) == ("ctxcore", session.length)
    assert engine.digest(back.id) == engine.digest(session.id)
    path.write_text(engine.export(session.id)[:-200], encoding="utf-8")
    with pytest.raises(ImportRefusedError):
        engine.preview_file(path)


@pytest.mark.parametrize("end", [", {]", ""])
def test_nothing_of_a_file_that_is_damaged_at_its_end_is_kept(
    engine: ContextEngine, tmp_path: Path, end: str
) -> None:
    path = tmp_path / "talks.json"
    path.write_text("[" + ", ".join(map(json.dumps, TALKS)) + end, encoding="utf-8")

    for verb in (engine.preview_file, engine.import_file):
        with pytest.raises(FormatError) as raised:
            verb(path)
        assert raised.value.path == str(path)
    assert engine.sessions() == []
    assert engine.file_imported_before(path) == {}


def test_nothing_is_left_of_an_import_that_cannot_be_written_to_its_end(
    engine: ContextEngine, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append, left = engine.store.append, [2]

    def failing(_: object, *given: Any, **named: Any) -> list[int]:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("the disk is full")
        return append(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(type(engine.store), "append", failing)
        with pytest.raises(OSError, match="full"):
            engine.import_file(talks)

    assert engine.sessions() == []
    assert engine.purge_expired() == []  # it is erased already
    assert engine.file_imported_before(talks) == {}
    assert len(engine.import_file(talks)) == 3


def test_a_file_that_is_not_there_is_named(engine: ContextEngine, tmp_path: Path) -> None:
    for verb in (engine.preview_file, engine.import_file, engine.file_imported_before):
        with pytest.raises(FormatError, match=r"gone\.json"):
            verb(tmp_path / "gone.json")
