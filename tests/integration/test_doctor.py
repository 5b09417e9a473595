"""`ctxcore doctor`, `backup` and `restore`: what is found and repaired, copies under writes."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from typer.testing import CliRunner

from ctxcore.cli import app
from ctxcore.engine.core import ContextEngine
from ctxcore.reasons.storage_problems import DamageCode, StoreProblem
from ctxcore.reasons.values import Reason
from ctxcore.store import open_store
from ctxcore.store.errors import DatabaseError
from ctxcore.store.values import Finding, Staging
from tests.limits import HANG_SECONDS

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAID = [f"Never use tabs. There are {at} apples in box {at}." for at in range(6)]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with two sessions, the first of them compacted."""
    path = tmp_path_factory.mktemp("sound") / "chat.db"
    fill(str(path))
    return path


def fill(url: str) -> None:
    with closing(open_store(url)) as store:
        engine = ContextEngine(store, model="gpt-4o")
        for title in ("first", "second"):
            session = engine.create_session(title)
            engine.set_system(session.id, "You sell fruit.")
            for said in SAID:
                engine.append(session.id, [{"role": "user", "content": said}])
                engine.append(session.id, [{"role": "assistant", "content": "I see."}])
        engine.compact(engine.sessions(title="first")[0].id)


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "chat.db"))


