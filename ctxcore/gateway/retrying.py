"""Owns when a failed call is sent again: bounded, patient, and never past a cancellation."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ctxcore.gateway.errors import ProviderError

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often a call that may succeed later is sent again, and how long it waits before."""

    attempts: int = 3
    """Sends altogether; 1 = never again."""
    first_wait_seconds: float = 0.5
    """The wait grows from here, doubled each time, with jitter."""
    max_wait_seconds: float = 20.0
    """A provider that asks for a longer wait is not asked again: a person is watching."""

    def wait_seconds(self, attempt: int) -> float:
        """How long to wait after the given attempt, with half of it by chance."""
        longest = min(self.max_wait_seconds, self.first_wait_seconds * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1.0)  # many callers must not come back together


def first_success(
    send: Callable[[], T],
    to_error: Callable[[BaseException], ProviderError],
    retries: Retries,
    cancelled: threading.Event,
) -> T:
    """What `send` returns, sent again after failures worth it.

    Raises:
        ProviderError: the last failure.
    """
    import tenacity  # late: it imports asyncio, and most programs never fail here

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_seconds if isinstance(error, ProviderError) else None
        return max(asked or 0.0, retries.wait_seconds(state.attempt_number))

    def attempt() -> T:
        if cancelled.is_set():  # a wait that was cut short is followed by an attempt
            raise to_error(ConnectionAbortedError("the reader went away"))
        try:
            return send()
        except Exception as error:  # noqa: BLE001 - providers raise anything
            failed = to_error(error)
        raise failed  # outside the handler, so that no raw provider text hangs on it

    policy = tenacity.Retrying(
        retry=tenacity.retry_if_exception(lambda error: _is_worth_it(error, retries)),
        stop=tenacity.stop_any(
            tenacity.stop_after_attempt(retries.attempts), tenacity.stop_when_event_set(cancelled)
        ),
        wait=wait,
        sleep=tenacity.sleep_using_event(cancelled),
        before_sleep=_log_retry,
        reraise=True,
    )
    return policy(attempt)


def _is_worth_it(error: BaseException, retries: Retries) -> bool:
    if not isinstance(error, ProviderError) or not error.is_retryable:
        return False
    return (error.retry_after_seconds or 0.0) <= retries.max_wait_seconds


def _log_retry(state: object) -> None:
    logger.info("model call failed, sent again attempt=%s", getattr(state, "attempt_number", "?"))
