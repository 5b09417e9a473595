"""Every rule, strategy and reason of the library has words in both languages."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import ctxcore
from ctxcore.compaction.choosing import Choice, Uses, choose
from ctxcore.compaction.compacting import compact
from ctxcore.compaction.planning import EMERGENCY
from ctxcore.compaction.triggers import NEW_SESSION
from ctxcore.engine.compactions import EDITED
from ctxcore.policy.values import Policy, StrategyName
from dashboard import texts
from dashboard.compacting.labels import (
    outcome_label,
    reason_label,
    strategy_label,
    told_trigger_label,
)
from dashboard.compacting.reasons import KINDS, parse_reason
from dashboard.texts import Language, catalogue, languages
from tests.histories import user
from tests.words import words

ROOT = Path(ctxcore.__file__).parent
OTHERS = ("truncate", "summarize", EMERGENCY, "drop_oldest", "new_session", EDITED)
DONE = (*get_args(StrategyName), *OTHERS)


@pytest.fixture(params=languages())
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Language:
    chosen: Language = request.param
    monkeypatch.setattr(texts, "OUTSIDE", chosen)
    return chosen


def rules() -> set[str]:
    """The names of all rules, as the library's own code gives them."""
    return {rule for path in ROOT.rglob("*.py") for rule in _rules_in(path)}


def _rules_in(path: Path) -> Iterator[str]:
    module = ".".join(("ctxcore", *path.relative_to(ROOT).with_suffix("").parts))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    rules_by_name = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == "rule"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_trigger", "Trigger"):
            named = [word.value for word in node.keywords if word.arg == "rule"]
            for value in (*node.args[:1], *named):
                is_local = isinstance(value, ast.Name) and value.id in rules_by_name
                found = rules_by_name[value.id] if is_local else value  # type: ignore[attr-defined]
                yield from _values(found, module)


def _values(node: ast.expr, module: str) -> list[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=str(end))]):
            return [f"{size}{end}" for size in ("input", "history")]
        case ast.Name(id=name) if name.isupper():
            return [getattr(importlib.import_module(module), name)]
        case _:
            return []


def test_every_rule_has_words(language: Language) -> None:
    found = rules()

    assert {"asked for", "little remains", "history above the upper threshold"} <= found
    assert "refused by the provider as too long" in found
    assert {f"compact.rule.{rule.replace(' ', '_')}" for rule in found} <= set(catalogue(language))


def test_every_strategy_has_words(language: Language) -> None:
    known = catalogue(language)
    keys = [f"fact.strategy.{name.replace(' ', '_')}" for name in DONE]

    assert [key for key in keys if key not in known] == []
    assert strategy_label("fold_oldest + truncate") == (
        f"{known['fact.strategy.fold_oldest']} + {known['fact.strategy.truncate']}"
    )


def test_every_kind_of_reason_has_words(language: Language) -> None:
    known = catalogue(language)

    assert [kind for kind in KINDS if f"compaction.why.{kind}" not in known] == []


@pytest.mark.parametrize(
    "choice",
    [
        choose(messages=5, chars=50, uses=Uses(), preference="fast", max_summaries=3),
        choose(messages=20, chars=5_000, uses=Uses(), preference="fast", max_summaries=3),
        choose(messages=40, chars=5_000, uses=Uses(), preference="balanced", max_summaries=3),
        choose(messages=20, chars=5_000, uses=Uses(), preference="quality", max_summaries=3),
        choose(messages=20, chars=5_000, uses=Uses(), preference="balanced", max_summaries=3),
        choose(
            messages=20,
            chars=5_000,
            uses=Uses(summaries=3),
            preference="balanced",
            max_summaries=3,
        ),
        choose(
            messages=20,
            chars=5_000,
            uses=Uses(has_summarizer=False),
            preference="balanced",
            max_summaries=3,
        ),
    ],
)
def test_why_the_policy_chose_is_understood(choice: Choice) -> None:
    assert parse_reason(choice.reason).kind is not None


def test_a_reason_is_taken_apart() -> None:
    failed = "the summarizer gave no usable summary: the text is empty; truncated instead"
    found = parse_reason(f"{failed}; still over (number of turns: turns 4, most 3): {NEW_SESSION}")

    assert (found.kind, found.facts) == ("no_summary", {"problem": "the text is empty"})
    assert found.was_truncated
    assert found.is_still_over


def test_a_reason_that_nobody_knows_is_shown_as_it_is() -> None:
    assert reason_label("the moon was full") == "the moon was full"
    assert reason_label("") == ""


def test_what_came_of_a_step_is_told_with_its_reason() -> None:
    failed = "truncated: the summarizer gave no usable summary: the text is empty"

    assert outcome_label("done") == "done"
    assert outcome_label(failed) == "truncated instead: no usable summary: the text is empty"


def test_a_trigger_in_one_line_keeps_its_numbers() -> None:
    told = "input at the trigger: tokens 1,234, trigger 1,000"

    assert told_trigger_label(told) == "the input reached the trigger (1,234 / 1,000)"
    assert told_trigger_label("asked for by the model") == "the model asked for it"
    assert told_trigger_label("") == ""


def test_why_a_step_was_not_tried_is_understood() -> None:
    told = [user(f"Ticket T-{100 + n} fails in build {n}. " + words(10)) for n in range(60)]
    steps: tuple[StrategyName, ...] = ("importance", "full_summary")
    policy = Policy.preset("ladder", strategies=steps, importance_threshold=0.0)

    result = compact([*told, user("Which tickets fail?")], policy=policy, max_tokens=1_200)

    assert parse_reason(result.steps[0].outcome.removeprefix("skipped: ")).kind == "stays"
