"""Classifies the errors of providers, and finds context overflows by the text of the error.

Every wording is one that a provider, a server or a proxy is known to send. A rate limit ("tokens
per minute") is an overflow only if the single request is larger than the whole allowance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxcore.gateway.errors import ContextOverflowError, ErrorKind, ProviderError
from ctxcore.gateway.secrets import to_detail

_LIMIT, _NEEDED = r"(?P<limit>\d[\d,_]*)", r"(?P<needed>\d[\d,_]*)"

# The first that matches wins, so wordings that name numbers come first.
_WORDINGS = (
    # OpenAI, DeepSeek, OpenRouter, vLLM
    rf"maximum context length (?:is|of) {_LIMIT} tokens?.{{0,80}}?(?:requested|resulted in) "
    rf"(?:about )?(?:a total of )?{_NEEDED} tokens",
    rf"maximum context length is {_LIMIT} tokens?.{{0,120}}?"
    rf"(?:at least|contains|has) {_NEEDED} input",
    rf"passed {_NEEDED} input tokens.{{0,80}}?context length is only {_LIMIT}",
    rf"configured limit of {_LIMIT} tokens.{{0,60}}?resulted in {_NEEDED}",
    rf"maximum context length (?:is|of) {_LIMIT}",
    # Anthropic
    rf"prompt is too long: {_NEEDED} tokens? > {_LIMIT}",
    rf"exceed context limit: {_NEEDED} \+ \d[\d,_]* > {_LIMIT}",
    # Fireworks
    rf"prompt is too long: {_NEEDED}.{{0,40}}?maximum context length: {_LIMIT}",
    # Gemini, Vertex
    rf"input token count \(?{_NEEDED}\)? exceeds the maximum number of tokens allowed \(?{_LIMIT}",
    rf"input token count is {_NEEDED} but model only supports up to {_LIMIT}",
    # Bedrock
    rf"max input tokens: {_LIMIT}, request input token count: {_NEEDED}",
    r"input is too long for requested model",
    # DashScope (Qwen)
    rf"range of input length should be \[\d+,\s*{_LIMIT}\]",
    # xAI
    rf"maximum prompt length is {_LIMIT} but the request contains {_NEEDED}",
    # Mistral
    rf"prompt contains {_NEEDED} tokens.{{0,60}}?too large for model with {_LIMIT}",
    # Moonshot (Kimi)
    rf"exceeded model token limit: {_LIMIT} \(requested: {_NEEDED}\)",
    rf"exceeded model token limit:? {_LIMIT}",
    # llama.cpp, LM Studio, Ollama
    rf"request \({_NEEDED} tokens\) exceeds the available context size \({_LIMIT}",
    r"exceeds the available context size|context size has been exceeded",
    rf"keep the first {_NEEDED} tokens.{{0,80}}?context length of only {_LIMIT}",
    r"tokens to keep from the initial prompt is greater than the context length",
    r"input length exceeds the (?:model's )?(?:maximum )?context length",
    r"exceeded max context length by",
    # SGLang, TGI, vLLM's engine
    rf"input \({_NEEDED} tokens\) is longer than the model's context length \({_LIMIT}",
    rf"must be <= {_LIMIT}\. given: {_NEEDED} `?inputs",
    rf"`?inputs`? must have less than {_LIMIT} tokens\. given: {_NEEDED}",
    rf"prompt \((?:total )?length {_NEEDED}\).{{0,80}}?(?:length of|context length) {_LIMIT}",
    rf"prompt too long: {_NEEDED} tokens exceeds \w+ {_LIMIT}",
    # Cerebras, Groq
    rf"current length is {_NEEDED} while limit is {_LIMIT}",
    r"please reduce the length of the (?:messages|prompt)",
    # Cohere
    rf"prompt cannot exceed {_LIMIT} - received {_NEEDED}",
    rf"too many tokens: .{{0,120}}?limit (?:for this model is|of) {_LIMIT}",
    # Copilot, GitHub Models
    rf"prompt token count of {_NEEDED} exceeds the limit of {_LIMIT}",
    rf"request body too large for .{{0,60}}?max size: {_LIMIT} tokens",
    # Volcengine, Poolside
    rf"input length {_NEEDED} exceeds the maximum (?:allowed input )?length (?:of )?{_LIMIT}",
    r"exceed(?:s)? max message tokens",
    # MiniMax, Zhipu, Perplexity
    r"context window exceeds limit|prompt exceeds max length",
    r"length of all messages is too long",
    # Codes and common words, last
    r"exceeds? (?:(?:the|this) )?(?:model's )?(?:maximum )?context (?:window|length|limit)",
    r"context_length_exceeded|exceed_context_size|model_context_window_exceeded",
    r"contextwindowexceedederror",
    r"\bprompt (?:is )?too long\b|\bprompt tokens too long\b",
    r"\brequest_too_large\b",
)
_PATTERNS = tuple(re.compile(wording, re.IGNORECASE | re.DOTALL) for wording in _WORDINGS)
_PER_MINUTE = re.compile(r"tokens per (?:minute|day)|\btp[md]\b|throttl|too many requests", re.I)
_ALLOWANCE = re.compile(
    rf"limit:? {_LIMIT}.{{0,60}}?requested:? {_NEEDED}", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The numbers in a provider's error about a context that is too long; None where missing."""

    limit_tokens: int | None = None
    needed_tokens: int | None = None


