"""Owns what the declarations of a policy's fields say, read once: names, ranges, defaults, words.

Validation, the Settings form, names of environment and file, `ctxcore policy fields` and the table
in the docs all read it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from ctxcore.errors import PolicyError
from ctxcore.policy.markers import (
    RANGES,
    Group,
    GroupName,
    Kind,
    ListOf,
    OneOf,
    OrNone,
    Range,
    Told,
    YesOrNo,
)
from ctxcore.policy.names import REMOVED
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Reason

if TYPE_CHECKING:
    from ctxcore.policy.thresholds import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """One field of a policy as it is declared."""

    name: str
    group: GroupName
    label: str
    """What it is called, its unit with it."""
    help: str
    """What it does."""
    default: object
    type: Any
    """Its type without the markers."""
    range: Range

    @property
    def kind(self) -> Kind:
        """How its value is typed and shown."""
        return self.range.kind

    @property
    def is_optional(self) -> bool:
        """Whether it may be None."""
        return isinstance(self.range, OrNone)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it may be, where there are few."""
        inner = self.range.other if isinstance(self.range, OrNone) else self.range
        return inner.names if isinstance(inner, OneOf) else ()

    @property
    def allowed(self) -> Reason:
        """What it may hold."""
        return self.range.allowed

    def check(self, value: object, *, source: Reason | None = None) -> None:
        """Refuses a value outside its range, whatever the other fields are.

        Raises:
            PolicyError: the field, its value, what is allowed, and the `source` of the value.
        """
        if not self.range.allows(value):
            unknown = None
            if isinstance(self.range, ListOf) and self.range.unknown is not None:
                unknown = self.range.unknown(value)
            raise PolicyError(
                field=self.name, value=value, allowed=unknown or self.allowed, source=source
            )


def fields_of(policy: type) -> Mapping[str, PolicyField]:
    """The fields of a class of policies by name, in the order of their declaration."""
    return _declared(policy)


def checks_of(policy: type) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    """The names of the fields with what tells whether a value is allowed, for many checks."""
    return _checks(policy)


@cache
def _declared(policy: type) -> Mapping[str, PolicyField]:
    hints = get_type_hints(policy, include_extras=True)
    return {one.name: _field(one, hints[one.name]) for one in fields(policy)}


@cache
def _checks(policy: type) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    return tuple((name, field.range.allows) for name, field in _declared(policy).items())


def _field(declared: Field[Any], hint: Any) -> PolicyField:
    if declared.default is MISSING:
        raise TypeError(f"the policy field {declared.name!r} has no default")
    bare, *markers = get_args(hint)
    told = _marker(declared.name, markers, Told)
    return PolicyField(
        name=declared.name,
        group=_marker(declared.name, markers, Group).name,
        label=told.label,
        help=told.help,
        default=declared.default,
        type=bare,
        range=_range(declared.name, bare, markers),
    )


def _range(name: str, bare: Any, markers: list[Any]) -> Range:
    """What the markers allow, else what the type does."""
    inner = [one for one in get_args(bare) if one is not NoneType]
    is_optional = NoneType in get_args(bare)
    found = _of_type(inner[0] if is_optional else bare) or _marker(name, markers, RANGES)
    return OrNone(found) if is_optional else found


def _of_type(bare: Any) -> Range | None:
    if bare is bool:
        return YesOrNo()
    return OneOf(get_args(bare)) if get_origin(bare) is Literal else None


def _marker(name: str, markers: list[Any], kind: Any) -> Any:
    found = [one for one in markers if isinstance(one, kind)]
    if len(found) != 1:
        raise TypeError(f"the policy field {name!r} needs one {kind} and has {len(found)}")
    return found[0]


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
