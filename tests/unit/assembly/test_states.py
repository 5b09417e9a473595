"""A state as plain data: what is written is read back, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.assembly.records import Compaction, WorkingState
from ctxcore.assembly.states import VERSION, CompactionState, Seen
from ctxcore.errors import StateError
from ctxcore.facts.rule_edits import RuleEdit
from ctxcore.reasons.codes import ChoiceCode, OutcomeCode, TriggerCode
from ctxcore.reasons.values import counts

FULL = CompactionState(
    active=Compaction(
        covered_until=6,
        summary="user: 天气",
        summary_tokens=4,
        summarized_until=5,
        kept=(2, 3),
        pins=(4,),
        shortened=((7, "rows …"),),
        arguments=((2, ('{"path":"/a","text":"…"}', None)),),
        facts="Dates:\n- Friday",
        facts_lost=("ORD-1",),
        facts_restored=("ORD-2",),
        lineage=((0, 8, ((1, 2), (5, 5))),),
        passages=((1, "keep me"),),
        memories=((0, "likes trains"),),
        generation=-1_000_000,
        language="zh",
        strategies=("fold_to_fit",),
        trigger=TriggerCode.ASKED(tokens=900),
        reason=OutcomeCode.STILL_OVER(
            why=ChoiceCode.TASK(task="code", evidence=counts({"edits": 3})),
            trigger=TriggerCode.MARKED(),
        ),
    ),
    summaries=2,
    truncations=1,
    failures=1,
    pinned=frozenset({3}),
    excluded=frozenset({8, 1}),
    working=WorkingState(memories=("tea",), tasks="[x] one"),
    seen=Seen(
        digests=("0123456789abcdef",) * 8,
        left_out=(1,),
        sent=("fedcba9876543210",),
        system="aa",
        goal="0123456789abcdef",
        request="book a train",
        rules="Standing instructions:\n- never fly",
    ),
    inherited="Names:\n- Ada",
    left_out=12,
    recalls=((9, (2, 3)), (7, ())),
    rule_edits=(
        RuleEdit(kind="add", seq=3, text="Ship on Fridays."),
        RuleEdit(kind="dismiss", seq=0, text="never fly"),
    ),
)

assert FULL.active is not None
NEITHER = replace(FULL.active, lineage=(), facts_restored=())
BEFORE_EDITS = replace(FULL, active=NEITHER, rule_edits=())


def changed(path: str, value: object) -> dict[str, Any]:
    """The data of a state with one field changed."""
    data: Any = FULL.to_json()
    *holders, name = path.split(".")
    inner = data
    for holder in holders:
        inner = inner[holder]
    inner[name] = value
    return data  # type: ignore[no-any-return]  # it is the object itself


@pytest.mark.parametrize("state", [FULL, CompactionState()])
def test_what_is_written_is_read_back(state: CompactionState) -> None:
    data = state.to_json()

    for written in (data, json.dumps(data), json.dumps(data).encode()):
        read = CompactionState.from_json(written)
        assert read == state
        assert read.seen == state.seen


def test_it_is_plain_data() -> None:
    assert set(kinds(FULL.to_json())) <= {dict, list, str, int, type(None)}
    assert FULL.to_json()["version"] == VERSION == 6


def test_reasons_of_version_1_are_read_as_the_words_they_were() -> None:
    data: Any = changed("version", 1)
    data["active"] |= {"trigger": "", "reason": "asked for: tokens 900"}

    active = CompactionState.from_json(data).active

    assert active is not None
    assert active.trigger is None
    assert str(active.reason) == "asked for: tokens 900"


def test_a_state_of_version_2_shortens_no_arguments() -> None:
    data: Any = changed("version", 2)
    del data["active"]["arguments"], data["active"]["lineage"], data["recalls"]
    del data["active"]["facts_restored"], data["rule_edits"]

    read = CompactionState.from_json(data)

    assert read == replace(BEFORE_EDITS, active=replace(NEITHER, arguments=()), recalls=())


def test_a_state_of_version_3_recalled_nothing() -> None:
    data: Any = changed("version", 3)
    del data["recalls"], data["active"]["lineage"], data["active"]["facts_restored"]
    del data["rule_edits"]

    assert CompactionState.from_json(data) == replace(BEFORE_EDITS, recalls=())


def test_a_state_of_version_4_knows_no_lineage_and_restored_nothing() -> None:
    data: Any = changed("version", 4)
    del data["active"]["lineage"], data["active"]["facts_restored"], data["rule_edits"]

    assert CompactionState.from_json(data) == BEFORE_EDITS


def test_a_state_of_version_5_edits_no_rules() -> None:
    data: Any = changed("version", 5)
    del data["rule_edits"]

    assert CompactionState.from_json(data) == replace(FULL, rule_edits=())


def kinds(value: object) -> list[type]:
    """The types of everything in a value."""
    if isinstance(value, dict):
        return [dict, *(kind for inner in value.values() for kind in kinds(inner))]
    if isinstance(value, list):
        return [list, *(kind for inner in value for kind in kinds(inner))]
    return [type(value)]


def test_a_lone_surrogate_is_written_as_what_stands_for_it() -> None:
    data = CompactionState(inherited="a \ud83d b").to_json()

    assert json.dumps(data, ensure_ascii=False).encode()
    assert data["inherited"] == "a \ufffd b"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (changed("version", 7), "version 7; this release reads the versions 1, 2, 3, 4, 5, 6"),
        (changed("version", True), "version True"),
        ({}, "no version"),
        ("{", "not JSON"),
        (5, "expected the object that to_json wrote, got int"),
        (changed("summaries", "2"), "summaries is of type str"),
        (changed("summaries", True), "summaries is of type bool"),
        (changed("failures", -1), "failures is -1"),
        (changed("active.trigger", 5), "active.trigger is of type int"),
        (changed("active.reason", {"facts": {}}), "active.reason is of type dict"),
        (changed("active.source_tokens", 10**400), "active.source_tokens is 1000"),
        (changed("rule_edits", [["drop", 1, "no"]]), "rule_edits is not a list of .add or dismiss"),
        (changed("rule_edits", [["add", 1, " "]]), "rule_edits is not a list of .add or dismiss"),
        (changed("active.lineage", [[3, 2, []]]), "active.lineage is not a list of"),
        (changed("active.lineage", [[0, 2, [[4, 3]]]]), "active.lineage is not a list of"),
        (changed("seen.own", [2]), "seen.own refers to messages"),
        (changed("seen.rest", [[1]]), "seen.rest is not a list of"),
        (changed("pinned", [1, "2"]), "pinned is not a list of integers"),
        (changed("more", 1), "more is unknown to this release"),
        (changed("active.more", 1), "active.more is unknown"),
        (changed("active.covered_until", None), "active.covered_until is of type NoneType"),
        (changed("active.kept", [9]), "keeps or summarizes more than it covers"),
        (changed("active.kept", [0]), "active.kept is not a list"),
        (changed("active.summarized_until", 9), "keeps or summarizes more than it covers"),
        (
            changed("active.shortened", [[7]]),
            "active.shortened is not a list of",
        ),
        (changed("active.shortened", [[0, "x"]]), "before the first"),
        (changed("active.shortened", [[70, "x"]]), "more messages than it has seen"),
        (changed("active.facts_lost", 3), "active.facts_lost is of type int"),
        (changed("active.strategies", [3]), "active.strategies is not a list of strings"),
        (changed("active.language", "fr"), "active.language is 'fr'"),
        (changed("seen.digests", "abc"), "seen.digests is incomplete"),
        (changed("seen.left_out", [44]), "seen.left_out refers to messages"),
        (changed("recalls", [[9, 2]]), "recalls is not a list of"),
        (changed("recalls", [[9, ["2"]]]), "recalls is not a list of"),
        (changed("recalls", 3), "recalls is of type int"),
        (changed("working", {"tasks": 3}), "working is not a working state"),
        (changed("working", {"more": 3}), "working is not a working state"),
    ],
    ids=str,
)
def test_what_was_not_written_by_this_release_is_refused(data: object, problem: str) -> None:
    with pytest.raises(StateError, match=problem.replace("[", r"\[")):
        CompactionState.from_json(data)


def test_a_missing_field_is_named() -> None:
    data = FULL.to_json()
    del data["failures"]

    with pytest.raises(StateError, match="failures is missing"):
        CompactionState.from_json(data)


@given(
    st.builds(
        CompactionState,
        summaries=st.integers(0, 9),
        pinned=st.frozensets(st.integers(0, 99)),
        inherited=st.text(),
        working=st.builds(WorkingState, tasks=st.none() | st.text()),
        recalls=st.lists(st.tuples(st.integers(1, 99), st.tuples(st.integers(1, 99)))).map(tuple),
        active=st.none() | st.builds(Compaction, covered_until=st.integers(0, 99), facts=st.text()),
    )
)
def test_any_state_is_read_back(state: CompactionState) -> None:
    assert CompactionState.from_json(json.dumps(state.to_json())) == state
