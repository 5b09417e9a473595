"""Owns turning any exception of a model call into a `ProviderError` of a known kind.

Words win over types: providers, proxies and litellm label the same refusal differently, but the
sentence of an overflow or of a broken history is its own. litellm is not imported for this.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ctxcore.gateway.errors import ContextOverflowError, ErrorKind, ProviderError
from ctxcore.gateway.masking import to_detail
from ctxcore.gateway.overflow import Overflow, parse_overflow

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
