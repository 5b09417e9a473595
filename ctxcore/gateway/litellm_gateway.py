"""The gateway to models: any litellm model, streamed, cancellable, with classified errors.

A call is sent again only while nothing of the answer has arrived; the retries of litellm and its
clients are off, so `Retries` alone decides.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from types import ModuleType

from ctxcore.errors import ConfigurationError
from ctxcore.gateway.classify import classify
from ctxcore.gateway.local.provider import LOCAL_PREFIX, ensure_local_provider
from ctxcore.gateway.reader import register_readers
from ctxcore.gateway.replies import ReplyBuilder, read_usage
from ctxcore.gateway.scripted import SCRIPTED_PREFIX, ensure_scripted_provider
from ctxcore.gateway.secrets import KeySource, find_key
from ctxcore.gateway.streams import Cancellation, Feed, Retries, close_stream, first_success
from ctxcore.gateway.values import ModelReply, ModelRequest, ModelUsage, StreamEvent, Waiting
from ctxcore.litellm_loading import load_litellm
from ctxcore.tokens.prices import Price, cost_of, list_price

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """Marks when the request went out, after litellm was imported: latency starts there."""

    at_seconds: float


class LiteLLMGateway:
    """Sends requests to any model litellm knows, `local/smollm2-135m` and `scripted/…`.

    Needs litellm, which the extra `gateway` brings.

    Args:
        key_source: gives the key behind a variable's name; the environment by default.
        prices: own prices by model name; they win over litellm's list.
        retries: how often and how patiently a call is sent again before its first chunk.
        timeout_seconds: for connecting and for each silence in the stream.
        heartbeat_seconds: how often `stream` yields `Waiting` in a silence; None: never.
        clock: seconds, for latencies.
    """

    def __init__(
        self,
        *,
        key_source: KeySource = os.environ.get,
        prices: Mapping[str, Price] | None = None,
        retries: Retries | None = None,
        timeout_seconds: float = 600.0,
        heartbeat_seconds: float | None = 0.5,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._key_source = key_source
        self._prices = dict(prices or {})
        self._retries = retries or Retries()
        self._timeout_seconds = timeout_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._clock = clock

    def stream(self, request: ModelRequest) -> Generator[StreamEvent, None, None]:
        """The reply piece by piece, a `ModelReply` last. Closing it cancels the call.

        Raises (from the iterator):
            ProviderError: the call failed; what was yielded before stays valid.
            ConfigurationError: litellm is not installed.
        """
        started = self._clock()
        first: float | None = None
        usage = ModelUsage()
        reply = ReplyBuilder()
        with closing(Feed(lambda cancellation: self._read(request, cancellation))) as feed:
            for item in feed.items(self._heartbeat_seconds):
                if item is None:
                    yield Waiting(seconds=self._clock() - started)
                elif isinstance(item, _Sent):
                    started = item.at_seconds
                elif isinstance(item, ModelUsage):
                    usage = item
                else:
                    for event in reply.add(item):
                        first = self._clock() if first is None else first
                        yield event
        yield reply.finish(
            usage=usage,
            model=request.model,
            cost=cost_of(usage, self.price(request)),
            latency_seconds=self._clock() - started,
            first_token_seconds=None if first is None else first - started,
        )

    def complete(self, request: ModelRequest) -> ModelReply:
        """The whole reply.

        Raises:
            ProviderError: the call failed.
            ConfigurationError: litellm is not installed.
        """
        *_, reply = self.stream(request)
        assert isinstance(reply, ModelReply)  # a stream read to its end ends with it
        return reply

    def price(self, request: ModelRequest) -> Price | None:
        """What a call of this kind costs; None if that is not known.

        A list price holds for the public service, not for an own server with the same names.
        """
        if (own := self._prices.get(request.model)) is not None:
            return own
        if request.connection is not None and request.connection.api_base is not None:
            return None
        return list_price(request.model)

    def _read(self, request: ModelRequest, cancellation: Cancellation) -> Iterator[object]:
        """A `_Sent`, litellm's chunks, then the usage; failures are raised as `ProviderError`."""
        secrets: list[str] = []
        has_started = False
        try:
            litellm = load_litellm()
            if request.model.startswith(SCRIPTED_PREFIX):
                ensure_scripted_provider()
                register_readers()
            elif request.model.startswith(LOCAL_PREFIX):
                ensure_local_provider()
            arguments = self._arguments(request, litellm, secrets)
            yield _Sent(at_seconds=self._clock())
            stream, first = first_success(
                lambda: _open(litellm, arguments, cancellation),
                lambda error: classify(error, model=request.model, known_secrets=secrets),
                self._retries,
                cancellation.event,
            )
            try:
                if first is not None:
                    has_started = True
                    yield first
                    yield from stream
                yield read_usage(getattr(stream, "chunks", ()))
            finally:
                close_stream(stream)
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 - providers raise anything; classified, not hidden
            failed = classify(
                error, model=request.model, known_secrets=secrets, has_started=has_started
            )
            logger.info("model call failed model=%s kind=%s", request.model, failed.kind)
        else:
            return
        raise failed  # outside the handler: the raw text of the provider is not chained to it

    def _arguments(
        self, request: ModelRequest, litellm: ModuleType, secrets: list[str]
    ) -> dict[str, object]:
        """The keyword arguments of `litellm.completion`."""
        key = find_key(request, self._key_source, litellm)
        secrets.extend([key] if key else [])
        connection = request.connection
        optional: dict[str, object] = {
            "tools": list(request.tools) or None,
            "max_tokens": request.max_output_tokens,
            "temperature": request.temperature,
            "api_key": key,
            "api_base": connection.api_base if connection else None,
        }
        return {
            **(connection.options if connection else {}),
            **{name: value for name, value in optional.items() if value is not None},
            "model": request.model,
            "messages": [dict(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "timeout": self._timeout_seconds,
            "num_retries": 0,
            "max_retries": 0,
            # With tools, litellm imports its MCP proxy, which a plain install has no package for.
            "_skip_mcp_handler": True,
        }


def _open(
    litellm: ModuleType, arguments: Mapping[str, object], cancellation: Cancellation
) -> tuple[Iterator[object], object | None]:
    """An open stream and its first chunk; None if it ended without one."""
    stream: Iterator[object] = litellm.completion(**arguments)
    cancellation.on_cancel(lambda: close_stream(stream))
    try:
        return stream, next(stream, None)
    except BaseException:
        close_stream(stream)
        raise
