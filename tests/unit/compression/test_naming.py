"""Naming: which values a query repeats whole, and which members it asks for."""

from __future__ import annotations

import pytest

from ctxcore.compression.naming import Query


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("Which version of azure-core is installed?", "azure_core"),
        ("Where is order w1201?", "#W1201"),
        ("王小明的电话是多少", "王小明"),
        ("订单D77的物流", "D77"),
        ("Is the OAK DESK in stock?", "Oak desk"),
        ("fix src/rows.py:12", "rows.py"),
    ],
)
def test_a_value_is_named_without_its_case_marks_and_joints(query: str, value: str) -> None:
    assert Query(query).phrase(value)


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("My id is sophia_silva_7557.", "Silva"),  # a part of an identifier
        ("Which version is installed?", "is"),  # in any query
        ("the first 12 rows", "12"),  # a count
        ("Which version?", ""),
        ("", "boat"),
    ],
)
def test_a_value_is_not_named_by_parts_and_weak_words(query: str, value: str) -> None:
    assert not Query(query).phrase(value)


def test_a_short_number_is_named_where_it_identifies() -> None:
    assert Query("What is in berth 12?").phrase("12", is_identifier=True)


def test_a_value_inside_of_a_longer_one_is_not_meant() -> None:
    query = Query("Which version of azure-core do we use?")

    assert query.longest([" core ", " azure core "]) == [" azure core "]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("When will it be delivered?", "estimated_delivery"),
        ("How humid is it?", "humidity"),
        ("private IP address", "PrivateIpAddress"),
        ("Give me the ids", "id"),
        ("哪天入职的", "入职日期"),
    ],
)
def test_a_member_is_asked_for_in_any_form_of_its_words(query: str, key: str) -> None:
    assert Query(query).asked(["colour", key, "size"]) == [1]


def test_the_names_of_arguments_ask_for_nothing() -> None:
    assert Query('get_user {"city": "Varel"}').asked(["city", "mail"]) == []


def test_of_alike_members_the_one_named_whole_is_asked_for() -> None:
    keys = ["db.pool.max_size", "db.pool.min_size", "web.pool.max_size"]

    assert Query("What is web.pool.max_size set to?").asked(keys) == [2]
