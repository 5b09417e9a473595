"""Owns recognising that a provider refused a context as too long, from its words alone.

Every wording is one that a provider, a server or a proxy is known to send. A wording about speed
("tokens per minute") is an overflow only if the one request is larger than the whole allowance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxcore.gateway.errors import ContextOverflowError, ErrorKind, ProviderError
from ctxcore.gateway.secrets import to_detail

_N = r"(\d[\d,_]*)"

# (wording, which group is the limit, which is what the request needed; 0 = not named).
# The first that matches wins, so wordings that name numbers come first.
_WORDINGS: tuple[tuple[str, int, int], ...] = (
    # OpenAI, DeepSeek, OpenRouter, vLLM
    (
        rf"maximum context length (?:is|of) {_N} tokens?.{{0,80}}?(?:requested|resulted in) "
        rf"(?:about )?(?:a total of )?{_N} tokens",
        1,
        2,
    ),
    (
        rf"maximum context length is {_N} tokens?.{{0,120}}?(?:at least|contains|has) {_N} input",
        1,
        2,
    ),
    (rf"passed {_N} input tokens.{{0,80}}?context length is only {_N}", 2, 1),
    (rf"configured limit of {_N} tokens.{{0,60}}?resulted in {_N}", 1, 2),
    (rf"maximum context length (?:is|of) {_N}", 1, 0),
    # Anthropic
    (rf"prompt is too long: {_N} tokens? > {_N}", 2, 1),
    (rf"exceed context limit: {_N} \+ {_N} > {_N}", 3, 1),
    # Fireworks
    (rf"prompt is too long: {_N}.{{0,40}}?maximum context length: {_N}", 2, 1),
    # Gemini, Vertex
    (rf"input token count \(?{_N}\)? exceeds the maximum number of tokens allowed \(?{_N}", 2, 1),
    (rf"input token count is {_N} but model only supports up to {_N}", 2, 1),
    # Bedrock
    (rf"max input tokens: {_N}, request input token count: {_N}", 1, 2),
    (r"input is too long for requested model", 0, 0),
    # DashScope (Qwen)
    (rf"range of input length should be \[\d+,\s*{_N}\]", 1, 0),
    # xAI
    (rf"maximum prompt length is {_N} but the request contains {_N}", 1, 2),
    # Mistral
    (rf"prompt contains {_N} tokens.{{0,60}}?too large for model with {_N}", 2, 1),
    # Moonshot (Kimi)
    (rf"exceeded model token limit: {_N} \(requested: {_N}\)", 1, 2),
    (rf"exceeded model token limit:? {_N}", 1, 0),
    # llama.cpp, LM Studio, Ollama
    (rf"request \({_N} tokens\) exceeds the available context size \({_N}", 2, 1),
    (r"exceeds the available context size|context size has been exceeded", 0, 0),
    (rf"keep the first {_N} tokens.{{0,80}}?context length of only {_N}", 2, 1),
    (r"tokens to keep from the initial prompt is greater than the context length", 0, 0),
    (r"input length exceeds the (?:model's )?(?:maximum )?context length", 0, 0),
    (r"exceeded max context length by", 0, 0),
    # SGLang, TGI, vLLM's engine
    (rf"input \({_N} tokens\) is longer than the model's context length \({_N}", 2, 1),
    (rf"must be <= {_N}\. given: {_N} `?inputs", 1, 2),
    (rf"`?inputs`? must have less than {_N} tokens\. given: {_N}", 1, 2),
    (rf"prompt \((?:total )?length {_N}\).{{0,80}}?(?:length of|context length) {_N}", 2, 1),
    (rf"prompt too long: {_N} tokens exceeds \w+ {_N}", 2, 1),
    # Cerebras, Groq
    (rf"current length is {_N} while limit is {_N}", 2, 1),
    (r"please reduce the length of the (?:messages|prompt)", 0, 0),
    # Cohere
    (rf"prompt cannot exceed {_N} - received {_N}", 1, 2),
    (rf"too many tokens: .{{0,120}}?limit (?:for this model is|of) {_N}", 1, 0),
    # Copilot, GitHub Models
    (rf"prompt token count of {_N} exceeds the limit of {_N}", 2, 1),
    (rf"request body too large for .{{0,60}}?max size: {_N} tokens", 1, 0),
    # Volcengine, Poolside
    (rf"input length {_N} exceeds the maximum (?:allowed input )?length (?:of )?{_N}", 2, 1),
    (r"exceed(?:s)? max message tokens", 0, 0),
    # MiniMax, Zhipu, Perplexity
    (r"context window exceeds limit|prompt exceeds max length", 0, 0),
    (r"length of all messages is too long", 0, 0),
    # Codes and common words, last
    (
        r"exceeds? (?:(?:the|this) )?(?:model's )?(?:maximum )?context (?:window|length|limit)",
        0,
        0,
    ),
    (r"context_length_exceeded|exceed_context_size|model_context_window_exceeded", 0, 0),
    (r"contextwindowexceedederror", 0, 0),
    (r"\bprompt (?:is )?too long\b|\bprompt tokens too long\b", 0, 0),
    (r"\brequest_too_large\b", 0, 0),
)
_PATTERNS = tuple(
    (re.compile(wording, re.IGNORECASE | re.DOTALL), limit, needed)
    for wording, limit, needed in _WORDINGS
)
_PER_MINUTE = re.compile(r"tokens per (?:minute|day)|\btp[md]\b|throttl|too many requests", re.I)
_ALLOWANCE = re.compile(rf"limit:? {_N}.{{0,60}}?requested:? {_N}", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """The numbers a refusal named; None for what it left out."""

    limit_tokens: int | None = None
    needed_tokens: int | None = None


def parse_overflow(text: str) -> Overflow | None:
    """What `text` says about a context that is too long; None if it says something else."""
    if _PER_MINUTE.search(text):
        return _parse_allowance(text)
    for pattern, limit, needed in _PATTERNS:
        if found := pattern.search(text):
            return Overflow(limit_tokens=_group(found, limit), needed_tokens=_group(found, needed))
    return None


def _parse_allowance(text: str) -> Overflow | None:
    """One request above the whole allowance per minute: waiting does not help, shortening does."""
    found = _ALLOWANCE.search(text)
    if found is None:
        return None
    limit, needed = _group(found, 1), _group(found, 2)
    if limit is None or needed is None or needed <= limit:
        return None
    return Overflow(limit_tokens=limit, needed_tokens=needed)


def _group(found: re.Match[str], group: int) -> int | None:
    return int(found[group].replace(",", "").replace("_", "")) if group else None


# Class names of litellm, openai and httpx, which mean the same everywhere.
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
# What a provider says when calls and results do not match or roles do not alternate.
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

    `has_started` says that a part of the answer had arrived: then a lost connection is
    `interrupted`, which must not be sent again without a person or an engine knowing.
    """
    if isinstance(error, ProviderError):
        return error
    error = _unwrap(error)
    text = _words(error)
    detail = to_detail(text, known_secrets)
    status = _status(error)
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
    if (spoken := _spoken_kind(text, by_type, status)) is not None:
        return spoken
    if by_type is not None:
        return by_type
    if status is not None:
        return _KIND_OF_STATUS.get(status) or ("unavailable" if status >= 500 else "bad_request")
    return "unavailable" if isinstance(error, OSError) else "unknown"


def _spoken_kind(text: str, by_type: ErrorKind | None, status: int | None) -> ErrorKind | None:
    """What the words alone prove; server failures and limits keep the kind of their type."""
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


def _words(error: BaseException) -> str:
    message = getattr(error, "message", None)
    return message if isinstance(message, str) and message else str(error) or type(error).__name__


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 100 <= status < 600 else None


def _retry_after(error: BaseException) -> float | None:
    """Seconds the provider asked to wait; dates are left to the normal back-off."""
    for holder in (getattr(error, "response", None), error):
        headers = getattr(holder, "headers", None) or getattr(
            holder, "litellm_response_headers", None
        )
        if isinstance(headers, Mapping) and (value := headers.get("retry-after")):
            try:
                return max(0.0, float(value))
            except ValueError:
                return None
    return None
