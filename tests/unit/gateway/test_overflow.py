"""Every known wording of a context that is too long, and what must not be taken for one."""

from __future__ import annotations

import pytest

from ctxcore.gateway.classify import Overflow, parse_overflow

REFUSALS: list[tuple[str, int | None, int | None]] = [
    # words, limit, needed
    (
        "This model's maximum context length is 8192 tokens. However, your messages resulted in "
        "9000 tokens. Please reduce the length of the messages.",
        8192,
        9000,
    ),
    (
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens "
        "(66000 in the messages, 4000 in the completion).",
        65536,
        70000,
    ),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about "
        "140000 tokens (136000 of text input, 4000 in the output).",
        131072,
        140000,
    ),
    (
        "This model's maximum context length is 4096 tokens. However, you requested 10 output "
        "tokens and your prompt contains at least 5000 input tokens, for a total of at least 5010.",
        4096,
        5000,
    ),
    (
        "You passed 5001 input tokens and requested 100 output tokens. However, the model's "
        "context length is only 4096 tokens.",
        4096,
        5001,
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
        "280000 tokens.",
        272000,
        280000,
    ),
    ("Your input exceeds the context window of this model.", None, None),
    ("prompt is too long: 208310 tokens > 200000 maximum", 200000, 208310),
    (
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease "
        "input length or `max_tokens`",
        200000,
        188240,
    ),
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        1048575,
        1196265,
    ),
    (
        "Unable to submit request because the input token count is 32825 but model only supports "
        "up to 32768.",
        32768,
        32825,
    ),
    ("ValidationException: Input is too long for requested model.", None, None),
    (
        "Too many input tokens. Max input tokens: 8192, request input token count: 10000",
        8192,
        10000,
    ),
    (
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
        30720,
        None,
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        131072,
        537812,
    ),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum "
        "context length",
        32768,
        40000,
    ),
    (
        "Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)",
        131072,
        140000,
    ),
    ("Your request exceeded model token limit: 8192", 8192, None),
    (
        "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        8192,
        9000,
    ),
    ("the request exceeds the available context size. try increasing the context size", None, None),
    ("the input length exceeds the context length", None, None),
    ("prompt too long; exceeded max context length by 512 tokens", None, None),
    (
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        4096,
        5000,
    ),
    (
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 "
        "`max_new_tokens`",
        4096,
        5000,
    ),
    (
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        4096,
        5000,
    ),
    ("Prompt too long: 5152 tokens exceeds max_seq_len 2048", 2048, 5152),
    (
        "Please reduce the length of the messages or completion. Current length is 9000 while "
        "limit is 8192",
        8192,
        9000,
    ),
    ("Please reduce the length of the messages or completion.", None, None),
    (
        "too many tokens: size limit exceeded by 100 tokens. The limit for this model is 132000 "
        "tokens.",
        132000,
        None,
    ),
    ("prompt token count of 140000 exceeds the limit of 128000", 128000, 140000),
    (
        "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
        131040,
        131393,
    ),
    ("context window exceeds limit (2013)", None, None),
    ("{'error': {'code': 'context_length_exceeded'}}", None, None),
    (
        "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7500, "
        "please reduce your message size and try again.",
        6000,
        7500,
    ),
]

OTHERS = [
    "Rate limit reached for x on tokens per minute (TPM): Limit 30000, Used 29000, Requested 1500.",
    "Rate limit reached on tokens per minute (TPM): Limit: 30000 / min. Requested: 12 tokens.",
    "ThrottlingException: Too many tokens, please wait before trying again.",
    "Range of max_tokens should be [1, 8192]",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "Invalid 'user': string too long. Expected a string with maximum length 64.",
    "Incorrect API key provided.",
    "",
]  # fmt: skip


@pytest.mark.parametrize(("words", "limit", "needed"), REFUSALS)
def test_a_refusal_is_recognised_with_the_numbers_it_names(
    words: str, limit: int | None, needed: int | None
) -> None:
    assert parse_overflow(words) == Overflow(limit_tokens=limit, needed_tokens=needed)


@pytest.mark.parametrize("words", OTHERS)
def test_other_refusals_are_not_an_overflow(words: str) -> None:
    assert parse_overflow(words) is None


def test_numbers_with_separators_are_read() -> None:
    found = parse_overflow("prompt is too long: 208,310 tokens > 200,000 maximum")

    assert found == Overflow(limit_tokens=200_000, needed_tokens=208_310)
