"""A file that is imported a second time is noticed, by user and text, until its session goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.imported import note_key
from ctxcore.engine.sources import ImportSource
from ctxcore.store.sql import open_store
from dashboard.sessions_page.importing import Choice, before, read_upload
from tests.engines import START

TALK = json.dumps({"messages": [{"role": "user", "content": "Where to?"}]})
OTHER = json.dumps({"messages": [{"role": "user", "content": "Where from?"}]})


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield ContextEngine(store)
    store.close()


def note_of(engine: ContextEngine, text: str) -> str:
    return note_key(engine.user_id, ImportSource.of_text(text, name="").digest)


def test_the_same_text_is_known_under_any_name(engine: ContextEngine) -> None:
    assert engine.imported_before(TALK, [0]) == {}
    (session,) = engine.import_(TALK, name="first.json")

    found = engine.imported_before(TALK, [0])

    assert found[0].session.id == session.id
    assert engine.imported_before(OTHER, [0]) == {}


def test_another_user_and_a_deleted_session_do_not_count(engine: ContextEngine) -> None:
    (session,) = engine.import_(TALK)
    other = ContextEngine(engine.store, user_id="someone-else")

    assert other.imported_before(TALK, [0]) == {}
    engine.delete(session.id)
    assert engine.imported_before(TALK, [0]) == {}
    engine.restore(session.id)
    assert 0 in engine.imported_before(TALK, [0])
    engine.purge(session.id)
    assert engine.imported_before(TALK, [0]) == {}


@pytest.mark.parametrize("way", ["purge", "purge_all_deleted", "purge_expired"])
def test_an_erased_session_takes_the_hash_of_its_file_along(tmp_path: Path, way: str) -> None:
    now = [START]
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    engine = ContextEngine(store, clock=lambda: now[0])
    kept, gone = (engine.import_(text)[0] for text in (OTHER, TALK))
    notes = [note_of(engine, text) for text in (OTHER, TALK)]
    assert set(store.settings(notes)) == set(notes)

    engine.delete(gone.id)
    now[0] += timedelta(days=31)
    erase = {"purge": lambda: engine.purge(gone.id)}.get(way) or getattr(engine, way)
    erase()

    assert set(store.settings(notes)) == {notes[0]}
    assert engine.imported_before(OTHER, [0])[0].session.id == kept.id
    store.close()


def test_a_file_of_several_conversations_is_known_until_the_last_is_erased(
    engine: ContextEngine,
) -> None:
    both = f"{TALK}\n{OTHER}"
    first, second = engine.import_(both)
    note = note_of(engine, both)

    engine.purge(first.id)
    assert [*engine.imported_before(both, [0, 1])] == [1]
    engine.purge(second.id)
    assert engine.store.setting(note) is None


def test_the_newest_import_is_named_after_a_second_one(engine: ContextEngine) -> None:
    engine.import_(TALK)
    (again,) = engine.import_(TALK)

    assert engine.imported_before(TALK, [0])[0].session.id == again.id


def test_an_export_is_known_when_it_comes_back_twice(engine: ContextEngine) -> None:
    (session,) = engine.import_(TALK)
    exported = engine.export(session.id, "native")
    (back,) = engine.import_(exported)

    assert engine.imported_before(exported, [0])[0].session.id == back.id


def test_the_page_tells_known_conversations_from_new_ones(engine: ContextEngine) -> None:
    engine.import_(TALK)
    uploads = [
        read_upload(engine, "again.json", TALK.encode()),
        read_upload(engine, "new.json", OTHER.encode()),
    ]
    chosen = [Choice(file=0, place=0), Choice(file=1, place=0)]

    assert list(before(engine, uploads, chosen)) == chosen[:1]