def damage(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def damage_on_postgres(url: str, statement: str) -> None:
    """Damages what the server would keep whole by itself too."""
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(text(statement.replace("rowid", "id")))
    engine.dispose()


def examined(path: Path | str, *, repairs: bool = False) -> list[Finding]:
    with closing(open_store(str(path))) as store:
        return list(ContextEngine(store).examine_database(repairs=repairs))


def run(*args: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(args), env={"COLUMNS": "100", "NO_COLOR": "1"})
    return done.exit_code, done.stdout, done.stderr


def test_a_sound_database_has_no_findings(path: Path) -> None:
    assert examined(path) == []
    assert run("doctor", "--database", str(path))[0] == 0


FIRST = "session_id = (SELECT id FROM session WHERE title = 'first')"
DERIVED = {
    DamageCode.SIZES: f"DELETE FROM message_tokens WHERE {FIRST} AND seq = 3",
    DamageCode.FACTS: f"UPDATE message SET facts = '{{' WHERE {FIRST} AND seq IN (2, 4)",
    DamageCode.INDEX: f"DELETE FROM message_index WHERE rowid IN (SELECT id FROM message"
    f" WHERE {FIRST} AND seq < 5)",
    DamageCode.INDEX_EXTRA: "INSERT INTO message_index (rowid, words) VALUES (9999, 'plum')",
    DamageCode.LENGTH: "UPDATE session SET length = length - 1 WHERE title = 'second'",
    DamageCode.PART: "UPDATE session SET system_seqs = '{' WHERE title = 'first'",
    DamageCode.LEASE: "INSERT INTO lease (name, owner, expires_at)"
    " VALUES ('sweep', 'x', '2020-01-01 00:00:00')",
    DamageCode.STAGED: "UPDATE session SET staged_at = '2020-01-01 00:00:00',"
    " updated_at = '2020-01-01 00:00:00' WHERE title = 'second'",
    DamageCode.CHECKPOINT: "INSERT INTO rule_state (session_id, version, seq, standing, taken)"
    " SELECT id, 'x', 3, 'torn', 'torn' FROM session WHERE title = 'first'",
}
LOST = {
    DamageCode.MESSAGE: f"UPDATE message SET body = '{{' WHERE {FIRST} AND seq = 4",
    DamageCode.MISSING: f"DELETE FROM message WHERE {FIRST} AND seq = 13",
    DamageCode.COMPACTION: "UPDATE compaction SET body = '{'",
    DamageCode.ACTIVE: "DELETE FROM compaction",
    DamageCode.PARENT: "UPDATE compaction SET parent_id = 'gone'",
}


@pytest.mark.parametrize("code", DERIVED, ids=lambda code: code.name)
def test_what_is_derived_is_found_and_repaired(path: Path, code: DamageCode) -> None:
    damage(path, DERIVED[code])

    found = examined(path)

    assert [(one.reason.code, one.is_repairable, one.is_repaired) for one in found] == [
        (code, True, False)
    ]
    assert examined(path) == found  # nothing was changed
    assert [one.is_repaired for one in examined(path, repairs=True)] == [True]
    assert examined(path) == []


@pytest.mark.parametrize("code", DERIVED, ids=lambda code: code.name)
def test_what_is_derived_is_repaired_on_postgres(postgres_url: str, code: DamageCode) -> None:
    fill(postgres_url)
    damage_on_postgres(postgres_url, DERIVED[code])

    found = examined(postgres_url)

    assert [(one.reason.code, one.is_repairable) for one in found] == [(code, True)]
    assert [one.is_repaired for one in examined(postgres_url, repairs=True)] == [True]
    assert examined(postgres_url) == []


@pytest.mark.parametrize("code", LOST, ids=lambda code: code.name)
def test_what_is_lost_is_found_on_postgres(postgres_url: str, code: DamageCode) -> None:
    fill(postgres_url)
    damage_on_postgres(postgres_url, LOST[code])

    found = examined(postgres_url, repairs=True)

    assert code in [one.reason.code for one in found]
    assert not any(one.is_repaired for one in found if one.reason.code == code)


def test_a_row_without_its_session_is_found_on_postgres(postgres_url: str) -> None:
    fill(postgres_url)
    damage_on_postgres(postgres_url, "UPDATE compaction SET session_id = 'gone'")

    found = examined(postgres_url)

    assert found[0].reason.code == DamageCode.REFERENCE
    assert found[0].reason.facts["table"] == "compaction"
    assert found[0].reason.facts["parent"] == "session"


@pytest.mark.postgres
def test_the_command_tells_what_it_does_not_read_on_postgres(postgres_url: str) -> None:
    fill(postgres_url)

    exit_code, _, told = run("doctor", "--database", postgres_url)

    assert exit_code == 0
    assert "pg_amcheck" in told


def test_a_repair_brings_back_contexts_and_search_as_they_were(path: Path, sound: Path) -> None:
    damage(path, *(DERIVED[code] for code in DERIVED if code != DamageCode.STAGED))

    examined(path, repairs=True)

    seen = []
    for file in (sound, path):
        with closing(open_store(str(file))) as store:
            engine = ContextEngine(store, model="gpt-4o")
            ids = sorted(session.id for session in engine.sessions())
            contexts = [engine.context(one).messages for one in ids]
            seen.append((contexts, [(hit.session_id, hit.seq) for hit in engine.search("apples")]))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("code", LOST, ids=lambda code: code.name)
def test_what_is_lost_is_told_and_left(path: Path, code: DamageCode) -> None:
    damage(path, LOST[code])

    found = examined(path, repairs=True)

    assert code in {one.reason.code for one in found}
    lost = [one for one in found if one.reason.code == code]
    assert all(not one.is_repairable and not one.is_repaired for one in lost)
    assert code in {one.reason.code for one in examined(path)}


def test_the_command_exits_with_one_until_nothing_is_left(path: Path) -> None:
    damage(path, DERIVED[DamageCode.INDEX], DERIVED[DamageCode.SIZES])
    own = ("--database", str(path))

    code, out, _ = run("doctor", "--json", *own)
    document = json.loads(out)

    assert code == 1
    assert {one["code"] for one in document["results"]} == {"damage.index", "damage.sizes"}
    assert "2 can be repaired with --repair" in run("doctor", *own)[2]
    code, out, told = run("doctor", "--repair", *own)
    assert (code, "2 repaired" in told, out.count("repaired")) == (0, True, 2)
    assert run("doctor", *own)[0] == 0


def test_a_backup_appears_whole_and_overwrites_only_when_told(path: Path, tmp_path: Path) -> None:
    out, own = tmp_path / "copies" / "copy.db", ("--database", str(path))

    assert run("backup", str(out), *own)[0] == 0
    assert examined(out) == []
    code, _, told = run("backup", str(out), *own)
    assert (code, "exists" in told.lower()) == (1, True)
    assert run("backup", str(out), "--force", *own)[0] == 0
    assert [file.name for file in out.parent.iterdir() if file.suffix != ".db"] == []
    with closing(open_store(str(path))) as store:
        assert ContextEngine(store).last_backup() is not None


WRITER = """
import sys
from ctxcore.engine.core import ContextEngine
from ctxcore.store import open_store
store = open_store(sys.argv[1])
engine = ContextEngine(store, model="gpt-4o")
session = engine.create_session("written")
for at in range(100_000):
    engine.append(session.id, [{"role": "user", "content": f"number {at}"}])
    print(at, flush=True)
"""


def test_a_backup_under_writes_has_a_prefix_of_what_was_acknowledged(
    path: Path, tmp_path: Path
) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        copies = []
        with closing(open_store(str(path))) as store:
            for number in range(3):
                for _ in range(10):  # the writer goes on meanwhile
                    acknowledged = int(writer.stdout.readline())
                copies.append((acknowledged, tmp_path / f"copy{number}.db"))
                store.back_up(copies[-1][1])
    finally:
        writer.kill()
        writer.communicate(timeout=HANG_SECONDS)

    for acknowledged, copy in copies:
        assert examined(copy) == []
        with closing(open_store(str(copy))) as store:
            [session] = store.list_sessions(title="written")
            texts = [info.message.text for info in store.messages(session.id)]
        assert len(texts) > acknowledged
        assert texts == [f"number {at}" for at in range(len(texts))]


def test_a_restore_replaces_the_database_and_keeps_the_former_one(
    path: Path, tmp_path: Path
) -> None:
    copy, own = tmp_path / "copy.db", ("--database", str(path))
    run("backup", str(copy), *own)
    with closing(open_store(str(path))) as store:
        engine = ContextEngine(store)
        engine.create_session("later")

        code, _, told = run("restore", str(copy), *own)
        assert (code, "3 sessions" in told, "--force" in told) == (1, True, True)
        assert run("restore", str(copy), "--force", *own)[0] == 0

        # who has it open sees the backup, too
        assert sorted(session.title for session in engine.sessions()) == ["first", "second"]
    [former] = tmp_path.glob("chat.db.before-*")
    with closing(open_store(str(former))) as store:
        assert len(store.list_sessions()) == 3


def test_a_database_that_a_uri_names_is_restored_in_its_place(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "backup.db"
    run("backup", str(copy), "--database", str(path))
    with closing(open_store(str(path))) as store:
        ContextEngine(store, model="gpt-4o").create_session("later")

    code, _, _ = run(
        "restore", str(copy), "--force", "--database", f"sqlite:///file:{path}?uri=true"
    )

    with closing(open_store(str(path))) as store:
        titles = {one.title for one in ContextEngine(store, model="gpt-4o").sessions()}
    assert code == 0
    assert titles == {"first", "second"}


def test_a_restore_removes_no_record_of_who_read_what_and_is_one(
    path: Path, tmp_path: Path
) -> None:
    copy, own = tmp_path / "copy.db", ("--database", str(path))
    with closing(open_store(str(path))) as store:
        ann = ContextEngine(store, user_id="ann")
        before, after = (ann.create_session(title) for title in ("before", "after"))
        ContextEngine(store).session(before.id)
        store.back_up(copy)
        ContextEngine(store).session(after.id)

        assert run("restore", str(copy), "--force", *own)[0] == 0

        told = [(one.action, one.session_id) for one in ann.people.audit()]
    assert told == [("restore", None), ("open", after.id), ("open", before.id)]


def test_a_database_whose_records_of_reading_are_lost_is_restored(
    path: Path, tmp_path: Path
) -> None:
    copy, own = tmp_path / "copy.db", ("--database", str(path))
    run("backup", str(copy), *own)
    damage(path, "ALTER TABLE audit RENAME COLUMN owner_id TO lost")

    code, out, _ = run("restore", str(copy), "--force", *own)

    assert (code, "who read what in the former database cannot be read" in out) == (0, True)
    assert examined(path) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"this is a letter" * 300, "not a database"),
        (b"", "not one of ctxcore"),
        (None, "No such file"),
    ],
)
def test_what_is_no_backup_is_refused_and_changes_nothing(
    path: Path, tmp_path: Path, content: bytes | None, told: str
) -> None:
    file, before = tmp_path / "letter.db", path.read_bytes()
    if content is not None:
        file.write_bytes(content)

    code, _, error = run("restore", str(file), "--force", "--database", str(path))

    assert (code, told in error) == (1, True)
    assert path.read_bytes() == before


