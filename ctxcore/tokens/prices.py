"""What tokens cost: the price of a model, and the cost of what a provider counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ctxcore.plain import Plain
from ctxcore.tokens.catalog import ModelInfo, model_info

PER_MILLION = 1_000_000


class Billed(Protocol):
    """Tokens as a provider counted them; None where it said nothing.

    What came from a cache and what was written to one are parts of the input; what was written
    for an hour is a part of what was written.
    """

    @property
    def input_tokens(self) -> int | None: ...
    @property
    def cached_tokens(self) -> int | None: ...
    @property
    def cache_write_tokens(self) -> int | None: ...
    @property
    def cache_hour_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Price(Plain):
    """US dollars per million tokens. Cached input without its own price costs the full one."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None
    cache_hour: float | None = None
    """What is written to a cache for an hour; None: as other writes."""

    @classmethod
    def of(cls, info: ModelInfo) -> Price | None:
        """The price of a model; None unless input and output have one."""
        paid, made = _per_million(info.input_price), _per_million(info.output_price)
        if paid is None or made is None:
            return None
        return cls(
            input=paid,
            output=made,
            cached=_per_million(info.cache_read_price),
            cache_write=_per_million(info.cache_write_price),
            cache_hour=_per_million(info.cache_hour_price),
        )

    @property
    def from_cache(self) -> float:
        """What is read from a cache."""
        return _first(self.cached, self.input)

    @property
    def lost_cache(self) -> float:
        """What costs more where input is not in the cache, and is written to it again."""
        return max(0.0, _first(self.cache_write, self.input) - self.from_cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledTokens(Plain):
    """Sums of what providers counted."""

    input_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_hour_tokens: int = 0
    output_tokens: int = 0


def cost_of(usage: Billed, price: Price | None) -> float | None:
    """The cost of `usage` in US dollars; None where usage or price is not known."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    for_hour = min(written, usage.cache_hour_tokens or 0)
    write_price = _first(price.cache_write, price.input)
    dollars = (
        max(0, usage.input_tokens - cached - written) * price.input
        + cached * price.from_cache
        + (written - for_hour) * write_price
        + for_hour * _first(price.cache_hour, write_price)
        + usage.output_tokens * price.output
    )
    return dollars / PER_MILLION


def list_price(model: str | None) -> Price | None:
    """The public price of `model` in the catalogue; None if it lists none."""
    return Price.of(model_info(model))


def _first(price: float | None, other: float) -> float:
    return other if price is None else price


def _per_million(price: float | None) -> float | None:
    return None if price is None else round(price * PER_MILLION, 6)
