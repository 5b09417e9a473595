"""The tree of compactions as the page tells it."""

from __future__ import annotations

from datetime import UTC, datetime

from ctxcore.assembly.records import Compaction
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import CompactionInfo
from dashboard.compacting.rows import (
    active_chain,
    compaction_rows,
    length_then,
    steps,
)
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
    assert active_chain(TREE, "k3") == ["k3", "k1"]


def test_a_second_child_is_a_branch() -> None:
    assert [row.depth for row in compaction_rows(TREE, "k3")] == [1, 0, 0]


def test_without_an_active_one_all_are_undone() -> None:
    assert {row.state for row in compaction_rows(TREE, None)} == {"undone"}


def test_the_saved_share_is_unknown_where_nobody_said_how_large_it_was() -> None:
    told, untold = (
        compaction_rows([info(1, None)], None)[0],
        compaction_rows([info(1, None, before_tokens=0)], None)[0],
    )

    assert told.saved_ratio == 0.6
    assert untold.before_tokens is None
    assert untold.saved_ratio is None


def test_the_trigger_is_told_with_its_numbers() -> None:
    details: JsonObject = {
        "trigger": {"rule": "input at the trigger", "numbers": {"tokens": 90, "trigger": 80}},
        "steps": [
            {"strategy": "fold_oldest", "before_tokens": 90, "after_tokens": 40, "outcome": "done"}
        ],
    }

    (row,) = compaction_rows([info(1, None, details=details)], "k1")

    assert row.trigger == "input at the trigger"
    assert row.numbers == (("tokens", 90), ("trigger", 80))
    assert row.strategy == "fold_oldest"
    assert [step.after_tokens for step in steps(details)] == [40]


def test_details_of_another_form_are_no_error() -> None:
    assert steps({"steps": "none"}) == []
    assert compaction_rows([info(1, None, details={"trigger": 3})], None)[0].numbers == ()


def test_another_products_compaction_is_known_by_its_trigger() -> None:
    (row,) = compaction_rows([info(1, None, trigger="recorded by claude-code")], "k1")

    assert row.is_imported
    assert not row.is_fallback


def test_a_truncation_in_place_of_a_summary_is_told() -> None:
    failed = info(1, None, trigger="asked for", reason="no summary; truncated instead")
    fine = info(1, None, trigger="asked for", reason="asked for: tokens 90")
    chosen = info(1, None, trigger="input above usable", reason="long: 32 messages")

    assert compaction_rows([failed], None)[0].is_fallback
    assert not compaction_rows([fine], None)[0].is_fallback
    assert [compaction_rows([one], None)[0].was_chosen for one in (failed, fine, chosen)] == [
        False,
        False,
        True,
    ]


def test_only_what_the_parent_had_not_folded_is_listed() -> None:
    parent = Compaction(covered_until=4, kept=(2,))
    record = Compaction(covered_until=7, kept=(6,))

    assert record.folded_since(None) == (1, 2, 3, 4, 5, 7)
    assert record.folded_since(parent) == (2, 5, 7)
    assert record.folded_since(None, system=(1,)) == (2, 3, 4, 5, 7)


def test_what_it_took_is_told_where_it_was_recorded() -> None:
    details: JsonObject = {"strategy": "summarize", "seconds": 1.25, "cost": 0.002}
    told, untold = (
        compaction_rows([info(1, None, details=found)], None)[0] for found in (details, {})
    )

    assert (told.strategy, told.seconds, told.cost) == ("summarize", 1.25, 0.002)
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
