"""How much of a request was sent before: worked by hand, every word one token."""

from __future__ import annotations

from ctxcore.assembly.items import total
from ctxcore.messages.values import text_message
from ctxcore.replay.requests import NOTHING_SENT, Request, Reuse, Reuses, shared_messages
from tests.histories import assistant, user
from tests.words import context_of

SYSTEM = text_message("system", "You help.")  # 4 + 2
ASKED = user("one two three")  # 4 + 3
ANSWERED = assistant("four five")  # 4 + 2
AGAIN = user("six")  # 4 + 1


def request(*messages: object, tools: str = "") -> Request:
    """These messages, sent as they are behind 3 tokens of priming."""
    context = context_of(messages, 9_000)  # type: ignore[arg-type]  # messages all
    return Request(shown=context.made_of, framing_tokens=3, tools=tools)


def test_of_the_first_request_all_is_new() -> None:
    reuse, shared = Reuses().add(request(SYSTEM, ASKED))

    assert (reuse, shared) == (Reuse(reused_tokens=0, resent_tokens=0, new_tokens=16), 0)


def test_what_comes_behind_is_new_and_the_rest_is_reused() -> None:
    reuses = Reuses()
    reuses.add(request(SYSTEM, ASKED))

    reuse, shared = reuses.add(request(SYSTEM, ASKED, ANSWERED, AGAIN))

    assert (reuse, shared) == (Reuse(reused_tokens=16, resent_tokens=0, new_tokens=11), 2)


def test_behind_a_change_what_was_sent_before_is_sent_again() -> None:
    reuses = Reuses()
    reuses.add(request(SYSTEM, ASKED, ANSWERED, AGAIN))
    other = user("other words")  # 6

    reuse, shared = reuses.add(request(SYSTEM, other, ANSWERED, AGAIN))

    assert (reuse, shared) == (Reuse(reused_tokens=9, resent_tokens=11, new_tokens=6), 1)


def test_what_an_earlier_request_held_is_sent_again_too() -> None:
    reuses = Reuses()
    for messages in ([SYSTEM, ASKED], [SYSTEM, user("other words")]):
        reuses.add(request(*messages))

    reuse, _ = reuses.add(request(SYSTEM, ASKED))

    assert reuse == Reuse(reused_tokens=9, resent_tokens=7, new_tokens=0)


def test_with_other_tools_nothing_is_reused() -> None:
    reuses = Reuses()
    reuses.add(request(SYSTEM, ASKED))

    reuse, shared = reuses.add(request(SYSTEM, ASKED, tools="[]"))

    assert (reuse, shared) == (Reuse(reused_tokens=0, resent_tokens=13, new_tokens=3), 0)


def test_a_shorter_request_shares_what_it_has() -> None:
    long, short = request(SYSTEM, ASKED, ANSWERED), request(SYSTEM, ASKED)

    assert shared_messages(long, short) == 2
    assert short.tokens == 3 + sum(total(group.items) for group in short.shown) == 16
    assert Reuse(reused_tokens=0, resent_tokens=0, new_tokens=0) == NOTHING_SENT
