"""Owns the errors that this library's own providers raise: litellm's, so that whoever calls them
through litellm handles them like any other provider's."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import cast

from ctxcore.gateway.errors import ErrorKind
from ctxcore.gateway.runtime import load_litellm

_TYPE_OF_KIND: Mapping[ErrorKind, str] = {
    "auth": "AuthenticationError",
    "rate_limit": "RateLimitError",
    "quota": "PaymentRequiredError",
    "overflow": "ContextWindowExceededError",
    "timeout": "Timeout",
    "unavailable": "ServiceUnavailableError",
    "content_filter": "ContentPolicyViolationError",
    "unknown_model": "NotFoundError",
    "interrupted": "APIConnectionError",
}


def provider_exception(kind: ErrorKind, words: str, *, model: str) -> Exception:
    """litellm's exception for `kind`, saying `words`; a refused request for kinds it has not."""
    load_litellm()  # so that the import below is set up and quiet
    exceptions = importlib.import_module("litellm.exceptions")
    cls = getattr(exceptions, _TYPE_OF_KIND.get(kind, "BadRequestError"))
    provider = model.partition("/")[0]
    return cast("Exception", cls(message=words, model=model, llm_provider=provider))
