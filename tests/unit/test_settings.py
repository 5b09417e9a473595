"""Values from outside a store: environment, `.env`, a YAML file, and what is refused of them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.errors import ConfigurationError, PolicyError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.layers import Layer, merge, to_json
from ctxcore.policy.values import Policy
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import as_reason
from ctxcore.settings.environment import OWN_PREFIX, read_environment
from ctxcore.settings.loading import load_layers, load_policy
from tests.processes import printed_by

DOCUMENTS: list[tuple[str, str, JsonObject]] = [
    ("CONTEXT_WINDOW_TOKENS", "64000", {"window_tokens": 64_000}),
    ("HISTORY_TOKEN_BUDGET_RATIO", "0.5", {"history_ratio": 0.5}),
    ("OUTPUT_TOKEN_RESERVE", "2048", {"reserve_tokens": 2_048}),
    ("SYSTEM_PROMPT_TOKEN_ESTIMATE", "1500", {"system_estimate_tokens": 1_500}),
    ("ROUTER_HISTORY_TOKEN_BUDGET", "4000", {"router_tokens": 4_000}),
    ("SUMMARIZATION_TRIGGER_RATIO", "1.0", {"trigger_ratio": 1.0}),
    ("SUMMARIZATION_TARGET_RATIO", "0.3", {"target_ratio": 0.3}),
    ("SUMMARIZATION_MODEL", "openai/gpt-4o-mini", {"summary_model": "openai/gpt-4o-mini"}),
    ("ROUTER_MODEL", "openai/qwen-turbo", {"summary_model": "openai/qwen-turbo"}),
    ("SUMMARIZATION_MAX_TOKENS", "512", {"summary_max_tokens": 512}),
    ("ENABLE_CONTEXT_OPTIMIZATION", "false", {"trigger_ratio": 1.0}),
    ("ENABLE_CONTEXT_OPTIMIZATION", "true", {}),
    ("TOKEN_CALCULATION_METHOD", "tiktoken", {"counting": "tiktoken"}),
    ("TARGET_USAGE_RATIO", "0.7", {"usable_ratio": 0.7}),
    ("SUMMARY_TOKEN_RATIO", "0.2", {"summary_history_ratio": 0.2}),
    ("RECENT_TOKEN_RATIO", "0.6", {"recent_history_ratio": 0.6}),
    ("COMPRESS_TOOL_OUTPUT", "True", {"shortens_always": True}),
    ("TOOL_OUTPUT_MAX_TOKENS", "300", {"shorten_over_tokens": 300}),
    ("SLIDING_WINDOW_SIZE", "7", {"keep_messages": 7}),
    ("IMPORTANCE_SCORE_THRESHOLD", "2.5", {"importance_threshold": 2.5}),
    ("INCREMENTAL_SUMMARY_CHUNK_SIZE", "10", {"chunk_turns": 10}),
    ("CONVERSATION_TURN_THRESHOLD", "120", {"max_turns": 120}),
    ("CONTEXT_COMPACTION_ENABLED", "no", {"trigger_ratio": 1.0}),
    ("CONTEXT_COMPACTION_MAX_CONTEXT_TOKENS", "80000", {"window_tokens": 80_000}),
    ("CONTEXT_COMPACTION_TRIGGER_RATIO", "0.7", {"trigger_ratio": 0.7}),
    ("CONTEXT_COMPACTION_KEEP_RECENT_ROUNDS", "4", {"keep_turns": [4, 1, 0]}),
    ("CONTEXT_COMPACTION_KEEP_RECENT_ROUNDS", "1", {"keep_turns": [1, 0]}),
    ("CONTEXT_COMPACTION_KEEP_RECENT_ROUNDS", "0", {"keep_turns": [0]}),
    ("CONTEXT_COMPACTION_REQUIRE_CONFIRMATION", "false", {"requires_confirmation": False}),
    ("CONTEXT_COMPACTION_SUMMARY_MAX_LENGTH", "600", {"summary_max_chars": 600}),
    ("CTXCORE_POLICY", "pi", {"name": "pi"}),
    ("CTXCORE_POLICY_TRIGGER_RATIO", "none", {"trigger_ratio": None}),
    ("CTXCORE_POLICY_KEEP_TURNS", "[3, 1]", {"keep_turns": [3, 1]}),
    ("CTXCORE_POLICY_KEEP_TURNS_BY_MESSAGES", "[[50, 4]]", {"keep_turns_by_messages": [[50, 4]]}),
    ("CTXCORE_POLICY_IS_SHADOW", "1", {"is_shadow": True}),
]

DOCUMENTED_BLOCK = """\
# config.yaml

