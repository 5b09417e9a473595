"""Databases and exports of before reasons were codes: each reason is recovered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore.engine.errors import ImportRefusedError
from ctxcore.engine.native import parse_native
from ctxcore.errors import ContextError
from ctxcore.migrations import legacy_reasons
from ctxcore.reasons.values import LEGACY, Reason, blanks, from_json, known_codes, to_json
from ctxcore.store.sql import open_store
from tests.engines import engine_with

HERE = Path(__file__).parent / "legacy"
EXPORTS = sorted((HERE / "exports").glob("*.jsonl"))
SENTENCES = json.loads((HERE / "sentences.json").read_text(encoding="utf-8"))
REWORDED: dict[str, str] = json.loads((HERE / "reworded.json").read_text(encoding="utf-8"))
"""The texts that codes had in that release, where they have another one today."""

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


def as_it_was(reason: Reason) -> str:
    """The sentence of that release: without the numbers that nobody had told."""
    with pytest.MonkeyPatch.context() as patch:
        for code, text in REWORDED.items():
            patch.setattr(known_codes()[code], "text", text)
        sentence = str(reason)
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
        assert as_it_was(reason) == text, place
        if LEGACY in all_codes(raw):
            assert any(words in text for words in FOREIGN), text
        assert all(code in known_codes() for code in all_codes(raw))


def test_only_recovered_codes_with_other_words_today_are_compared_in_their_old_ones(
    path: Path,
) -> None:
    with closing(open_store(str(path))):
        pass
    found: set[str] = set()
    for _, raw in stored(path):
        found.update(all_codes(json.loads(raw) if isinstance(raw, str) and raw else raw))
    for export in EXPORTS:
        file = parse_native(export.read_text(encoding="utf-8"), name=export.name)
        found.update(code for call in file.calls for code in all_codes(call["error"]))
        for _, record, _, _ in file.compactions:
            found.update(all_codes(to_json(record.reason)) if record.reason else ())

    assert REWORDED.keys() <= found
    for code, text in REWORDED.items():
        assert known_codes()[code].text != text
        assert blanks(known_codes()[code].text) == blanks(text)


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
        assert as_it_was(record.reason) == raw["reason"]
    errors = [line["error"] for line in lines if line["type"] == "call"]
    read = [call["error"] and as_it_was(from_json(call["error"])) for call in file.calls]
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


DAMAGE: dict[str, tuple[str, str, str | bytes]] = {
    "runs that are no JSON": ("call", "runs", "[[0,"),
    "runs of numbers": ("call", "runs", "[1, 2]"),
    "runs that are null": ("call", "runs", "null"),
    "a body that is no JSON": ("compaction", "body", "{"),
    "a body that is a list": ("compaction", "body", "[1]"),
    "details that are null": ("compaction", "details", "null"),
    "a trigger without names": ("compaction", "details", '{"trigger":{"numbers":[1]}}'),
    "an event that is no JSON": ("event", "body", "nope"),
    "a number without digits": ("event", "body", '{"trigger":"a: tokens ,"}'),
    "a question that is no JSON": ("setting", "value", "{"),
    "a question without numbers": ("setting", "value", '{"rule":"asked for","numbers":[1]}'),
    "an error that is no UTF-8": ("turn", "error", b"61ff62"),
    "runs that are no UTF-8": ("call", "runs", b"5bff"),
    "sentences within sentences": ("turn", "error", "a: " * 1_200 + "b"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_row_leaves_all_others_readable(path: Path, damage: str) -> None:
    table, column, value = DAMAGE[damage]
    with closing(sqlite3.connect(path)) as connection, connection:
        key = "name" if table == "setting" else "id"
        (row,) = connection.execute(f'SELECT min({key}) FROM "{table}"').fetchone()
        if table == "setting":
            row = "confirmation:damaged"
            connection.execute("INSERT INTO setting VALUES (?, ?)", (row, value))
        else:
            made = "?" if isinstance(value, str) else f"CAST(x'{value.decode()}' AS TEXT)"
            values = (value, row) if isinstance(value, str) else (row,)
            connection.execute(f'UPDATE "{table}" SET {column} = {made} WHERE {key} = ?', values)
    with closing(open_store(str(path))) as store:
        sessions = store.list_sessions(listed="all")
        unread = 0
        for session in sessions:
            try:
                store.calls(session.id)
                store.compactions(session.id)
                store.turns(session.id)
            except (ContextError, ValueError, TypeError):
                unread += 1
        assert sessions
        assert unread <= 1


@pytest.mark.parametrize(
    "value",
    ["{1, 2}", "b'a'", "1+2j", "{'a': 1}", "{(1, 2): 3}", "{[]: 1}", "[1, 'a']", "(1, [2])"],
)
def test_a_value_that_is_no_fact_stays_in_its_words(value: str) -> None:
    text = f"policy field 'x' is {value}; allowed: yes or no"
    raw = legacy_reasons.error(text)
    assert str(from_json(json.loads(json.dumps(raw)))) == text


def test_a_database_that_went_back_a_revision_keeps_its_reasons(path: Path) -> None:
    with closing(open_store(str(path))) as store:
        before = {
            turn.id: turn.error for one in store.list_sessions() for turn in store.turns(one.id)
        }
    with closing(sqlite3.connect(path)) as connection, connection:
        for name in ("trigger", "reason"):
            column = f"{name} TEXT NOT NULL DEFAULT ''"
            connection.execute(f"ALTER TABLE compaction ADD COLUMN {column}")
        connection.execute("DROP INDEX ix_call_counted")
        for table, name in (
            ("session", "count_factor"),
            *(("call", name) for name in ("counter_id", "count_factor", "is_comparable")),
        ):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        connection.execute("UPDATE alembic_version SET version_num = '0003'")
    with closing(open_store(str(path))) as store:
        after = {
            turn.id: turn.error for one in store.list_sessions() for turn in store.turns(one.id)
        }
    assert before == after


@pytest.mark.parametrize("version", [True, 1.0, 2.0, "1"])
def test_a_version_is_a_whole_number(version: object) -> None:
    head, rest = EXPORTS[0].read_text(encoding="utf-8").split("\n", 1)
    changed = json.dumps({**json.loads(head), "version": version})
    with pytest.raises(ImportRefusedError, match="version"):
        parse_native(f"{changed}\n{rest}", name="changed.jsonl")


@pytest.mark.parametrize("runs", [[1], [None], {"a": 1}, [[0, 1]], "abc"])
def test_a_line_that_cannot_be_translated_is_refused(runs: object) -> None:
    lines = [json.loads(line) for line in EXPORTS[0].read_text(encoding="utf-8").splitlines()]
    lines[-1].pop("digest")
    lines.insert(-1, {"type": "call", "purpose": "chat", "runs": runs})
    with pytest.raises(ImportRefusedError, match=f"line {len(lines) - 1}"):
        parse_native("\n".join(map(json.dumps, lines)), name="changed.jsonl")


def test_a_line_that_is_nested_too_deeply_is_refused() -> None:
    head = EXPORTS[0].read_text(encoding="utf-8").split("\n", 1)[0]
    with pytest.raises(ImportRefusedError, match="line 2"):
        parse_native(head + "\n" + "[" * 100_000 + "]" * 100_000, name="deep.jsonl")
