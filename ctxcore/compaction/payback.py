"""What a compaction costs once, what each later call saves, and after how many calls it has paid.

A call sends what the cache has at the price of the cache and the rest at that of writing to it.
Where messages wait outside a full window, the window moves with every turn, so that the cache has
the beginning of a call alone. Messages to come are left out: both ways send the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal, TypeAlias

from ctxcore.assembly.context import Context
from ctxcore.assembly.items import total
from ctxcore.plain import Plain
from ctxcore.tokens.prices import BilledTokens, Price, cost_of

Unit: TypeAlias = Literal["dollars", "tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTokens(Plain):
    """What a model reads and writes for a summary; nothing where it quotes."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Payback(Plain):
    """When a compaction has paid for itself."""

    unit: Unit
    """In US dollars where the price is known; else in tokens, each counted alike."""
    once: float
    """What it costs: the summary, and what the next call writes to the cache anew."""
    saving: float
    """What every call saves; negative where each costs more."""
    rewritten_tokens: int
    """The input of the next call behind the point up to which it begins as before."""
    summary: SummaryTokens = SummaryTokens()

    @property
    def calls(self) -> int | None:
        """After how many calls the savings are more than the cost; None: never."""
        if self.saving <= 0:
            return None
        return max(1, ceil(self.once / self.saving))


def payback(
    without: Context,
    with_it: Context,
    *,
    price: Price | None,
    summary: SummaryTokens = SummaryTokens(),
    summary_dollars: float | None = 0.0,
) -> Payback:
    """When a compaction has paid that leads from one context of the next call to another.

    Args:
        without: The context of the next call as it would be without it.
        with_it: The same with it.
        price: That of the model; None: not known.
        summary: What its summary takes.
        summary_dollars: What its summary costs; None: not known.
    """
    shared = _shared_tokens(without, with_it)
    rewritten = with_it.tokens - shared
    if price is None or summary_dollars is None:
        once = summary.input_tokens + summary.output_tokens
        saving = without.tokens - with_it.tokens
        unit: Unit = "tokens"
        return Payback(
            unit=unit, once=once, saving=saving, rewritten_tokens=rewritten, summary=summary
        )

    def dollars(context: Context, cached: int) -> float:
        tokens = context.tokens
        billed = BilledTokens(
            input_tokens=tokens, cached_tokens=cached, cache_write_tokens=tokens - cached
        )
        return cost_of(billed, price) or 0.0

    before = dollars(without, _kept_tokens(without))
    later = dollars(with_it, _kept_tokens(with_it))
    first = dollars(with_it, min(shared, _kept_tokens(with_it)))
    return Payback(
        unit="dollars",
        once=summary_dollars + first - later,
        saving=before - later,
        rewritten_tokens=rewritten,
        summary=summary,
    )


def _framing_tokens(context: Context) -> int:
    return context.tokens - sum(total(group.items) for group in context.made_of)


def _kept_tokens(context: Context) -> int:
    """What of a context the next call begins with as well, but for new messages."""
    if not context.outside_tokens:
        return context.tokens
    stable = context.made_of[: context.prefix_messages]
    return _framing_tokens(context) + sum(total(group.items) for group in stable)


def _shared_tokens(one: Context, other: Context) -> int:
    """The tokens that both contexts begin with."""
    shared = _framing_tokens(other)
    for was, now in zip(one.made_of, other.made_of, strict=False):
        if was.message != now.message or was.has_reasoning != now.has_reasoning:
            break
        shared += total(now.items)
    return shared
