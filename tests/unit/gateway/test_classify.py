"""Any failure of a provider becomes one kind, one plain sentence and no secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcore.gateway.classify import classify
from ctxcore.gateway.errors import (
    ContextOverflowError,
    ErrorKind,
    LocalModelUnavailable,
    MissingKeyError,
    ProviderError,
)
from ctxcore.gateway.runtime import provider_exception
from ctxcore.gateway.secrets import MASK, MAX_DETAIL_CHARS, mask_secrets, to_detail


class Refused(Exception):
    """What an HTTP client raises: words and a status."""

    def __init__(self, words: str, status: int | None = None, after: str | None = None) -> None:
        super().__init__(words)
        self.status_code = status
        self.headers = {} if after is None else {"retry-after": after}


WORDS: list[tuple[str, int | None, ErrorKind]] = [
    ("Incorrect API key provided: sk-abcdefghijk.", 401, "auth"),
    ("{'error': {'message': 'API key not valid. Please pass a valid API key.'}}", 400, "auth"),
    ("forbidden", 403, "auth"),
    ("Rate limit reached for requests", 429, "rate_limit"),
    ("You exceeded your current quota, please check your plan and billing", 429, "quota"),
    ("Insufficient Balance", 402, "quota"),
    ("Your credit balance is too low to access the API", 400, "quota"),
    ("prompt is too long: 9 tokens > 8 maximum", 400, "overflow"),
    ("Range of input length should be [1, 30720]", 400, "overflow"),
    ("Gateway timeout", 504, "timeout"),
    ("overloaded", 529, "unavailable"),
    ("bad gateway", 502, "unavailable"),
    ("temperature must be at most 2", 400, "bad_request"),
    ("The model `gpt-9` does not exist or you do not have access to it.", 404, "unknown_model"),
    ('model "llama9" not found, try pulling it first', 404, "unknown_model"),
    (
        "Output data may contain inappropriate content. data_inspection_failed",
        400,
        "content_filter",
    ),
    (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'.",
        400,
        "malformed_history",
    ),
    (
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after",
        400,
        "malformed_history",
    ),
    (
        "Expected toolResult blocks at messages.2.content for the following Ids: a",
        400,
        "malformed_history",
    ),
    (
        "Please ensure that function call turn comes immediately after a user turn",
        400,
        "malformed_history",
    ),
    ("Not the same number of function calls and responses", 400, "malformed_history"),
    (
        "Conversation roles must alternate user/assistant/user/assistant/...",
        400,
        "malformed_history",
    ),
    ("something nobody has seen", None, "unknown"),
]


@pytest.mark.parametrize(("words", "status", "kind"), WORDS)
def test_words_and_status_give_the_kind(words: str, status: int | None, kind: ErrorKind) -> None:
    assert classify(Refused(words, status), model="m").kind == kind


@pytest.mark.parametrize(
    "kind",
    [
        "auth",
        "rate_limit",
        "quota",
        "overflow",
        "timeout",
        "unavailable",
        "content_filter",
        "unknown_model",
        "bad_request",
    ],
)
def test_the_types_of_litellm_give_the_kind(kind: ErrorKind) -> None:
    error = provider_exception(kind, "no words that say it", model="openai/x")

    assert classify(error, model="openai/x").kind == kind


def test_only_what_may_pass_later_is_retryable() -> None:
    later = {kind for _, _, kind in WORDS if ProviderError(kind=kind, model="m").is_retryable}

    assert later == {"rate_limit", "timeout", "unavailable"}


def test_a_connection_lost_within_the_answer_is_an_interruption() -> None:
    assert classify(Refused("peer closed", 500), has_started=True).kind == "interrupted"
    assert classify(Refused("no rights", 403), has_started=True).kind == "auth"


def test_an_overflow_carries_its_numbers() -> None:
    error = classify(Refused("prompt is too long: 9 tokens > 8 maximum", 400), model="m")

    assert isinstance(error, ContextOverflowError)
    assert (error.needed_tokens, error.limit_tokens, error.status) == (9, 8, 400)


def test_the_wait_a_provider_asks_for_is_kept() -> None:
    assert classify(Refused("slow down", 429, after="7")).retry_after_seconds == 7.0
    assert classify(Refused("slow down", 429, after="Tue, 1 Jan")).retry_after_seconds is None


def test_the_error_inside_a_stream_wrapper_counts() -> None:
    wrapper = Refused("mid-stream", 503)
    wrapper.original_exception = Refused("forbidden", 403)  # type: ignore[attr-defined]  # litellm sets it so

    assert classify(wrapper).kind == "auth"


def test_our_own_error_comes_back_unchanged() -> None:
    error = MissingKeyError(model="m", variables=("A_KEY",))

    assert classify(error) is error


def test_a_message_says_what_happened_and_what_to_do() -> None:
    missing = MissingKeyError(model="m", variables=("A_KEY",))
    local = LocalModelUnavailable(model="local/x", problem="no weights")

    assert "A_KEY" in str(missing)
    assert "no weights" in str(local)
    assert "API key" in str(local)
    assert "URL" in str(local)


def test_the_known_key_never_appears() -> None:
    error = classify(Refused("bad key hunter2hunter2", 401), known_secrets=["hunter2hunter2"])

    assert "hunter2" not in str(error)
    assert "hunter2" not in repr(vars(error))


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefgh12345678",
        "sk-ant-api03-abcdefgh",
        "AIzaSyA1234567890abcdefg",
        "gsk_abcdefgh12345678",
        "AKIAABCDEFGHIJKLMNOP",
        "eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "Bearer abcdef123456",
        "api_key=abcdef123456",
        "https://x/?key=abcdef123456",
        "https://user:passw0rd@host/",
    ],
)
def test_what_looks_like_a_key_is_masked(secret: str) -> None:
    masked = mask_secrets(f"failed with {secret} today")

    assert MASK in masked
    assert secret.split("=")[-1].split(" ")[-1] not in masked


def test_ordinary_words_are_left_alone() -> None:
    words = "the token count of the risk-assessment key-value store was 12"

    assert mask_secrets(words) == words


def test_a_detail_is_the_providers_sentence_alone() -> None:
    raw = "litellm.BadRequestError: OpenAIException - {'error': {'message': 'Too odd', 'code': 1}}"

    assert to_detail(raw) == "Too odd"


@given(st.text(max_size=2_000))
def test_a_detail_is_always_one_short_line(words: str) -> None:
    detail = to_detail(words)

    assert len(detail) <= MAX_DETAIL_CHARS
    assert "\n" not in detail
