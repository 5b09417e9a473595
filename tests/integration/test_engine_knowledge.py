"""Knowledge in stored sessions: a call with a long page leaves the next context as it was."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import SKIPPED
from ctxcore.engine.proposals import lease_of
from ctxcore.errors import MessageError
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.policy.values import Policy
from ctxcore.store.values import Scope
from tests.engines import START, ended, engine_with, saying

PAGE = {"web": "page text here. " * 2_200}


def _talk(engine: ContextEngine, messages: int = 20, size: int = 110) -> str:
    session = engine.create_session("talk", system="sys")
    roles = ("user", "assistant")
    engine.append(
        session.id,
        [{"role": roles[n % 2], "content": f"m{n} {'word ' * size}"} for n in range(messages)],
    )
    return session.id


def _choose(engine: ContextEngine, preset: str) -> None:
    overrides: JsonObject = {"name": preset, "requires_confirmation": False}
    engine.save_policy(Scope(kind="user", owner="local"), overrides)


@pytest.mark.parametrize("preset", Policy.presets())
def test_after_a_call_with_a_page_the_context_is_the_one_before(preset: str) -> None:
    with engine_with(otherwise=saying("ok then"), window=8_000) as (engine, model):
        _choose(engine, preset)
        session_id = _talk(engine)
        before = engine.context(session_id).messages

        ended(engine.chat(session_id, "use the page", knowledge=PAGE))
        engine.wait(session_id)

        assert "page text here" in str(model.requests[-1].messages)
        assert engine.compactions(session_id) == []
        assert engine.context(session_id).messages[: len(before)] == before


@pytest.mark.parametrize("wrong", ["a page", ["a page"], {"web": 7}, {7: "a page"}, {"web": None}])
def test_knowledge_that_is_no_texts_is_refused_before_anything_happens(wrong: Any) -> None:
    with engine_with() as (engine, _):
        session_id = engine.create_session("talk").id

        with pytest.raises(MessageError, match="knowledge"):
            list(engine.chat(session_id, "use the page", knowledge=wrong))
        with pytest.raises(MessageError, match="knowledge"):
            engine.context(session_id, knowledge=wrong)

        assert engine.session(session_id).length == 0


def test_the_turns_calls_keep_what_was_left_out_for_knowledge() -> None:
    """Decided once a turn, so that a summary for it is paid once."""
    replies = [
        ScriptedReply(calls=(ToolCall(id="a", name="look", arguments="{}"),)),
        saying("done"),
    ]
    with engine_with(replies, window=9_600) as (engine, model):
        _choose(engine, "truncate-or-summarize")
        session_id = _talk(engine, 32, 60)
        before = engine.context(session_id).messages

        ended(engine.chat(session_id, "use it", knowledge=PAGE, run_tool=lambda call: "looked"))

        first, second = (request.messages for request in model.requests)
        assert len(first) < len(before) - 10
        assert first[:-1] == second[: len(first) - 1]  # the last one has the knowledge
        assert engine.context(session_id).messages[: len(before)] == before
        assert engine.compactions(session_id) == []


def test_a_refusal_of_the_provider_trims_knowledge_before_anything_folds() -> None:
    with engine_with(otherwise=saying("ok"), window=16_000, provider_window=6_000) as (
        engine,
        model,
    ):
        session_id = _talk(engine)
        before = engine.context(session_id).messages

        last = ended(engine.chat(session_id, "use the page", knowledge=PAGE))

        assert last.state == "done"
        assert engine.compactions(session_id) == []
        assert engine.context(session_id).messages[: len(before)] == before
        assert "page text here" in str(model.requests[-1].messages)


def test_tool_results_are_not_refused_because_of_knowledge() -> None:
    replies = [
        ScriptedReply(calls=(ToolCall(id="a", name="look", arguments="{}"),)),
        saying("done"),
    ]
    with engine_with(replies, window=8_000) as (engine, _):
        session_id = _talk(engine)

        ended(engine.chat(session_id, "go", knowledge=PAGE, run_tool=lambda call: "looked"))

        assert engine.compactions(session_id) == []
        stored = engine.store.messages(session_id, 22)
        assert [info.message.text for info in stored] == ["go", "", "looked", "done"]


def test_while_another_compaction_runs_knowledge_is_only_trimmed() -> None:
    with engine_with(otherwise=saying("ok"), window=9_600) as (engine, model):
        _choose(engine, "truncate-or-summarize")
        session_id = _talk(engine, 32, 60)
        before = engine.context(session_id).messages
        engine.store.acquire_lease(
            lease_of(session_id), "other", expires_at=START + timedelta(days=1), at=START
        )

        assert ended(engine.chat(session_id, "use it", knowledge=PAGE)).state == "done"

        assert list(model.requests[-1].messages[: len(before)]) == before
        assert engine.store.last_events(session_id, [SKIPPED])
