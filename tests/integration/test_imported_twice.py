"""A file that is imported a second time is noticed, by user and text, until its session goes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.store.sql import open_store
from dashboard.sessions_page.importing import Choice, before, read_upload

TALK = json.dumps({"messages": [{"role": "user", "content": "Where to?"}]})
OTHER = json.dumps({"messages": [{"role": "user", "content": "Where from?"}]})


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    store = open_store(f"sqlite:///{tmp_path / 'test.db'}")
    yield ContextEngine(store)
    store.close()


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
