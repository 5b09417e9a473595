"""Every verb that does I/O has a twin for an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

import ctxcore
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.jobs import Jobs
from ctxcore.engine.people import People
from ctxcore.engine.reports import Reports
from ctxcore.store.errors import SessionNotFoundError
from tests.engines import engine_with

# Listeners are called where things happen; `await` is a word of Python; the last is going.
WITHOUT = {"subscribe", "watch", "wait", "subject"}


def verbs(owner: type) -> list[str]:
    """The public methods of a class that are no twins."""
    found = inspect.getmembers(owner, inspect.isfunction)
    named = {name for name, _ in found if not name.startswith("_")}
    return sorted(name for name in named - WITHOUT if name[1:] not in named or name[0] != "a")


@pytest.mark.parametrize("owner", [ContextEngine, People, Reports, Jobs])
def test_every_verb_has_a_twin_with_the_same_arguments(owner: type) -> None:
    for name in verbs(owner):
        verb: Callable[..., object] = getattr(owner, name)
        twin: Callable[..., object] = getattr(owner, f"a{name}")

        assert inspect.signature(twin) == inspect.signature(verb)
        assert twin.__name__ == f"a{name}"
        assert f"`{name}` for an event loop" in str(twin.__doc__)


def test_twins_do_what_their_verbs_do() -> None:
    async def run(engine: ContextEngine) -> tuple[list[str], int, bool]:
        session = await engine.acreate_session("A trip")
        texts = [type(event).__name__ async for event in engine.achat(session.id, "hello")]
        await engine.apin(session.id, 0)
        context = await engine.acontext(session.id)
        health = await engine.ahealth()
        return texts, context.tokens, health.database.sessions == 1

    with engine_with() as (engine, _):
        texts, tokens, is_stored = asyncio.run(run(engine))

    assert texts[-1] == "TurnEnded"
    assert tokens > 0
    assert is_stored


def test_errors_are_those_of_the_verb() -> None:
    with engine_with() as (engine, _), pytest.raises(SessionNotFoundError):
        asyncio.run(engine.asession("missing"))


def test_functions_of_the_library_have_twins_too(tmp_path: Path) -> None:
    async def run() -> tuple[int, int]:
        store = await ctxcore.aopen_store(f"sqlite:///{tmp_path / 'twins.db'}")
        store.close()
        messages = [{"role": "user", "content": "hi"}]
        path = tmp_path / "talk.json"
        path.write_text('[{"role": "user", "content": "hi"}]')
        context = await ctxcore.afit(messages)
        result = await ctxcore.acompact(messages)
        [transcript] = await ctxcore.aread_transcripts(path)
        return context.tokens - result.context.tokens, len(transcript.messages)

    assert asyncio.run(run()) == (0, 1)


def test_iterators_become_async_ones() -> None:
    with engine_with() as (engine, _):
        assert isinstance(engine.achat("any", "hello"), AsyncIterator)
