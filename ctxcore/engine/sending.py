"""Sends one request to a model; nothing is stored here."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

from ctxcore.budget import TokenBudget
from ctxcore.errors import ContextError
from ctxcore.gateway.errors import ProviderError
from ctxcore.gateway.secrets import to_detail
from ctxcore.gateway.values import Gateway, ModelReply, ModelRequest, StreamEvent
from ctxcore.tokens.catalog import ModelInfo
from ctxcore.tokens.prices import Price, cost_of


def stream_reply(gateway: Gateway, request: ModelRequest) -> Generator[StreamEvent, None, None]:
    """The gateway's events; its other exceptions become `ProviderError`s."""
    try:
        with closing(gateway.stream(request)) as stream:
            yield from stream
    except ContextError:
        raise
    except Exception as error:
        detail = to_detail(f"{type(error).__name__} - {error}")
        raise ProviderError(kind="unknown", model=request.model, detail=detail) from error


def reply_limit(budget: TokenBudget | None, info: ModelInfo) -> int | None:
    """The most tokens of a reply where a caller sets no limit; None: the provider's own.

    The reserve, if the window is shared with the reply.
    """
    reserve = budget.reserve_tokens if budget else 0
    return reserve or info.max_output_tokens


def with_own_price(reply: ModelReply, price: Price | None) -> ModelReply:
    """`reply` with its cost by this installation's own price, if there is one."""
    return reply if price is None else replace(reply, cost=cost_of(reply.usage, price))