def parse_overflow(text: str) -> Overflow | None:
    """The numbers in an error about a context that is too long; None if `text` is another error."""
    is_rate_limit = _PER_MINUTE.search(text) is not None
    patterns = (_ALLOWANCE,) if is_rate_limit else _PATTERNS
    found = next((found for pattern in patterns if (found := pattern.search(text))), None)
    if found is None:
        return None
    numbers = {
        name: int(number.replace(",", "").replace("_", ""))
        for name, number in found.groupdict().items()
    }
    if is_rate_limit and numbers["needed"] <= numbers["limit"]:
        return None  # waiting helps; above the whole allowance only shortening does
    return Overflow(limit_tokens=numbers.get("limit"), needed_tokens=numbers.get("needed"))


# Class names of litellm, openai and httpx.
_KIND_OF_TYPE: Mapping[str, ErrorKind] = {
    "ContextWindowExceededError": "overflow",
    "ContentPolicyViolationError": "content_filter",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "RateLimitError": "rate_limit",
    "PaymentRequiredError": "quota",
    "BudgetExceededError": "quota",
    "NotFoundError": "unknown_model",
    "Timeout": "timeout",
    "APITimeoutError": "timeout",
    "TimeoutError": "timeout",
    "TimeoutException": "timeout",
    "APIConnectionError": "unavailable",
    "InternalServerError": "unavailable",
    "ServiceUnavailableError": "unavailable",
    "BadGatewayError": "unavailable",
    "ConnectionError": "unavailable",
    "TransportError": "unavailable",
    "BadRequestError": "bad_request",
    "UnprocessableEntityError": "bad_request",
}
_KIND_OF_STATUS: Mapping[int, ErrorKind] = {
    400: "bad_request",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "unknown_model",
    408: "timeout",
    422: "bad_request",
    429: "rate_limit",
    504: "timeout",
}
# The errors about calls and results that do not match, or roles that do not alternate.
_MALFORMED = re.compile(
    r"""
      must\ be\ followed\ by\ tool\ messages | insufficient\ tool\ messages              # OpenAI
    | must\ be\ a\ response\ to\ a\ prece\w+\ message\ with\ .?tool_calls
    | no\ tool\ (?:call|output)\ found\ for\ function\ call
    | tool_use.{0,20}ids?\ were\ found\ without | unexpected\ .?tool_use_id   # Anthropic
    | tool_use.{0,4}\ ids?\ must\ be\ unique | each\ .?tool_(?:use|result).{0,4}\ (?:block\ )?must
    | first\ message\ must\ use\ the\ .{0,2}user | roles\ must\ alternate
    | must\ have\ non-empty\ content | content\ blocks\ must\ be\ non-empty
    | expected\ .?thinking.?\ or\ .?redacted_thinking | thinking.{0,40}cannot\ be\ modified
    | expected\ toolresult\ blocks | number\ of\ toolresult\ blocks                       # Bedrock
    | conversation\ must\ (?:start|end)\ with\ a\ user
    | function\ call\ turn\ comes\ immediately\ after | function\ response\ parts         # Gemini
    | same\ number\ of\ function\ calls\ and\ responses | expected\ last\ role            # Mistral
    | unexpected\ role\ .{1,12}\ after\ role
    | tool\ result.{0,10}tool\ id.{0,60}not\ found                                        # MiniMax
    | missing\ .?reasoning_content                                                        # DeepSeek
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|exceeded your current quota|"
    r"credit balance is too low|billing|arrearage|payment required",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"(?:incorrect|invalid|missing|no|expired)\s+(?:x-)?api[-_ ]key|invalid_api_key|unauthorized|"
    r"api[-_ ]key (?:not valid|not found|is required|client option must be set)",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model[_ ]not[_ ](?:found|exist)|LLM Provider NOT provided|no such model|"
    r"\bmodel\b.{0,80}\b(?:does not exist|not found|not exist|is not supported|not a valid model)",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ](?:policy|filter|management policy)|data_inspection_failed|"
    r"inappropriate content|rejected as a result of (?:our|the) safety",
    re.IGNORECASE,
)


def classify(
    error: BaseException,
    *,
    model: str = "",
    known_secrets: Iterable[str] = (),
    has_started: bool = False,
) -> ProviderError:
    """`error` as a `ProviderError`; one that already is comes back unchanged.

    With `has_started` a part of the answer had arrived: then a lost connection is
    `interrupted`, which is never sent again automatically.
    """
    if isinstance(error, ProviderError):
        return error
    error = _unwrap(error)
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error) or type(error).__name__
    detail = to_detail(text, known_secrets)
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) and 100 <= status < 600 else None
    kind = _kind(error, text, status)
    if kind == "overflow":
        numbers = parse_overflow(text) or Overflow()
        return ContextOverflowError(
            model=model,
            detail=detail,
            status=status,
            needed_tokens=numbers.needed_tokens,
            limit_tokens=numbers.limit_tokens,
        )
    if has_started and kind in ("unavailable", "timeout", "unknown"):
        kind = "interrupted"
    after = _retry_after(error)
    return ProviderError(
        kind=kind, model=model, detail=detail, status=status, retry_after_seconds=after
    )


def _kind(error: BaseException, text: str, status: int | None) -> ErrorKind:
    by_type = next(
        (kind for cls in type(error).__mro__ if (kind := _KIND_OF_TYPE.get(cls.__name__))), None
    )
    if by_type == "overflow" or parse_overflow(text):
        return "overflow"
    if (by_text := _kind_by_text(text, by_type, status)) is not None:
        return by_text
    if by_type is not None:
        return by_type
    if status is not None:
        return _KIND_OF_STATUS.get(status) or ("unavailable" if status >= 500 else "bad_request")
    return "unavailable" if isinstance(error, OSError) else "unknown"


def _kind_by_text(text: str, by_type: ErrorKind | None, status: int | None) -> ErrorKind | None:
    """The kind that the text proves; rate limits keep the kind of their type."""
    if by_type in ("rate_limit", "quota") or status in (402, 429):
        return "quota" if _QUOTA.search(text) else by_type
    if _MALFORMED.search(text):
        return "malformed_history"
    if _FILTERED.search(text):
        return "content_filter"
    if _AUTH.search(text):
        return "auth"
    if by_type in ("bad_request", "unknown_model", None) and _UNKNOWN_MODEL.search(text):
        return "unknown_model"
    is_refusal = by_type == "bad_request" or status == 400
    return "quota" if is_refusal and _QUOTA.search(text) else None


def _unwrap(error: BaseException) -> BaseException:
    """The provider's own error inside litellm's wrapper for streams."""
    inner = getattr(error, "original_exception", None)
    return _unwrap(inner) if isinstance(inner, BaseException) and inner is not error else error


def _retry_after(error: BaseException) -> float | None:
    """The seconds in a `retry-after` header; None for dates, which get the normal back-off."""
    for holder in (getattr(error, "response", None), error):
        headers = getattr(holder, "headers", None)
        headers = headers or getattr(holder, "litellm_response_headers", None)
        if isinstance(headers, Mapping) and (value := headers.get("retry-after")):
            try:
                return max(0.0, float(value))
            except ValueError:
                return None
    return None
