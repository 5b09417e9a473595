"""Owns how layers of overrides make one policy: whose value wins, and where it comes from.

Layers stand widest first. A narrower one wins field by field; the narrowest preset that is named
gives the values that no layer names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctxcore.errors import PolicyError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason

PRESET_FIELD = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one source changes about a policy."""

    name: str
    """What the source is called, e.g. `environment`, `file`, `user`."""
    overrides: JsonObject
    places: Mapping[str, Reason] = field(default_factory=dict)
    """Where exactly a field is set, e.g. `config.yaml, line 4`, for those fields that know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """A policy, and for each field that a layer names, which one it is and where it says so."""

    policy: Policy
    sources: Mapping[str, str]
    places: Mapping[str, Reason]


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
            places.pop(name, None)
        places.update(layer.places)  # a field that is named anew has another place, or none
    try:
        policy = to_policy(values)
    except PolicyError as error:
        raise _placed(error, sources, places) from error
    if policy.summary_asked_chars != Policy.preset(policy.name).summary_asked_chars:
        sources.setdefault("summary_asked_chars", sources.get("summary_max_chars", ""))
    return Merged(policy=policy, sources=sources, places=places)


def to_policy(values: Mapping[str, JsonValue]) -> Policy:
    """The policy that overrides make; `name` is the preset they start from.

    Where only the longest summary is named, none longer than it is asked for.

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
    longest, asked = policy.summary_max_chars, policy.summary_asked_chars
    is_left_behind = "summary_asked_chars" not in fields and longest and asked and asked > longest
    return policy.override(summary_asked_chars=longest) if is_left_behind else policy


def to_field(value: object) -> object:
    """A JSON value as a policy holds it: lists become tuples, those inside too, objects pairs."""
    if isinstance(value, dict):
        return tuple((name, to_field(one)) for name, one in value.items())
    return tuple(map(to_field, value)) if isinstance(value, list) else value


def to_json(value: object) -> JsonValue:
    """The value of a policy's field as JSON holds it."""
    if isinstance(value, tuple):
        return [to_json(one) for one in value]
    assert value is None or isinstance(value, (bool, int, float, str))
    return value


def _placed(
    error: PolicyError, sources: Mapping[str, str], places: Mapping[str, Reason]
) -> PolicyError:
    """`error` with the place of the value, where a layer set it or its counterpart."""
    if error.source:
        return error
    counterpart = {"summary_history_ratio": "recent_history_ratio"}.get(error.field, "")
    field = error.field if error.field in sources else counterpart
    layer = sources.get(field, "call")
    source = places.get(field) or (None if layer == "call" else PlaceCode.POLICY_OF(layer=layer))
    return PolicyError(field=error.field, value=error.value, allowed=error.allowed, source=source)
