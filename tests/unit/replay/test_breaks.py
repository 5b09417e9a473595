"""Why a request does not begin as the one before: each cause, on requests checked by hand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import Message, Reasoning, text_message, tool_result
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import BreakCode
from ctxcore.replay.requests import HARMLESS, Request, break_cause, shared_messages
from tests.histories import assistant, call, user
from tests.words import context_of, words

TALK = [
    text_message("system", "You help."),
    user("first question"),
    assistant("first answer"),
    user("second question"),
    assistant("second answer"),
    user("third question"),
]


def request(
    history: Sequence[Message] = TALK,
    usable: int = 9_000,
    *,
    policy: Policy | None = None,
    active: Compaction | None = None,
    pinned: Collection[int] = (),
    excluded: Collection[int] = (),
    knowledge: dict[str, str] | None = None,
    model: str | None = None,
    tools: str = "",
) -> Request:
    """What is sent of `history`."""
    policy = policy or Policy()
    context = context_of(
        history,
        usable,
        policy=policy,
        active=active,
        pinned=pinned,
        excluded=excluded,
        knowledge=knowledge,
    )
    return Request(
        shown=context.made_of,
        framing_tokens=3,
        active=active,
        policy=policy,
        model=model,
        tools=tools,
        excluded=frozenset(excluded),
    )


def cause(before: Request | None, after: Request) -> BreakCode | None:
    """Why the second does not begin as the first."""
    return break_cause(before, after, 0 if before is None else shared_messages(before, after))


FOLDED = Compaction(covered_until=3, summarized_until=3, summary="They talked.")
FURTHER = Compaction(covered_until=5, summarized_until=5, summary="They talked on.")


def test_the_first_call_follows_nothing() -> None:
    assert cause(None, request()) == BreakCode.FIRST_CALL


def test_new_messages_behind_it_break_nothing() -> None:
    assert cause(request(TALK[:4]), request()) is None
    assert cause(request(), request()) is None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (request(), request(active=FOLDED), BreakCode.COMPACTION),
        (request(active=FOLDED), request(active=FURTHER), BreakCode.COMPACTION),
        (request(active=FURTHER), request(active=FOLDED), BreakCode.UNDO),
        (request(active=FOLDED), request(), BreakCode.UNDO),
        (request(), request(model="gpt-4o"), BreakCode.MODEL),
        (request(), request(tools="[]"), BreakCode.TOOLS),
        (request(), request(excluded=[3]), BreakCode.EXCLUSION),
        (request(excluded=[3]), request(), BreakCode.EXCLUSION),
        (request(), request([text_message("system", "You sell."), *TALK[1:]]), BreakCode.SYSTEM),
        (request(), request([*TALK, text_message("system", "Be brief.")]), BreakCode.SYSTEM),
        (request(knowledge={"a": "old"}), request(knowledge={"a": "new"}), BreakCode.KNOWLEDGE),
        (
            request(active=FOLDED),
            request(active=FOLDED, policy=Policy.preset("pi")),
            BreakCode.POLICY,
        ),
        (
            request(),
            request([*TALK[:2], assistant("another answer"), *TALK[3:]]),
            BreakCode.OUTPUT_SHORTENED,
        ),
    ],
)
def test_each_cause_is_told(before: Request, after: Request, expected: BreakCode) -> None:
    assert cause(before, after) == expected


def test_a_policy_that_changes_nothing_breaks_nothing() -> None:
    assert cause(request(), request(policy=Policy(trigger_ratio=0.5))) is None


def test_where_the_oldest_messages_no_longer_fit_the_recent_part_moved() -> None:
    long = [*TALK[:2], *(assistant(words(40)) if n % 2 else user(words(40)) for n in range(1, 12))]

    assert cause(request(long[:7], 300), request(long[:11], 300)) == BreakCode.WINDOW_MOVED


def test_the_thinking_of_an_answered_turn_is_left_out() -> None:
    thought = Reasoning(text="let me look it up")
    looking = Message(role="assistant", content=(thought,), calls=(call("c1", q="x"),))
    turn = [*TALK, looking, tool_result("c1", "found")]

    assert (
        cause(request(turn), request([*turn, assistant("done"), user("and?")]))
        == BreakCode.THINKING
    )


def test_a_request_shown_apart_gives_way_to_the_next() -> None:
    active = Compaction(covered_until=6, summarized_until=6, summary="They talked.")
    history = [*TALK, assistant("", call("c1", q="x")), tool_result("c1", "found")]
    later = [*history, assistant("done"), user("a fourth question")]

    assert (
        cause(request(history, active=active), request(later, active=active))
        == BreakCode.REQUEST_MOVED
    )


def test_beside_a_request_shown_apart_the_recent_part_may_move() -> None:
    active = Compaction(covered_until=6, summarized_until=6, summary="They talked.")
    steps = [
        message
        for n in range(8)
        for message in (assistant("", call(f"c{n}", q="x")), tool_result(f"c{n}", words(40)))
    ]

    before = request([*TALK, *steps[:8]], 220, active=active)
    after = request([*TALK, *steps[:12]], 220, active=active)

    assert cause(before, after) == BreakCode.WINDOW_MOVED


def test_a_message_that_joins_the_last_is_told_and_does_no_harm() -> None:
    told = cause(request(TALK), request([*TALK, user("and a fourth")]))

    assert told == BreakCode.JOINED
    assert told in HARMLESS


def test_a_pin_that_is_shown_from_now_on_is_told() -> None:
    active = replace(FURTHER, covered_until=5)

    assert cause(request(active=active), request(active=active, pinned=[3])) == BreakCode.PINS


def test_every_cause_has_words() -> None:
    assert all(code.text for code in BreakCode)
    assert len({code.text for code in BreakCode}) == len(BreakCode)
