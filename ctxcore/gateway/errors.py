"""Owns what can go wrong in a model call, as kinds that a program can act on.

    ProviderError              kind, is_retryable, status, retry_after_seconds
    ├── ContextOverflowError   needed_tokens, limit_tokens
    ├── MissingKeyError        variables
    └── LocalModelUnavailable  problem

A message says what happened and what to do. It holds no key, no stack and little of what the
provider wrote, since providers repeat people's words in their errors.
"""

from __future__ import annotations

from typing import Literal

from ctxcore.errors import ContextError

ErrorKind = Literal[
    "auth",
    "missing_key",
    "rate_limit",
    "quota",
    "overflow",
    "timeout",
    "unavailable",
    "bad_request",
    "content_filter",
    "malformed_history",
    "unknown_model",
    "interrupted",
    "local_unavailable",
    "unknown",
]

RETRYABLE: frozenset[ErrorKind] = frozenset({"rate_limit", "timeout", "unavailable", "interrupted"})

_SENTENCES: dict[ErrorKind, str] = {
    "auth": "the provider of {model!r} refused the key; check the connection's key and its rights",
    "missing_key": "no key for {model!r}; set the connection's environment variable or secret",
    "rate_limit": "the provider of {model!r} asks to slow down; wait a moment and send again",
    "quota": "the account for {model!r} has no credit left; check the plan and its billing",
    "overflow": "the context is too long for {model!r}; compact the session or take a model "
    "with a larger window",
    "timeout": "{model!r} did not answer in time; send again or raise the timeout",
    "unavailable": "{model!r} cannot be reached right now; check the address or send again later",
    "bad_request": "the provider of {model!r} refused the request; check the model's settings",
    "content_filter": "the provider of {model!r} blocked this content; reword or remove it",
    "malformed_history": "the provider of {model!r} refused the order of the messages; "
    "check the context for tool calls without results",
    "unknown_model": "the provider does not know the model {model!r}; check its name and, "
    "for an own server, that the model is loaded",
    "interrupted": "the answer of {model!r} broke off; what arrived is kept, send again to go on",
    "local_unavailable": "the built-in model is not available",
    "unknown": "the call to {model!r} failed",
}


class ProviderError(ContextError):
    """A model call failed; `kind` says how, `detail` quotes the provider, shortened and masked."""

    def __init__(
        self,
        *,
        kind: ErrorKind,
        model: str,
        detail: str = "",
        status: int | None = None,
        retry_after_seconds: float | None = None,
        sentence: str | None = None,
    ) -> None:
        self.kind: ErrorKind = kind
        self.model = model
        self.detail = detail
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        said = sentence or _SENTENCES[kind].format(model=model)
        super().__init__(f"{said} (it said: {detail})" if detail else said)

    @property
    def is_retryable(self) -> bool:
        """Whether the same request may succeed when sent again."""
        return self.kind in RETRYABLE


class ContextOverflowError(ProviderError):
    """The provider counted more tokens than the model takes."""

    def __init__(
        self,
        *,
        model: str,
        detail: str = "",
        status: int | None = None,
        needed_tokens: int | None = None,
        limit_tokens: int | None = None,
    ) -> None:
        self.needed_tokens = needed_tokens
        """Tokens of the request as the provider counted them; None if it did not say."""
        self.limit_tokens = limit_tokens
        """Tokens the provider accepts; None if it did not say."""
        super().__init__(kind="overflow", model=model, detail=detail, status=status)


class MissingKeyError(ProviderError):
    """No key is set for this call; found before anything was sent."""

    def __init__(self, *, model: str, variables: tuple[str, ...]) -> None:
        self.variables = variables
        super().__init__(
            kind="missing_key",
            model=model,
            sentence=f"no key for {model!r}: set the environment variable or secret "
            f"{' or '.join(variables)}, or choose another connection",
        )


class LocalModelUnavailable(ProviderError):
    """The built-in model cannot run here."""

    def __init__(self, *, model: str, problem: str) -> None:
        self.problem = problem
        super().__init__(
            kind="local_unavailable",
            model=model,
            sentence=f"the built-in model is not available: {problem}; connect a provider with an "
            f"API key, or an OpenAI-compatible server by its URL",
        )
