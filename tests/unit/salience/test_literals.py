from __future__ import annotations

import pytest

from ctxcore.salience.ranking import weigh_literals
from ctxcore.salience.units import Unit
from ctxcore.text.identifiers import exact_strings
from tests.unit.salience.building import output, utterance


def literals_of(text: str) -> list[str]:
    return list(exact_strings(text))


def values(*units: Unit) -> dict[str, float]:
    return weigh_literals(units, [exact_strings(unit.text) for unit in units])


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("Book HAT136 on 2024-05-20 to JFK.", ["HAT136", "2024-05-20", "JFK"]),
        ("Look in src/app/main.py, please.", ["src/app/main.py"]),
        ('{"user_id":"mia_li_3668","ok":true}', ["user_id", "mia_li_3668"]),
        ("write to mia@example.com: 42 times", ["mia@example.com", "42"]),
        ("call getUserName of ./run.sh", ["getUserName", "./run.sh"]),
        ("地址在main.py第12行。", ["main.py", "12"]),
        ("I am so happy for you, really.", []),
    ],
)
def test_literals_are_ids_paths_dates_and_numbers(text: str, literals: list[str]) -> None:
    assert literals_of(text) == literals


def test_what_the_user_gave_is_worth_more_than_what_a_tool_said() -> None:
    found = values(utterance("My id is AB-12."), output("CD-34"))

    assert found["AB-12"] > found["CD-34"]


def test_what_is_mentioned_again_is_worth_more() -> None:
    found = values(output("AB-12 CD-34", seq=0), output("AB-12", seq=1), output("-", seq=2))

    assert found["AB-12"] > found["CD-34"]


def test_two_pieces_of_one_message_are_one_mention() -> None:
    once = values(output("AB-12", seq=0))
    pieces = values(output("AB-12", seq=0), output("AB-12", seq=0))

    assert pieces["AB-12"] == once["AB-12"]


def test_older_literals_are_worth_less() -> None:
    found = values(output("AB-12", seq=0), output("words " * 4_000, seq=1), output("CD-34", seq=2))

    assert found["AB-12"] < found["CD-34"]


def test_a_path_is_worth_more_and_a_number_less_than_an_id() -> None:
    found = values(output("AB-12 src/app.py 4711"))

    assert found["src/app.py"] > found["AB-12"] > found["4711"]
