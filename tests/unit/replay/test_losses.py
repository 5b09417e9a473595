"""What a record lost gets its kind and place back from the history it was made on."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.loss_report import LostFact
from ctxcore.compaction.simulation import Recording
from ctxcore.facts.values import Kind
from ctxcore.messages.values import Message
from ctxcore.reasons.codes import LossVerdictCode
from ctxcore.replay.losses import (
    LaterUses,
    LossVerdict,
    NeededFact,
    folded_facts,
    ledger_of,
    newest_seen,
    rank_losses,
    recorded_losses,
)
from tests.histories import assistant, user

HISTORY = [
    user("Never restart db-7 on Mondays."),
    assistant("The ticket is ABC-1234."),
    user("It is open."),
]


def losses(made: Compaction, history: Sequence[Message] = HISTORY) -> list[LostFact]:
    return recorded_losses(made, ledger_of(made, Recording(history).history.facts()))


def record(**changes: object) -> Compaction:
    lost = ("ABC-1234", "Never restart db-7 on Mondays.")
    fields = {"covered_until": 2, "seen_until": 3, "facts_lost": lost, **changes}
    return Compaction(**fields)  # type: ignore[arg-type]  # fields by name, as each test sets them


def test_the_most_worth_comes_first_with_kind_and_message() -> None:
    found = losses(record())

    assert [(one.kind, one.seq) for one in found] == [("instruction", 1), ("identifier", 2)]


def test_what_was_said_after_the_record_does_not_change_it() -> None:
    later = [*HISTORY, user("ABC-1234 again. From now on restart db-7 on Mondays.")]

    found = losses(record(), later)

    assert [one.seq for one in found] == [1, 2]


def test_nothing_is_lost_where_nothing_was_recorded() -> None:
    assert losses(record(facts_lost=())) == []
    assert losses(record(facts_lost=None)) == []


def test_a_record_saw_at_least_what_it_covers() -> None:
    assert newest_seen(record(seen_until=0)) == 2
    assert newest_seen(record()) == 3


def lost(kind: Kind, *, needed_at: int | None = None, salience: float = 1.0) -> NeededFact:
    return NeededFact(text=kind, kind=kind, at=0, salience=salience, needed_at=needed_at)


def test_losses_stand_by_what_matters() -> None:
    found = [
        lost("date", salience=9),
        lost("number", needed_at=5),
        lost("path", salience=5),
        lost("identifier", needed_at=4, salience=2),
        lost("amount"),
        lost("question"),
        lost("decision", needed_at=7),
        lost("instruction", salience=8),
    ]

    ranked = [(one.kind, one.rank) for one in rank_losses(found)]

    assert ranked == [
        ("decision", "standing"),
        ("instruction", "standing"),
        ("question", "standing"),
        ("identifier", "needed"),
        ("number", "needed"),
        ("path", "other"),
        ("date", "minor"),
        ("amount", "minor"),
    ]


def test_a_needed_fact_names_its_message_counted_from_the_start() -> None:
    uses = LaterUses([user("And ABC-1234?")], start=3)

    found = {one.text: one.needed_at for one in uses.needed(losses(record()), after=3)}

    assert found == {"ABC-1234": 3, "Never restart db-7 on Mondays.": None}


def test_the_verdict_counts_what_was_folded_and_used_again_lost_or_not() -> None:
    said = [
        user("Never restart db-7 on Mondays."),
        assistant("The ticket is ABC-1234, the branch is REQ-77."),
        user("It is open."),
    ]
    made = record(facts_lost=("ABC-1234",))
    ledger = ledger_of(made, Recording(said).history.facts())
    folded = folded_facts(made, None, ledger)
    uses = LaterUses([user("Close ABC-1234 and merge REQ-77.")], start=3)

    found = uses.needed(recorded_losses(made, ledger), after=3)

    verdict = uses.verdict(folded, found, after=3)
    assert verdict == LossVerdict(needed=2, gone=1)
    assert str(verdict.reason) == "1 of 2 things needed later are gone"
    assert uses.used(folded, after=3).keys() == {"ABC-1234", "REQ-77"}
    kept = uses.verdict(folded, [], after=3)
    assert kept.reason == LossVerdictCode.ALL_THERE(needed=2)
    assert uses.verdict([], [], after=3).reason == LossVerdictCode.NOT_NEEDED()
    assert uses.verdict(folded, found, after=4).reason == LossVerdictCode.NONE_LATER()


def test_what_an_earlier_compaction_folded_is_not_counted_again() -> None:
    ledger = ledger_of(record(), Recording(HISTORY).history.facts())
    before = Compaction(covered_until=1)

    assert "ABC-1234" in {one.text for one in folded_facts(record(), before, ledger)}
    rules = {
        one.text for one in folded_facts(record(), before, ledger) if one.kind == "instruction"
    }
    assert rules == set()
