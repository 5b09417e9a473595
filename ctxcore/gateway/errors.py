"""The errors of a model call, by kinds that a program can act on.

    ProviderError              kind, is_retryable, status, retry_after_seconds
    ├── ContextOverflowError   needed_tokens, limit_tokens
    ├── MissingKeyError        variables
    └── LocalModelUnavailable  problem

A message says what happened and what to do. It holds no key, no stack and little of the provider's
text, since providers quote the conversation in their errors.
"""

from __future__ import annotations

from typing import Literal

from ctxcore.errors import ContextError
from ctxcore.reasons.problems import ProviderProblem
from ctxcore.reasons.values import Reason, any_of, as_reason, blanks

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


class ProviderError(ContextError):
    """A model call failed with `kind`; `detail` quotes the provider, shortened and masked."""

    def __init__(
        self,
        *,
        kind: ErrorKind,
        model: str,
        detail: str = "",
        status: int | None = None,
        retry_after_seconds: float | None = None,
        problem: Reason | None = None,
    ) -> None:
        self.kind: ErrorKind = kind
        self.model = model
        self.detail = detail
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        if problem is None:
            code = ProviderProblem[kind.upper()]
            problem = code(model=model) if blanks(code.text) else code()
        if detail:
            problem = ProviderProblem.SAID(problem=problem, detail=detail)
        super().__init__(problem)

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
        """Tokens of the request by the provider's count; None if not reported."""
        self.limit_tokens = limit_tokens
        """Tokens that the provider accepts; None if not reported."""
        super().__init__(kind="overflow", model=model, detail=detail, status=status)

    @property
    def excess_tokens(self) -> int | None:
        """By how much the request was too long; None if a number was not reported."""
        if self.needed_tokens is None or self.limit_tokens is None:
            return None
        return max(0, self.needed_tokens - self.limit_tokens)


class MissingKeyError(ProviderError):
    """No key is set for this call; found before anything was sent."""

    def __init__(self, *, model: str, variables: tuple[str, ...]) -> None:
        self.variables = variables
        super().__init__(
            kind="missing_key",
            model=model,
            problem=ProviderProblem.MISSING_KEY_NAMED(model=model, variables=any_of(variables)),
        )


class LocalModelUnavailable(ProviderError):
    """The built-in model cannot run here."""

    def __init__(self, *, model: str, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(
            kind="local_unavailable",
            model=model,
            problem=ProviderProblem.NO_LOCAL_BECAUSE(reason=self.problem),
        )
