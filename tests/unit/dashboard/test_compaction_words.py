"""Every strategy of the library has words in both languages, and its records are told in them."""

from __future__ import annotations

import pytest

from ctxcore.compaction.planning import EMERGENCY
from ctxcore.engine.compactions import EDITED
from ctxcore.facts.values import KINDS
from ctxcore.policy.names import STRATEGIES
from ctxcore.reasons.codes import ChoiceCode
from ctxcore.reasons.values import known_codes
from dashboard import texts
from dashboard.texts import Language, catalogue, languages
from dashboard.wording import reason_text, strategy_label

OTHERS = ("truncate", "summarize", EMERGENCY, "drop_oldest", "new_session", EDITED)
DONE = (*STRATEGIES, *OTHERS)


@pytest.fixture(params=languages())
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Language:
    chosen: Language = request.param
    monkeypatch.setattr(texts, "OUTSIDE", chosen)
    return chosen


def test_every_strategy_has_words(language: Language) -> None:
    known = catalogue(language)
    keys = [f"fact.strategy.{name.replace(' ', '_')}" for name in DONE]

    assert [key for key in keys if key not in known] == []
    assert strategy_label("fold_oldest", "truncate") == (
        f"{known['fact.strategy.fold_oldest']} + {known['fact.strategy.truncate']}"
    )


def test_every_kind_of_fact_has_a_code() -> None:
    assert [kind for kind in KINDS if f"loss.{kind}" not in known_codes()] == []


def test_a_reason_is_told_where_one_was_recorded() -> None:
    assert reason_text(ChoiceCode.FAST()) == "speed is preferred"
    assert reason_text(None) == ""
