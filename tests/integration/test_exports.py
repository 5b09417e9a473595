"""Sessions exported from an engine: what comes back, compactions, usage, many at once, tables."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ConfigurationError, FormatError
from ctxcore.exports import usage
from ctxcore.exports.files import write_zip
from ctxcore.exports.registry import EXPORT_FORMS, register_export_form
from ctxcore.exports.values import ExportError, ExportForm, one_file_each
from ctxcore.formats.reading import find_transcripts, parse_transcripts
from tests.engines import engine_with
from tests.small_transcript import claude_code_lines

READABLE = [name for name, form in EXPORT_FORMS.items() if form.is_readable]


def imported(engine: ContextEngine) -> str:
    """A session that Claude Code compacted before its last answer but one."""
    lines = claude_code_lines().splitlines()
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": "auto", "preTokens": 9_500},
        "uuid": "b1",
        "parentUuid": None,
        "logicalParentUuid": "u5",
        "timestamp": "2026-03-02T09:00:05.500Z",
    }
    summary = {
        "type": "user",
        "isCompactSummary": True,
        "uuid": "b2",
        "parentUuid": "b1",
        "message": {"role": "user", "content": "The greeting was edited."},
    }
    after = [line.replace('"parentUuid": "u5"', '"parentUuid": "b2"') for line in lines[5:]]
    text = "\n".join([*lines[:5], json.dumps(boundary), json.dumps(summary), *after])
    (session,) = engine.import_(text, name="small.jsonl")
    return session.id


@pytest.mark.parametrize("form", READABLE)
def test_what_was_exported_is_imported_with_the_same_texts(form: str) -> None:
    with engine_with() as (engine, _):
        session_id = imported(engine)

        (copy,) = engine.import_(engine.export(session_id, form), name="copy")

        before, after = (
            [(info.message.role, info.message.text) for info in engine.store.messages(one)]
            for one in (session_id, copy.id)
        )
        assert [one for one in after if one[1]] == [one for one in before if one[1]]
        assert form != "native" or engine.digest(copy.id) == engine.digest(session_id)


def test_a_claude_code_export_keeps_messages_usage_and_compactions() -> None:
    with engine_with() as (engine, _):
        session_id = imported(engine)
        exported = engine.export(session_id, "claude-code")

        (copy,) = engine.import_(exported, name="copy.jsonl")

        messages = [
            [info.message for info in engine.store.messages(i)] for i in (session_id, copy.id)
        ]
        assert messages[0] == messages[1]
        compactions = [engine.store.imported_compactions(i) for i in (session_id, copy.id)]
        assert compactions[0]
        assert compactions[0] == compactions[1]
        assert _usage(engine, session_id) == _usage(engine, copy.id)
        assert engine.export(session_id, "claude-code") == exported
    records = [json.loads(line) for line in exported.splitlines()]
    linked = [one for one in records if "uuid" in one]
    parents = [one["parentUuid"] or one.get("logicalParentUuid") for one in linked]
    assert parents == [None, *(one["uuid"] for one in linked[:-1])]


def _usage(engine: ContextEngine, session_id: str) -> list[tuple[object, ...]]:
    return [
        (c.seq, c.model, c.input_tokens, c.cached_tokens, c.cache_write_tokens, c.output_tokens)
        for c in engine.calls(session_id)
    ]


@pytest.mark.parametrize("form", ["claude-code", "markdown"])
def test_a_compaction_in_force_is_exported_and_an_undone_one_is_not(form: str) -> None:
    with engine_with() as (engine, _):
        session = engine.create_session("Long")
        for nth in range(8):
            engine.append(
                session.id, [{"role": "user", "content": f"Order {nth} " + "word " * 200}]
            )
            engine.append(session.id, [{"role": "assistant", "content": f"Noted order {nth}."}])
        engine.compact(session.id)
        made = engine.store.compactions(session.id)[-1]

        [read] = parse_transcripts(engine.export(session.id, form), name="a")
        engine.undo(session.id)
        [undone] = parse_transcripts(engine.export(session.id, form), name="a")

    [compaction] = read.compactions
    assert compaction.summary == made.compaction.summary
    assert compaction.at == made.compaction.covered_until
    assert compaction.before_tokens == made.compaction.before_tokens
    assert undone.compactions == ()


def test_a_page_shows_roles_compactions_tokens_and_cost() -> None:
    with engine_with() as (engine, _):
        page = engine.export(imported(engine), "html")

    assert '<section class="compaction">' in page
    assert "<details><summary>" in page
    assert "4 calls · " in page
    assert "cost $" in page


def test_many_sessions_are_a_file_each_with_names_of_their_own() -> None:
    with engine_with() as (engine, _):
        ids = [engine.create_session("Same / title").id for _ in range(2)]
        for session_id in ids:
            engine.append(session_id, [{"role": "user", "content": "hello"}])
        out = io.BytesIO()

        numbers = list(write_zip(out, engine.export_many(ids, "markdown")))

    with zipfile.ZipFile(out) as packed:
        names = packed.namelist()
    assert numbers == [1, 2]
    assert len({*names}) == 2
    assert all(name.startswith("Same _ title-") and name.endswith(".md") for name in names)


def test_a_table_of_usage_holds_the_calls_of_all_sessions() -> None:
    with engine_with() as (engine, _):
        ids = [imported(engine), imported(engine)]
        calls = [call for one in ids for call in engine.calls(one)]

        [table] = engine.export_many(ids, "usage-csv")
        [empty] = engine.export_many([], "usage-csv")
        [file] = engine.export_many(ids, "usage-parquet")

    rows = list(csv.DictReader(io.StringIO(table.data.decode("utf-8-sig"))))
    assert table.name == "ctxcore-usage-csv.csv"
    assert [row["session_id"] for row in rows] == [call.session_id for call in calls]
    assert [int(row["input_tokens"]) for row in rows] == [call.input_tokens for call in calls]
    assert [float(row["cost_dollars"]) for row in rows] == [call.cost for call in calls]
    assert empty.data.decode("utf-8-sig").strip() == ",".join(usage.COLUMNS)
    read = _read_parquet(file.data)
    assert list(read[0]) == list(usage.COLUMNS)
    assert [row["input_tokens"] for row in read] == [call.input_tokens for call in calls]
    assert [row["called_at"] for row in read] == [call.created_at for call in calls]


def _read_parquet(data: bytes) -> list[dict[str, Any]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, Any]] = parquet.read_table(io.BytesIO(data)).to_pylist()
    return rows


def test_without_pyarrow_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "is_installed", lambda name: False)

    with (
        engine_with() as (engine, _),
        pytest.raises(ConfigurationError, match=r"pyarrow.*ctxcore-window\[parquet\]"),
    ):
        list(engine.export_many([imported(engine)], "usage-parquet"))


def test_a_form_that_is_unknown_or_no_text_is_refused() -> None:
    with engine_with() as (engine, _):
        session_id = imported(engine)
        with pytest.raises(ExportError, match=r"no form of export 'word'; one of .*native"):
            engine.export(session_id, "word")
        with pytest.raises(ExportError, match="export_many"):
            engine.export(session_id, "usage-csv")


def test_a_program_may_register_a_form() -> None:
    titles = ExportForm(
        name="title",
        suffix=".txt",
        media_type="text/plain",
        write=one_file_each(lambda content: content.session.title),
    )
    with engine_with() as (engine, _), EXPORT_FORMS.restored():
        register_export_form(titles)

        assert engine.export(engine.create_session("Plan").id, "title") == "Plan"


HEAD = '<!-- ctxcore.markdown {"version":1,"title":"T"} -->\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD.replace("1", "9", 1), "version 9 is not supported"),
        (HEAD, "contains no conversation"),
        ("<!-- a page -->\n# Title\n", "contains no conversation"),
    ],
)
def test_markdown_without_a_conversation_says_why(text: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        parse_transcripts(text, name="a.md")


def test_damaged_parts_of_markdown_are_reported_and_the_rest_is_read() -> None:
    said = '<!-- message {"role":"user"} -->\n\n<!-- text {} -->\n\n> hello\n'
    odd = '<!-- message {"role":"robot"} -->\n<!-- text {} -->\n> beep\n'
    part = "<!-- part {} -->\n```json\n[]\n```\n"

    [read] = parse_transcripts(f"{HEAD}{said}{part}{odd}<!-- hologram {{}} -->\n", name="a.md")

    assert [message.text for message in read.messages] == ["hello"]
    assert [problem.line for problem in read.problems] == [7, 11, 14]


def test_only_exported_markdown_is_read_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Notes\n")
    (tmp_path / "chat.md").write_text(HEAD)

    assert find_transcripts(tmp_path) == [tmp_path / "chat.md"]
