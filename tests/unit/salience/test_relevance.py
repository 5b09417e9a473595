"""Relevance: which texts are about a request."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxcore.salience.units import relevance

TEXTS = ["We talked about the weather.", "The kiln for the wedding bowls is booked.", "A kiln."]


def best(texts: list[str], request: str) -> str:
    scores = relevance(texts, request)
    return texts[scores.index(max(scores))]


def test_the_text_that_shares_most_rare_words_is_the_most_relevant() -> None:
    assert best(TEXTS, "Is the kiln booked for the wedding?") == TEXTS[1]


def test_chinese_is_read_in_pairs_of_characters() -> None:
    texts = ["今天天气很好", "订单编号是多少", "我的订单什么时候到"]

    assert best(texts, "我的订单在哪里") == texts[2]


def test_texts_without_a_word_of_the_request_have_no_relevance() -> None:
    assert relevance(TEXTS, "zebra")[:2] == [0.0, 0.0]
    assert relevance(["", "kiln"], "") == [0.0, 0.0]
    assert relevance([], "kiln") == []


def test_the_best_of_many_that_say_next_to_nothing_is_not_fully_relevant() -> None:
    request = "Which glaze, clay, kiln, cone and schedule do we use for the wedding bowls?"

    assert max(relevance(["The clay came.", "It rained."], request)) < 0.7


def test_a_long_text_is_not_relevant_by_its_length() -> None:
    long = "kiln " + " ".join(f"word{n}" for n in range(200))

    assert best(["kiln", long], "the kiln") == "kiln"


def test_a_word_in_nearly_every_text_is_still_no_reason_against_one() -> None:
    scores = relevance(["kiln kiln kiln"] * 300, "kiln")

    assert all(0 <= score <= 1 for score in scores)


def test_a_request_of_words_that_most_texts_have_asks_for_nothing() -> None:
    texts = [f"Ada: remark number {n}" for n in range(1_000)]

    assert set(relevance(texts, "Ada: OK ?", least_share=1.0)) == {0.0}


def test_a_request_of_one_word_that_many_texts_have_asks_for_less_than_a_rare_one() -> None:
    texts = [f"the kiln number {n}" if n % 10 else "the glaze" for n in range(1_000)]

    [*_, common] = relevance(texts, "Which kiln?", least_share=1.0)
    rare = max(relevance([*texts, "the clay"], "Which clay?", least_share=1.0))

    assert common < 0.5 < rare


@given(st.lists(st.text(max_size=40), max_size=8), st.text(max_size=40))
def test_every_score_is_a_share_and_the_same_each_time(texts: list[str], request: str) -> None:
    scores = relevance(texts, request)

    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == relevance(texts, request)


def test_a_long_request_is_answered_by_its_rarest_words() -> None:
    words = [f"word{n}" for n in range(40)]

    scores = relevance([" ".join(words[:12]), "rain"], " ".join(words), least_share=1.0)

    assert scores[0] > 0.7


def test_with_a_full_share_only_what_says_all_is_fully_relevant() -> None:
    request = "Is the kiln booked for the wedding?"

    assert max(relevance(["A kiln.", "Rain."], request)) == 1.0
    assert max(relevance(["A kiln.", "Rain."], request, least_share=1.0)) < 0.6
