"""A part of carried facts: whole lines, standing instructions before all others."""

from __future__ import annotations

from ctxcore.facts.facts_block import rules_of, shorten_block
from tests.words import Words

TEXT = (
    "Decisions:\n- roll back first\nIdentifiers:\n- ORD-1\n- ORD-2\n(3 more facts not shown)\n"
    "Standing instructions:\n- never push to main"
)


def test_what_fits_is_said_as_it_is() -> None:
    assert shorten_block(TEXT, 100, Words(), "en") == TEXT


def test_instructions_are_taken_first_and_stay_in_their_place() -> None:
    assert shorten_block(TEXT, 17, Words(), "en") == (
        "Decisions:\n- roll back first\nStanding instructions:\n- never push to main\n"
        "(5 more facts not shown)"
    )
    assert shorten_block(TEXT, 12, Words(), "en") == (
        "Standing instructions:\n- never push to main\n(6 more facts not shown)"
    )


def test_where_no_line_fits_nothing_is_said() -> None:
    assert shorten_block(TEXT, 6, Words(), "en") == ""


def test_chinese_facts_are_counted_in_chinese() -> None:
    text = "标识:\n- A1\n- A2\n长期有效的指示:\n- 不要用表格\n（另有 4 条未列出）"

    assert shorten_block(text, 6, Words(), "zh") == (
        "长期有效的指示:\n- 不要用表格\n（另有 6 条未列出）"
    )
    assert rules_of(text) == "长期有效的指示:\n- 不要用表格"
