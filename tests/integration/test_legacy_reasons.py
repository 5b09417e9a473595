"""Databases and exports of before reasons were codes: each reason is recovered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore.engine.errors import ImportRefusedError
from ctxcore.engine.native_reading import parse_native
from ctxcore.migrations import legacy_reasons
from ctxcore.reasons.values import LEGACY, Reason, from_json, known_codes
from ctxcore.store.sql import open_store
from tests.engines import engine_with

HERE = Path(__file__).parent / "legacy"
EXPORTS = sorted((HERE / "exports").glob("*.jsonl"))
SENTENCES = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))

FOREIGN = (
    "the proxy is asleep",
    "RuntimeError: the disk is full",
    "ValueError: ",
    "the archive is closed",
    "is damaged (message, role",
    "message 3, content[0], text: is missing",
    "scripts.json",
    "tools[2]: is an object",
)
"""Parts of sentences that others wrote, or that only an error of the program puts there."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database as the release before left it."""
    file = tmp_path / "before.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript((HERE / "before_reason_codes.sql").read_text(encoding="utf-8"))
    return file


def stored(path: Path) -> Iterator[tuple[str, str]]:
    """Every sentence in the database, with the place that holds it."""
    with closing(sqlite3.connect(path)) as connection:
        for identity, body in connection.execute("SELECT id, body FROM compaction"):
            yield f"compaction {identity}", json.loads(body)["reason"]
        for identity, error in connection.execute("SELECT id, error FROM turn"):
            yield f"turn {identity}", error
        for identity, error, runs in connection.execute("SELECT id, error, runs FROM call"):
            yield f"call {identity}", error
            for run in json.loads(runs):
                yield f"call {identity} run {run[0]}", run[3]
        for identity, body in connection.execute("SELECT id, body FROM event"):
            told = json.loads(body)
            yield f"event {identity} trigger", told.get("trigger")
            yield f"event {identity} reason", told.get("reason")


def all_codes(raw: object) -> Iterator[str]:
    if isinstance(raw, Mapping):
        if isinstance(raw.get("code"), str):
            yield raw["code"]
        for inner in raw.values():
            yield from all_codes(inner)
    elif isinstance(raw, list):
        for inner in raw:
            yield from all_codes(inner)


def untold(sentence: str) -> str:
    """A sentence of today without the numbers that nobody had told."""
    for blank in (": needed ?, limit ?", "needed ?, ", ", limit ?"):
        sentence = sentence.replace(blank, "")
    return sentence


def test_every_reason_in_a_database_says_what_it_said(path: Path) -> None:
    before = {place: text for place, text in stored(path) if text}
    with closing(open_store(str(path))):
        pass
    after = {place: raw for place, raw in stored(path) if raw}

    assert before.keys() == after.keys()
    assert len(before) > 300
    for place, text in before.items():
        raw = json.loads(after[place]) if isinstance(after[place], str) else after[place]
        reason = from_json(raw)
        assert untold(str(reason)) == text, place
        if LEGACY in all_codes(raw):
            assert any(words in text for words in FOREIGN), text
        assert all(code in known_codes() for code in all_codes(raw))


def test_records_calls_turns_and_questions_are_read_as_values(path: Path) -> None:
    with closing(open_store(str(path))) as store:
        sessions = store.list_sessions(listed="all")
        assert sessions
        for session in sessions:
            for info in store.compactions(session.id):
                record = info.compaction
                assert isinstance(record.trigger, Reason)
                assert isinstance(record.reason, Reason)
                assert "trigger" not in info.details
                if record.trigger.code not in ("trigger.recorded", "trigger.refused"):
                    assert all(isinstance(one, int) for one in record.trigger.facts.values())
            for call in store.calls(session.id):
                assert all(isinstance(run.reason, Reason) for run in call.runs)
                assert call.error is None or isinstance(call.error, Reason)


def test_every_listed_sentence_is_in_the_database(path: Path) -> None:
    listed = {one["text"] for one in SENTENCES if one["where"] in ("turn.error", "run.reason")}
    assert listed <= {text for _, text in stored(path) if text}


@pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)
def test_an_export_of_before_is_read_with_every_reason(export: Path) -> None:
    text = export.read_text(encoding="utf-8")
    file = parse_native(text, name=export.name)
    lines = [json.loads(line) for line in text.splitlines()]
    records = [line["record"] for line in lines if line["type"] == "compaction"]

    for (_, record, _, _), raw in zip(file.compactions, records, strict=True):
        assert record.reason is not None
        assert untold(str(record.reason)) == raw["reason"]
    errors = [line["error"] for line in lines if line["type"] == "call"]
    read = [call["error"] and str(from_json(call["error"])) for call in file.calls]
    assert read == errors


def test_an_export_of_before_that_was_changed_is_refused() -> None:
    text = EXPORTS[0].read_text(encoding="utf-8")
    changed = text.replace('"asked for: ', '"little remains: ', 1)
    assert changed != text

    with pytest.raises(ImportRefusedError, match="damaged or changed"):
        parse_native(changed, name="changed.jsonl")


def test_an_export_that_is_imported_keeps_its_reasons() -> None:
    with engine_with() as (engine, _):
        for export in EXPORTS:
            text = export.read_text(encoding="utf-8")
            (session,) = engine.import_(text)
            again = parse_native(engine.export(session.id), name="again").compactions
            before = parse_native(text, name="before").compactions
            assert [(one[1].trigger, one[1].reason) for one in again] == [
                (one[1].trigger, one[1].reason) for one in before
            ]


@pytest.mark.parametrize(
    "text",
    ["", "not smaller: many tokens before, 3 after", "skipped:", "; truncated instead", "task : 3"],
)
def test_what_is_not_recognised_stays_as_it_was(text: str) -> None:
    raw = legacy_reasons.error(text)
    assert raw is not None
    assert str(from_json(raw)) == text
