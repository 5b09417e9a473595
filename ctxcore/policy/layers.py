"""Merges layers of overrides into one policy and keeps the source of each value.

Layers come widest first. A narrower layer wins field by field; the narrowest preset that is named
gives the values that no layer sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxcore.errors import PolicyError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason

PRESET_FIELD = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The policy fields that one source sets."""

    name: str
    """The source, e.g. `environment`, `file`, `user`."""
    overrides: JsonObject
    places: Mapping[str, Reason] = field(default_factory=dict)
    """Where exactly a field is set, e.g. `config.yaml, line 4`, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A policy with the source of each field that a layer sets."""

    policy: Policy
    sources: Mapping[str, str]
    """The names of the layers, by field."""
    places: Mapping[str, Reason]
    """The exact places, for the fields where they are known."""


def merge(layers: Sequence[Layer]) -> Merged:
    """The policy of `layers`, widest first.

    Raises:
        PolicyError: a field is unknown or a value is outside its range; it names the place.
    """
    values: JsonObject = {}
    sources: dict[str, str] = {}
    places: dict[str, Reason] = {}
    for layer in layers:
        values.update(layer.overrides)
        for name in layer.overrides:
            sources[name] = layer.name
            places.pop(name, None)  # a wider layer's
        places.update(layer.places)
    try:
        policy = to_policy(values)
    except PolicyError as error:
        raise _placed(error, sources, places) from error
    if policy.summary_asked_chars != Policy.preset(policy.name).summary_asked_chars:
        sources.setdefault("summary_asked_chars", sources.get("summary_max_chars", ""))
    return Merged(policy=policy, sources=sources, places=places)


def to_policy(values: Mapping[str, JsonValue]) -> Policy:
    """The policy of a preset, `values["name"]`, with the other values as overrides.

    `summary_asked_chars` follows a shorter `summary_max_chars` where it is not set itself.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
    """
    fields = {name: to_field(value) for name, value in values.items()}
    preset = fields.pop(PRESET_FIELD, "default")
    if not isinstance(preset, str):
        raise PolicyError(
            field=PRESET_FIELD, value=preset, allowed=AllowedCode.NAMES(names=Policy.presets())
        )
    base = Policy.preset(preset)
    try:
        policy = base.override(**fields)
    except TypeError as error:  # e.g. a field called `self`
        allowed = AllowedCode.FIELDS_ONLY(reason=reason_of(error))
        raise PolicyError(field="overrides", value=values, allowed=allowed) from error
    longest, wanted = policy.summary_max_chars, policy.summary_asked_chars
    if "summary_asked_chars" in fields or not longest or not wanted or wanted <= longest:
        return policy
    return policy.override(summary_asked_chars=longest)


def set_values(policy: Policy, sources: Iterable[str]) -> JsonObject:
    """A merged policy as overrides again: its preset, and the fields that `sources` set."""
    known = fields_of(Policy)
    named = sorted(name for name in sources if name in known)
    return {**{name: to_json(getattr(policy, name)) for name in named}, PRESET_FIELD: policy.name}


def to_field(value: object) -> object:
    """A JSON value as a policy holds it: lists become tuples, objects tuples of pairs."""
    if isinstance(value, dict):
        return tuple((name, to_field(item)) for name, item in value.items())
    return tuple(map(to_field, value)) if isinstance(value, list) else value


def to_json(value: object) -> JsonValue:
    """The value of a policy's field as JSON holds it."""
    if isinstance(value, tuple):
        return [to_json(item) for item in value]
    assert value is None or isinstance(value, (bool, int, float, str))
    return value


def _placed(
    error: PolicyError, sources: Mapping[str, str], places: Mapping[str, Reason]
) -> PolicyError:
    """`error` with the place where a layer set the field, or the other of two shares."""
    if error.source:
        return error
    counterpart = {"summary_history_ratio": "recent_history_ratio"}.get(error.field, "")
    field = error.field if error.field in sources else counterpart
    layer = sources.get(field, "call")
    source = places.get(field) or (None if layer == "call" else PlaceCode.POLICY_OF(layer=layer))
    return PolicyError(field=error.field, value=error.value, allowed=error.allowed, source=source)
