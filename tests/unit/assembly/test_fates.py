"""What became of a fact in a context, from said there to nowhere to be found."""

from __future__ import annotations

import pytest

from ctxcore.assembly.fates import Fate, fate_of
from ctxcore.assembly.records import Compaction
from ctxcore.facts.values import Fact
from ctxcore.messages.values import Message, tool_result
from tests.histories import assistant, call, user
from tests.words import context_of, words

ORDER = Fact(kind="identifier", text="ORD-417", key="ord-417")
RULE = Fact(kind="instruction", text="Never call me.", key="never call me")
HISTORY = [
    user("I need help with my order."),
    assistant("Which one?"),
    user("It is ORD-417. Never call me."),
    assistant("Understood."),
    user("Where is it?"),
]


def covering(**more: str) -> Compaction:
    """A record that stands for all but the last message."""
    return Compaction(covered_until=4, summarized_until=4, **more)  # type: ignore[arg-type]  # texts


@pytest.mark.parametrize(
    ("active", "expected"),
    [
        (None, "verbatim"),
        (covering(facts="Identifiers:\n- ORD-417", summary="about ORD-417"), "carried"),
        (covering(summary="They asked about ORD-417."), "summarized"),
        (covering(summary="They asked about an order."), "recallable"),
    ],
)
def test_the_plainest_place_counts(active: Compaction | None, expected: Fate) -> None:
    context = context_of(HISTORY, 400, active=active)

    assert fate_of(ORDER, (3,), context) == expected


def test_a_rule_that_was_put_back_is_carried() -> None:
    context = context_of(HISTORY, 400, active=covering(summary="so far"))

    assert fate_of(RULE, (3,), context) == "carried"


def test_what_nobody_can_look_up_is_lost() -> None:
    context = context_of(HISTORY, 400, active=covering(summary="so far"))

    assert fate_of(ORDER, (3,), context, is_recallable=False) == "lost"


@pytest.mark.parametrize("seqs", [(), (0,), (6,)])
def test_what_no_message_of_the_history_says_is_lost(seqs: tuple[int, ...]) -> None:
    context = context_of(HISTORY, 400, active=covering(summary="so far"))

    assert fate_of(ORDER, seqs, context) == "lost"


def _listing(at: int) -> list[Message]:
    """A long listing whose line `at` names the order."""
    lines = [f"{words(6)} {n}" for n in range(200)]
    lines[at] = "ORD-417 shipped"
    output = "\n".join(lines)
    return [user("list"), assistant("", call("a", name="ls")), tool_result("a", output)]


def test_a_shortened_message_says_what_is_left_of_it() -> None:
    history = [*_listing(0), assistant("done"), user("and now?")]
    short = ((3, "ORD-417 shipped\n[199 lines elided]"),)
    said = context_of(history, 4_000, active=Compaction(covered_until=0, shortened=short))
    gone = context_of(
        history, 4_000, active=Compaction(covered_until=0, shortened=((3, "[200 lines elided]"),))
    )

    assert said.verdict(2).verdict == gone.verdict(2).verdict == "compressed"
    assert fate_of(ORDER, (3,), said) == "verbatim"
    assert fate_of(ORDER, (3,), gone) == "recallable"
