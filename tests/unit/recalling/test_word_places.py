"""Messages of a list are found by the same words as messages of a store."""

from __future__ import annotations

import pytest

from ctxcore.assembly.history import ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.messages.values import Message, ToolCall, text_message, tool_result
from ctxcore.recalling.index_words import INDEXED_CHARS, message_words, words_of_each
from ctxcore.recalling.word_places import WordPlaces
from tests.hostile_texts import TEXTS
from tests.words import Words


def places(*texts: str) -> WordPlaces:
    """The places of some messages of a user."""
    return WordPlaces([text_message("user", text) for text in texts])


def having(found: WordPlaces, *forms: str, before: int = 10_000, most: int = 10) -> list[int]:
    """The messages that have one of `forms`."""
    return list(found.having([forms], before=before, most=most)[0])


def test_the_newest_messages_come_first_and_only_so_many() -> None:
    found = places("camp", "hotel", "camp", "camped, camped", "camp")

    assert having(found, "camp", "camped") == [5, 4, 3, 1]
    assert having(found, "camp", "camped", most=2) == [5, 4]
    assert having(found, "camp", "camped", before=5) == [4, 3, 1]
    assert having(found, "camp", before=1) == having(found, "camp", most=0) == []


def test_each_term_has_an_answer_of_its_own() -> None:
    found = places("red tent", "blue tent")

    assert found.having([["red"], ["none"], [], ["tent"]], before=3, most=5) == [
        [1],
        [],
        [],
        [2, 1],
    ]


def test_only_whole_words_count() -> None:
    found = places("campsite", "scamp", "camp2", "CAMP!", "myCampSite", "the_camp_site")

    assert having(found, "camp") == [6, 5, 4, 3]


def test_several_words_stand_side_by_side_in_one_message() -> None:
    found = places("user_id", "userId", "the user, id 4", "id of a user", "user", "id")

    assert having(found, "user id") == [3, 2, 1]


def test_a_pair_of_han_is_found_anywhere_in_a_run() -> None:
    found = places("我们的预算表", "預算", "算表", "预、算")

    assert having(found, "预算") == [1]
    assert having(found, "算表") == [3, 1]


def test_accents_case_and_width_do_not_matter() -> None:
    assert having(places("Café", "ＣＡＦＥ", "cafe"), "cafe") == [3, 2, 1]


def test_a_call_is_found_by_its_name_and_arguments() -> None:
    call = ToolCall(id="a", name="find_hotel", arguments='{"city": "Porto"}')
    found = WordPlaces([Message(role="assistant", calls=(call,)), tool_result("a", "Hotel Sol")])

    assert having(found, "porto") == [1]
    assert having(found, "hotel") == [2, 1]


def test_words_behind_the_limit_of_the_index_are_not_found() -> None:
    text = "x " * (INDEXED_CHARS // 2)

    assert having(places(text + "late", text[:-6] + "early"), "late", "early") == [2]


@pytest.mark.parametrize("form", ["", " ", '"', 'a" OR "b', "a & b", "*", "-", "😀"])
def test_what_no_index_holds_is_not_found(form: str) -> None:
    assert having(places('a" OR "b', "a & b", "* - 😀 \0"), form) == []


def test_many_messages_have_the_words_that_each_of_them_has() -> None:
    hostile = [make(500) for make in TEXTS.values()]
    texts = ["", "a\0b", *hostile, "", "fooBar_2x it’s", "naïve 中文 ok"]
    messages = [text_message("user", text) for text in texts]

    each, known = words_of_each(messages)

    assert each == [message_words(message) for message in messages]
    assert known - {"\0"} == {word for words in each for word in words.split()}


def test_pages_of_messages_are_one_list() -> None:
    found = places(
        *(f"line {number} {'even' if number % 2 == 0 else ''}" for number in range(2_000))
    )

    assert having(found, "even", most=3_000) == list(range(1_999, 0, -2))
    assert having(found, "line", before=1_025, most=3) == [1_024, 1_023, 1_022]
    assert having(found, "3", "1700") == [1_701, 4]


def test_a_prefix_finds_only_what_it_shows() -> None:
    whole = ListHistory([text_message("user", "tent")] * 5, Words())

    assert PrefixHistory(whole, 3).having([["tent"]], before=9, most=9) == [[3, 2, 1]]
    assert whole.having([["tent"]], before=9, most=9) == [[5, 4, 3, 2, 1]]
