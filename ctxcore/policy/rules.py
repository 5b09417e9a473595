"""Owns checking a policy: each field by its declaration, and what two fields say together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ctxcore.errors import PolicyError
from ctxcore.policy.fields import checks_of, fields_of
from ctxcore.policy.removed import REMOVED
from ctxcore.reasons.allowed import AllowedCode
from ctxcore.reasons.values import Reason

if TYPE_CHECKING:
    from ctxcore.policy.thresholds import Thresholds

_ROUNDING = 1e-9  # 0.35 + 0.65 may come out a little over 1


def check(policy: Thresholds) -> None:
    """Refuses a policy with a value outside its range.

    Raises:
        PolicyError: the first such field, its value and what is allowed.
    """
    for name, allows in checks_of(type(policy)):
        if not allows(value := getattr(policy, name)):
            fields_of(type(policy))[name].check(value)
    _check_shares(policy)


def refuse_field(
    name: str, value: object, known: Iterable[str], *, source: Reason | None = None
) -> PolicyError:
    """That a policy has no field `name`: it has others, or had it once."""
    allowed = AllowedCode.ONE_OF(names=tuple(sorted(known)))
    if name in REMOVED:
        allowed = AllowedCode.REMOVED(since=REMOVED[name])
    return PolicyError(field=name, value=value, allowed=allowed, source=source)


def _check_shares(policy: Thresholds) -> None:
    """Summary and recent messages are shares of one budget, so together they are at most all."""
    summary, recent = policy.summary_history_ratio or 0.0, policy.recent_history_ratio or 0.0
    if summary + recent > 1 + _ROUNDING:
        raise PolicyError(
            field="summary_history_ratio",
            value=summary,
            allowed=AllowedCode.BESIDE(high=1 - recent, recent=recent),
        )
