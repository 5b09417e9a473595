from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ctxcore.gateway.scripted import ScriptedModel, ScriptedReply
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from tests.engines import quiet_litellm
from tests.unit.cli.files import results, run, run_json, talk, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "late.json", talk(30))


def test_a_compaction_tells_trigger_steps_gain_and_summary(path: Path) -> None:
    shown = run("compact", path, "--max-tokens", "1500").stdout

    assert "compacted (" in shown
    assert "input at the trigger" in shown
    assert "keep_by_worth" in shown
    assert re.search(r"next call +[\d,]+ → [\d,]+ tokens, \d+ % less", shown)
    assert re.search(r"folded +\d+ messages", shown)
    assert "folded into the summary" in shown
    assert "bedrock yes" in shown


def test_the_document_holds_the_same_numbers(path: Path) -> None:
    (one,) = results(run_json("compact", path, "--max-tokens", "1500"))

    steps, context = one["steps"], one["context"]
    assert one["applied"] is True
    assert one["before_tokens"] == steps[0]["before_tokens"]
    assert one["after_tokens"] == steps[-1]["after_tokens"]
    assert one["next_call"]["with_tokens"] == context["tokens"] < one["next_call"]["without_tokens"]
    assert context["tokens"] <= 1500
    assert steps[-1]["outcome"] == {"code": OutcomeCode.DONE, "text": "done"}
    assert one["summary"]
    assert context["messages"] is None


def test_nothing_done_says_why(path: Path) -> None:
    result = run("compact", path, "--max-tokens", "90000")

    assert result.exit_code == 0
    assert "nothing done: below the trigger" in result.stdout


def test_force_compacts_though_no_rule_asks(tmp_path: Path) -> None:
    answer: JsonValue = {"role": "assistant", "content": "It arrives on day 31."}
    path = write(tmp_path / "answered.json", [*talk(30), answer])

    (one,) = results(
        run_json("compact", path, "--max-tokens", "90000", "--target-tokens", "900", "--force")
    )

    assert one["applied"] is True
    assert one["trigger"]["code"] == TriggerCode.ASKED
    assert one["after_tokens"] < 1000


def test_a_focus_is_told_and_keeps_what_it_names(tmp_path: Path) -> None:
    said: list[JsonValue] = [
        {"role": "user", "content": f"Order ORD-{9000 + n} went to {n} Mill Road in {place}."}
        for n, place in enumerate(("Ghent", "Turin", "Brno", "Umea", "Graz", "Lyon") * 4)
    ]
    path = write(tmp_path / "orders.json", [*said, *talk(20)])
    options = ("compact", path, "--max-tokens", "900", "--target-tokens", "300", "--show")

    (plain,) = results(run_json(*options))
    (focused,) = results(run_json(*options, "--focus", "orders to Umea"))
    shown = run(*options, "--focus", "orders to Umea").stdout

    assert (plain["focus"], focused["focus"]) == ("", "orders to Umea")
    umea = [f"ORD-{9000 + n}" for n in range(3, 24, 6)]
    assert not all(code in str(plain["context"]) for code in umea)
    assert all(code in str(focused["context"]) for code in umea)
    assert "focus" in shown
    assert "orders to Umea" in shown


def test_a_refused_summary_is_told_with_its_reason(path: Path) -> None:
    quiet_litellm()
    reply = ScriptedReply(text="Katarzyna Nowak paid 7,431 euros in Lisbon.")
    model = ScriptedModel("guessing", otherwise=reply).model
    args = ("compact", path, "--max-tokens", "1500", "--summarizer", model)

    result = run(*args, columns=400)
    (one,) = results(run_json(*args))

    assert result.exit_code == 1
    assert "refused: 3 of the 3 names, numbers" in result.stdout
    assert "Katarzyna Nowak, Lisbon, 7,431" in result.stdout
    assert one["applied"] is True
    assert one["reason"]["code"] == OutcomeCode.QUOTED_INSTEAD
    assert [item["text"] for item in one["check"]["unsupported"]] == [
        "Katarzyna Nowak",
        "Lisbon",
        "7,431",
    ]


