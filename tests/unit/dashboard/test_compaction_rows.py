"""The tree of compactions as the page tells it."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxcore.assembly.records import Compaction
from ctxcore.compaction.executing import Step
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import ChoiceCode, OutcomeCode, TriggerCode
from ctxcore.store.values import CompactionInfo
from dashboard.compactions_page.rows import compaction_rows, length_then, steps
from dashboard.reads import active_chain
from tests.engines import engine_with


def info(
    number: int, parent: int | None, *, details: JsonObject | None = None, **record: object
) -> CompactionInfo:
    fields = {"covered_until": number * 10, "before_tokens": 100, "after_tokens": 40, **record}
    return CompactionInfo(
        id=f"k{number}",
        session_id="s",
        number=number,
        parent_id=None if parent is None else f"k{parent}",
        compaction=Compaction(**fields),  # type: ignore[arg-type]  # the fields of the record
        policy_version_id=None,
        details=details or {},
        created_at=datetime(2026, 3, 2, tzinfo=UTC),
    )


TREE = [info(1, None), info(2, 1), info(3, 1)]


def test_undone_compactions_stay_in_the_tree() -> None:
    rows = compaction_rows(TREE, "k3")

    assert [(row.info.number, row.state) for row in rows] == [
        (3, "active"),
        (2, "undone"),
        (1, "earlier"),
    ]
    assert [info.id for info in active_chain(TREE, "k3")] == ["k1", "k3"]


def test_a_second_child_is_a_branch() -> None:
    assert [row.depth for row in compaction_rows(TREE, "k3")] == [1, 0, 0]


def test_without_an_active_one_all_are_undone() -> None:
    assert {row.state for row in compaction_rows(TREE, None)} == {"undone"}


def test_the_trigger_is_told_with_its_numbers() -> None:
    step = Step(
        strategy="fold_oldest", before_tokens=90, after_tokens=40, outcome=OutcomeCode.DONE()
    )
    details: JsonObject = {"steps": [step.to_dict()]}
    trigger = TriggerCode.INPUT_RATIO(tokens=90, trigger=80)

    (row,) = compaction_rows([info(1, None, details=details, trigger=trigger)], "k1")

    assert row.trigger == trigger
    assert row.strategies == ("fold_oldest",)
    assert [(step.after_tokens, step.outcome) for step in steps(details)] == [
        (40, OutcomeCode.DONE())
    ]


def test_details_of_another_form_are_no_error() -> None:
    assert steps({"steps": "none"}) == []
    assert [str(step.outcome) for step in steps({"steps": [{"outcome": "done"}]})] == [""]
    assert compaction_rows([info(1, None, details={"steps": 3})], None)[0].strategies == ()


def test_another_products_compaction_is_known_by_its_trigger() -> None:
    (row,) = compaction_rows(
        [info(1, None, trigger=TriggerCode.RECORDED(product="claude-code"))], "k1"
    )

    assert row.is_imported
    assert not row.is_fallback


def test_a_truncation_in_place_of_a_summary_is_told() -> None:
    why, asked = ChoiceCode.NO_SUMMARIZER(), TriggerCode.ASKED(tokens=90)
    truncated = OutcomeCode.TRUNCATED_INSTEAD(why=why)
    failed = info(1, None, trigger=asked, reason=truncated)
    over = info(1, None, trigger=asked, reason=OutcomeCode.STILL_OVER(why=truncated, trigger=asked))
    fine = info(1, None, trigger=asked, reason=asked)
    chosen = info(1, None, trigger=TriggerCode.MARKED(), reason=ChoiceCode.LONG(messages=32))
    rows = [compaction_rows([one], None)[0] for one in (failed, over, fine, chosen)]

    assert [row.is_fallback for row in rows] == [True, True, False, False]
    assert [row.was_chosen for row in rows] == [False, False, False, True]
    assert [row.is_still_over for row in rows] == [False, True, False, False]
    assert [row.reason for row in rows] == [why, why, asked, ChoiceCode.LONG(messages=32)]


def test_only_what_the_parent_had_not_folded_is_listed() -> None:
    parent = Compaction(covered_until=4, kept=(2,))
    record = Compaction(covered_until=7, kept=(6,))

    assert record.folded_since(None) == (1, 2, 3, 4, 5, 7)
    assert record.folded_since(parent) == (2, 5, 7)
    assert record.folded_since(None, system=(1,)) == (2, 3, 4, 5, 7)


def test_what_it_took_is_told_where_it_was_recorded() -> None:
    details: JsonObject = {"strategies": ["summarize"], "seconds": 1.25, "cost": 0.002}
    told, untold = (
        compaction_rows([info(1, None, details=found)], None)[0] for found in (details, {})
    )

    assert (told.strategies, told.seconds, told.cost) == (("summarize",), 1.25, 0.002)
    assert (untold.seconds, untold.cost) == (None, None)


def test_a_fork_ends_where_the_history_ended_when_the_compaction_was_made() -> None:
    with engine_with() as (engine, _):
        session = engine.create_session()
        for number in range(6):
            engine.append(session.id, [{"role": "user", "content": f"message {number} " * 40}])
        made = engine.compact(session.id)
        engine.append(session.id, [{"role": "user", "content": "later"}])

        assert made is not None
        assert length_then(engine.store, engine.session(session.id), made) == 6
