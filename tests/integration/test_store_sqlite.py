"""SQLite files under a store: many writers, crashes, damage, erasing, files of each revision."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from platformdirs import user_data_path
from sqlalchemy import inspect, make_url

from ctxcore.assembly.records import EMPTY_WORKING_STATE, Compaction
from ctxcore.messages.values import Message, text_message
from ctxcore.migrations import HEAD
from ctxcore.reasons.storage_problems import DamageCode
from ctxcore.store import SessionStore, open_store
from ctxcore.store.database import (
    BUSY_MILLISECONDS,
    Database,
    file_of,
    make_config,
    make_engines,
    revision_of,
    upgrade,
)
from ctxcore.store.errors import (
    DatabaseError,
    LeaseTakenError,
    SchemaError,
)
from ctxcore.store.sql import database_url
from ctxcore.tables import Row
from ctxcore.tokens.count import counter_by_id
from tests.limits import HANG_SECONDS

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
COUNTER = counter_by_id("estimate:o200k")

COLUMNS = {
    "alembic_version": "version_num",
    "user": "id name group is_operator created_at is_auditor",
    "audit": "id created_at user_id action owner_id session_id is_operator is_auditor",
    "session": "id user_id title model origin tools parent_id parent_seq created_at updated_at"
    " deleted_at length head_seq goal_seq last_user_seq system_seqs counter_id"
    " active_compaction_id indexed_until working system_changes count_factor recalls rule_edits"
    " staged_at",
    "message": "id session_id seq role body block function_name short turn_id created_at"
    " facts rules notes",
    "message_tokens": "session_id counter_id seq tokens short_tokens cum short_cum",
    "message_index": "words",
    "rule_state": "session_id version seq standing taken",
    "compaction": "id session_id number parent_id body covered_until summary_tokens before_tokens"
    " after_tokens policy_version_id details created_at facts_lost has_failed",
    "imported_compaction": "id session_id before_seq summary before_tokens trigger recorded_at",
    "mark": "id session_id seq kind set_at cleared_at",
    "rule_edit": "id session_id seq kind text set_by set_at cleared_by cleared_at",
    "policy": "id scope owner model version body created_by created_at",
    "turn": "id session_id number state model partial error first_seq last_seq history_messages"
    " history_tokens started_at ended_at system",
    "call": "id session_id turn_id purpose is_imported model policy_version_id compaction_id seq"
    " estimate runs input_tokens output_tokens cached_tokens cache_write_tokens reasoning_tokens"
    " cost latency_seconds error created_at system_digest tools_digest cache_break"
    " digest counter_id count_factor recipe is_comparable cache_hour_tokens"
    " without_tokens sent_tokens rewritten_tokens error_code cleared_parts cleared_tokens",
    "sent_text": "session_id address body",
    "signal": "id session_id seq kind earlier verdict compaction_id policy_version_id created_at"
    " is_right judged_at",
    "event": "id session_id kind body created_at",
    "spending": "user_id period dollars",
    "alert": "id cause reason user_id session_id created_at seen_by seen_at",
    "job": "id user_id kind spec digest state done total result error created_at lease_until"
    " finished_at",
    "job_session": "job_id session_id",
    "request_prefix": "user_id digest session_id",
    "lease": "name owner expires_at holder",
    "lease_waiter": "id name holder expires_at",
    "setting": "name value",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def store(path: Path) -> Iterator[SessionStore]:
    opened = open_store(str(path))
    opened.create_user("ada", at=NOON)
    opened.create_session("s", user_id="ada", at=NOON)
    yield opened
    opened.close()


def user(text: str) -> Message:
    return text_message("user", text)


def append(store: SessionStore, *messages: Message) -> list[int]:
    return store.append("s", messages, counter=COUNTER, at=NOON)


def run_python(code: str, path: Path) -> subprocess.Popen[str]:
    """Another process that runs `code` with `store` open at `path`."""
    start = (
        "import os, sys\n"
        "from datetime import UTC, datetime\n"
        "from ctxcore.messages.values import text_message\n"
        "from ctxcore.store import open_store\n"
        "from ctxcore.tokens.count import counter_by_id\n"
        "NOON, COUNTER = datetime(2026, 3, 1, 12, tzinfo=UTC), counter_by_id('estimate:o200k')\n"
        f"store = open_store({str(path)!r})\n"
    )
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", start + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def is_sound(store: SessionStore, path: Path) -> bool:
    """Whether places, sums and the file itself are without a hole."""
    infos, view = store.messages("s"), store.view("s")
    with closing(sqlite3.connect(path)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchone()[0]
    return (
        checked == "ok"
        and [info.seq for info in infos] == list(range(1, view.count() + 1))
        and sum(view.sizes(1, view.count())) == view.spans_tokens([(1, view.count())])[0]
        and len(store.search("ada", "message", limit=10_000)) == view.count()
    )


class TestManyWriters:
    def test_appends_of_many_processes_all_arrive(self, store: SessionStore, path: Path) -> None:
        code = (
            "for at in range(40):\n"
            "    said = [text_message('user', f'message {at}')]\n"
            "    store.append('s', said, counter=COUNTER, at=NOON)\n"
            "store.close()\n"
        )
        workers = [run_python(code, path) for _ in range(2)]
        for at in range(40):
            append(store, user(f"message {at}"))
        outputs = [worker.communicate(timeout=HANG_SECONDS)[0] for worker in workers]

        assert outputs == [""] * 2
        assert store.session("s").length == 3 * 40
        assert is_sound(store, path)

    def test_of_turns_begun_at_once_one_runs(self, store: SessionStore) -> None:
        def begin(worker: int) -> bool:
            until = NOON + timedelta(minutes=1)
            try:
                store.begin_turn(
                    "s", f"t{worker}", [user("go")], counter=COUNTER, at=NOON, lease_until=until
                )
            except LeaseTakenError:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            begun = list(pool.map(begin, range(6)))

        assert begun.count(True) == 1
        assert len(store.turns("s")) == store.session("s").length == 1

    def test_a_store_in_memory_can_be_shared_between_threads(self) -> None:
        with closing(open_store("sqlite://")) as store:
            store.create_user("ada", at=NOON)
            store.create_session("s", user_id="ada", at=NOON)

            def work(worker: int) -> None:
                for _ in range(10):
                    append(store, user(f"message {worker}"))
                    store.view("s").tail(100)

            with ThreadPoolExecutor(6) as pool:
                list(pool.map(work, range(6)))

            assert store.session("s").length == 60

    def test_reading_goes_on_while_another_process_writes(
        self, store: SessionStore, path: Path
    ) -> None:
        append(store, user("message"))

        with closing(sqlite3.connect(path, isolation_level=None)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("UPDATE session SET title = 'half'")
            assert store.view("s").count() == 1
            assert store.session("s").title == ""
            writer.execute("ROLLBACK")

    def test_a_file_made_by_two_processes_at_once_is_made_once(self, path: Path) -> None:
        workers = [run_python("store.close()\n", path) for _ in range(2)]

        assert [worker.communicate(timeout=HANG_SECONDS)[0] for worker in workers] == [""] * 2


class TestCrashes:
    def test_a_process_that_dies_inside_a_write_leaves_nothing_of_it(
        self, store: SessionStore, path: Path
    ) -> None:
        append(store, user("message"))
        code = (
            "import ctxcore.store.histories as histories\n"
            "write = histories.write\n"
            "def dying(*args):\n"
            "    write(*args)\n"
            "    os._exit(3)\n"
            "histories.write = dying\n"
            "store.append('s', [text_message('user', 'lost')], counter=COUNTER, at=NOON)\n"
        )

        worker = run_python(code, path)
        worker.communicate(timeout=HANG_SECONDS)

        assert worker.returncode == 3
        assert append(store, user("message")) == [2]
        assert is_sound(store, path)

    def test_a_process_that_is_killed_leaves_whole_appends(
        self, store: SessionStore, path: Path
    ) -> None:
        code = (
            "while True:\n"
            "    pair = [text_message('user', 'message'), text_message('assistant', 'message')]\n"
            "    store.append('s', pair, counter=COUNTER, at=NOON)\n"
            "    print('done', flush=True)\n"
        )
        worker = run_python(code, path)
        assert worker.stdout is not None
        said = [worker.stdout.readline() for _ in range(5)]
        worker.kill()
        worker.communicate(timeout=HANG_SECONDS)

        assert said == ["done\n"] * 5
        length = store.session("s").length
        assert length >= 10
        assert length % 2 == 0
        assert is_sound(store, path)

    def test_a_counter_that_fails_leaves_nothing(self, store: SessionStore) -> None:
        class Failing:
            id, is_exact = "failing", True

            def count(self, text: str) -> int:
                raise RuntimeError("no vocabulary")

        with pytest.raises(RuntimeError):
            store.append("s", [user("a"), user("b")], counter=Failing(), at=NOON)

        assert store.session("s").length == 0


class TestDamage:
    @pytest.mark.parametrize("body", ["", "{", "[]", '{"role":"nobody"}', "null"])
    def test_a_damaged_message_is_named_and_never_skipped(
        self, store: SessionStore, path: Path, body: str
    ) -> None:
        append(store, user("one"), user("two"), user("three"))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE message SET body = ? WHERE seq = 2", (body,))

        [_, row, _] = store.view("s").tail(1_000)
        [_, info, _] = store.messages("s")

        for read in (row, info):
            assert read.damage is not None
            assert read.damage.code == DamageCode.MESSAGE
            assert read.message == user("[Message 2 cannot be read: the database is damaged.]")

    @pytest.mark.parametrize("body", ["", "[]", '{"covered":1}', '{"summary":"x"}'])
    def test_a_damaged_compaction_is_named_and_that_before_it_holds(
        self, store: SessionStore, path: Path, body: str
    ) -> None:
        append(store, user("one"), user("two"), user("three"))
        store.record_compaction("s", "k", Compaction(covered_until=1), parent_id=None, at=NOON)
        store.record_compaction("s", "l", Compaction(covered_until=2), parent_id="k", at=NOON)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE compaction SET body = ? WHERE id = 'l'", (body,))

        active = store.active_compaction("s")

        assert active is not None
        assert active.damage is not None
        assert (active.id, active.compaction.covered_until) == ("l", 1)
        assert [info.damage is None for info in store.compactions("s")] == [True, False]

    @pytest.mark.parametrize("working", ["", "{", "[]", '{"tasks":1}', '{"mood":"good"}'])
    def test_a_damaged_working_state_is_named_and_empty(
        self, store: SessionStore, path: Path, working: str
    ) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE session SET working = ?", (working,))

        session = store.session("s")

        assert session.working == EMPTY_WORKING_STATE
        assert [str(damage).split(" cannot")[0] for damage in session.damage] == [
            "the working state"
        ]

    @pytest.mark.parametrize("url", ["nothing://", "sqlite:////dev/null/chat.db"])
    def test_an_address_that_cannot_be_opened_is_refused(self, url: str) -> None:
        with pytest.raises(DatabaseError):
            open_store(url)

    def test_a_file_that_is_no_database_is_refused(self, path: Path) -> None:
        path.write_text("this is a letter, not a database" * 100, encoding="utf-8")

        with pytest.raises(DatabaseError, match="not a database"):
            open_store(str(path))


class TestErasing:
    def test_nothing_of_a_purged_session_is_left_in_the_files(
        self, store: SessionStore, path: Path
    ) -> None:
        append(store, *(user(f"message {at}") for at in range(50)))
        store.create_session("t", user_id="ada", at=NOON, title="xylophonist")
        secret = [user(f"the xylophonist number {at}") for at in range(200)]
        store.append("t", secret, counter=COUNTER, at=NOON)

        store.purge("t")

        files = b"".join(found.read_bytes() for found in path.parent.iterdir())
        assert b"xylophonist" not in files
        assert is_sound(store, path)

    def test_the_pragmas_hold_on_both_engines(self, store: SessionStore, path: Path) -> None:
        for engine in make_engines(make_url(f"sqlite:///{path}")):
            with engine.connect() as connection:
                settings = {
                    name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                    for name in ("journal_mode", "busy_timeout", "synchronous", "foreign_keys")
                }
            engine.dispose()

            assert settings == {
                "journal_mode": "wal",
                "busy_timeout": BUSY_MILLISECONDS,
                "synchronous": 1,
                "foreign_keys": 1,
            }


class TestRevisions:
    def test_the_columns_are_these(self, store: SessionStore, path: Path) -> None:
        database = Database(f"sqlite:///{path}")
        with closing(database), database.read() as connection:
            found = inspect(connection)
            columns = {
                table: " ".join(column["name"] for column in found.get_columns(table))
                for table in found.get_table_names()
                if table == "message_index" or not table.startswith("message_index")
            }

        assert columns == COLUMNS

    def test_the_revisions_make_what_the_tables_say(self, store: SessionStore, path: Path) -> None:
        database = Database(f"sqlite:///{path}")
        with closing(database), database.read() as connection:
            context = MigrationContext.configure(connection)
            changes = [
                change
                for change in compare_metadata(context, Row.metadata)
                if not str(getattr(change[1], "name", "")).startswith("message_index")
            ]

        assert changes == []

    def test_the_newest_revision_is_the_one_the_store_asks_for(
        self, store: SessionStore, path: Path
    ) -> None:
        database = Database(f"sqlite:///{path}")
        with closing(database), database.read() as connection:
            folder = ScriptDirectory.from_config(make_config(connection))

        assert folder.get_heads() == [HEAD]

    @pytest.mark.parametrize(
        "revision",
        [
            "0001",
            "0002",
            "0003",
            "0004",
            "0005",
            "0006",
            "0007",
            "0008",
            "0009",
            "0010",
            "0011",
            "0012",
            "0014",
        ],
    )
    def test_a_file_of_every_released_revision_is_brought_up_to_date(
        self, path: Path, revision: str
    ) -> None:
        writer, reader = make_engines(make_url(f"sqlite:///{path}"))
        with writer.begin() as connection:
            upgrade(connection, to=revision)
        writer.dispose()
        reader.dispose()
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("INSERT INTO user VALUES ('ada', 'Ada', '', 0, '2026-03-01 12:00:00')")
            old.execute(
                "INSERT INTO session (id, user_id, title, origin, tools, created_at, updated_at,"
                " length, head_seq, system_seqs, indexed_until) VALUES ('s', 'ada', 'old', 'chat',"
                " '[]', '2026-03-01 12:00:00', '2026-03-01 12:00:00', 0, 0, '[]', 0)"
            )

        for _ in range(2):  # what is up to date is opened as it is
            with closing(open_store(str(path))) as store:
                assert store.user("ada").created_at == NOON
                assert store.session("s").title == "old"
                assert store.session("s").working == EMPTY_WORKING_STATE
                assert store.session("s").system_changes == ()

    def test_calls_of_an_older_file_get_the_sizes_that_reports_sum(self, path: Path) -> None:
        writer, reader = make_engines(make_url(f"sqlite:///{path}"))
        with writer.begin() as connection:
            upgrade(connection, to="0014")
        writer.dispose()
        reader.dispose()
        rows = [
            ("a", "answer", None, 80, None, None),
            ("b", "answer", "c", 80, '{"code":"break.compaction"}', None),
            ("d", "summary", None, None, None, '{"code":"model.overflow","facts":{}}'),
        ]
        with closing(sqlite3.connect(path)) as old, old:
            old.execute("INSERT INTO user VALUES ('ada', 'Ada', '', 0, '2026-03-01 12:00:00')")
            old.execute(
                "INSERT INTO session (id, user_id, title, origin, tools, created_at, updated_at,"
                " length, head_seq, system_seqs, indexed_until) VALUES ('s', 'ada', 'old', 'chat',"
                " '[]', '2026-03-01 12:00:00', '2026-03-01 12:00:00', 0, 0, '[]', 0)"
            )
            for id_, purpose, compaction, cached, lost, error in rows:
                estimate = '{"recent":90,"reserve":5,"system":10}' if purpose == "answer" else "{}"
                values = (id_, purpose, compaction, estimate, cached, lost, error)
                old.execute(
                    "INSERT INTO call (id, session_id, purpose, is_imported, compaction_id,"
                    " estimate, runs, input_tokens, cached_tokens, cache_break, error, created_at)"
                    " VALUES (?, 's', ?, 0, ?, ?, '[]', 100, ?, ?, ?, '2026-03-01 12:00:00')",
                    values,
                )
        columns = "sent_tokens, without_tokens, rewritten_tokens, error_code"

        open_store(str(path)).close()

        with closing(sqlite3.connect(path)) as filled:
            found = filled.execute(f"SELECT {columns} FROM call ORDER BY id").fetchall()
        assert found == [
            (100, 100, None, None),
            (100, None, 20, None),
            (None, None, None, "model.overflow"),
        ]

    def test_a_newer_file_is_refused_and_left_alone(self, store: SessionStore, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")

        with pytest.raises(SchemaError, match="upgrade ctxcore"):
            open_store(str(path))

    def test_a_failed_upgrade_leaves_the_file_as_it_was(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE message_index (id TEXT)")  # in the way of a revision

        with pytest.raises(DatabaseError, match="already exists"):
            open_store(str(path))

        with closing(sqlite3.connect(path)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert names == [("message_index",)]

    def test_alembic_stays_out_while_the_file_is_current(
        self, store: SessionStore, path: Path
    ) -> None:
        worker = run_python("print('alembic' in sys.modules)\nstore.close()\n", path)

        assert worker.communicate(timeout=HANG_SECONDS)[0] == "False\n"

    def test_a_new_file_knows_its_revision(self, store: SessionStore, path: Path) -> None:
        database = Database(f"sqlite:///{path}")
        with closing(database), database.read() as connection:
            assert revision_of(connection) == HEAD


class TestLocation:
    def test_an_argument_comes_before_the_environment_before_the_data_folder(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CTXCORE_DATABASE_URL", "postgres://db.example/chat")

        assert database_url("sqlite://") == "sqlite://"
        assert database_url("chat.db") == "sqlite:///chat.db"
        assert database_url(None) == "postgresql+psycopg://db.example/chat"
        monkeypatch.delenv("CTXCORE_DATABASE_URL")
        folder = user_data_path("ctxcore", appauthor=False)
        assert database_url(None) == f"sqlite:///{folder / 'ctxcore.db'}"

    def test_the_folder_of_a_new_file_is_made(self, tmp_path: Path) -> None:
        open_store(str(tmp_path / "a" / "b" / "chat.db")).close()

        assert (tmp_path / "a" / "b" / "chat.db").is_file()

    def test_a_uri_names_the_file_as_its_path_does(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        url = f"sqlite:///file:{tmp_path}/new%20files/chat.db?uri=true"

        open_store(url).close()

        assert file_of(make_url(url)) == tmp_path / "new files" / "chat.db"
        assert [one.name for one in tmp_path.iterdir()] == ["new files"]
        assert (tmp_path / "new files" / "chat.db").is_file()
