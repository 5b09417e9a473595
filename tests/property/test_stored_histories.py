"""What holds for every history: a store answers as a list does and gives back what it got."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.prompts import Changes, PromptChange
from ctxcore.assembly.records import Compaction
from ctxcore.errors import BudgetError
from ctxcore.messages.blocks import cut_points
from ctxcore.messages.values import Media, Message, Opaque, Reasoning, Text, ToolCall, text_message
from ctxcore.policy.values import Policy
from ctxcore.recalling.requests import read_request
from ctxcore.store import SessionStore, open_store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Letters:
    """Counts characters: no two texts of different length have the same size."""

    id: str = "letters"
    is_exact: bool = True

    def count(self, text: str) -> int:
        return len(text)


LETTERS = Letters()
any_text = st.text(st.characters(exclude_categories=()), max_size=12)
names = st.sampled_from(["find", "read", "run"])
call_ids = st.sampled_from(["", "a", "b", "c"])
calls = st.builds(ToolCall, id=call_ids, name=names, arguments=any_text)


def _text(role: str) -> st.SearchStrategy[Message]:
    return any_text.map(lambda text: text_message(role, text) if text else Message(role=role))  # type: ignore[arg-type]  # the callers name roles


messages = st.one_of(
    _text("user"),
    _text("assistant"),
    _text("system"),
    st.builds(Message, role=st.just("assistant"), calls=st.lists(calls, max_size=3).map(tuple)),
    st.builds(
        Message,
        role=st.just("tool"),
        content=any_text.filter(bool).map(lambda text: (Text(text=text * 9),)),
        answers=call_ids,
        name=st.none() | names,
    ),
)
histories = st.lists(messages, max_size=25)
set_places = st.lists(st.integers(1, 25), max_size=5)


@pytest.fixture(scope="module")
def store() -> Iterator[SessionStore]:
    opened = open_store("sqlite://")
    opened.create_user("ada", at=NOON)
    yield opened
    opened.close()


@contextmanager
def session(
    store: SessionStore,
    history: Sequence[Message],
    *,
    pieces: int = 25,
    oversize_tokens: int | None = None,
    changes: Changes = (),
) -> Iterator[str]:
    """A session with `history`, appended `pieces` messages at a time; gone afterwards."""
    store.create_session("s", user_id="ada", at=NOON)
    try:
        for at in range(0, len(history), pieces):
            store.append(
                "s",
                history[at : at + pieces],
                counter=LETTERS,
                at=NOON,
                oversize_tokens=oversize_tokens,
                indexes=False,
            )
        store.restore_system("s", changes)
        yield "s"
    finally:
        store.purge("s")


def changes_of(history: Sequence[Message], places: Sequence[int]) -> list[PromptChange]:
    """A change of the system prompt at each of `places`: to a message there, else to none."""
    return [
        PromptChange.to_message(seq) if history[seq - 1].is_system else PromptChange.to_none(seq)
        for seq in sorted(set(places))
        if seq <= len(history)
    ]


def answers(view: HistoryView, places: Sequence[int], tokens: int) -> list[object]:
    """Everything a view can be asked about some places."""
    length = view.count()
    return [
        length,
        view.anchors(),
        [view.totals(after=after) for after in range(length + 1)],
        [list(view.tail(tokens, after=after)) for after in range(length + 1)],
        view.get({place for place in places if place <= length}),
        [list(view.sizes(1, last)) for last in range(1, length + 1)],
        [view.spans_tokens([(first, length)])[0] for first in range(1, length + 1)],
    ]


many = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@many
@given(
    history=histories,
    pieces=st.integers(1, 25),
    marks=st.lists(st.integers(1, 25), max_size=4),
    tokens=st.integers(1, 400),
    sets=set_places,
)
def test_a_store_answers_as_a_list_does(
    store: SessionStore,
    history: list[Message],
    pieces: int,
    marks: list[int],
    tokens: int,
    sets: list[int],
) -> None:
    changes = changes_of(history, sets)
    set_marks = sorted({seq for seq in marks if seq <= len(history)})
    pins, exclusions = set_marks[::2], set_marks[1::2]
    listed = ListHistory(history, LETTERS, pinned=pins, excluded=exclusions, changes=changes)

    with session(store, history, pieces=pieces, changes=changes) as session_id:
        for seq in pins:
            store.add_mark(session_id, seq, "pin", at=NOON)
        for seq in exclusions:
            store.add_mark(session_id, seq, "exclude", at=NOON)
        stored = answers(store.view(session_id), marks, tokens)

    assert stored == answers(listed, marks, tokens)


@many
@given(
    history=histories,
    window=st.integers(300, 4_000),
    covered=st.integers(0, 24),
    keeps=st.booleans(),
    sets=set_places,
    system=st.none() | any_text,
)
def test_a_context_has_the_same_bytes_from_a_store_and_from_a_list(
    store: SessionStore,
    history: list[Message],
    window: int,
    covered: int,
    keeps: bool,
    sets: list[int],
    system: str | None,
) -> None:
    changes = changes_of(history, sets)
    policy = Policy.preset("default")
    budget = policy.budget(window_tokens=window)
    oversize = int(budget.usable_tokens * (policy.oversize_ratio or 1))
    cuts = cut_points(history)
    start, cut = next(((a, b) for a, b in pairwise(cuts) if b >= covered), (0, 0))
    kept = tuple(range(start + 1, cut + 1)) if keeps else ()
    active = Compaction(covered_until=cut, summary="so far" if cut else "", kept=kept)
    call = Call(policy=policy, counter=LETTERS, budget=budget, system=system)
    listed = ListHistory(history, LETTERS, oversize_tokens=oversize, changes=changes)

    with session(store, history, pieces=7, oversize_tokens=oversize, changes=changes) as session_id:
        stored = outcome(store.view(session_id), call, active)

    assert stored == outcome(listed, call, active)


def outcome(view: HistoryView, call: Call, active: Compaction) -> object:
    try:
        context = build_context(view, call, active)
    except BudgetError as error:
        return str(error)
    return context.messages, context.tokens, context.runs, list(context.verdicts)


parts = st.one_of(
    st.builds(Text, text=any_text.filter(bool)),
    st.just(Opaque(provider="thing", raw='{"type":"thing","x":"\\u0000"}')),
    st.just(Media(kind="file", raw='{"file":{"file_id":"f"},"type":"file"}')),
)
rich = st.builds(
    Message,
    role=st.just("assistant"),
    content=st.lists(parts, min_size=2, max_size=4).map(tuple),
    calls=st.lists(calls, max_size=2).map(tuple),
    name=st.none() | any_text.filter(bool),
    action=st.none() | any_text,
)


@many
@given(message=st.one_of(messages, rich), thought=any_text)
def test_every_message_comes_back_as_it_was(
    store: SessionStore, message: Message, thought: str
) -> None:
    if thought and message.role == "assistant":
        message = replace(message, content=(Reasoning(text=thought), *message.content))

    with session(store, [message]) as session_id:
        assert store.messages(session_id)[0].message == message


@many
@given(
    history=histories.filter(bool),
    at=st.integers(1, 25),
    tokens=st.integers(1, 400),
    sets=set_places,
)
def test_a_fork_is_the_history_up_to_a_place_where_it_may_be_cut(
    store: SessionStore, history: list[Message], at: int, tokens: int, sets: list[int]
) -> None:
    changes = changes_of(history, sets)
    at = min(at, len(history))
    end = next(cut for cut in cut_points(history) if cut >= at)

    with session(store, history, changes=changes) as session_id:
        store.fork(session_id, at, fork_id="f", new_id=lambda: "x", at=NOON)
        forked = answers(store.view("f"), [at], tokens)
        store.purge("f")

    listed = ListHistory(history[:end], LETTERS, changes=changes)
    assert forked == answers(listed, [at], tokens)
    whole = ListHistory(history, LETTERS, changes=changes)
    assert PrefixHistory(whole, end).anchors() == listed.anchors()


@many
@given(
    text=st.text(st.sampled_from("abC_1 猫犬が圧縮.-é"), min_size=1, max_size=20),
    data=st.data(),
)
def test_a_message_is_found_by_every_word_in_it(
    store: SessionStore, text: str, data: st.DataObject
) -> None:
    word = data.draw(st.sampled_from(text.split() or ["-"]))
    is_word = bool(read_request(word).terms)
    assert is_word or all(len(part) == 1 for part in re.findall(r"\w+", word))
    store.create_session("s", user_id="ada", at=NOON)

    store.append("s", [text_message("user", text)], counter=LETTERS, at=NOON)
    found = store.search("ada", word)
    store.purge("s")

    assert len(found) == (1 if is_word else 0)