context_compaction:
  enabled: true                    # on or off
  max_context_tokens: 80000
  trigger_ratio: 0.8
  keep_recent_rounds: 2
  require_confirmation: true
  summary_max_length: 1000
"""


def of_environment(**environ: str) -> JsonObject:
    """What variables set, without a `.env`."""
    (layer,) = load_layers(env_file=None, environ=environ) or (Layer(name="", overrides={}),)
    return layer.overrides


def refused(**environ: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        load_layers(env_file=None, environ=environ)
    return caught.value


def written(folder: Path, text: str, name: str = "config.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "value", "overrides"), DOCUMENTS)
def test_every_name_sets_its_field(name: str, value: str, overrides: JsonObject) -> None:
    assert of_environment(**{name: value}) == overrides


@pytest.mark.parametrize("preset", Policy.presets())
def test_every_field_can_be_set_under_our_own_name(preset: str) -> None:
    import json

    policy = Policy.preset(preset)
    values = {one.name: to_json(getattr(policy, one.name)) for one in fields(Policy)}
    texts = {
        f"{OWN_PREFIX}{name}".upper(): json.dumps(value) if isinstance(value, list) else str(value)
        for name, value in values.items()
    }

    assert of_environment(**texts) == values


def test_an_empty_variable_is_not_set() -> None:
    assert of_environment(SUMMARIZATION_MODEL="", ROUTER_MODEL=" ", CTXCORE_POLICY="") == {}


def test_the_router_model_writes_summaries_only_where_no_other_is_named() -> None:
    both = of_environment(SUMMARIZATION_MODEL="big", ROUTER_MODEL="small")

    assert both == {"summary_model": "big"}
    assert of_environment(SUMMARIZATION_MODEL="", ROUTER_MODEL="small")["summary_model"] == "small"


def test_our_names_win_over_those_of_documents() -> None:
    found = of_environment(
        SUMMARIZATION_TRIGGER_RATIO="0.9",
        CTXCORE_POLICY_TRIGGER_RATIO="0.7",
        ENABLE_CONTEXT_OPTIMIZATION="false",
    )

    assert found == {"trigger_ratio": 0.7}


def test_off_wins_over_a_trigger() -> None:
    found = of_environment(SUMMARIZATION_TRIGGER_RATIO="0.9", ENABLE_CONTEXT_OPTIMIZATION="off")

    assert found == {"trigger_ratio": 1.0}


def test_documents_that_contradict_each_other_are_both_named() -> None:
    error = refused(CONTEXT_WINDOW_TOKENS="5000", CONTEXT_COMPACTION_MAX_CONTEXT_TOKENS="6000")

    assert "CONTEXT_WINDOW_TOKENS" in str(error)
    assert "CONTEXT_COMPACTION_MAX_CONTEXT_TOKENS" in str(error)


@pytest.mark.parametrize(
    ("name", "value", "field", "allowed"),
    [
        (
            "SUMMARIZATION_TRIGGER_RATIO",
            "80%",
            "trigger_ratio",
            "a number from 0.01 to 1, or none",
        ),
        ("SUMMARIZATION_TARGET_RATIO", "1.5", "target_ratio", "a number from 0.01 to 1"),
        ("CONTEXT_WINDOW_TOKENS", "many", "window_tokens", "a whole number of at least 1, or none"),
        ("TOKEN_CALCULATION_METHOD", "litellm", "counting", "one of estimate, tiktoken"),
        ("ENABLE_CONTEXT_OPTIMIZATION", "maybe", "trigger_ratio", "yes or no"),
        ("CONTEXT_COMPACTION_KEEP_RECENT_ROUNDS", "-1", "keep_turns", "at least 0"),
        ("CTXCORE_POLICY_KEEP_TURNS", "2, 1", "keep_turns", "each smaller than the one before"),
        ("CTXCORE_POLICY_CHUNK_TURNS", "none", "chunk_turns", "a whole number of at least 1"),
        ("CTXCORE_POLICY_MAX_FAILURES", "2", "max_failures", "no value: the field was removed"),
        ("CTXCORE_POLICY", "sliding", "name", "default, sliding-summary"),
        ("CTXCORE_POLICY_TRIGER_RATIO", "0.5", "CTXCORE_POLICY_TRIGER_RATIO", "TRIGGER_RATIO"),
        ("CONTEXT_COMPACTION_ENABLE", "no", "CONTEXT_COMPACTION_ENABLE", "_ENABLED"),
    ],
)
def test_a_wrong_variable_is_refused_with_its_name_and_what_is_allowed(
    name: str, value: str, field: str, allowed: str
) -> None:
    error = refused(**{name: value})

    assert str(error.source) == f"environment variable {name}"
    assert error.field == field
    assert allowed in str(error.allowed)
    assert str(error).startswith(f"{error.source}: ")


@given(st.floats(0, 1), st.floats(0, 1))
def test_summary_and_recent_messages_are_together_at_most_all(
    summary: float, recent: float
) -> None:
    overrides: JsonObject = {"summary_history_ratio": summary, "recent_history_ratio": recent}
    layer = Layer(
        name="file", overrides=overrides, places={"summary_history_ratio": as_reason("here")}
    )

    if summary + recent <= 1:
        assert merge([layer]).policy.recent_history_ratio == recent
    elif summary + recent > 1.000001:
        with pytest.raises(PolicyError, match=r"^here: policy field 'summary_history_ratio'"):
            merge([layer])


def test_a_share_that_does_not_fit_the_preset_is_blamed_on_who_named_it() -> None:
    layer = Layer(
        name="environment",
        overrides={"recent_history_ratio": 0.9},
        places={"recent_history_ratio": PlaceCode.VARIABLE(variable="RECENT_TOKEN_RATIO")},
    )

    with pytest.raises(PolicyError, match=r"^environment variable RECENT_TOKEN_RATIO: .*at most"):
        merge([layer, Layer(name="user", overrides={"name": "dual-threshold"})])


def test_a_variable_of_the_process_wins_over_the_same_in_the_file(tmp_path: Path) -> None:
    env_file = written(
        tmp_path, "OUTPUT_TOKEN_RESERVE=100\nSUMMARIZATION_MODEL=\nOTHER=1\n", ".env"
    )

    (layer,) = load_layers(env_file=env_file, environ={"CONTEXT_WINDOW_TOKENS": "5000"})
    (process,) = load_layers(env_file=env_file, environ={"OUTPUT_TOKEN_RESERVE": "200"})

    assert layer.overrides == {"window_tokens": 5_000, "reserve_tokens": 100}
    assert {name: str(place) for name, place in layer.places.items()} == {
        "window_tokens": "environment variable CONTEXT_WINDOW_TOKENS",
        "reserve_tokens": f"OUTPUT_TOKEN_RESERVE in {env_file}",
    }
    assert process.overrides == {"reserve_tokens": 200}


def test_an_empty_variable_of_the_process_leaves_the_file_to_speak(tmp_path: Path) -> None:
    env_file = written(tmp_path, "ROUTER_MODEL=small\n", ".env")

    (layer,) = load_layers(env_file=env_file, environ={"ROUTER_MODEL": ""})

    assert layer.overrides == {"summary_model": "small"}


def test_a_variables_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_bytes(b"ROUTER_MODEL=\xff\xfe\n")

    with pytest.raises(ConfigurationError, match=r"\.env: cannot be read"):
        load_layers(env_file=env_file, environ={})


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert load_layers(env_file=tmp_path / ".env", environ={}) == ()


def test_the_documented_block_is_read_as_it_stands(tmp_path: Path) -> None:
    (layer,) = load_layers(env_file=None, environ={}, config=written(tmp_path, DOCUMENTED_BLOCK))
    policy = merge([layer, Layer(name="call", overrides={"name": "pi"})]).policy

    assert layer.name == "file"
    assert policy == Policy.preset("pi")
    assert str(layer.places["window_tokens"]) == f"{tmp_path / 'config.yaml'}, line 5"


def test_a_summary_is_not_asked_to_be_longer_than_it_may_be() -> None:
    layers = [
        Layer(name="environment", overrides={"name": "pi"}),
        Layer(name="file", overrides={"summary_max_chars": 300}),
    ]

    merged = merge(layers)

    assert (merged.policy.summary_max_chars, merged.policy.summary_asked_chars) == (300, 300)
    assert merged.sources["summary_asked_chars"] == "file"
    assert merge([layers[1]]).policy.summary_asked_chars is None


def test_a_policy_block_wins_over_a_documents_block(tmp_path: Path) -> None:
    text = f"policy:\n  name: pi\n  trigger_ratio: 0.5\n  keep_turns: [3, 0]\n{DOCUMENTED_BLOCK}"

    policy = load_policy(env_file=None, config=written(tmp_path, text))

    assert (policy.name, policy.trigger_ratio, policy.keep_turns) == ("pi", 0.5, (3, 0))
    assert policy.window_tokens == 80_000


def test_off_in_the_block_switches_automatic_compaction_off(tmp_path: Path) -> None:
    text = DOCUMENTED_BLOCK.replace("enabled: true", "enabled: false")

    assert not load_policy("pi", env_file=None, config=written(tmp_path, text)).is_automatic


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("policy:\n  trigger_ratio: lots\n", 2, "'lots'; allowed: a number from 0.01 to 1"),
        ("policy:\n  trigger_ratio: '0.8'\n", 2, "'0.8'; allowed: a number"),
        ("policy:\n  fresh_turns: 2.5\n", 2, "2.5; allowed: a whole number"),
        ("policy:\n  name: best\n", 2, "policy field 'name' is 'best'; allowed: one of default"),
        ("policy:\n  max_failures: 2\n", 2, "is 2; allowed: no value: the field was removed"),
        ("policy:\n\n  triger: 1\n", 3, "policy field 'triger' is 1; allowed: one of check_at"),
        ("context_compaction:\n  enabled: 2\n", 2, "2; allowed: yes or no"),
        ("context_compaction:\n  keep_rounds: 2\n", 2, "allowed: one of enabled, keep_recent"),
        ("polici:\n  name: pi\n", 1, "'polici' is {'name': 'pi'}; allowed: one of context_comp"),
        ("policy: {fresh_turns: 2020-01-01}\n", 1, "allowed: a whole number"),
    ],
)
def test_a_wrong_line_of_the_file_is_refused_with_its_number(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(PolicyError) as caught:
        load_layers(env_file=None, environ={}, config=path)

    assert str(caught.value.source) == f"{path}, line {line}"
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("policy:\n  name: [pi\n", 3, "is not YAML"),
        ("policy:\n  name: pi\n  name: default\n", 3, "twice"),
        ("policy: pi\n", 1, "expected keys with values"),
        ("- policy\n", 1, "expected keys with values"),
        ("? [a]\n: 1\n", 1, "a key must be a plain string"),
        ("policy:\n  name: !!python/object:os.system {}\n", 2, "is not YAML"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_line(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_layers(env_file=None, environ={}, config=written(tmp_path, text))

    assert caught.value.line == line
    assert problem in str(caught.value)


@pytest.mark.parametrize("text", ["", "# nothing\n", "policy:\n", "policy: ~\n"])
def test_an_empty_file_says_nothing(tmp_path: Path, text: str) -> None:
    assert load_layers(env_file=None, environ={}, config=written(tmp_path, text)) == ()


def test_a_missing_file_is_named_with_who_named_it(tmp_path: Path) -> None:
    missing = tmp_path / "none.yaml"

    with pytest.raises(ConfigurationError, match=r"none\.yaml: cannot be read"):
        load_layers(env_file=None, environ={}, config=missing)
    with pytest.raises(ConfigurationError, match="environment variable CTXCORE_CONFIG"):
        load_layers(env_file=None, environ={"CTXCORE_CONFIG": str(missing)})


def test_arguments_win_over_the_file_and_the_file_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "policy:\n  fresh_turns: 5\n  min_messages: 5\n")
    monkeypatch.setenv("CTXCORE_CONFIG", str(path))
    for name in ("FRESH_TURNS", "MIN_MESSAGES", "MAX_TURNS"):
        monkeypatch.setenv(f"CTXCORE_POLICY_{name}", "6")
    monkeypatch.setenv("CTXCORE_POLICY", "pi")

    policy = load_policy(env_file=None, fresh_turns=4)

    assert policy.name == "pi"
    assert (policy.fresh_turns, policy.min_messages, policy.max_turns) == (4, 5, 6)
    assert load_policy("default", env_file=None).name == "default"


def test_without_anything_to_read_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from ctxcore import load_policy; load_policy(env_file=None)\n"
        "print(*sys.modules)"
    )

    assert not {"pydantic", "pydantic_settings", "yaml", "dotenv"} & set(printed_by(code).split())


def test_names_of_other_programs_are_left_alone() -> None:
    found = read_environment({"TRIGGER_RATIO": "0.5", "PATH": "/bin"}, None)

    assert (found.layer.overrides, found.config) == ({}, None)


def test_values_that_contradict_each_other_are_refused_before_anything_runs() -> None:
    error = refused(CTXCORE_POLICY="dual-threshold", RECENT_TOKEN_RATIO="0.9")

    assert str(error.source) == "environment variable RECENT_TOKEN_RATIO"
    assert "at most 0.1" in str(error.allowed)
