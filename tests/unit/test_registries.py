"""Registries: names in order, each taken once, built-in values loaded when they are used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ctxcore.registries import At, NameTakenError, Registry
from tests.processes import printed_by


def test_names_come_in_order_and_values_by_name() -> None:
    numbers: Registry[int] = Registry("number", {"one": 1})

    numbers.register("two", 2)

    assert (list(numbers), numbers["two"], "three" in numbers) == (["one", "two"], 2, False)


def test_a_name_that_is_taken_is_refused_and_nothing_changes() -> None:
    numbers: Registry[int] = Registry("number", {"one": 1})

    with pytest.raises(NameTakenError, match="a number named 'one' already"):
        numbers.register("one", 11)

    assert dict(numbers) == {"one": 1}


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(ValueError, match="the name of a number is a text"):
        Registry[int]("number").register(name, 1)  # type: ignore[arg-type]  # wrong on purpose


def test_what_was_registered_inside_is_taken_back() -> None:
    numbers: Registry[int] = Registry("number")

    with numbers.restored():
        numbers.register("one", 1)

    assert list(numbers) == []


def test_a_value_that_is_named_by_where_it_is_loads_once() -> None:
    where: Registry[object] = Registry("function", {"join": At("os.path:join")})

    assert where["join"] is where["join"]
    assert callable(where["join"])


def test_knowing_the_names_of_strategies_loads_none() -> None:
    code = (
        "import sys; from ctxcore.policy.values import Policy; Policy()\n"
        "print('ctxcore.compaction.strategies' in sys.modules)"
    )

    assert printed_by(code).strip() == "False"


def test_threads_that_register_at_once_lose_nothing() -> None:
    numbers: Registry[int] = Registry("number")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: numbers.register(f"n{n}", n), range(400)))

    assert sorted(numbers.values()) == list(range(400))
