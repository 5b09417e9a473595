"""What people take back, narrow, widen or replace is gone, and what they only speak of stays."""

from __future__ import annotations

import json

import pytest

from benchmarks.fidelity import instructions
from ctxcore.facts.finding import dump_facts, load_facts
from tests.unit.facts import examples
from tests.unit.facts.speech import facts, folded, held


def standing(*said: str) -> list[str]:
    return held(folded(*said), "instruction")


@pytest.mark.parametrize(("rule", "later"), examples.CHANGED)
def test_a_rule_that_is_revised_is_replaced_by_what_revises_it(rule: str, later: str) -> None:
    assert standing(rule, "Thanks.", later) == [later]


@pytest.mark.parametrize(("rule", "later"), examples.MENTIONED)
def test_a_rule_stays_when_something_else_is_said(rule: str, later: str) -> None:
    assert rule in standing(rule, "Thanks.", later)


@pytest.mark.parametrize(
    ("rule", "printed"),
    [
        ("不要删除重复的行。", "重复的行可以删掉了。"),
        ("Never delete duplicate rows.", "You may delete duplicate rows again."),
    ],
)
def test_no_tool_and_no_model_takes_a_rule_back(rule: str, printed: str) -> None:
    for role in ("tool", "assistant"):
        assert rule in held(folded(rule, facts(printed, role)), "instruction")


def test_a_number_takes_the_place_of_a_number_alone() -> None:
    secret, limit = "预算不得对外公开。", "预算不要超过三千元。"

    now = standing(secret, limit, "预算改成五千元。")

    assert now == [secret, "预算改成五千元。"]


def test_of_two_rules_about_a_thing_the_nearer_one_turns() -> None:
    indent, depth = "缩进统一用制表符。", "缩进不要超过四层。"

    assert standing(indent, depth, "缩进改用空格。") == [depth, "缩进改用空格。"]


def test_traditional_characters_say_the_same() -> None:
    assert standing("請統一用繁體字。", "繁体字不用了。") == ["繁体字不用了。"]


def test_what_is_permitted_ends_no_duty() -> None:
    duty = "部署前必须先问我。"

    assert standing(duty, "问过我了，可以部署了。")[0] == duty


def test_what_a_sentence_changes_is_stored_with_it() -> None:
    found = facts("座位不用非得靠走道，靠窗也行。")

    assert found[0].about
    assert load_facts(dump_facts(found), "user") == found


def test_every_update_that_is_measured_replaces_its_rule() -> None:
    measured = json.loads(instructions.SENTENCES.read_text(encoding="utf-8"))["updates"]

    for made in measured:
        now = "\n".join(standing(made["first"], "Thanks.", made["then"])).lower()
        assert made["new"].lower() in now, made
        assert made["stale"].lower() not in now, made


@pytest.mark.parametrize(
    ("rule", "update"),
    [
        (
            "Never restart the primary without asking me.",
            "Update to the rule: between 03:30 and 06:00 you may restart the primary.",
        ),
        ("未经我同意不要重启主库。", "规则更新：今晚可以直接重启主库。"),
    ],
)
def test_an_update_for_some_time_stands_beside_its_rule(rule: str, update: str) -> None:
    assert standing(rule, "Thanks.", update) == [rule, update]