def test_a_backup_of_another_kind_of_database_is_refused() -> None:
    with closing(open_store("sqlite://")) as store, pytest.raises(DatabaseError, match="SQLite"):
        store.back_up(Path("x.db"))


def test_a_running_lease_and_a_fresh_import_are_no_damage(path: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%d %H:%M:%S.%f")
    damage(path, f"INSERT INTO lease (name, owner, expires_at) VALUES ('sweep', 'x', '{soon}')")
    with closing(open_store(str(path))) as store:
        now = datetime.now(UTC)
        staging = Staging(id="import", lease_until=now + timedelta(hours=1))
        store.create_session("new", user_id="local", at=now, staging=staging)

    assert examined(path) == []


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://localhost/x", StoreProblem.UNKNOWN_KIND(kind="mysql")),
        ("{folder}/letter", StoreProblem.NO_DATABASE()),
        ("{folder}/foreign", StoreProblem.FOREIGN_TABLES(names="message, session")),
    ],
)
def test_what_cannot_be_opened_is_told_as_what_it_is(
    url: str, told: Reason, tmp_path: Path
) -> None:
    (tmp_path / "letter").write_text("Dear Ada, " * 99)
    with closing(sqlite3.connect(tmp_path / "foreign")) as foreign, foreign:
        foreign.executescript("CREATE TABLE session (a); CREATE TABLE message (b)")

    with pytest.raises(DatabaseError) as raised:
        open_store(url.format(folder=f"sqlite:///{tmp_path}"))

    assert raised.value.problem == told
    assert (tmp_path / "letter").read_text() == "Dear Ada, " * 99


def test_a_missing_driver_is_told_with_the_package_that_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(DatabaseError) as raised:
        open_store("postgresql://localhost/x")

    package = "ctxcore-window[postgres]"
    assert raised.value.problem == StoreProblem.NO_DRIVER(kind="postgresql", package=package)
