"""Messages are ranked by the terms they share, by their neighbours and by what is around them."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.assembly.history import ListHistory
from ctxcore.recalling.ranking import MOST_RATED, Found, answering_first, rank
from ctxcore.recalling.requests import Query, Term
from ctxcore.recalling.searching import search
from tests.histories import user
from tests.words import Words

CANOE, PADDLE, THING = (Term(("canoe",)), Term(("paddle",)), Term(("time",), proof=0.5))


def ranked(
    *places: Sequence[int],
    terms: Sequence[Term] = (CANOE, PADDLE, THING),
    messages: int = 200,
    hidden: Sequence[int] = (),
    long: Sequence[int] = (),
) -> list[Found]:
    """What is found where each of `terms` is at `places`; all messages are short but `long`."""

    def sizes_of(seqs: Sequence[int]) -> list[int]:
        return [200 if seq in long else 20 for seq in seqs]

    query = Query(terms=tuple(terms[: len(places)]))
    return rank(query, places, messages, sizes_of, hidden=hidden)


def order(found: Sequence[Found], *seqs: int) -> list[int]:
    """Some of the messages in the order in which they were found."""
    return [one.seq for one in found if one.seq in seqs]


def rarity(found: Sequence[Found], seq: int) -> float:
    """How much a message proves to be meant."""
    return next(one.rarity for one in found if one.seq == seq)


def test_more_terms_rank_higher() -> None:
    assert order(ranked([10, 50], [50, 90]), 10, 50, 90)[0] == 50


def test_a_rare_term_ranks_higher_than_a_frequent_one() -> None:
    assert order(ranked([10], [50, *range(100, 190, 9)]), 10, 50) == [10, 50]


def test_the_newer_of_equals_comes_first() -> None:
    assert order(ranked([10, 50]), 10, 50) == [50, 10]


def test_a_long_message_ranks_lower() -> None:
    assert order(ranked([10, 50], long=[50]), 10, 50) == [10, 50]


def test_what_follows_a_hit_ranks_above_what_comes_before_it_and_both_above_what_is_further() -> (
    None
):
    assert order(ranked([50]), 48, 49, 50, 51, 52)[:3] == [50, 51, 49]


def test_only_what_has_terms_itself_proves_something() -> None:
    found = ranked([50])

    assert rarity(found, 50) > 3
    assert rarity(found, 51) == 0


def test_a_common_term_proves_half() -> None:
    found = ranked([], [50], [90])

    assert rarity(found, 90) == rarity(found, 50) / 2


def test_a_date_dates_what_is_said_behind_it() -> None:
    may = Term(("2 may",), is_date=True)

    assert order(ranked([50], terms=[may]), 49, 70, 80, 81) == [49, 70, 80]
    assert order(ranked([50], terms=[CANOE]), 49, 70, 80, 81) == [49]


def test_hidden_messages_take_no_part() -> None:
    assert order(ranked([10, 50], hidden=[50]), 10, 50, 51) == [10]


def test_only_so_many_are_rated() -> None:
    assert len(ranked(range(1, 999, 2), messages=2_000)) == MOST_RATED


def test_what_comes_behind_a_hit_is_near_it_for_longer_than_what_comes_before() -> None:
    found = ranked([50])

    assert order(found, 47, 53) == [53, 47]
    assert max(one.seq for one in found) - 50 > 50 - min(one.seq for one in found)


def test_a_term_that_has_more_places_than_were_looked_up_is_as_rare_as_between_them() -> None:
    query = Query(terms=(CANOE,))

    def rarity_at(newest: Sequence[int]) -> float:
        found = rank(query, [newest], 9_000, lambda seqs: [9] * len(seqs), most_places=len(newest))
        return rarity(found, newest[0])

    assert rarity_at(range(9_000, 8_900, -1)) < 0.1
    assert rarity_at(range(9_000, 0, -90)) > 4


def test_what_states_a_time_that_is_asked_for_comes_first_among_equals() -> None:
    found = [Found(9, 1.0, 3.0), Found(7, 0.9, 3.0), Found(5, 0.1, 3.0)]
    texts = {9: "the canoe", 7: "the canoe, yesterday", 5: "on May 5"}

    asking = answering_first(found, Query(wanted="time"), texts.__getitem__)
    telling = answering_first(found, Query(), texts.__getitem__)

    assert [one.seq for one in asking] == [7, 9, 5]
    assert telling == found


def test_nothing_is_found_by_nothing() -> None:
    assert ranked([], [], []) == []


def test_a_query_without_terms_finds_nothing() -> None:
    assert search(ListHistory([user("a canoe")], Words()), Query(), before=9) == []