def test_each_sentence_of_the_summary_is_told_with_its_messages(path: Path) -> None:
    args = ("compact", path, "--max-tokens", "1500", "--force")

    shown = run(*args, "--show", columns=400).stdout
    (one,) = results(run_json(*args))

    assert "Where the summary comes from" in shown
    assert one["facts_restored"] == []
    assert one["lineage"]
    for sentence in one["lineage"]:
        assert one["summary"][sentence["start"] :].startswith(sentence["text"])
        assert set(sentence["messages"]) <= set(one["folded"])


def test_force_does_not_let_out_overwrite(path: Path, tmp_path: Path) -> None:
    out = write(tmp_path / "mine.json", "precious")

    refused = run("compact", path, "--force", "--out", out)

    assert refused.exit_code == 2
    assert json.loads(out.read_text(encoding="utf-8")) == "precious"
    assert run("compact", path, "--out", out, "--overwrite").exit_code == 0


def test_several_conversations_are_a_table_with_reasons(tmp_path: Path) -> None:
    write(tmp_path / "long.json", talk(30))
    write(tmp_path / "short.json", talk(1))

    shown = run("compact", tmp_path, "--max-tokens", "1500").stdout

    assert "keep_by_worth" in shown
    assert "nothing done" in shown


def test_of_many_lost_facts_the_first_are_named_and_all_in_the_document(tmp_path: Path) -> None:
    said: list[JsonValue] = [
        {
            "role": "user",
            "content": f"Order ORD-{9000 + n} went to {n} Mill Road on 2026-03-{n:02}.",
        }
        for n in range(10, 29)
    ]
    path = write(tmp_path / "orders.json", [*said, *talk(30)])
    options = ("compact", path, "--max-tokens", "900", "--preset", "pi", "--yes")

    (one,) = results(run_json(*options))
    shown = " ".join(run(*options, columns=200).stdout.split())

    shown_facts = [fact["text"] for fact in one["lost"] if fact["rank"] != "minor"]
    minor = len(one["lost"]) - len(shown_facts)
    assert {fact["text"] for fact in one["lost"]} == set(one["facts_lost"])
    assert len(shown_facts) > 8
    assert minor > 8
    named = f"{shown_facts[7]} and {len(shown_facts) - 8} more (--json)"
    assert f"{named} · {minor} dates and bare numbers" in shown


def test_presets_and_strategies_are_compared_and_nothing_is_compacted(path: Path) -> None:
    shown = run("compact", path, "--max-tokens", "1500", "--compare").stdout
    (one,) = results(run_json("compact", path, "--max-tokens", "1500", "--compare"))

    ways = {(way["kind"], way["name"]): way for way in one["ways"]}
    assert next(iter(ways)) == ("policy", "default")
    assert {("preset", "pi"), ("strategy", "fold_oldest")} <= ways.keys()
    own = ways["policy", "default"]
    assert own["next_call"]["with_tokens"] < own["next_call"]["without_tokens"]
    assert own["payback"]["unit"] == "tokens"
    assert own["payback"]["break_even_calls"] == 1
    assert "this policy (default)" in shown
    assert "only fold_oldest" in shown
    assert "The price of the model is not known" in " ".join(shown.split())


def test_with_a_known_price_it_is_told_after_how_many_calls_a_way_has_paid(path: Path) -> None:
    priced = ("--model", "claude-sonnet-4-5", "--max-tokens", "1500", "--compare")
    (one,) = results(run_json("compact", path, *priced))

    paid = [way["payback"] for way in one["ways"] if way["payback"]]
    assert {way["unit"] for way in paid} == {"dollars"}
    for way in paid:
        calls = way["break_even_calls"]
        assert (calls is None) == (way["saving"] <= 0)
        if calls and calls > 1:
            assert (calls - 1) * way["saving"] < way["once"] <= calls * way["saving"]


def test_where_nothing_can_be_folded_the_comparison_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "short.json", [{"role": "user", "content": "Hello."}])

    assert "Nothing can be folded" in run("compact", path, "--compare").stdout
