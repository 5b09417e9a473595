"""What is damaged in one session stays there: other sessions, and the rest of it, are used on."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ctxcore.assembly.legality import lint
from ctxcore.cli import app
from ctxcore.engine.core import ContextEngine
from ctxcore.errors import ContextError
from ctxcore.exports.files import write_zip
from ctxcore.store import open_store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TURNS = 6
LAST = 1 + 4 * TURNS
MODEL = "gpt-4o"

MESSAGES = {
    "a summarized answer": ("UPDATE message SET body = '{' WHERE session_id = ? AND seq = 5",),
    "a request": (f"UPDATE message SET body = '{{' WHERE session_id = ? AND seq = {LAST - 3}",),
    "a call": (f"UPDATE message SET body = 'null' WHERE session_id = ? AND seq = {LAST - 2}",),
    "a result": (f"UPDATE message SET body = '' WHERE session_id = ? AND seq = {LAST - 1}",),
    "an answer": (f"UPDATE message SET body = '[]' WHERE session_id = ? AND seq = {LAST}",),
    "a missing request": (f"DELETE FROM message WHERE session_id = ? AND seq = {LAST - 3}",),
    "a missing call": (f"DELETE FROM message WHERE session_id = ? AND seq = {LAST - 2}",),
    "a missing result": (f"DELETE FROM message WHERE session_id = ? AND seq = {LAST - 1}",),
    "a missing end": (f"DELETE FROM message WHERE session_id = ? AND seq = {LAST}",),
    "a missing end with its size": (
        f"DELETE FROM message WHERE session_id = ? AND seq = {LAST}",
        f"DELETE FROM message_tokens WHERE session_id = ? AND seq = {LAST}",
    ),
}
RECORDS = {
    "the compaction": ("UPDATE compaction SET body = '{' WHERE session_id = ?",),
    "the tools": ("UPDATE session SET tools = '{' WHERE id = ?",),
    "the working state": ("UPDATE session SET working = '{' WHERE id = ?",),
    "the system messages": ("UPDATE session SET system_seqs = '{' WHERE id = ?",),
    "the prompts": ("UPDATE session SET system_changes = '{' WHERE id = ?",),
    "the factor": ("UPDATE session SET count_factor = '{' WHERE id = ?",),
    "the recalls": ("UPDATE session SET recalls = '[[1]]' WHERE id = ?",),
    "the rule edits": ("UPDATE session SET rule_edits = '[1]' WHERE id = ?",),
}
DERIVED = {
    "the details": ("UPDATE compaction SET details = '{' WHERE session_id = ?",),
    "the facts": ("UPDATE message SET facts = '{' WHERE session_id = ?",),
    "the notes": ("UPDATE message SET notes = '{' WHERE session_id = ?",),
    "the short texts": ("UPDATE message SET short = '{' WHERE session_id = ?",),
    "a size": (f"DELETE FROM message_tokens WHERE session_id = ? AND seq = {LAST - 2}",),
}
BYTES = {  # of another row, as where a page of the file was overwritten
    "a date": (
        f"UPDATE message SET created_at = '0{{\"facts\"' WHERE session_id = ? AND seq = {LAST}",
    ),
    "a sum": (
        f"UPDATE message_tokens SET cum = x'7b22' WHERE session_id = ? AND seq = {LAST - 1}",
    ),
}
TOLD = MESSAGES | RECORDS
EVERY = TOLD | DERIVED

VERBS: dict[str, Callable[[ContextEngine, str], Any]] = {
    "session": lambda engine, own: engine.session(own),
    "context": lambda engine, own: engine.context(own),
    "state": lambda engine, own: engine.state(own),
    "export": lambda engine, own: engine.export(own),
    "recall": lambda engine, own: engine.recall(own, "apples"),
    "append": lambda engine, own: engine.append(own, [{"role": "user", "content": "Go on."}]),
    "context after": lambda engine, own: engine.context(own),
    "compact": lambda engine, own: engine.compact(own),
    "fork": lambda engine, own: engine.fork(own, LAST - 1),
    "undo": lambda engine, own: engine.undo(own),
    "branches": lambda engine, own: engine.branches(own),
    "losses": lambda engine, own: engine.generations(own),
    "search": lambda engine, own: engine.search("apples"),
    "sessions": lambda engine, own: engine.sessions(),
    "health": lambda engine, own: engine.health(),
    "signals": lambda engine, own: engine.signal_counts(),
    "due": lambda engine, own: engine.due_sessions(),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the sessions `1`, `2` and `3`, all of them compacted."""
    path = tmp_path_factory.mktemp("sound") / "chat.db"
    numbers = count(1)
    with closing(open_store(str(path))) as store:
        ids = map(str, (1, 2, 3, *range(1_000, 2_000)))
        engine = ContextEngine(
            store, model=MODEL, new_id=lambda: next(ids, f"x{next(numbers)}"), clock=lambda: NOON
        )
        for number in (1, 2, 3):
            engine.create_session(title=f"Session {number}")
        for session_id in ("1", "2", "3"):
            engine.set_system(session_id, "You sell fruit.")
            for at in range(TURNS):
                engine.append(session_id, turn(at))
            engine.compact(session_id)
    return path


