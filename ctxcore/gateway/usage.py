"""Owns what a call took: tokens as the provider reported them, and what they cost.

litellm fills gaps with its own estimates at the end of a stream; those are never read here, since
an estimate that looks like a report would be shown as exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ctxcore.gateway.values import ModelUsage
from ctxcore.tokens.catalog import model_info


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens. Cached input without its own price costs the full one."""

    input: float
    output: float
    cached: float | None = None
    cache_write: float | None = None


def read_usage(chunks: Iterable[object]) -> ModelUsage:
    """The usage that the chunks of one stream reported.

    Reports in one stream are running totals, and some providers report input and output in
    different chunks, so the largest number of each field is the total.
    """
    reports = [usage for chunk in chunks if (usage := getattr(chunk, "usage", None)) is not None]
    return ModelUsage(
        input_tokens=_largest(reports, ("prompt_tokens",)) or None,  # no request has 0
        cached_tokens=_largest(reports, ("prompt_tokens_details", "cached_tokens")),
        cache_write_tokens=_largest(reports, ("prompt_tokens_details", "cache_creation_tokens")),
        output_tokens=_largest(reports, ("completion_tokens",)),
        reasoning_tokens=_largest(reports, ("completion_tokens_details", "reasoning_tokens")),
    )


def cost_of(usage: ModelUsage, price: Price | None) -> float | None:
    """What `usage` costs in US dollars; None where usage or price is not known."""
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_tokens or 0
    written = usage.cache_write_tokens or 0
    plain = max(0, usage.input_tokens - cached - written)
    dollars = (
        plain * price.input
        + cached * (price.input if price.cached is None else price.cached)
        + written * (price.input if price.cache_write is None else price.cache_write)
        + usage.output_tokens * price.output
    )
    return dollars / 1_000_000


def list_price(model: str) -> Price | None:
    """The public price of `model` in the catalogue; None if it names none."""
    info = model_info(model)
    if info.input_price is None or info.output_price is None:
        return None
    return Price(
        input=info.input_price * 1_000_000,
        output=info.output_price * 1_000_000,
        cached=_per_million(info.cache_read_price),
        cache_write=_per_million(info.cache_write_price),
    )


def _per_million(price: float | None) -> float | None:
    return None if price is None else price * 1_000_000


def _largest(reports: Iterable[object], path: tuple[str, ...]) -> int | None:
    found = [number for report in reports if (number := _walk(report, path)) is not None]
    return max(found, default=None)


def _walk(value: object, path: tuple[str, ...]) -> int | None:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
