"""Owns which policy holds for a session: layers from the preset up to the session itself.

An effective value comes from the narrowest layer that names it, and each says where from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ctxcore.messages.values import JsonObject
from ctxcore.policy.layers import PRESET_FIELD, Layer, merge, to_field
from ctxcore.policy.removed import REMOVED
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import PolicyCode
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason
from ctxcore.store.values import PolicyVersion, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePolicy:
    """The policy that holds, and the layer that each field's value comes from."""

    policy: Policy
    sources: Mapping[str, str]
    version_id: int | None
    """The newest stored version that takes part; None where nothing is stored."""
    places: Mapping[str, Reason] = field(default_factory=dict)
    """Where exactly environment or file name a field, e.g. `config.yaml, line 4`."""
    notices: tuple[Reason, ...] = ()
    """What stored layers say that is not used, since policies no longer have such a field."""

    def source(self, field: str) -> str:
        """Where the value of `field` comes from.

        `call`, `session`, `user_model`, `user`, `group`, `default` (set for everybody), `file`,
        `environment`, or the preset, e.g. `preset pi`.
        """
        return self.sources.get(field) or f"preset {self.policy.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """One field that a scope has otherwise than everybody."""

    scope: Scope
    field: str
    value: object
    """What the scope says."""
    everybody: object
    """What holds where nothing else is said."""


def merge_layers(
    versions: Sequence[PolicyVersion], overrides: JsonObject, *, outer: Sequence[Layer] = ()
) -> EffectivePolicy:
    """The policy of `outer` layers, stored `versions` (both widest first) and a caller's own.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
    """
    stored = [Layer(name=one.scope.kind, overrides=one.overrides) for one in versions]
    merged = merge([*outer, *stored, Layer(name="call", overrides=overrides)])
    return EffectivePolicy(
        policy=merged.policy,
        sources=merged.sources,
        places=merged.places,
        version_id=max((version.id for version in versions), default=None),
        notices=tuple(_removed(versions)),
    )


def _removed(versions: Sequence[PolicyVersion]) -> Iterator[Reason]:
    for version in versions:
        place = PlaceCode.POLICY_OF(layer=version.scope.kind)
        for name in version.removed:
            yield PolicyCode.FIELD_REMOVED(place=place, field=name, since=REMOVED[name])


def deviations(
    versions: Sequence[PolicyVersion], *, outer: Sequence[Layer] = ()
) -> list[Deviation]:
    """Where scopes differ from what holds for everybody, field by field, in the order given.

    Where a scope names another preset, that is one deviation: its values are not listed.
    """
    house = [version for version in versions if version.scope.kind == "default"]
    everybody = merge_layers(house, {}, outer=outer).policy
    return [
        Deviation(scope=version.scope, field=name, value=own, everybody=common)
        for version in versions
        if version.scope.kind != "default"
        for name, value in _preset_first(version.overrides)
        for own, common in [(to_field(value), getattr(everybody, name, None))]
        if own != common
    ]


def _preset_first(overrides: JsonObject) -> list[tuple[str, object]]:
    return sorted(overrides.items(), key=lambda item: item[0] != PRESET_FIELD)
