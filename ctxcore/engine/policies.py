"""Owns which policy holds for a session: layers from the preset up to the session itself.

An effective value comes from the narrowest layer that names it, and each says where from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject
from ctxcore.policy import Policy
from ctxcore.store.values import PolicyVersion, ScopeKind

PRESET_FIELD = "name"

LAYERS: tuple[ScopeKind, ...] = ("default", "group", "user", "user_model", "session")


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePolicy:
    """The policy that holds, and the layer that each field's value comes from."""

    policy: Policy
    sources: Mapping[str, str]
    version_id: int | None
    """The newest stored version that takes part; None where nothing is stored."""

    def source(self, field: str) -> str:
        """Where the value of `field` comes from: a layer's name, or the preset."""
        return self.sources.get(field, f"preset {self.policy.name}")


def merge_layers(versions: Sequence[PolicyVersion], overrides: JsonObject) -> EffectivePolicy:
    """The policy of stored `versions`, widest first, and a caller's `overrides` on top.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
    """
    values: JsonObject = {}
    sources: dict[str, str] = {}
    for version in versions:
        values.update(version.overrides)
        sources.update(dict.fromkeys(version.overrides, version.scope.kind))
    values.update(overrides)
    sources.update(dict.fromkeys(overrides, "call"))
    return EffectivePolicy(
        policy=to_policy(values),
        sources=sources,
        version_id=max((version.id for version in versions), default=None),
    )


def to_policy(values: JsonObject) -> Policy:
    """The policy that stored overrides make; `name` is the preset they start from.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
    """
    fields = dict(values)
    preset = fields.pop(PRESET_FIELD, "default")
    if not isinstance(preset, str):
        raise PolicyError(field=PRESET_FIELD, value=preset, allowed=", ".join(Policy.presets()))
    named = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    try:
        return Policy.preset(preset).override(**named)
    except TypeError as error:  # e.g. a field called `self`, or a list where a number belongs
        raise PolicyError(
            field="overrides", value=values, allowed=f"fields only; {error}"
        ) from error
