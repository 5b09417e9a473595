"""Focus: what a query names keeps all its members before others keep so much as a name."""

from __future__ import annotations

import json

import pytest

from ctxcore import compress
from ctxcore.messages.values import JsonValue
from tests.unit.compression.counters import FourBytes

WORDS = [
    "alder",
    "birch",
    "cedar",
    "elm",
    "hazel",
    "larch",
    "maple",
    "oak",
    "pine",
    "rowan",
    "spruce",
    "willow",
]
NAMES = [f"{one}-{other}" for one in WORDS for other in WORDS if one != other]
PACKAGES: JsonValue = [{"name": name, "version": f"{n}.4.{n % 7}"} for n, name in enumerate(NAMES)]
GROUPS: JsonValue = [
    {
        "owner": f"yard {g}",
        "boats": [
            {"boat": f"B-{g}{n}", "berth": 1000 + 10 * g + n, "flag": "Norway", "hull": "oak"}
            for n in range(5)
        ],
    }
    for g in range(30)
]
SETTINGS: JsonValue = {f"{name.replace('-', '.')}_size": 7000 + n for n, name in enumerate(NAMES)}
SHIPS: JsonValue = [
    {
        "船名": f"{first}{second}号",
        "船长": f"李{first}",
        "电话": f"13{n:02}{m}5550{n}{m}",
        "港口": "青岛",
    }
    for n, first in enumerate("海天云山")
    for m, second in enumerate("龙凤鹰虎豹鹤")
]


@pytest.mark.parametrize(
    ("value", "query", "wanted"),
    [
        (PACKAGES, "Which version of elm-oak is installed?", ["39.4.4"]),
        (PACKAGES, "Compare elm_oak with oak elm", ["39.4.4", "80.4.3"]),
        ({"installed": PACKAGES}, "ELM-OAK 是什么版本", ["39.4.4"]),
        (GROUPS, "In which berth is B-174?", ["1174"]),
        (SETTINGS, "What is elm.oak_size set to?", ["7039"]),
        ({"en": SETTINGS}, "elm.oak_size", ["7039"]),
        (SHIPS, "云虎号的电话是多少?", ["13023555023"]),
    ],
)
def test_the_named_record_keeps_what_is_asked(
    value: JsonValue, query: str, wanted: list[str]
) -> None:
    output = json.dumps(value, ensure_ascii=False)

    text = compress(output, max_tokens=200, query=query).text

    assert [part for part in wanted if part not in text] == []


def test_the_members_that_are_asked_for_outlast_the_others_of_a_record() -> None:
    boats = [
        {"boat": f"B-{n}", "log": f"wind from the north, day {n}. " * 20, "keel_laid": f"19{n}"}
        for n in range(10, 60)
    ]

    text = compress(json.dumps(boats), max_tokens=60, query="When was the keel of B-33 laid?").text

    assert {"boat": "B-33", "keel_laid": "1933"}.items() <= json.loads(text)["match"][0].items()


def test_of_few_records_one_is_named_and_all_are_not() -> None:
    boats = [{"boat": name, "crew": [f"{name} {n}" for n in range(40)]} for name in WORDS[:3]]
    output = json.dumps(boats)

    one = json.loads(compress(output, max_tokens=150, query="the crew of birch").text)
    all_of_them = compress(output, max_tokens=150, query="alder, birch and cedar").text

    assert [match["boat"] for match in one["match"]] == ["birch"]
    assert "match" not in all_of_them


def test_a_named_record_that_is_dearer_than_estimated_still_fits() -> None:
    files = [{"path": f"{name}.py", "sha": f"{n:03}e1" * 8} for n, name in enumerate(NAMES)]

    text = compress(
        json.dumps(files), max_tokens=120, query="sha of elm-oak.py and of oak-elm.py"
    ).text

    assert "039e1" in text
    assert "080e1" in text


@pytest.mark.parametrize("depth", [10, 40, 50])
def test_names_in_lists_within_lists_take_little_time(depth: int) -> None:
    value: JsonValue = ["needle one", "b"]
    for level in range(depth):
        value = [value, [f"filler {level}", "c"]]

    assert FourBytes().count(compress(json.dumps(value), query="find needle one").text) < 400
