"""Reads changes of policy fields as they are typed: `trigger_ratio=0.6`, `trigger_ratio=0.5..0.9`.

A range stands for several values; several ranges for all their combinations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import product
from math import prod
from typing import Final, TypeAlias, get_args

from ctxcore.errors import ConfigurationError, PolicyError, TrialError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of, refuse_field
from ctxcore.policy.values import Policy
from ctxcore.reasons.problems import TrialProblem
from ctxcore.settings.environment import OWN_PREFIX, read_environment

MOST_POLICIES: Final = 36  # chosen: a table that can still be read; two sweeps of six values
LEAST_VALUES: Final = 4  # chosen: fewer show no trend
Choice: TypeAlias = tuple[str, list[JsonValue]]
"""A field and the values that it is tried with."""
_RANGE = re.compile(r"([^.]*(?:\.\d+)?)\.\.([^:]+)(?::(.+))?")


def parse_assignments(texts: Sequence[str]) -> list[JsonObject]:
    """The overrides that `texts` stand for, one for each combination of their values.

    Each text is `FIELD=VALUE`, `FIELD=LOW..HIGH` or `FIELD=LOW..HIGH:STEP`. Without a step a range
    has at least four values, a round step apart. Values are written as in the environment.

    Raises:
        TrialError: a text has no such form, or they make more than 36 policies.
        PolicyError: a field is unknown or a value is not allowed.
    """
    return combinations([parse_choice(text) for text in texts])


def combinations(choices: Sequence[Choice]) -> list[JsonObject]:
    """The overrides that fields with several values each stand for; none without fields.

    Raises:
        TrialError: they make more than 36 policies.
    """
    if not choices:
        return []
    count = prod(len(values) for _, values in choices)
    if count > MOST_POLICIES:
        raise TrialError(TrialProblem.MANY(count=count, most=MOST_POLICIES))
    names = [name for name, _ in choices]
    return [
        dict(zip(names, values, strict=True))
        for values in product(*(values for _, values in choices))
    ]


def parse_choice(text: str) -> Choice:
    """A field and the values that a text gives it, as `parse_assignments` reads it."""
    name, equals, written = (part.strip() for part in text.partition("="))
    if not equals or not name or not written:
        raise TrialError(TrialProblem.CHANGE(text=text))
    if name not in fields_of(Policy):
        raise refuse_field(name, written, fields_of(Policy))
    swept = _RANGE.fullmatch(written) if _is_number(name) else None
    values = [written] if swept is None else list(_sweep(text, *swept.groups()))
    return name, [_value(name, one) for one in values]


def _is_number(name: str) -> bool:
    """Whether a field holds a number."""
    kind = fields_of(Policy)[name].type
    return not {int, float}.isdisjoint((kind, *get_args(kind)))


def _value(name: str, written: str) -> JsonValue:
    """The value of a field as it is written.

    Raises:
        PolicyError: it is not allowed.
    """
    try:
        layer = read_environment({f"{OWN_PREFIX}{name}".upper(): written}, None).layer
        fields = layer.overrides
        return fields[name]
    except PolicyError as error:  # without the variable, which nobody set
        raise PolicyError(field=error.field, value=error.value, allowed=error.allowed) from error
    except (ConfigurationError, KeyError) as error:
        allowed = fields_of(Policy)[name].allowed
        raise PolicyError(field=name, value=written, allowed=allowed) from error


def _sweep(text: str, low: str, high: str, step: str | None) -> Iterator[str]:
    """The values from `low` to `high`, the last one at most `high`."""
    try:
        first, last = Decimal(low), Decimal(high)
        given = None if step is None else Decimal(step)
        is_rising = first < last and (given is None or given > 0)
        numbers = (first, last, given or Decimal(1))
    except InvalidOperation as error:
        raise TrialError(TrialProblem.CHANGE(text=text)) from error
    if not all(map(Decimal.is_finite, numbers)):
        raise TrialError(TrialProblem.CHANGE(text=text))
    if not is_rising:
        raise TrialError(TrialProblem.RISING())
    by = given or _round_step(last - first)
    count = int((last - first) / by) + 1
    if count > MOST_POLICIES:
        raise TrialError(TrialProblem.MANY(count=count, most=MOST_POLICIES))
    for at in range(count):
        yield f"{(first + at * by).normalize():f}"


def _round_step(span: Decimal) -> Decimal:
    """The largest step of 1, 2 or 5 times a power of ten that gives `LEAST_VALUES` values."""
    power = Decimal(10) ** span.adjusted()
    steps = (power * part for power in (power, power / 10) for part in (5, 2, 1))
    return next(step for step in steps if span / step >= LEAST_VALUES - 1)
