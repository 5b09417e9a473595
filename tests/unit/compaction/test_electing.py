"""Which blocks are important, and which hold key events."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.assembly.history import Counted, ListHistory
from ctxcore.assembly.reading import by_block
from ctxcore.compaction.selectors import eventful, events, factual, importances, important
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, tool_result
from ctxcore.policy.values import Policy
from tests.histories import assistant, call, user
from tests.words import Words

DESIGN = Policy.preset("ladder")


def viewed(history: Sequence[Message]) -> tuple[ListHistory, Sequence[Sequence[Counted]]]:
    """The history, and its blocks."""
    view = ListHistory(history, Words())
    return view, by_block(view.get(range(1, view.count() + 1)))


def scored(history: Sequence[Message], request: str) -> list[float]:
    view, blocks = viewed(history)
    return importances(blocks, request, dict(view.facts()), last_seq=view.count())


def events_in(*history: Message) -> set[int]:
    view, blocks = viewed(history)
    return events(blocks, dict(view.facts()))


def test_importance_lies_between_0_and_5() -> None:
    history = [user("The order is ORD-2026-417, we decided to ship on 2026-03-04."), user("hm")]

    scores = scored(history, "Which order did we decide to ship?")

    assert all(0 <= score <= 5 for score in scores)
    assert scores[0] > 3.0 > scores[1]


def test_of_two_alike_the_newer_is_more_important() -> None:
    older, newer = scored([user("the kiln"), user("the kiln")], "kiln")

    assert newer - older == 0.5


def test_further_facts_add_less() -> None:
    fact = Fact(kind="number", text="4", key="4")

    one, two, three = (factual([fact] * count) for count in (1, 2, 3))

    assert 0 < three - two < two - one < one < 1


def test_of_what_is_not_important_the_newest_stay() -> None:
    view, blocks = viewed([user(f"hm {n}") for n in range(20)])

    kept = important(blocks, view, DESIGN.override(importance_threshold=5.0))

    assert [row.seq for block in kept for row in block] == [16, 17, 18, 19, 20]


def test_a_block_stays_whole() -> None:
    chain = [assistant("", call("c", "update_order")), tool_result("c", "ok")]
    view, blocks = viewed([*chain, *(user(f"hm {n}") for n in range(20))])

    kept = eventful(blocks, view, DESIGN)

    assert [row.seq for block in kept for row in block] == [1, 2, 18, 19, 20, 21, 22]


def test_finished_tasks_decisions_and_changes_are_events() -> None:
    assert events_in(user("hm"), assistant("All tests pass.")) == {1}
    assert events_in(user("hm"), assistant("任务已经全部完成。")) == {1}
    assert events_in(user("We decided to use httpx."), user("hm")) == {0}
    assert events_in(assistant("", call("c", "cancelReservation")), tool_result("c", "ok")) == {0}
    assert events_in(assistant("", call("c", "get_order")), tool_result("c", "ok")) == set()


def test_an_error_counts_with_what_fixed_it() -> None:
    failed = user("Look: TypeError: the bowl is None")
    fixed = assistant("Fixed it by filling the bowl first.")

    assert events_in(failed, assistant("hm"), fixed) == {0, 2}
    assert events_in(assistant("hm"), fixed) == set()
