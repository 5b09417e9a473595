"""What is carried beside a summary, and what of a fact is in a text."""

from __future__ import annotations

import pytest

from ctxcore.facts.facts_block import render_facts
from ctxcore.facts.ledger import live
from ctxcore.facts.presence import is_present
from ctxcore.facts.values import Fact, Kind
from tests.unit.facts.speech import FourBytes, facts, folded, of_call, of_output

SAID = (
    "Never commit to main. The port is 8080.",
    "My order is ORD-2026-417 and it costs $120.",
    "Always answer in German.",
    "Let's go with the blue offer. We meet next Friday at 3pm.",
)


def test_facts_are_grouped_with_instructions_first() -> None:
    carried = render_facts(live(folded(*SAID)), max_tokens=400, counter=FourBytes())

    assert carried.text.splitlines()[:5] == [
        "Standing instructions:",
        "- Never commit to main.",
        "- Always answer in German.",
        "Decisions:",
        "- Let's go with the blue offer.",
    ]
    assert carried.tokens == FourBytes().count(carried.text)
    assert carried.left_out == 0


def test_a_label_in_capitals_is_left_out_of_statements() -> None:
    """The heading says what kind they are; a single word may be what a statement is about."""
    entries = live(folded("SAFETY RULE: Never run the purge alone.", "AWS: Never open port 22."))

    text = render_facts(entries, max_tokens=200, counter=FourBytes()).text

    assert "- Never run the purge alone." in text
    assert "- AWS: Never open port 22." in text
    assert all(is_present(entry.fact, text) for entry in entries)


def test_headings_are_chinese_in_chinese() -> None:
    carried = render_facts(
        live(folded("不要使用表情。", "端口是 8080")),
        max_tokens=200,
        counter=FourBytes(),
        language="zh",
    )

    assert carried.text.splitlines()[:2] == ["长期有效的指示:", "- 不要使用表情。"]


@pytest.mark.parametrize("max_tokens", [0, 5, 12, 20, 40, 80])
def test_the_budget_is_never_exceeded(max_tokens: int) -> None:
    carried = render_facts(live(folded(*SAID)), max_tokens=max_tokens, counter=FourBytes())

    assert FourBytes().count(carried.text) <= max_tokens


def test_protected_kinds_come_before_what_is_worth_more_per_token() -> None:
    rule = Fact(kind="instruction", text="Never " + "a " * 60 + "b.", key="rule")
    orders = [Fact(kind="identifier", text=f"O-{n}", key=f"o-{n}") for n in range(40)]
    entries = live(folded((rule, *orders)))

    protected = render_facts(entries, max_tokens=60, counter=FourBytes())
    plain = render_facts(entries, max_tokens=60, counter=FourBytes(), protected_kinds=())

    assert rule in [entry.fact for entry in protected.entries]
    assert rule not in [entry.fact for entry in plain.entries]


def test_the_budget_holds_where_a_whole_counts_more_than_its_parts() -> None:
    class Rising(FourBytes):
        def count(self, text: str) -> int:
            return len(text) // 3

    for max_tokens in range(0, 120, 3):
        carried = render_facts(live(folded(*SAID)), max_tokens=max_tokens, counter=Rising())

        assert Rising().count(carried.text) <= max_tokens


def test_what_does_not_fit_is_told_as_a_count() -> None:
    carried = render_facts(live(folded(*SAID)), max_tokens=40, counter=FourBytes())

    assert carried.left_out > 0
    assert carried.text.endswith(f"({carried.left_out} more facts not shown)")


def test_what_the_context_shows_is_not_said_again() -> None:
    carried = render_facts(live(folded(*SAID)), max_tokens=400, counter=FourBytes(), visible={1, 3})

    assert "Never commit" not in carried.text
    assert "ORD-2026-417" in carried.text


def test_what_became_of_a_fact_is_told() -> None:
    ledger = folded(
        "The port is 8080.",
        "Set the port to 9090.",
        of_output("AssertionError: 1 != 2", "bash", command="pytest -q"),
        of_call("Edit", file_path="calc.py", old_string="1", new_string="2"),
        of_output("3 passed", "bash", command="pytest -q"),
        of_call("TodoWrite", todos=[{"content": "a", "status": "completed"}]),
    )

    text = render_facts(live(ledger), max_tokens=400, counter=FourBytes()).text

    assert "- port: 9090 (was 8080)" in text
    assert "- AssertionError: 1 != 2 → fixed: changed calc.py" in text
    assert "- calc.py (+1 −1)" in text
    assert "- 1/1 [x] a" in text


@pytest.mark.parametrize(
    ("kind", "literal", "subject", "text", "there"),
    [
        ("instruction", "Never commit to main.", "", "rule:  never COMMIT to\nmain", True),
        ("instruction", "Never commit to main.", "", "commit to main", False),
        ("instruction", "不要使用表情。", "", "用户说：不要使用表情", True),
        ("identifier", "ORD-417", "", "see ord-417.", True),
        ("identifier", "ORD-417", "", "see ORD-4170", False),
        ("identifier", "417", "order", "417.5 EUR", False),
        ("number", "30 s", "timeout", "the timeout is 30  s", True),
        ("number", "30 s", "timeout", "the run took 30 s", False),
        ("number", "5000 元", "预算", "预算 5000 元", True),
        ("amount", "$1,250", "", "paid $1250 in all", True),
        ("path", "/srv/app/a.py", "", "edited `/srv/app/a.py`", True),
        ("path", "/srv/app/a.py", "", "edited a.py", False),
        ("date", "next Friday", "", "Next friday works", True),
        ("todo", "[x] write; [ ] test it", "", "write, then test it", True),
        ("todo", "[x] write; [ ] test it", "", "write", False),
    ],
)
def test_a_fact_is_present_where_its_literal_is(
    kind: Kind, literal: str, subject: str, text: str, there: bool
) -> None:
    fact = Fact(kind=kind, text=literal, key="k", subject=subject)

    assert is_present(fact, text) is there


def test_what_is_carried_is_present() -> None:
    ledger = folded(*SAID, facts("使用 port 9000", "assistant"))

    carried = render_facts(live(ledger), max_tokens=500, counter=FourBytes())

    assert all(is_present(entry.fact, carried.text) for entry in carried.entries)


def test_a_rule_said_once_anywhere_in_a_long_conversation_is_carried() -> None:
    chatter = [
        f"Ticket T-{n}: the shelf {n} needs {n} kg by 2026-03-{n % 28 + 1:02}" for n in range(400)
    ]
    for place in (0, 200, 400):
        said = [*chatter[:place], "Never order from the old supplier.", *chatter[place:]]
        carried = render_facts(live(folded(*said)), max_tokens=480, counter=FourBytes())

        assert "- Never order from the old supplier." in carried.text


def test_the_file_at_work_comes_before_those_named_once_long_ago() -> None:
    """Its path is long and it is named again; the others are short. Each is told once."""
    at_work = "/srv/harbour/deployments/berths/allocation/nightly_schedule.py"
    before = [of_call("Read", file_path=f"/berths/old_{n}.py") for n in range(9)]
    read = of_call("Read", file_path=at_work)
    ledger = folded(*before, *["Go on."] * 80, read, read)

    carried = render_facts(live(ledger), max_tokens=32, counter=FourBytes())

    assert carried.text.splitlines()[-2:] == [
        f"- {at_work}",
        f"({carried.left_out} more facts not shown)",
    ]
    assert carried.text.count(at_work) == 1
    assert carried.left_out > 0
