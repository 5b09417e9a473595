"""Reads the declarations of policy fields and checks policies against them.

Validation, the Settings form, the names in environment and files, `ctxcore policy fields` and the
tables in the docs all use `fields_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from ctxcore.errors import PolicyError
from ctxcore.policy.markers import (
    RANGES,
    Doc,
    Group,
    GroupName,
    Kind,
    ListOf,
    OneOf,
    OrNone,
    Range,
    YesOrNo,
)
from ctxcore.policy.names import REMOVED
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Reason

if TYPE_CHECKING:
    from ctxcore.policy.thresholds import Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyField:
    """One declared field of a policy."""

    name: str
    group: GroupName
    label: str
    """What the field is called, its unit included."""
    help: str
    default: object
    type: Any
    """The type without the markers."""
    range: Range

    @property
    def kind(self) -> Kind:
        """How a value is entered and shown."""
        return self.range.kind

    @property
    def is_optional(self) -> bool:
        """Whether the value may be None."""
        return isinstance(self.range, OrNone)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a `Literal` type; empty for other types."""
        inner = self.range.other if isinstance(self.range, OrNone) else self.range
        return inner.names if isinstance(inner, OneOf) else ()

    @property
    def allowed(self) -> Reason:
        """The allowed values, for error messages and tables."""
        return self.range.allowed

    def check(self, value: object, *, source: Reason | None = None) -> None:
        """Refuses a value outside the field's range.

        Raises:
            PolicyError: with the field, its value, what is allowed and the value's `source`.
        """
        if self.range.allows(value):
            return
        unknown = None
        if isinstance(self.range, ListOf) and self.range.unknown is not None:
            unknown = self.range.unknown(value)
        raise PolicyError(
            field=self.name, value=value, allowed=unknown or self.allowed, source=source
        )


def fields_of(policy: type) -> Mapping[str, PolicyField]:
    """The fields of a policy class by name, in the order of their declaration."""
    return _fields_of(policy)


@cache  # apart from the public function: to mypy, the class of a dataclass is not hashable
def _fields_of(policy: type) -> Mapping[str, PolicyField]:
    hints = get_type_hints(policy, include_extras=True)
    return {field.name: _read(field, hints[field.name]) for field in fields(policy)}


def _read(declared: Field[Any], hint: Any) -> PolicyField:
    if declared.default is MISSING:
        raise TypeError(f"the policy field {declared.name!r} has no default")
    bare, *markers = get_args(hint)
    doc = _marker(declared.name, markers, Doc)
    return PolicyField(
        name=declared.name,
        group=_marker(declared.name, markers, Group).name,
        label=doc.label,
        help=doc.help,
        default=declared.default,
        type=bare,
        range=_range(declared.name, bare, markers),
    )


def _range(name: str, bare: Any, markers: list[Any]) -> Range:
    """The range that the type implies; else the one among the markers."""
    is_optional = NoneType in get_args(bare)
    inner = next(arg for arg in get_args(bare) if arg is not NoneType) if is_optional else bare
    if inner is bool:
        found: Range = YesOrNo()
    elif get_origin(inner) is Literal:
        found = OneOf(get_args(inner))
    else:
        found = _marker(name, markers, RANGES)
    return OrNone(found) if is_optional else found


def _marker(name: str, markers: list[Any], kind: Any) -> Any:
    found = [marker for marker in markers if isinstance(marker, kind)]
    if len(found) != 1:
        raise TypeError(f"the policy field {name!r} needs one {kind} and has {len(found)}")
    return found[0]


def check(policy: Thresholds) -> None:
    """Refuses a policy with a value outside its range, or with two shares above 1 together.

    Raises:
        PolicyError: the first such field, its value and what is allowed.
    """
    for name, field in fields_of(type(policy)).items():
        field.check(getattr(policy, name))
    summary, recent = policy.summary_history_ratio or 0.0, policy.recent_history_ratio or 0.0
    if summary + recent > 1 + 1e-9:  # as floats, 0.35 + 0.65 may be a little over 1
        raise PolicyError(
            field="summary_history_ratio",
            value=summary,
            allowed=AllowedCode.BESIDE(high=1 - recent, recent=recent),
        )


def refuse_field(
    name: str, value: object, known: Iterable[str], *, source: Reason | None = None
) -> PolicyError:
    """The error for a field `name` that policies do not have, or no longer have."""
    allowed = AllowedCode.ONE_OF(names=tuple(sorted(known)))
    if name in REMOVED:
        allowed = AllowedCode.REMOVED(since=REMOVED[name])
    return PolicyError(field=name, value=value, allowed=allowed, source=source)
