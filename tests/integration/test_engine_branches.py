"""Branches of stored sessions: made before a message, found from every session of a family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from ctxcore.engine.branches import BranchPoint
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.errors import PlaceError, SplitBlockError
from ctxcore.messages.values import ToolCall, tool_result
from tests.engines import engine_with
from tests.histories import assistant, user


@pytest.fixture
def engine() -> Iterator[ContextEngine]:
    with engine_with() as (made, _):
        yield made


def session_of(engine: ContextEngine, messages: int = 6) -> str:
    """A session with a prompt, then questions and answers by turns."""
    session = engine.create_session("chat", system="Be brief.")
    said = [user(f"q{n}") if n % 2 else assistant(f"a{n}") for n in range(1, messages)]
    engine.append(session.id, said)
    return session.id


def texts(engine: ContextEngine, session_id: str) -> list[str]:
    """What a session's messages say."""
    return [info.message.text for info in engine.store.messages(session_id)]


def ways(points: Sequence[BranchPoint]) -> list[tuple[int, list[str]]]:
    """The places with the ids of the sessions there."""
    return [(point.place, [session.id for session in point.sessions]) for point in points]


def test_a_message_is_edited_and_sent_again_in_a_branch(engine: ContextEngine) -> None:
    original = session_of(engine)

    branch = engine.branch(original, 3)
    list(engine.chat(branch.id, "another question"))

    assert texts(engine, branch.id) == [
        *("Be brief.", "q1", "a2", "another question", "Noted: another question")
    ]
    assert texts(engine, original) == ["Be brief.", "q1", "a2", "q3", "a4", "q5"]
    assert (branch.title, branch.parent_id, branch.parent_seq) == ("chat", original, 3)
    assert engine.system(branch.id) == "Be brief."


def test_a_branch_before_the_first_message_is_empty(engine: ContextEngine) -> None:
    original = session_of(engine)

    branch = engine.branch(original, 0, title="anew")
    list(engine.chat(branch.id, "hello"))

    assert texts(engine, branch.id) == ["hello", "Noted: hello"]
    assert ways(engine.branches(original)) == [(0, [original, branch.id])]


@pytest.mark.parametrize("at", [-1, 6, 99])
def test_there_must_be_a_message_to_branch_before(engine: ContextEngine, at: int) -> None:
    original = session_of(engine)

    with pytest.raises(PlaceError):
        engine.branch(original, at)


def test_a_branch_never_cuts_a_call_from_its_results(engine: ContextEngine) -> None:
    session = engine.create_session("tools")
    call = ToolCall(id="a", name="search", arguments="{}")
    engine.append(session.id, [user("look"), assistant("", call), tool_result("a", "found")])

    with pytest.raises(SplitBlockError, match="message 2 belongs to the calls of message 1"):
        engine.branch(session.id, 2)

    assert texts(engine, engine.branch(session.id, 1).id) == ["look"]
    assert len(engine.sessions()) == 2


def test_a_branch_has_the_prompt_that_was_in_force_there(engine: ContextEngine) -> None:
    session = engine.create_session("s", system="one")
    engine.append(session.id, [user("q1")])
    engine.set_system(session.id, None)
    engine.append(session.id, [user("q2")])
    engine.set_system(session.id, "two")
    engine.append(session.id, [user("q3")])

    prompts = [engine.system(engine.branch(session.id, at).id) for at in (1, 2, 3, 4)]

    assert prompts == ["one", None, None, "two"]


def test_a_session_without_branches_has_no_family(engine: ContextEngine) -> None:
    assert engine.branches(session_of(engine)) == []


def test_every_session_of_a_family_knows_where_the_others_part(engine: ContextEngine) -> None:
    first = session_of(engine)
    second = engine.branch(first, 3).id
    engine.append(second, [user("other q3"), assistant("other a4"), user("other q5")])
    third = engine.branch(second, 3).id  # the same message once more
    engine.append(third, [user("third q3")])
    fourth = engine.branch(second, 5).id
    engine.append(fourth, [user("fourth q5")])
    fifth = engine.branch(first, 1).id
    engine.append(fifth, [user("fifth q1")])

    assert ways(engine.branches(first)) == [(1, [first, fifth]), (3, [first, fourth, third])]
    assert ways(engine.branches(second)) == [
        (1, [second, fifth]),
        (3, [first, second, third]),
        (5, [second, fourth]),
    ]
    assert ways(engine.branches(fifth)) == [(1, [fourth, fifth])]


def test_deleted_sessions_are_left_out_and_still_connect(engine: ContextEngine) -> None:
    first = session_of(engine)
    second = engine.branch(first, 3).id
    third = engine.branch(second, 2).id
    engine.delete(second)

    assert ways(engine.branches(first)) == [(2, [first, third])]


def test_sessions_of_others_are_left_out(engine: ContextEngine) -> None:
    engine.create_user("eve")
    first = session_of(engine)
    engine.assign(engine.branch(first, 3).id, "eve")

    assert engine.branches(first) == []


def test_a_session_stands_where_its_newest_branch_would(engine: ContextEngine) -> None:
    first = session_of(engine)
    branch = engine.branch(first, 3).id
    below = engine.branch(branch, 2).id
    other = session_of(engine)
    before = [session.id for session in engine.sessions(branches=False)]

    list(engine.chat(below, "another question"))

    assert before == [other, first]
    assert [session.id for session in engine.sessions(branches=False)] == [first, other]
    [newest] = engine.sessions(branches=False, limit=1)
    assert (newest.id, newest.updated_at) == (first, engine.session(below).updated_at)
    assert newest.updated_at > engine.session(first).updated_at
    engine.delete(first)
    assert [session.id for session in engine.sessions(branches=False)] == [branch, other]
