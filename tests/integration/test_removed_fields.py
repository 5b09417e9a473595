"""Databases and exports that name fields which policies no longer have still load, and tell."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.errors import PolicyError
from ctxcore.reasons.codes import PolicyCode
from ctxcore.reasons.places import PlaceCode
from ctxcore.store.sql import open_store
from ctxcore.store.values import PolicyVersion, Scope

LEGACY = Path(__file__).parent / "legacy"
MINE = Scope(kind="user", owner="local")
NOTICE = PolicyCode.FIELD_REMOVED(
    place=PlaceCode.POLICY_OF(layer="session"), field="max_messages", since="0.1.0"
)


def stored(path: Path) -> ContextEngine:
    """An engine on the database of an earlier release, one of whose policies has `max_messages`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((LEGACY / "before_reason_codes.sql").read_text(encoding="utf-8"))
    return ContextEngine(open_store(f"sqlite:///{path}"))


def naming_it(engine: ContextEngine) -> PolicyVersion:
    """The version that names `max_messages`."""
    (found,) = [one for one in engine.store.all_policies() if one.removed == ("max_messages",)]
    return found


def test_a_row_that_names_a_removed_field_holds_for_the_others_and_tells(tmp_path: Path) -> None:
    engine = stored(tmp_path / "before.db")
    row = naming_it(engine)

    found = engine.policy(row.scope.owner)

    assert row.removed == ("max_messages",)
    assert row.overrides == {"name": "default", "strategies": ["keep_turns"]}
    assert found.policy.strategies == ("keep_turns",)
    assert found.notices == (NOTICE,)
    assert str(NOTICE) == (
        "the policy of session sets 'max_messages', a field that was removed in 0.1.0; it is "
        "ignored"
    )
    engine.store.close()


def test_the_next_save_of_a_scope_leaves_the_field_out(tmp_path: Path) -> None:
    engine = stored(tmp_path / "before.db")
    row = naming_it(engine)

    engine.save_policy(row.scope, {**row.overrides, "fresh_turns": 1})

    assert engine.policy(row.scope.owner).notices == ()
    assert [one.removed for one in engine.store.policy_versions(row.scope)] == [
        (),
        ("max_messages",),
    ]
    engine.store.close()


def test_a_fork_keeps_what_was_stored(tmp_path: Path) -> None:
    engine = stored(tmp_path / "before.db")
    row = naming_it(engine)

    fork = engine.fork(row.scope.owner, 1)

    assert engine.policy(fork.id).notices == (NOTICE,)
    engine.store.close()


def test_an_export_that_names_a_removed_field_is_imported_and_tells(tmp_path: Path) -> None:
    engine = ContextEngine(open_store(f"sqlite:///{tmp_path / 'new.db'}"))
    text = (LEGACY / "exports" / "03-still-over-messages.jsonl").read_text(encoding="utf-8")

    (session,) = engine.import_(text, name="before.jsonl")
    found = engine.policy(session.id)

    assert '"max_messages":3' in text
    assert found.policy.strategies == ("keep_turns",)
    assert found.notices == (NOTICE,)
    assert "max_messages" not in engine.export(session.id)
    engine.store.close()


def test_what_a_person_saves_may_not_name_one() -> None:
    engine = ContextEngine(open_store("sqlite://"))
    engine.user()

    with pytest.raises(PolicyError, match=r"the field was removed in 0\.1\.0"):
        engine.save_policy(MINE, {"max_messages": 3})
    engine.store.close()
