"""The catalogue: windows and prices as listed, None where nothing is known."""

from __future__ import annotations

import pytest

from ctxcore.tokens.catalog import model_info, model_names


def test_a_listed_model_has_its_window_limit_and_prices() -> None:
    info = model_info("gpt-4o")

    assert (info.window_tokens, info.max_output_tokens) == (128_000, 16_384)
    assert (info.provider, info.counter_id) == ("openai", "o200k_base")
    assert info.shares_output
    assert info.input_price is not None
    assert info.output_price is not None
    assert 0 < info.input_price < info.output_price < 1e-3


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("openai/gpt-4o", 128_000),
        ("azure/gpt-4o", 128_000),
        ("gpt-4o-2024-08-06", 128_000),
        ("ft:gpt-4o-2024-08-06:team::id", 128_000),
        ("gemini/gemini-2.5-pro", 1_048_576),
    ],
)
def test_a_model_is_found_with_and_without_its_provider(model: str, window: int) -> None:
    info = model_info(model)

    assert (info.model, info.window_tokens) == (model, window)
    assert info.input_price is not None


@pytest.mark.parametrize(
    ("listed", "prefix", "provider"),
    [("claude-", "anthropic/", "anthropic"), ("anthropic.claude-", "bedrock/", "bedrock")],
)
def test_claude_is_found_under_whoever_sells_it(listed: str, prefix: str, provider: str) -> None:
    names = [name for name in model_names() if name.startswith(listed)]
    found = [model_info(prefix + name) for name in names]
    sold = [info for info in found if (info.provider or "").startswith(provider)]

    assert len(sold) > len(names) / 2
    assert all((info.window_tokens or 0) >= 100_000 for info in sold)
    assert all(info.counter_id == "estimate:claude4.8" for info in found)


@pytest.mark.parametrize(
    ("model", "window", "shares"),
    [
        ("claude-opus-4-9", 200_000, True),
        ("claude-sonnet-6", 200_000, True),
        ("anthropic/claude-haiku-6", 200_000, True),
        ("bedrock/us.anthropic.claude-opus-4-9-v1:0", 200_000, True),
        ("gemini-3.5-pro", 1_048_576, False),
        ("gemini/gemini-4-pro", 1_048_576, False),
        ("openai/gpt-5.9-max", 128_000, True),
    ],
)
def test_an_unlisted_model_of_a_known_family_has_its_window_which_is_marked(
    model: str, window: int, shares: bool
) -> None:
    info = model_info(model)

    assert (info.window_tokens, info.shares_output, info.is_assumed) == (window, shares, True)
    assert (info.model, info.input_price, info.provider) == (model, None, None)


def test_a_family_has_the_smallest_window_that_its_own_seller_lists() -> None:
    listed = {
        "claude-": "anthropic/claude-none-0",
        "gemini/gemini-3": "gemini/gemini-none-0",
        "gpt-5": "gpt-5-none-0",
    }
    for prefix, unlisted in listed.items():
        infos = [model_info(name) for name in model_names() if name.startswith(prefix)]
        windows = {info.window_tokens for info in infos if not info.is_assumed}
        assert model_info(unlisted).window_tokens == min(filter(None, windows))


@pytest.mark.parametrize("model", ["gpt-4o", "gemini/gemini-2.5-pro", "local/smollm2-135m"])
def test_a_listed_window_is_not_assumed(model: str) -> None:
    assert not model_info(model).is_assumed


@pytest.mark.parametrize("model", ["gemini-9-embedding", "ollama/llama9", "my-claude-like"])
def test_other_names_are_not_guessed(model: str) -> None:
    assert model_info(model).window_tokens is None


@pytest.mark.parametrize("model", ["no-such-model", "openai/no-such-model", "sample_spec", None])
def test_what_is_not_known_is_none_and_never_zero(model: str | None) -> None:
    info = model_info(model)

    assert (info.window_tokens, info.max_output_tokens, info.provider) == (None, None, None)
    assert (info.input_price, info.output_price) == (None, None)
    assert (info.cache_read_price, info.cache_write_price) == (None, None)


def test_a_model_sold_by_someone_unlisted_keeps_its_window_but_has_no_price() -> None:
    info = model_info("our-gateway/gpt-4o")

    assert (info.window_tokens, info.input_price, info.provider) == (128_000, None, None)


@pytest.mark.parametrize(
    ("model", "shares"),
    [
        ("gpt-4o", True),
        ("azure/gpt-4o", True),
        ("gpt-5", False),
        ("gemini/gemini-2.5-pro", False),
        ("no-such-model", True),
    ],
)
def test_a_window_says_whether_the_reply_takes_room_in_it(model: str, shares: bool) -> None:
    assert model_info(model).shares_output is shares


def test_the_local_model_costs_nothing() -> None:
    info = model_info("local/smollm2-135m")

    assert (info.window_tokens, info.max_output_tokens, info.provider) == (8192, 1024, "local")
    assert (info.input_price, info.output_price) == (0.0, 0.0)


def test_every_listed_model_can_be_looked_up() -> None:
    names = model_names()

    assert names == sorted(names)
    assert {"gpt-4o", "local/smollm2-135m"} <= set(names)
    assert "sample_spec" not in names
    assert all((model_info(name).window_tokens or 1) > 0 for name in names)
