"""What the calls of sessions cost: as recorded, else by the price known today."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import TypeVar

from ctxcore.engine.policies import ModelCatalog
from ctxcore.store.values import BilledCalls, CallInfo, CallTally
from ctxcore.tokens.costs import CallCost, Cost, sum_costs
from ctxcore.tokens.prices import cost_of

_Paid = TypeVar("_Paid", CallInfo, BilledCalls, CallTally)


def with_cost(found: Iterable[_Paid], models: ModelCatalog) -> list[_Paid]:
    """`found` with a cost each: the recorded one, else by the price that is known today."""
    price = cache(models.price)
    return [
        call
        if call.cost is not None or call.model is None
        else replace(call, cost=cost_of(call, price(call.model, is_imported=call.is_imported)))
        for call in found
    ]


def input_rate(calls: Iterable[CallInfo], models: ModelCatalog) -> float | None:
    """What one token of the input of `calls` cost on average, cached ones included.

    In US dollars; None where of no call both usage and price are known.
    """
    tokens, dollars = 0, 0.0
    price = cache(models.price)
    for call in calls:
        if call.model is None or not call.input_tokens:
            continue
        found = price(call.model, is_imported=call.is_imported)
        paid = cost_of(replace(call, output_tokens=0), found)
        if paid is not None:
            tokens, dollars = tokens + call.input_tokens, dollars + paid
    return dollars / tokens if tokens else None


def cost_of_calls(priced: Iterable[CallInfo | BilledCalls | CallTally]) -> Cost:
    """The sum of what `with_cost` returned."""
    return sum_costs(map(_cost, priced))


def _cost(call: CallInfo | BilledCalls | CallTally) -> CallCost:
    return CallCost(
        dollars=call.cost,
        model=call.model,
        has_usage=call.input_tokens is not None and call.output_tokens is not None,
        calls=1 if isinstance(call, CallInfo) else call.calls,
    )