def turn(at: int) -> list[dict[str, object]]:
    call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        {"role": "user", "content": f"Never use tabs. How many apples are in box {at}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{at}", "content": f"{at} apples"},
        {"role": "assistant", "content": f"There are {at} apples in box {at}."},
    ]


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "chat.db"))


@pytest.fixture
def opened(path: Path) -> Iterator[Callable[..., ContextEngine]]:
    """Opens an engine on the database after session `2` was damaged by statements."""
    stores = []

    def open_damaged(*statements: str) -> ContextEngine:
        with closing(sqlite3.connect(path)) as connection, connection:
            for statement in statements:
                assert connection.execute(statement, ("2",)).rowcount > 0
        stores.append(open_store(str(path)))
        return ContextEngine(stores[-1], model=MODEL)

    yield open_damaged
    for store in stores:
        store.close()


@pytest.mark.parametrize("damage", EVERY)
def test_every_verb_works_with_damage_in_its_session_and_in_another(
    opened: Callable[..., ContextEngine], damage: str
) -> None:
    engine = opened(*EVERY[damage])

    for own in ("2", "1"):
        for verb in VERBS.values():
            verb(engine, own)

    assert {session.id for session in engine.sessions()} >= {"1", "2", "3"}
    assert engine.damage("1") == ()


@pytest.mark.parametrize("damage", BYTES)
def test_values_of_a_wrong_type_fail_as_damage_and_in_their_session_only(
    opened: Callable[..., ContextEngine], damage: str
) -> None:
    engine = opened(*BYTES[damage])

    for verb in VERBS.values():
        with suppress(ContextError):
            verb(engine, "2")
    assert engine.context("1").messages
    assert engine.export("3")


@pytest.mark.parametrize("damage", EVERY)
def test_other_sessions_have_the_context_and_the_export_that_they_had(
    opened: Callable[..., ContextEngine], sound: Path, damage: str
) -> None:
    with closing(open_store(str(sound))) as store:
        whole = ContextEngine(store, model=MODEL)
        before = [(whole.context(own).messages, whole.digest(own)) for own in ("1", "3")]

    engine = opened(*EVERY[damage])

    assert [(engine.context(own).messages, engine.digest(own)) for own in ("1", "3")] == before


@pytest.mark.parametrize("damage", EVERY)
def test_the_context_of_a_damaged_session_is_legal_and_within_its_budget(
    opened: Callable[..., ContextEngine], damage: str
) -> None:
    engine = opened(*EVERY[damage])

    for _ in range(2):
        context = engine.context("2")
        for provider in ("openai", "anthropic", "gemini"):
            assert lint(context.messages, provider) == []
        engine.append("2", turn(9))


@pytest.mark.parametrize("damage", TOLD)
def test_an_export_has_the_rest_and_tells_what_is_damaged(
    opened: Callable[..., ContextEngine], damage: str
) -> None:
    engine = opened(*TOLD[damage])

    files = list(engine.export_many(["1", "2", "3"], "native"))

    assert [len(file.damage) for file in files] == [0, 1, 0]
    assert files[1].damage == engine.damage("2")
    assert len(json.loads(files[1].data.split(b"\n")[0])["damage"]) == 1
    [again] = engine.import_(files[1].data.decode(), name="again.jsonl")
    assert again.length == LAST
    packed = io.BytesIO()
    assert list(write_zip(packed, files)) == [1, 2, 3]
    assert len(zipfile.ZipFile(packed).namelist()) == 3


@pytest.mark.parametrize("form", ["markdown", "html", "claude-code"])
def test_other_forms_say_in_its_place_that_a_message_is_damaged(
    opened: Callable[..., ContextEngine], form: str
) -> None:
    engine = opened(*MESSAGES["an answer"])

    assert f"Message {LAST} cannot be read" in engine.export("2", form)


@pytest.mark.parametrize("damage", ["an answer", "a missing end", "the compaction"])
def test_a_context_tells_what_is_damaged(opened: Callable[..., ContextEngine], damage: str) -> None:
    engine = opened(*TOLD[damage])

    assert engine.context("2").notices == engine.damage("2")
    assert engine.context("1").notices == ()


def test_the_command_line_exports_the_rest_and_fails_with_the_places(
    opened: Callable[..., ContextEngine], path: Path, tmp_path: Path
) -> None:
    opened(*MESSAGES["a call"], *RECORDS["the compaction"])
    out = tmp_path / "out"
    out.mkdir()

    done = CliRunner().invoke(
        app, ["export", "--all", "--out", str(out), "--database", str(path)], env={"COLUMNS": "100"}
    )

    assert done.exit_code == 1
    assert len(list(out.iterdir())) == 3
    assert f"message {LAST - 2} cannot be read" in done.stderr
    assert "compaction 1 cannot be read" in done.stderr
    assert "2 parts of the sessions cannot be read" in done.stderr
