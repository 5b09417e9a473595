"""The request of every past call can be made again, and says whether it is what was sent."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from ctxcore.engine import requests
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.events import ContextBuilt
from ctxcore.engine.requests import RebuiltRequest
from ctxcore.gateway.scripted import ScriptedReply
from ctxcore.messages.values import JsonObject, ToolCall
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode, RequestCode, TriggerCode
from ctxcore.store.errors import RecordNotFoundError
from ctxcore.store.values import Scope
from tests.engines import ended, engine_with, saying

TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks things up.",
        "parameters": {"type": "object", "properties": {}},
    },
}
OUTPUT = "\n".join(f'{{"id": {n}, "status": "open", "note": "order {n}"}}' for n in range(120))


def _replies() -> Iterator[ScriptedReply]:
    for _ in range(8):
        yield ScriptedReply(calls=(ToolCall(id="same id", name="look", arguments="not json"),))
        yield saying("Looked it up: ORD-17 is open. " + "so " * 60)
        yield saying("Yes, that is so. " + "well " * 60)


def _chat(
    engine: ContextEngine, preset: str, turns: int = 12
) -> tuple[str, list[list[JsonObject]]]:
    """A session with tools, marks, knowledge and compactions, and what each call was sent."""
    overrides: JsonObject = {"name": preset, "requires_confirmation": False}
    engine.save_policy(Scope(kind="user", owner="local"), overrides)
    session = engine.create_session("talk", system="You help.", tools=[TOOL])
    sent = []
    for turn in range(turns):
        if turn == 3:
            engine.pin(session.id, 1)
            engine.exclude(session.id, 4)
        known = {"faq": f"refunds take {turn} days. " * 30} if turn % 3 == 2 else None
        events = engine.chat(
            session.id,
            f"Question {turn} about ORD-{turn}? " + "why " * 80,
            knowledge=known,
            run_tool=lambda call: OUTPUT,
        )
        sent += [one.context.messages for one in events if isinstance(one, ContextBuilt)]
        engine.wait(session.id)
    return session.id, sent


def _rebuilt(engine: ContextEngine, session_id: str) -> list[RebuiltRequest]:
    calls = [call for call in engine.store.calls(session_id) if call.purpose == "answer"]
    return [engine.call_request(session_id, call.id) for call in calls]


@pytest.mark.parametrize("preset", Policy.presets())
def test_every_call_is_rebuilt_as_it_was_sent(preset: str) -> None:
    with engine_with(_replies(), window=3_000) as (engine, model):
        session_id, sent = _chat(engine, preset)
        rebuilt = _rebuilt(engine, session_id)

        assert len(sent) > 12
        assert [str(one.verdict) for one in rebuilt] == ["rebuilt, identical"] * len(sent)
        assert [[made.message for made in one.messages] for one in rebuilt] == sent
        arrived = [json.dumps(one.tools) for one in model.requests]  # keys in order, too
        assert [json.dumps(one.tools) for one in rebuilt] == arrived
        assert all(one.max_output_tokens for one in rebuilt)
        for one in rebuilt:
            sizes = [made.tokens or 0 for made in one.messages]
            beside = one.call.estimate["tools"] + 3  # what primes the reply
            assert abs(sum(sizes) + beside - _input(one)) <= 12
        assert engine.compactions(session_id)


def _input(one: RebuiltRequest) -> int:
    return sum(
        tokens for name, tokens in one.call.estimate.items() if name not in ("reserve", "free")
    )


def test_texts_that_no_message_holds_are_marked_with_their_segment() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id, _ = _chat(engine, "default", 9)
        parts = [part for made in _rebuilt(engine, session_id)[-1].messages for part in made.parts]

        own = {part.segment for part in parts if part.is_own}
        assert {"summary", "knowledge"} <= own
        assert all(part.verdict for part in parts if not part.is_own)
        assert all((part.tokens or 0) > 0 for part in parts)


def test_a_call_that_failed_or_was_stopped_can_be_shown_too() -> None:
    replies = [ScriptedReply(error="auth"), saying("a long answer " * 50)]
    with engine_with(replies) as (engine, _):
        session_id = engine.create_session("talk").id
        assert ended(engine.chat(session_id, "first")).state == "failed"
        stopped = engine.chat(session_id, "second")
        for _ in range(3):
            next(stopped)
        stopped.close()  # type: ignore[attr-defined]  # a generator behind its protocol

        assert [one.is_identical for one in _rebuilt(engine, session_id)] == [True, True]


def _file(path: Path) -> str:
    return f"sqlite:///{path / 'chat.db'}"


def _change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path / "chat.db")) as connection, connection:
        connection.execute(statement)


def _verdict(path: Path, statement: str) -> str:
    """The verdict on the last call of a session once its database was changed."""
    with engine_with(window=2_000, url=_file(path)) as (engine, _):
        session_id, _ = _chat(engine, "default", 6)
    _change(path, statement)
    with engine_with(window=2_000, url=_file(path)) as (engine, _):
        return str(_rebuilt(engine, session_id)[-1].verdict)


def test_a_message_that_was_changed_is_named(tmp_path: Path) -> None:
    changed = _verdict(tmp_path, "UPDATE message SET body = replace(body, '5 about', '6 about')")

    assert changed.startswith("rebuilt, differs: message ")
    assert changed.endswith("a stored message was changed")


def test_a_text_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = _verdict(tmp_path, "DELETE FROM sent_text WHERE body LIKE '%refunds%'")

    assert "missing or was changed in the store" in gone


def test_tool_definitions_that_are_gone_are_named(tmp_path: Path) -> None:
    gone = _verdict(tmp_path, "DELETE FROM sent_text WHERE body LIKE '[%'")

    assert gone.endswith(
        "the messages are the same; the tool definitions are missing or were changed"
    )


def test_another_model_than_the_digests_is_told(tmp_path: Path) -> None:
    other = _verdict(tmp_path, "UPDATE call SET model = 'other'")

    assert other.endswith("are not those of the digest")


def test_a_call_from_before_says_that_no_digest_was_stored(tmp_path: Path) -> None:
    before = _verdict(tmp_path, "UPDATE call SET digest = NULL, recipe = NULL")

    assert before.startswith("not rebuilt: no digest was stored with this call")


def test_a_difference_under_another_version_of_the_library_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with engine_with() as (engine, _):
        session_id = engine.create_session("talk").id
        monkeypatch.setattr(requests, "__version__", "0.0.9")
        ended(engine.chat(session_id, "hello"))
        monkeypatch.undo()
        assert _rebuilt(engine, session_id)[0].is_identical  # the version alone changes nothing
        monkeypatch.setattr(
            "ctxcore.assembly.recipes.to_dictionary", lambda group: {"role": "user", "content": "?"}
        )

        assert _rebuilt(engine, session_id)[0].verdict == RequestCode.DIFFERS(
            at=1, count=1, why=RequestCode.LIBRARY(then="0.0.9", now="0.1.0")
        )


def test_imported_calls_say_what_is_known() -> None:
    transcript = "\n".join(
        [
            '{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}',
            '{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"s","message":{"role":'
            '"assistant","id":"m","model":"claude-x","content":[{"type":"text","text":"hello"}],'
            '"usage":{"input_tokens":5,"output_tokens":2}}}',
        ]
    )
    with engine_with() as (engine, _):
        [session] = engine.import_(transcript, name="s.jsonl")
        [one] = _rebuilt(engine, session.id)

        assert not one.is_rebuilt
        assert str(one.verdict).startswith("not rebuilt: recorded by claude")
        assert one.messages == ()
        assert one.to_dict()["input_tokens"] == 5


def test_an_unknown_call_is_refused_and_so_is_anothers_session() -> None:
    with engine_with() as (engine, _):
        session_id = engine.create_session("talk").id

        with pytest.raises(RecordNotFoundError, match="nobody"):
            engine.call_request(session_id, "nobody")


def test_what_knowledge_made_a_call_do_is_recorded_on_it() -> None:
    page = {"web": "page text here. " * 2_200}
    with engine_with(otherwise=saying("ok"), window=8_000) as (engine, _):
        session_id = engine.create_session("talk").id
        ended(engine.chat(session_id, "use the page", knowledge=page))
        [one] = _rebuilt(engine, session_id)

        assert one.is_identical
        assert one.knowledge_trigger is not None
        assert one.knowledge_trigger.code == TriggerCode.INPUT_RATIO
        assert one.knowledge_outcome is not None
        assert one.knowledge_outcome.code == OutcomeCode.KNOWLEDGE_TRIMMED


def test_a_request_is_all_of_it_as_json() -> None:
    page = {"web": "page text here. " * 2_200}
    with engine_with(otherwise=saying("ok"), window=8_000) as (engine, _):
        session_id = engine.create_session("talk", system="You help.").id
        ended(engine.chat(session_id, "use the page", knowledge=page))
        [one] = _rebuilt(engine, session_id)

        told = one.to_dict()

        assert json.loads(json.dumps(told)) == told
        assert told["made_of"] == [[part.to_dict() for part in m.parts] for m in one.messages]
        assert told["messages"] == [m.to_dict()["message"] for m in one.messages]
        assert (told["differs_at"], told["error"]) == (None, None)
        knowledge = told["knowledge"]
        assert isinstance(knowledge, dict)
        assert knowledge["outcome"] == one.knowledge_outcome.to_dict()  # type: ignore[union-attr]  # it is there


def test_what_a_call_left_out_for_knowledge_is_recorded_on_it() -> None:
    page = {"web": "page text here. " * 2_200}
    with engine_with(otherwise=saying("ok"), window=9_600) as (engine, _):
        engine.save_policy(Scope(kind="user", owner="local"), {"name": "truncate-or-summarize"})
        session_id = engine.create_session("talk").id
        roles = ("user", "assistant")
        engine.append(
            session_id,
            [{"role": roles[n % 2], "content": f"m{n} {'word ' * 60}"} for n in range(32)],
        )
        ended(engine.chat(session_id, "use the page", knowledge=page))
        [one] = _rebuilt(engine, session_id)

        assert one.is_identical
        assert one.knowledge_strategies == ("summarize",)
        assert any(run.verdict == "summarized" for run in one.call.runs)
        assert "summary" in {part.segment for made in one.messages for part in made.parts}
        assert engine.compactions(session_id) == []


def test_an_export_carries_what_a_request_is_made_of() -> None:
    with engine_with(window=2_000) as (engine, _):
        session_id, sent = _chat(engine, "default", 6)
        [copy] = engine.import_(engine.export(session_id))

        rebuilt = _rebuilt(engine, copy.id)
        assert engine.digest(copy.id) == engine.digest(session_id)
        assert [one.is_identical for one in rebuilt] == [True] * len(sent)


def test_purging_a_session_erases_the_texts_it_sent(tmp_path: Path) -> None:
    with engine_with(url=_file(tmp_path)) as (engine, _):
        session_id = engine.create_session("talk").id
        ended(engine.chat(session_id, "hello", knowledge={"faq": "a secret page"}))
        assert "a secret page" in str(engine.store.sent_texts(session_id))
        engine.purge(session_id)

    assert b"a secret page" not in (tmp_path / "chat.db").read_bytes()


def _statements(engine: ContextEngine, session_id: str, question: str) -> list[str]:
    """The statements of a turn that read or write calls and the texts they sent."""
    seen: list[str] = []

    def note(conn: object, cursor: object, statement: str, *rest: object) -> None:
        if "INTO call" in statement or "FROM call" in statement or "sent_text" in statement:
            kind = statement.split(" ", 1)[0]
            table = "sent_text" if "sent_text" in statement else "call"
            seen.append(f"{kind} {table}")

    event.listen(Engine, "before_cursor_execute", note)
    try:
        ended(engine.chat(session_id, question))
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    engine.wait(session_id)
    return seen


def test_a_call_takes_one_statement_more_and_no_more_bytes_with_a_longer_history() -> None:
    with engine_with(otherwise=saying("ok"), window=2_000) as (engine, _):
        session_id = engine.create_session("talk", system="You help.").id
        first = _statements(engine, session_id, "Question? " + "why " * 60)
        stored = []
        for turn in range(1, 70):
            seen = _statements(engine, session_id, f"Question {turn}? " + "why " * 60)
            stored.append(len(str(engine.store.calls(session_id)[-1].recipe)))

        # The call before is read for what broke the prompt cache.
        # A first turn also reads what calls to the model taught about its counts.
        assert first[-2:] == ["SELECT call", "INSERT call"]
        assert len(first) <= 4
        assert seen == ["SELECT call", "INSERT call", "INSERT sent_text"]
        assert len(engine.compactions(session_id)) > 1
        assert max(stored) < 1_000  # bytes; the window has room for some thirty messages
