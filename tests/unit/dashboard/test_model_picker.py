"""What the model picker knows of a name before the first call."""

from __future__ import annotations

import pytest

from ctxcore.engine.policies import ModelCatalog
from ctxcore.gateway.secrets import _KEY_VARIABLES
from ctxcore.gateway.values import Connection
from ctxcore.litellm_loading import load_litellm
from ctxcore.tokens.catalog import READER_WINDOWS
from dashboard.chat_page.model_picker import (
    connected,
    known_of,
    price_line,
    window_line,
)
from dashboard.keys import KeyState, key_text
from tests.engines import quiet_litellm

NOTHING = ModelCatalog()
WORKSHOP = Connection(
    name="Workshop", model="openai/qwen3", api_base="http://127.0.0.1:1/v1", key_env="WORKSHOP_KEY"
)


def test_the_variable_of_a_key_is_named_and_the_key_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    known = known_of("openai/gpt-4o-mini", NOTHING)

    assert known.key == KeyState(variable="OPENAI_API_KEY", is_set=True)
    assert "OPENAI_API_KEY is set" in key_text(known.key).replace("\\", "")
    assert "secret" not in key_text(known.key) + repr(known)


def test_a_missing_key_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    line = key_text(known_of("claude-sonnet-4-5", NOTHING).key).replace("\\", "")

    assert "ANTHROPIC_API_KEY is not set" in line
    assert "start" in line


def test_a_connection_names_its_own_variable() -> None:
    known = known_of("openai/qwen3", ModelCatalog(connections=(WORKSHOP,)))

    assert known.key == KeyState(variable="WORKSHOP_KEY")
    assert known.connection == WORKSHOP


@pytest.mark.parametrize("model", ["local/smollm2-135m", *READER_WINDOWS])
def test_own_models_need_no_key(model: str) -> None:
    assert not known_of(model, NOTHING).key.is_needed


def test_figures_say_where_they_come_from() -> None:
    listed = known_of("openai/gpt-4o-mini", NOTHING)
    own = known_of(
        "openai/gpt-4o-mini",
        ModelCatalog(
            overrides={
                "openai/gpt-4o-mini": {
                    "window_tokens": 9_000,
                    "input_price": 1e-6,
                    "output_price": 2e-6,
                }
            }
        ),
    )
    unknown = known_of("some/model-of-mine", NOTHING)

    assert (listed.window_origin, listed.price_origin) == ("listed", "listed")
    assert "128,000" in window_line(listed)
    assert (own.window_origin, own.price_origin) == ("own", "own")
    assert "9,000" in window_line(own)
    assert "$1" in price_line(own)
    assert (unknown.window_origin, unknown.price_origin) == ("unknown", "unknown")
    assert "unknown" in window_line(unknown)
    assert "unknown" in price_line(unknown)


def test_a_name_that_tells_no_provider_is_noticed() -> None:
    assert not known_of("model-of-mine", NOTHING).has_provider
    assert known_of("gpt-4o", NOTHING).has_provider
    assert known_of("ollama/llama3", NOTHING).has_provider


def test_a_picked_connection_is_copied_for_the_model_and_taken_back() -> None:
    both = connected((WORKSHOP,), "openai/other", "Workshop")

    assert [one.model for one in both] == ["openai/qwen3", "openai/other"]
    assert both[1].key_env == "WORKSHOP_KEY"
    assert len({one.name for one in both}) == len(both)
    assert connected(tuple(both), "openai/other", "") == [WORKSHOP]
    assert connected((WORKSHOP,), "openai/qwen3", "Workshop") == [WORKSHOP]


@pytest.mark.parametrize("provider", _KEY_VARIABLES)
def test_variables_are_those_that_litellm_reads(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", _KEY_VARIABLES[provider]):
        monkeypatch.delenv(name, raising=False)
    quiet_litellm()

    found = load_litellm().validate_environment(f"{provider}/some-model")

    assert _KEY_VARIABLES[provider] in found["missing_keys"]
