"""What one version of a policy's overrides changes in another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ctxcore.json_types import JsonValue
from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange(Plain):
    """A field whose override is new, gone or another; one that is not set inherits its value."""

    field: str
    before: JsonValue
    after: JsonValue
    was_set: bool
    is_set: bool


def changed_fields(
    before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]
) -> list[FieldChange]:
    """The fields in which two sets of overrides differ, in the order of the newer one."""
    names = dict.fromkeys([*after, *before])
    return [
        FieldChange(
            field=name,
            before=before.get(name),
            after=after.get(name),
            was_set=name in before,
            is_set=name in after,
        )
        for name in names
        if (name in before, before.get(name)) != (name in after, after.get(name))
    ]
