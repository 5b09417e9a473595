"""Finds settings by name, meaning or value, in every language of the dashboard; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ctxcore.policy.fields import fields_of
from ctxcore.policy.markers import GROUPS
from ctxcore.policy.values import Policy
from dashboard.settings.fields import Field
from dashboard.texts import languages, text_of


def found_fields(
    fields: Sequence[Field], query: str, shown: Callable[[str], str]
) -> tuple[Field, ...]:
    """The fields that all words of `query` speak of; `shown` is the value of a field as text."""
    words = query.casefold().split()
    return tuple(
        field
        for field in fields
        if all(word in _all_of(field, shown(field.name)) for word in words)
    )


def _all_of(field: Field, value: str) -> str:
    """Everything that is said of a field, in all languages."""
    declared = fields_of(Policy)[field.name]
    told = [field.name, declared.label, declared.help, GROUPS[field.group], value]
    told += _texts(f"settings.field.{field.name}", f"settings.field.{field.name}.help")
    told += _texts(f"settings.group.{field.group}")
    told += _texts(*(f"settings.choice.{field.name}.{choice}" for choice in field.choices))
    return "\n".join([*told, *field.choices]).casefold()


def _texts(*keys: str) -> Iterable[str]:
    found = (text_of(key, language) for key in keys for language in languages())
    return [text for text in found if text]
