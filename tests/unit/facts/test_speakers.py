"""The name of who speaks is no part of what is said."""

from __future__ import annotations

import pytest

from ctxcore.facts.speakers import spoken, words_from
from tests.unit.facts.speech import folded, held

NAMED = [
    *("Anna: {}", "Anna Schmidt: {}", "Dr. Okafor: {}", "J. R. Tolkin: {}", "Jean-Luc O'Brien: {}"),
    *("Ludwig van Dijk: {}", "Mark: {}", "Project Manager: {}", "Project_Manager: {}", "user: {}"),
    *("Grad C: {}", "User 1: {}", "Customer: {}", "**Anna**: {}", "Anna (10:32): {}", "<anna> {}"),
    *("@anna {}", "10:32 Anna: {}", "[session 3] Anna: {}", "12/05/2024, 10:32 - Anna: {}"),
    *(
        "王强：{}",
        "王强: {}",
        "小明：{}",
        "李老师：{}",
        "用户A：{}",
        "小明(12:30)：{}",
        "<小明> {}",
    ),
]
NOT_NAMED = [
    *(
        "Budget: 900 euros",
        "Code Style: use tabs",
        "AWS: never deploy on Fridays",
        "Tests: run all",
    ),
    *("Error Handling: never swallow", "Semicolons: never", "Rule 3: never guess", "Agreed: oak"),
    *("Hard Constraint: no loops", "Frontend: use React", "JavaScript: no semicolons"),
    *(
        "Please remember: no calls",
        "He said this: no",
        "https://a.example: down",
        "C:\\data is full",
    ),
    *(
        "10:30 is fine",
        "<br> always",
        "<order>always</order>",
        "<rules> always",
        "Finally: go",
        "@anna",
        "Anna:",
    ),
    *("预算：900", "备注：不要", "小结：到此为止", "时间：三点", "文件：a.py", "阿里云：用它"),
]
RULES = [
    *("Always use metric units.", "Never mention my salary to anyone.", "Please answer in Dutch."),
    *(
        "Don't spend more than 40 dollars a day on ads.",
        "每次总结不要超过一百字。",
        "不要提我的工资。",
    ),
]
SAID_NEXT = [
    *("Yeah.", "Bye!", "Thanks, see you tomorrow.", "No, not really.", "I saw a film on Sunday."),
    *("Good to see you!", "好的。", "谢谢你，明天见。", "我昨天看了一部电影。"),
]


@pytest.mark.parametrize("form", NAMED)
def test_the_words_begin_behind_the_name_of_a_speaker(form: str) -> None:
    text = form.format("we meet on Monday")

    assert text[words_from(text) :] == "we meet on Monday"


@pytest.mark.parametrize("text", NOT_NAMED)
def test_what_is_spoken_of_is_no_speaker(text: str) -> None:
    assert words_from(text) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[session 3, 1:56 pm on 8 May, 2023] Anna: hello", "hello"),
        ("[2023-05-08] hello", "hello"),
        ("[10:32] hello", "hello"),
        ("[P1] the database is down", "[P1] the database is down"),
        ("[docs](https://a.example) say so", "[docs](https://a.example) say so"),
        ("", ""),
    ],
)
def test_a_date_before_the_words_is_not_said_either(text: str, said: str) -> None:
    assert spoken(text) == said


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_found_behind_a_name_and_holds_while_its_speaker_goes_on(
    form: str, rule: str
) -> None:
    first = form.format(rule)

    assert held(folded(first, *map(form.format, SAID_NEXT)), "instruction") == [first]


@pytest.mark.parametrize("form", NAMED)
@pytest.mark.parametrize(
    ("rule", "update"),
    [
        ("Please answer in Dutch.", "From now on, answer in Portuguese."),
        ("Never call me before nine.", "Calling me before nine is fine now."),
        ("每次总结不要超过一百字。", "总结可以写到两百字了。"),
    ],
)
def test_a_speaker_changes_a_rule_as_anybody_does(form: str, rule: str, update: str) -> None:
    first, then = form.format(rule), form.format(update)

    assert first not in held(folded(first, then), "instruction")


def test_a_binding_of_a_thing_keeps_its_name() -> None:
    assert held(folded("Budget: 900 euros.", "Budget: 1,200 euros."), "setting") == [
        "Budget: 1,200 euros."
    ]
