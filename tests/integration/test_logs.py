"""No log record, of any logger and level, holds what was said or a key."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import NotAuditorError
from ctxcore.engine.policies import save_connections
from ctxcore.errors import ContextError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.gateway.values import Connection
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope
from dashboard.housekeeping import keep_house
from tests.engines import engine_with
from tests.scripted_upstream import scripted_upstream

SAID, ANSWERED, KEY = "the orchid code is 7141", "noted about the orchids", "sk-orchid-4455-6677"
WORD = "orchid"  # in all of them


class Kept(logging.Handler):
    """Keeps everything that is logged, as it would be written and as it was given."""

    def __init__(self) -> None:
        super().__init__(level=0)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = [record.getMessage(), repr(vars(record))]
        if record.exc_info and record.exc_info[1]:
            told += traceback.format_exception(record.exc_info[1])
        self.lines.append(f"{record.name}: " + "\n".join(told))

    def telling(self) -> list[str]:
        """The records that hold what was said or a key."""
        return [line for line in self.lines if WORD in line]


@contextmanager
def kept_logs() -> Iterator[Kept]:
    """The records of all loggers, at every level that they let through."""
    kept, root = Kept(), logging.getLogger()
    own = [logging.getLogger(name) for name in ("ctxcore", "dashboard")]
    before = [(one, one.level) for one in (root, *own)]
    root.addHandler(kept)
    for one in (root, *own):
        one.setLevel(1)
    try:
        yield kept
    finally:
        root.removeHandler(kept)
        for one, level in before:
            one.setLevel(level)


def test_a_turn_with_a_compaction_says_ids_and_numbers_alone() -> None:
    with kept_logs() as kept, engine_with([ScriptedReply(text=ANSWERED)] * 30) as (engine, _):
        session = engine.create_session(SAID, system=SAID)
        scope = Scope(kind="session", owner=session.id)
        engine.save_policy(scope, {"trigger_ratio": 0.2, "window_tokens": 1_000})
        for number in range(12):
            list(engine.chat(session.id, f"{SAID} {number}. " + "And so on. " * 20))
        engine.recall(session.id, "orchid")
        engine.export(session.id)
        keep_house(engine)

        assert engine.compactions(session.id)
    assert [line for line in kept.lines if line.startswith(("ctxcore", "dashboard"))]
    assert kept.telling() == []


def test_an_import_and_one_that_fails_do_not_either(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.json", tmp_path / "b.json"
    good.write_text(f'[{{"role": "user", "content": "{SAID}"}}]', encoding="utf-8")
    bad.write_text(f'[{{"role": "user", "content": "{SAID}"', encoding="utf-8")
    with kept_logs() as kept, engine_with() as (engine, _):
        engine.import_file(good)
        with pytest.raises(ContextError):
            engine.import_file(bad)
        with pytest.raises(ContextError):
            engine.import_(f'{{"{SAID}": 1}}')

        assert len(engine.sessions()) == 1
    assert kept.telling() == []


def test_a_provider_that_fails_leaves_neither_texts_nor_the_key_in_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ORCHID_KEY", KEY)
    with kept_logs() as kept, scripted_upstream() as upstream:
        upstream.status = 500
        store = open_store("sqlite://")
        engine = ContextEngine(store, gateway=LiteLLMGateway(), model="openai/any")
        connection = Connection(
            name="own", model="openai/any", api_base=upstream.url, key_env="ORCHID_KEY"
        )
        save_connections(store, [connection])
        session = engine.create_session()
        events = list(engine.chat(session.id, SAID))
        store.close()

        assert upstream.requests, events[-1]
    assert kept.telling() == []


def test_a_program_error_in_a_job_and_a_refusal_are_logged_without_texts() -> None:
    def work() -> Iterator[tuple[int, int]]:
        yield 0, 1
        try:
            raise KeyError(SAID)
        except KeyError as error:
            raise ValueError(SAID) from error

    with kept_logs() as kept, engine_with() as (engine, _):
        session = engine.create_session(SAID)
        engine.append(session.id, [{"role": "user", "content": SAID}])
        job = engine.jobs.start("test", {"text": SAID}, work)  # type: ignore[arg-type]  # it fails
        assert engine.jobs.wait(job.id, 60)
        operator = ContextEngine(engine.store, user_id="operator")
        operator.user()
        engine.people.set_roles("operator", is_operator=True)
        with pytest.raises(NotAuditorError):
            operator.session(session.id)

    [told] = [line for line in kept.lines if "job broke off" in line]
    assert "ValueError" in told
    assert "KeyError" in told
    assert "in work" in told
    assert kept.telling() == []
