"""Where the messages of before are in a list of now; a letter stands for what one says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import pytest

from ctxcore.assembly.alignment import Alignment, align, align_any


def aligned(before: str, now: str, covered: int, goal: int | None = None) -> Alignment | int:
    """What becomes of `before`, of which so many are covered."""
    return align(tuple(before), tuple(now), covered, goal)


def places(before: str, now: str, covered: int, goal: int | None = None) -> str:
    """The place of each of `before`; a dash for what is gone."""
    found = aligned(before, now, covered, goal)
    assert isinstance(found, Alignment)
    return "".join("-" if at is None else str(at) for at in found.places)


@pytest.mark.parametrize(
    ("before", "now", "covered", "expected"),
    [
        ("abcd", "abcd", 3, "0123"),
        ("abcd", "abcdef", 3, "0123"),
        ("abcd", "abcx", 3, "012-"),
        ("abcde", "abcxde", 3, "01245"),
        ("abcde", "cdef", 3, "--012"),
        ("abcde", "de", 3, "---01"),
        ("abcde", "d", 3, "---0-"),
        ("abcde", "e", 3, None),
        ("aaaab", "aab", 4, "--012"),
        ("abc", "abc", 0, "012"),
        ("abc", "bc", 0, "-01"),
        ("", "xyz", 0, ""),
    ],
)
def test_what_is_covered_stays_in_order_or_is_gone_from_the_front(
    before: str, now: str, covered: int, expected: str | None
) -> None:
    if expected is None:
        assert aligned(before, now, covered) == 0
    else:
        assert places(before, now, covered) == expected


@pytest.mark.parametrize(
    ("now", "differs"),
    [
        ("axcd", 1),
        ("acd", 1),
        ("bacd", 0),
        ("ab", 2),
        ("", 0),
        ("wxyz", 0),
        ("xabcd", 0),
        ("bxd", 1),
    ],
)
def test_the_first_that_differs_is_named(now: str, differs: int) -> None:
    assert aligned("abcd", now, 3) == differs


def test_nothing_of_a_list_that_shares_no_message_is_taken() -> None:
    assert aligned("abc", "xyz", 0) == 0


def test_the_words_of_the_request_may_change() -> None:
    found = aligned("abcd", "xbcd", 3, goal=0)

    assert isinstance(found, Alignment)
    assert (found.changed, found.places) == (0, [0, 1, 2, 3])
    assert aligned("abcd", "xycd", 3, goal=0) == 0
    assert aligned("ab", "xb", 1, goal=0) == 0


def test_the_request_may_stay_where_others_are_gone() -> None:
    found = aligned("abcdef", "adef", 4, goal=0)

    assert isinstance(found, Alignment)
    assert (found.gone, found.places) == (2, [0, None, None, 1, 2, 3])


def test_any_list_is_searched_in_order() -> None:
    assert align_any(tuple("abcde"), tuple("bxcade")).places == [3, None, None, 4, 5]


def test_one_that_cannot_be_told_from_others_is_gone() -> None:
    assert align_any(tuple("abok"), tuple("xkabzzk")).places == [2, 3, None, None]


@pytest.mark.parametrize(
    ("before", "now", "covered"),
    [("abchixy", "hiqrst", 5), ("abokkk", "kkqrs", 4), ("ab", "xb", 2), ("abk", "xyk", 0)],
)
def test_a_few_trivial_messages_are_no_evidence(before: str, now: str, covered: int) -> None:
    assert isinstance(aligned(before, now, covered, goal=0), int)


def test_more_may_be_gone_than_is_covered() -> None:
    assert places("abcdefg", "fgh", 3) == "-----01"


class Looked(Sequence[str]):
    """Digests that count how often one of them is looked at."""

    def __init__(self, digests: Sequence[str]) -> None:
        self._digests = digests
        self.times = 0

    def __len__(self) -> int:
        return len(self._digests)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Looked: ...
    def __getitem__(self, at: int | slice) -> str | Looked:
        if isinstance(at, int):
            self.times += 1
            return self._digests[at]
        part = Looked(self._digests[at])
        self.times += len(part)
        return part


def test_the_same_word_again_and_again_takes_no_longer() -> None:
    looked_at = Looked("k" * 20_000)

    align(looked_at, "k" * 9_000 + "x" + "k" * 9_000, 18_000, None)

    assert looked_at.times < 60 * len(looked_at)
