"""What a record lost gets its kind and place back from the history it was made on."""

from __future__ import annotations

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.simulation import Recording
from ctxcore.replay.losses import LaterUses, newest_seen, recorded_losses, sort_by_need
from tests.histories import assistant, user

HISTORY = [
    user("Never restart db-7 on Mondays."),
    assistant("The ticket is ABC-1234."),
    user("It is open."),
]


def record(**changes: object) -> Compaction:
    lost = ("ABC-1234", "Never restart db-7 on Mondays.")
    fields = {"covered_until": 2, "seen_until": 3, "facts_lost": lost, **changes}
    return Compaction(**fields)  # type: ignore[arg-type]  # fields by name, as each test sets them


def test_the_most_worth_comes_first_with_kind_and_message() -> None:
    found = recorded_losses(record(), Recording(HISTORY).history.facts())

    assert [(one.kind, one.seq) for one in found] == [("instruction", 1), ("identifier", 2)]


def test_what_was_said_after_the_record_does_not_change_it() -> None:
    later = [*HISTORY, user("ABC-1234 again. From now on restart db-7 on Mondays.")]

    found = recorded_losses(record(), Recording(later).history.facts())

    assert [one.seq for one in found] == [1, 2]


def test_nothing_is_lost_where_nothing_was_recorded() -> None:
    facts = Recording(HISTORY).history.facts()

    assert recorded_losses(record(facts_lost=()), facts) == []
    assert recorded_losses(record(facts_lost=None), facts) == []


def test_a_record_saw_at_least_what_it_covers() -> None:
    assert newest_seen(record(seen_until=0)) == 2
    assert newest_seen(record()) == 3


def test_what_was_needed_comes_first_and_places_count_from_the_start() -> None:
    found = recorded_losses(record(), Recording(HISTORY).history.facts())

    ordered = sort_by_need(LaterUses([user("And ABC-1234?")], start=3).needed(found, after=3))

    assert [(one.text, one.needed_at) for one in ordered] == [
        ("ABC-1234", 3),
        ("Never restart db-7 on Mondays.", None),
    ]
