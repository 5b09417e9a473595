"""Owns what calls cost: a price for input, for input from the prompt cache, and for output."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.tokens.catalog import ModelInfo

PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens; None where nobody says."""

    input: float | None = None
    cached_input: float | None = None
    """Input that the prompt cache holds; None: as other input."""
    output: float | None = None

    @classmethod
    def of(cls, info: ModelInfo) -> Prices:
        """The prices of a model in the catalogue."""
        return cls(
            input=_per_million(info.input_price),
            cached_input=_per_million(info.cache_read_price),
            output=_per_million(info.output_price),
        )

    def cost(self, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> float | None:
        """What that many tokens cost in US dollars; `cached_tokens` are a part of the input."""
        if self.input is None or self.output is None:
            return None
        cached = self.input if self.cached_input is None else self.cached_input
        plain = (input_tokens - cached_tokens) * self.input
        return (plain + cached_tokens * cached + output_tokens * self.output) / PER_MILLION


def _per_million(price: float | None) -> float | None:
    return None if price is None else round(price * PER_MILLION, 6)
