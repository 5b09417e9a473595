"""Literals at use: what calls take from what was said before."""

from __future__ import annotations

import pytest

from ctxcore.messages.values import ToolCall, tool_result
from ctxcore.replay.references import (
    find_literal_uses,
    is_reference,
    places_of,
    reference_text,
    says_literal,
)
from tests.histories import assistant, call, user

TALK = [
    user("Please cancel RES-4471 of user anna_k_88."),
    assistant("", call("c1", user_id="anna_k_88")),
    tool_result("c1", '{"payment": "card_5517", "seats": 12}'),
    assistant("", call("c2", reservation="RES-4471", refund_to="card_5517", seats=12)),
]


def test_each_literal_a_call_takes_from_before_is_a_use_with_where_it_was_said() -> None:
    told = [
        (use.literal, use.used_at, use.first_source_at, use.last_seen_at)
        for use in find_literal_uses(TALK)
    ]

    assert told == [
        ("anna_k_88", 1, 0, 0),
        ("RES-4471", 3, 0, 0),
        ("card_5517", 3, 2, 2),
    ]


def test_what_nobody_said_before_is_no_use() -> None:
    assert find_literal_uses([assistant("", call("c1", path="/srv/new.txt"))]) == []


def test_a_literal_is_used_once_a_message() -> None:
    asked = assistant("", call("c1", a="RES-4471"), call("c2", b="RES-4471"))

    assert len(find_literal_uses([TALK[0], asked])) == 1


def test_long_arguments_are_content_not_references() -> None:
    written = ToolCall(
        id="c1",
        name="write",
        arguments=call("c1", to="/srv/a.txt", text="RES-4471 " * 300).arguments,
    )

    assert reference_text(written).strip() == "/srv/a.txt"


@pytest.mark.parametrize("word", ["12", "3.5", "999", "ab", "x"])
def test_short_numbers_and_words_refer_to_nothing(word: str) -> None:
    assert not is_reference(word)


@pytest.mark.parametrize(
    ("text", "literal", "expected"),
    [
        ("order 4471 is late", "4471", True),
        ("order 44712 is late", "4471", False),
        ("order 34471 and 4471", "4471", True),
        ("订单4471已发货", "4471", True),
        ("in /srv/app/main.py:12", "main.py", True),
        ("in domain.py", "main.py", False),
        ("see ~/.claude/x", "~/.claude", True),
        ("", "4471", False),
    ],
)
def test_a_part_of_a_longer_word_is_not_the_literal(
    text: str, literal: str, expected: bool
) -> None:
    assert says_literal(text, literal) is expected


def test_places_are_the_texts_that_say_a_literal() -> None:
    texts = ["RES-4471 is late", "nothing", "cancel RES-4471"]

    assert places_of(["RES-4471", "RES-1"], texts) == {"RES-4471": [0, 2]}
