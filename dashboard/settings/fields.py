"""The policy fields that the form shows: how each is displayed, and which matter for a preset.

Pure functions. Policies declare their fields; a `Field` converts between a policy's value and
what an input shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from ctxcore.messages.values import JsonValue
from ctxcore.policy import markers
from ctxcore.policy.fields import PolicyField, fields_of
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.markers import GroupName, Kind
from ctxcore.policy.values import Policy

Shown: TypeAlias = float | int | str | bool | None

GROUPS: tuple[GroupName, ...] = tuple(name for name in markers.GROUPS if name != "preset")
ROW_FIELDS = 3  # inputs side by side
NUMBERS: tuple[Kind, ...] = ("percent", "number", "tokens", "count")
NEVER = 1.0  # the trigger ratio that switches automatic compaction off
AUTOMATIC = 0.8  # chosen: the trigger ratio when it is switched on and no layer has one

_ALWAYS = (
    "reserve_tokens",
    "trigger_ratio",
    "target_ratio",
    "requires_confirmation",
    "summary_model",
    "summary_instructions",
)
_OF_DEFAULT = ("recent_ratio", "shorten_over_tokens", "fresh_turns", "is_shadow")
_OF_LADDER = ("keep_messages", "importance_threshold", "chunk_turns", "task_type")
_INNER = {"reserve_window_ratio", "min_fold_messages", "summary_form"}  # a preset's, rarely touched


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One policy field as the form shows it."""

    name: str
    kind: Kind
    group: GroupName
    is_optional: bool = False
    choices: tuple[str, ...] = ()
    may_be_empty: bool = False
    """Whether it may have no value at all, in place of the inherited one."""

    @classmethod
    def of(cls, declared: PolicyField) -> Field:
        """The form field of a declared field."""
        return cls(
            name=declared.name,
            kind=declared.kind,
            group=declared.group,
            is_optional=declared.is_optional,
            choices=declared.choices,
            may_be_empty=declared.is_optional or getattr(Policy(), declared.name) in ("", ()),
        )

    def shown(self, value: object) -> Shown:
        """The value of a policy as an input shows it."""
        if isinstance(value, tuple):
            return _listed(value)
        if isinstance(value, bool | str):
            return value
        if not isinstance(value, int | float):
            return None
        if self.kind == "number":
            return float(value)
        return round(value * 100, 2) if self.kind == "percent" else int(value)

    def stored(self, shown: Shown) -> JsonValue:
        """The typed value as a policy stores it.

        Raises:
            ValueError: it is not a list of numbers, or not a number.
        """
        if self.kind == "list":
            return _parsed(str(shown or ""))
        if self.kind in ("names", "choices"):
            return _named(str(shown or ""))
        if isinstance(shown, bool):
            return shown
        if isinstance(shown, str):
            return shown.strip() or None
        if shown is None:
            return None
        if self.kind == "number":
            return round(float(shown), 6)
        return round(shown / 100, 6) if self.kind == "percent" else int(shown)


def form_fields(declared: Iterable[PolicyField]) -> tuple[Field, ...]:
    """The fields that a person may change, group by group, without those of a preset itself."""
    shown = [field for field in declared if field.group in GROUPS]
    return tuple(map(Field.of, sorted(shown, key=lambda field: GROUPS.index(field.group))))


FIELDS = form_fields(fields_of(Policy).values())


PRESET_FIELDS = tuple(
    Field.of(declared)
    for declared in fields_of(Policy).values()
    if declared.group == "preset" and declared.name != PRESET_FIELD
)
"""What makes a preset, which the form of settings leaves to presets."""


def field_named(name: str) -> Field | None:
    """The field with this name, if any; that of the preset's own name is none."""
    return next((field for field in (*FIELDS, *PRESET_FIELDS) if field.name == name), None)


def shown_first(preset: str, changed: Collection[str]) -> tuple[Field, ...]:
    """The fields that matter for `preset`: those it sets, and those that were changed."""
    matters = {*changed, *_mattering(preset)}
    return tuple(field for field in FIELDS if field.name in matters)


def rows_of(fields: Sequence[Field]) -> list[list[Field]]:
    """The fields in rows; a group starts a new row unless all of it fits beside the last one."""
    rows: list[list[Field]] = []
    for _, grouped in groupby(fields, key=lambda field: field.group):
        members = list(grouped)
        if rows and len(rows[-1]) + len(members) <= ROW_FIELDS:
            rows[-1] += members
        else:
            rows += [members[at : at + ROW_FIELDS] for at in range(0, len(members), ROW_FIELDS)]
    return rows


def _mattering(preset: str) -> set[str]:
    policy, plain = Policy.preset(preset), Policy()
    own = [field.name for field in FIELDS if _is_own(field.name, policy, plain)]
    found = {*own, *(_ALWAYS if policy != plain else (*_ALWAYS, *_OF_DEFAULT))}
    found -= {"trigger_ratio"} if policy.trigger_ratio is None else set()
    found -= {"target_ratio"} if policy.lower_tokens is not None else set()
    found |= {"preference"} if policy.fold_as == "choice" else set()
    found |= set(_OF_LADDER) if "importance" in policy.strategies else set()
    found |= {"shorten_over_tokens"} if policy.shortens_always else set()
    found |= {"summary_max_tokens"} if policy.summary_usable_ratio is None else set()
    return found - _INNER


def _is_own(name: str, policy: Policy, plain: Policy) -> bool:
    """Whether a preset sets a value of its own that is not just off."""
    value = getattr(policy, name)
    return value != getattr(plain, name) and bool(value)


def _listed(value: tuple[object, ...]) -> str:
    """`2, 1, 0`, or `50: 4, 30: 6` for pairs."""
    return ", ".join(
        ": ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value
    )


def _parsed(text: str) -> list[JsonValue]:
    """Parses what `_listed` wrote; accepts western and Chinese commas and colons."""
    found: list[JsonValue] = []
    for part in _parts(text):
        numbers = [int(number) for number in part.split(":")]
        found.append([*numbers] if ":" in part else numbers[0])
    return found


def _named(text: str) -> list[JsonValue]:
    """Parses `read, plan`, or `bash: 400, read: 800` with a number after each name."""
    found: list[JsonValue] = []
    for part in _parts(text):
        name, _, number = part.rpartition(":")
        is_pair = bool(name) and number.strip().isdecimal()
        found.append([name.strip(), int(number)] if is_pair else part)
    return found


def _parts(text: str) -> list[str]:
    plain = text.replace("，", ",").replace("：", ":")
    return [part for part in (part.strip() for part in plain.split(",")) if part]
