"""What stored sessions recalled: recorded, replayed, and gone after a compaction and its undo."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from ctxcore.engine.core import ContextEngine
from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.messages.values import JsonObject, Message, ToolCall
from ctxcore.policy.values import Policy
from ctxcore.store.values import Scope
from tests.engines import compacted_session, ended, engine_with, saying

CODE = "The gate code of the boathouse is 4471."
QUESTION = "What is the gate code of the boathouse?"
LOOK = ScriptedReply(calls=(ToolCall(id="a", name="look", arguments='{"at": "boathouse"}'),))
TAG = "<recalled_messages>"


def session_of(engine: ContextEngine, turns: int = 30) -> str:
    """A session of which a compaction folded the message with the code."""
    return compacted_session(engine, CODE, turns=turns)


def contents(messages: Sequence[JsonObject | Message]) -> list[str]:
    """What each message says."""
    return [str(message) for message in messages]


def looked(call: ToolCall) -> str:
    """What the tool says."""
    return "a gate, a boathouse"


def recalled_in(model: ScriptedModel, call: int = -1) -> list[str]:
    """The messages of one request that hold what was recalled."""
    return recalled_of(contents(model.requests[call].messages))


def recalled_of(texts: Sequence[str]) -> list[str]:
    """Those of the messages that hold what was recalled."""
    return [text for text in texts if TAG in text]


def test_a_question_gets_what_was_folded() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, model):
        session_id = session_of(engine)

        ended(engine.chat(session_id, QUESTION))

        (text,) = recalled_in(model)
        assert CODE in text
        (request, seqs), *_ = engine.store.session(session_id).recalls
        said = {info.seq: info.message.text for info in engine.store.messages(session_id)}
        assert said[request] == QUESTION
        assert CODE in [said[seq] for seq in seqs]


def test_every_next_context_begins_with_the_bytes_that_were_sent() -> None:
    replies = [LOOK, saying("4471."), saying("Welcome."), LOOK, saying("Yes.")]
    with engine_with(replies, window=8_000) as (engine, model):
        session_id = session_of(engine)

        for text in (QUESTION, "Thanks!", "Is the gate code of the boathouse still the same?"):
            ended(engine.chat(session_id, text, run_tool=looked))

        sent = [contents(request.messages) for request in model.requests]
        assert len(sent) == 5
        assert recalled_in(model, 0)
        for before, after in pairwise(sent):
            assert after[: len(before)] == before


def test_a_request_that_waits_shows_what_its_call_was_sent() -> None:
    with engine_with([LOOK], window=8_000) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION))  # no tool runs: the call waits for its result

        shown = recalled_of(contents(engine.context(session_id).messages))

        assert shown == recalled_in(model) != []


def test_a_turn_that_was_answered_at_once_leaves_the_prefix_as_it_was() -> None:
    with engine_with(otherwise=saying("Noted."), window=8_000) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION))
        sent = contents(model.requests[-1].messages)

        ended(engine.chat(session_id, "Thanks!"))

        assert recalled_in(model, 0)
        assert recalled_in(model) == []
        assert contents(model.requests[-1].messages)[: len(sent) - 1] == sent[:-1]


def test_a_compaction_starts_without_what_was_recalled() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION))

        engine.compact(session_id)

        assert engine.context(session_id).breakdown.recalled == 0
        ended(engine.chat(session_id, QUESTION))
        assert len(recalled_in(model)) == 1


def test_an_undo_starts_anew_too() -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, _):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION))
        engine.compact(session_id)

        engine.undo(session_id)

        assert all(not seqs for _, seqs in engine.store.session(session_id).recalls)


def test_an_engine_that_starts_again_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'chat.db'}"
    with engine_with([LOOK], otherwise=saying("Noted."), url=url, window=8_000) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION, run_tool=looked))
        sent = contents(model.requests[-1].messages)

    with engine_with(otherwise=saying("Noted."), url=url, window=8_000) as (engine, model):
        ended(engine.chat(session_id, "Thanks!"))

        assert recalled_in(model)
        assert contents(model.requests[-1].messages)[: len(sent)] == sent


def test_a_branch_goes_on_with_what_was_recalled_before_it() -> None:
    with engine_with([LOOK], otherwise=saying("Noted."), window=8_000) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, QUESTION, run_tool=looked))
        ended(engine.chat(session_id, "Thanks!"))
        sent = contents(model.requests[-1].messages)
        place = len(engine.store.messages(session_id)) - 2

        branch = engine.branch(session_id, place)
        ended(engine.chat(branch.id, "Thank you!"))

        assert recalled_in(model)
        assert contents(model.requests[-1].messages)[: len(sent) - 1] == sent[:-1]


def test_a_branch_at_a_request_decides_anew() -> None:
    with engine_with(otherwise=saying("Noted."), window=8_000) as (engine, model):
        session_id = session_of(engine)
        ended(engine.chat(session_id, "Hello!"))
        place = len(engine.store.messages(session_id)) - 2

        branch = engine.branch(session_id, place)
        ended(engine.chat(branch.id, QUESTION))

        assert CODE in str(recalled_in(model))


@pytest.mark.parametrize("text", ["Thanks a lot!", "How are you?", "haha", "好的谢谢"])
def test_small_talk_recalls_nothing(text: str) -> None:
    with engine_with(otherwise=saying("Noted.")) as (engine, model):
        session_id = session_of(engine)

        ended(engine.chat(session_id, text))

        assert recalled_in(model) == []


def test_without_recall_nothing_is_recalled_or_recorded() -> None:
    assert Policy().recall_ratio is not None
    with engine_with(otherwise=saying("Noted.")) as (engine, model):
        session_id = session_of(engine)
        engine.save_policy(
            Scope(kind="user", owner="local"), {"strategies": ["fold_oldest"], "recall_ratio": None}
        )

        ended(engine.chat(session_id, QUESTION))

        assert recalled_in(model) == []
        assert engine.store.session(session_id).recalls == ()
