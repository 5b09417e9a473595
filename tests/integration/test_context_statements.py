"""How many statements a context takes: few, whatever lies behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event

from ctxcore.engine.core import ContextEngine
from ctxcore.messages.values import JsonObject
from tests.engines import engine_with

MOST = 12  # chosen: session, settings, user, policies, compaction, history, marks, and its rows


@contextmanager
def counted() -> Iterator[list[str]]:
    """The statements that run inside."""
    seen: list[str] = []

    def note(conn: object, cursor: object, statement: str, *rest: object) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def talk(first: int, count: int) -> list[JsonObject]:
    """A conversation in which every third question asks for what must be kept."""
    asked = "Which release is it, v{at}.{at}.7 or host-{at}.example.org? Never delete /srv/{at}."
    said = "We looked at part {at} of the plan and went on to the next one, as agreed before."
    return [
        {
            "role": "user" if at % 2 else "assistant",
            "content": (asked if at % 3 == 0 else said).format(at=at),
        }
        for at in range(first, first + count)
    ]


def statements_of_context(engine: ContextEngine, session_id: str) -> tuple[int, int]:
    """The statements of a second context, and its runs of messages left out.

    The first one also reads rules, which are cached.
    """
    engine.context(session_id)
    with counted() as seen:
        context = engine.context(session_id)
    return len(seen), sum(run.after_tokens == 0 for run in context.runs)


@pytest.mark.parametrize("messages", [201, 601])
def test_a_context_takes_few_statements_however_much_was_folded(messages: int) -> None:
    with engine_with(window=4_000) as (engine, _):
        session_id = engine.create_session("talk", system="You help.").id
        engine.append(session_id, talk(1, messages))
        before, _gaps = statements_of_context(engine, session_id)
        assert engine.compact(session_id) is not None
        after, gaps = statements_of_context(engine, session_id)

        assert gaps > 5  # kept messages with folded ones between them
        assert before <= MOST
        assert after <= MOST


def test_excluded_messages_are_sized_together() -> None:
    with engine_with(window=4_000) as (engine, _):
        session_id = engine.create_session("talk").id
        engine.append(session_id, talk(1, 301))
        few, _gaps = statements_of_context(engine, session_id)
        for seq in range(2, 200, 3):
            engine.exclude(session_id, seq - 1)
        many, gaps = statements_of_context(engine, session_id)

        assert gaps > 60
        assert many <= few + 4  # the blocks of the marks, and a longer tail


def bodies_read(engine: ContextEngine, session_id: str) -> int:
    """How many statements of a context read messages themselves."""
    with counted() as seen:
        engine.context(session_id)
    return sum("message.body, message_tokens" in statement for statement in seen)


def test_messages_that_the_last_context_read_are_not_read_again() -> None:
    with engine_with(window=4_000) as (engine, _):
        session_id = engine.create_session("talk", system="You help.").id
        engine.append(session_id, talk(1, 61))
        engine.context(session_id)

        assert bodies_read(engine, session_id) == 0
        engine.append(session_id, talk(62, 2))
        assert bodies_read(engine, session_id) == 1
        assert engine.context(session_id).messages[-1]["content"] == talk(63, 1)[0]["content"]
