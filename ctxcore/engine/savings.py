"""What compactions saved: tokens that were not sent, less what summaries and lost caches cost.

For each call the input that was sent is compared with the one it would have had without any
compaction, within the window (docs/adr/0070-net-savings.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeVar

from ctxcore.plain import Plain
from ctxcore.store.values import CallTally
from ctxcore.tokens.prices import PER_MILLION, Price, cost_of

PriceOf = Callable[[str], Price | None]
SUMMARY = "summary"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving(Plain):
    """The net saving of some calls; an amount of money is None where a price is not known."""

    user_id: str | None
    """None: of several users; so are the two below."""
    policy_version_id: int | None
    month: str | None
    calls: int
    """The calls for an answer."""
    compared_calls: int
    """Those of which it is known what they would have sent without compactions."""
    sent_tokens: int
    """What these sent."""
    unsent_tokens: int
    """What these would have sent more; negative where they sent more than without compactions."""
    unsent_dollars: float | None
    summary_calls: int
    summary_tokens: int
    """What the requests for summaries read and wrote."""
    summary_dollars: float | None
    rewritten_tokens: int
    """What providers read anew because a compaction had changed the beginning of a request."""
    rewritten_dollars: float | None
    """What that cost beyond the price of reading it from the cache."""

    @property
    def net_dollars(self) -> float | None:
        """What is left; None where one part is not known."""
        if self.unsent_dollars is None:
            return None
        if self.summary_dollars is None or self.rewritten_dollars is None:
            return None
        return self.unsent_dollars - self.summary_dollars - self.rewritten_dollars

    @property
    def net_tokens(self) -> int:
        """The tokens that were not sent, less those of summaries."""
        return self.unsent_tokens - self.summary_tokens


def savings_of(tallies: Iterable[CallTally], price_of: PriceOf) -> list[Saving]:
    """The saving of each month, user and version of the policy, the newest month first."""
    grouped: dict[tuple[str, str, int | None], list[CallTally]] = defaultdict(list)
    for tally in tallies:
        grouped[tally.month, tally.user_id, tally.policy_version_id].append(tally)
    found = [
        _saving(group, price_of, user_id=user, version=version, month=month)
        for (month, user, version), group in grouped.items()
    ]
    found.sort(key=lambda one: (one.user_id or "", one.policy_version_id or 0))
    return sorted(found, key=lambda one: one.month or "", reverse=True)


def total_saving(parts: Sequence[Saving]) -> Saving:
    """The sum of savings; an amount is None where that of one part is."""
    return Saving(
        user_id=_common(part.user_id for part in parts),
        policy_version_id=_common(part.policy_version_id for part in parts),
        month=_common(part.month for part in parts),
        calls=sum(part.calls for part in parts),
        compared_calls=sum(part.compared_calls for part in parts),
        sent_tokens=sum(part.sent_tokens for part in parts),
        unsent_tokens=sum(part.unsent_tokens for part in parts),
        unsent_dollars=_sum(part.unsent_dollars for part in parts),
        summary_calls=sum(part.summary_calls for part in parts),
        summary_tokens=sum(part.summary_tokens for part in parts),
        summary_dollars=_sum(part.summary_dollars for part in parts),
        rewritten_tokens=sum(part.rewritten_tokens for part in parts),
        rewritten_dollars=_sum(part.rewritten_dollars for part in parts),
    )


def _saving(
    group: Sequence[CallTally],
    price_of: PriceOf,
    *,
    user_id: str,
    version: int | None,
    month: str,
) -> Saving:
    answers = [tally for tally in group if tally.purpose != SUMMARY]
    summaries = [tally for tally in group if tally.purpose == SUMMARY]
    return Saving(
        user_id=user_id,
        policy_version_id=version,
        month=month,
        calls=sum(tally.calls for tally in answers),
        compared_calls=sum(tally.compared_calls for tally in answers),
        sent_tokens=sum(tally.sent_tokens for tally in answers),
        unsent_tokens=sum(_unsent(tally) for tally in answers),
        unsent_dollars=_sum(_unsent_dollars(tally, price_of) for tally in answers),
        summary_calls=sum(tally.calls for tally in summaries),
        summary_tokens=sum(
            (tally.input_tokens or 0) + (tally.output_tokens or 0) for tally in summaries
        ),
        summary_dollars=_sum(_paid(tally, price_of) for tally in summaries),
        rewritten_tokens=sum(tally.rewritten_tokens for tally in answers),
        rewritten_dollars=_sum(_rewritten_dollars(tally, price_of) for tally in answers),
    )


def _unsent(tally: CallTally) -> int:
    return tally.without_tokens - tally.sent_tokens


def _unsent_dollars(tally: CallTally, price_of: PriceOf) -> float | None:
    """What the tokens would have cost: where a cache is in use, the price of reading from it."""
    tokens = _unsent(tally)
    if not tokens:
        return 0.0
    price = _price(tally, price_of)
    if price is None:
        return None
    return tokens * (price.from_cache if tally.cached_tokens else price.input) / PER_MILLION


def _rewritten_dollars(tally: CallTally, price_of: PriceOf) -> float | None:
    if not tally.rewritten_tokens:
        return 0.0
    price = _price(tally, price_of)
    if price is None:
        return None
    return tally.rewritten_tokens * price.lost_cache / PER_MILLION


def _paid(tally: CallTally, price_of: PriceOf) -> float | None:
    """What calls cost: as recorded, else by the price known today."""
    return tally.cost if tally.cost is not None else cost_of(tally, _price(tally, price_of))


def _price(tally: CallTally, price_of: PriceOf) -> Price | None:
    return None if tally.model is None else price_of(tally.model)


def _sum(parts: Iterable[float | None]) -> float | None:
    known = list(parts)
    return None if None in known else fsum(part for part in known if part is not None)


def _common(values: Iterable[_T | None]) -> _T | None:
    """The value that all have; None where they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None
