"""What a name tells: the counter for a model and whose message rules it follows."""

from __future__ import annotations

import pytest

from ctxcore.tokens.families import counter_id_of, provider_of


@pytest.mark.parametrize(
    ("model", "counter_id"),
    [
        (None, "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("azure/gpt-5.1", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("openrouter/openai/o4-mini", "o200k_base"),
        ("groq/openai/gpt-oss-120b", "o200k_base"),
        ("ft:gpt-4o-2024-08-06:team::id", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("azure/gpt-35-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("anthropic/claude-sonnet-4-5", "estimate:claude4.8"),
        ("bedrock/us.anthropic.claude-opus-4-8", "estimate:claude4.8"),
        ("gemini/gemini-2.5-pro", "estimate:gemma3"),
        ("dashscope/qwen3-max", "estimate:qwen3"),
        ("deepseek/deepseek-chat", "estimate:deepseek"),
        ("together_ai/deepseek-r1-distill-llama-70b", "estimate:llama3"),
        ("ollama/llama3.1:8b", "estimate:llama3"),
        ("mistral/mistral-large-latest", "estimate:gemma3"),
        ("local/smollm2-135m", "smollm2"),
        ("huggingface/SmolLM2-1.7B", "estimate:llama3"),
        ("gpt-9", "estimate:o200k"),
        ("my-own-model", "estimate:o200k"),
        ("proto1-large", "estimate:o200k"),
    ],
)
def test_a_model_is_counted_exactly_or_by_its_family(model: str | None, counter_id: str) -> None:
    assert counter_id_of(model) == counter_id


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("gpt-4o", "openai"),
        ("azure/my-deployment", "openai"),
        ("o3", "openai"),
        ("claude-opus-4-8", "anthropic"),
        ("vertex_ai/claude-sonnet-4-5", "anthropic"),
        ("gemini/gemini-2.5-flash", "gemini"),
        ("vertex_ai/gemini-2.5-pro", "gemini"),
        ("bedrock/anthropic.claude-3-haiku-20240307-v1:0", "bedrock"),
        ("us.anthropic.claude-opus-4-8", "bedrock"),
        ("amazon.nova-pro-v1:0", "bedrock"),
        ("mistral/mistral-large-latest", None),
        ("local/smollm2-135m", None),
        (None, None),
    ],
)
def test_a_model_follows_its_providers_message_rules(
    model: str | None, provider: str | None
) -> None:
    assert provider_of(model) == provider
