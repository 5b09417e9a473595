"""Connections, users and files: what the settings and tables decide without drawing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ctxcore.csv_text import to_csv
from ctxcore.gateway.values import Connection
from ctxcore.store.values import UserInfo
from dashboard.keys import KeyState, key_state, key_text
from dashboard.settings.connections import with_connection
from dashboard.settings.users import is_last_operator
from dashboard.widgets import Row

WORK = Connection(name="work", model="openai/gpt-4o")
HOME = Connection(name="home", model="ollama/llama3", api_base="http://127.0.0.1:11434")


def user(user_id: str, *, is_operator: bool) -> UserInfo:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    return UserInfo(id=user_id, name="", group="", is_operator=is_operator, created_at=at)


def test_a_connection_is_added_or_exchanged_in_place() -> None:
    renamed = Connection(name="office", model="openai/gpt-4o")

    assert with_connection([WORK], HOME, None) == [WORK, HOME]
    assert with_connection([WORK, HOME], renamed, "work") == [renamed, HOME]


@pytest.mark.parametrize(
    ("connection", "problem"),
    [
        (Connection(name="", model="m"), "settings.connections.incomplete"),
        (Connection(name="new", model=""), "settings.connections.incomplete"),
        (Connection(name="work", model="m"), "settings.connections.twice"),
        (Connection(name="new", model="m", key_env="sk-1234abcd"), "settings.key.invalid"),
        (Connection(name="new", model="m", key_env="gsk_1234abcd"), "settings.key.invalid"),
    ],
)
def test_what_cannot_be_a_connection_is_refused(connection: Connection, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        with_connection([WORK], connection, None)


def test_only_whether_the_key_is_set_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = Connection(name="k", model="m", key_env="CTXCORE_TEST_KEY")
    assert key_state("m", keyed) == KeyState(variable="CTXCORE_TEST_KEY")

    monkeypatch.setenv("CTXCORE_TEST_KEY", "secret")

    assert key_state("m", keyed) == KeyState(variable="CTXCORE_TEST_KEY", is_set=True)
    assert "secret" not in key_text(key_state("m", keyed))


def test_the_last_operator_stays() -> None:
    one, two = user("a", is_operator=True), user("b", is_operator=False)

    assert is_last_operator([one, two], "a")
    assert not is_last_operator([one, two], "b")
    assert not is_last_operator([one, user("c", is_operator=True)], "a")


def test_a_csv_file_is_read_as_text_never_as_a_formula() -> None:
    rows: list[Row] = [{"名称": "=1+1", "tokens": None}, {"名称": "a, b", "tokens": 3}]

    text = to_csv(rows).decode("utf-8-sig")

    assert text.splitlines() == ["名称,tokens", "'=1+1,", '"a, b",3']
    assert to_csv([]).decode("utf-8-sig").strip() == ""
