"""Imports from uploads, and the list of sessions a page at a time."""

from __future__ import annotations

import io
import json
import threading
import zipfile
from datetime import UTC, date, datetime

import pytest

from ctxcore.engine.core import ContextEngine
from dashboard import texts
from dashboard.sessions_page.comparing import shared_messages
from dashboard.sessions_page.exporting import export_work
from dashboard.sessions_page.filtering import Wanted, conditions
from dashboard.sessions_page.importing import (
    Choice,
    choices,
    import_work,
    problem_lines,
    read_upload,
)
from dashboard.sessions_page.listing import PAGE_SESSIONS, all_listed, list_page
from dashboard.texts import languages
from dashboard.thread_jobs import Job, Progress
from dashboard.wording import error_text
from tests.engines import engine_with
from tests.small_transcript import claude_code_lines


def conversations(count: int) -> bytes:
    lines = (
        {
            "messages": [
                {"role": "user", "content": f"question {at}"},
                {"role": "assistant", "content": "yes"},
            ]
        }
        for at in range(count)
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def test_an_upload_is_looked_at_without_writing_anything() -> None:
    with engine_with() as (engine, _):
        upload = read_upload(engine, "small.jsonl", claude_code_lines().encode())

        assert [preview.messages for preview in upload.found] == [8]
        assert upload.error is None
        assert engine.sessions() == []


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"a": 1}', b'{"a": 1}\n{"b": "x', b"[1, 2]"],
    ids=["empty", "cut", "no conversation", "cut line", "no messages"],
)
def test_why_a_file_cannot_be_read_is_told_in_the_language_of_the_page(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_with() as (engine, _):
        told = {}
        for language in languages():
            monkeypatch.setattr(texts, "OUTSIDE", language)
            error = read_upload(engine, "x.json", data).error
            told[language] = error_text(error) if error else ""

    assert told["zh"].startswith("x.json")
    assert "expected" not in told["zh"].lower()
    assert "Expected:" in told["en"]
    assert "`" not in told["en"]


def test_a_file_that_holds_nothing_says_why() -> None:
    with engine_with() as (engine, _):
        upload = read_upload(engine, "notes.json", b"not json")

    assert upload.found == ()
    assert "notes.json" in str(upload.error)


def test_a_damaged_line_is_told_with_its_number() -> None:
    data = claude_code_lines().encode() + b'{"type": "user", "mess\n'
    with engine_with() as (engine, _):
        upload = read_upload(engine, "small.jsonl", data)

    ((name, problem),) = problem_lines([upload])
    assert name == "small.jsonl"
    assert "line 9" in problem


def test_only_what_was_chosen_is_imported_and_progress_covers_all_of_it() -> None:
    told: list[tuple[int, int]] = []
    with engine_with() as (engine, _):
        uploads = [
            read_upload(engine, "three.jsonl", conversations(3)),
            read_upload(engine, "small.jsonl", claude_code_lines().encode()),
        ]
        chosen = [Choice(file=0, place=0), Choice(file=0, place=2), Choice(file=1, place=0)]

        done = import_work(engine, uploads, chosen)(lambda at, of: told.append((at, of)))

        assert [session.length for session in done.sessions] == [2, 2, 8]
        assert len(engine.sessions()) == 3
    assert len(choices(uploads)) == 4
    assert told == [(2, 12), (4, 12), (12, 12)]


def test_a_job_ends_with_its_result() -> None:
    def work(note: Progress) -> str:
        note(1, 2)
        return "done"

    job = Job(work)

    assert list(job.follow())[-1] == (1, 2)
    assert (job.result, job.error, job.is_done) == ("done", None, True)


def test_a_job_that_breaks_off_says_so_in_the_language_of_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(texts, "OUTSIDE", "zh")
    monkeypatch.setattr(threading, "excepthook", lambda _: None)  # it would tell of the error

    def work(note: Progress) -> str:
        raise KeyError("x")

    job = Job(work)
    list(job.follow())
    for thread in threading.enumerate():
        if thread.name == "dashboard-job":
            thread.join()

    assert job.error is not None
    assert error_text(job.error) == "程序出错（KeyError），操作中断了；详情见服务器日志"


def test_an_import_that_breaks_off_is_told_in_the_language_of_whoever_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with engine_with() as (engine, _):
        upload = read_upload(engine, "x.jsonl", conversations(1))
        engine.store.close()
        done = import_work(engine, [upload], choices([upload]))(lambda at, of: None)

    ((name, error),) = done.errors
    monkeypatch.setattr(texts, "OUTSIDE", "zh")
    assert (name, error_text(error)) == ("x.jsonl", "数据库出错：数据库已关闭")


def test_the_list_has_pages() -> None:
    with engine_with() as (engine, _):
        for number in range(PAGE_SESSIONS + 2):
            engine.create_session(f"trip {number}")
        engine.create_session("other")

        wanted = Wanted(user_id="local", title="trip")
        second = list_page(engine, wanted, number=2)
        everything = all_listed(engine, wanted)

    assert second.pages == 2
    assert len(second.sessions) == 2
    assert len(everything) == PAGE_SESSIONS + 2


@pytest.mark.parametrize(("is_operator", "seen"), [(True, 2), (False, 1)])
def test_sessions_of_others_are_for_operators(is_operator: bool, seen: int) -> None:
    with engine_with() as (operator, _):
        operator.create_session("mine")
        other = ContextEngine(operator.store, user_id="other")
        other.create_session("theirs")
        asking = operator if is_operator else other

        page = list_page(asking, Wanted(user_id=None), number=1)

    assert page.total == seen


def test_days_of_a_filter_are_whole_ones() -> None:
    found = conditions(first=date(2026, 3, 1), last=date(2026, 3, 2), imported="no")

    assert found.changed_from == datetime(2026, 3, 1, tzinfo=UTC)
    assert found.changed_before == datetime(2026, 3, 3, tzinfo=UTC)
    assert (found.is_imported, found.is_compacted, found.least_messages) == (False, None, 0)


def test_an_export_of_many_has_a_file_for_each_that_can_be_imported() -> None:
    with engine_with() as (engine, _):
        made = [engine.create_session("Same / title") for _ in range(2)]
        for at, session in enumerate(made):
            engine.append(session.id, [{"role": "user", "content": f"hello {at}"}])
        noted: list[tuple[int, int]] = []

        data = export_work(engine, made, "native")(lambda done, total: noted.append((done, total)))

        with zipfile.ZipFile(io.BytesIO(data.data)) as packed:
            files = {name: packed.read(name).decode() for name in packed.namelist()}
        (again,) = engine.import_(list(files.values())[1], name="x.jsonl")
        assert engine.store.messages(again.id)[0].message.text == "hello 1"

    assert len(files) == 2
    assert all(name.startswith("Same _ title-") for name in files)
    assert noted == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [("abc", "abd", 2), ("abc", "abc", 3), ("abc", "ab", 2), ("abc", "xbc", 0), ("", "ab", 0)],
)
def test_sessions_part_at_the_first_message_that_differs(
    first: str, second: str, shared: int
) -> None:
    with engine_with() as (engine, _):
        made = [engine.create_session(), engine.create_session()]
        for session, said in zip(made, (first, second), strict=True):
            engine.append(session.id, [{"role": "user", "content": letter} for letter in said])
        most = min(len(first), len(second))

        assert shared_messages(engine, made[0].id, made[1].id, most) == shared
