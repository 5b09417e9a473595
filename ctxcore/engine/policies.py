"""Owns which policy holds for a session: layers from the preset up to the session itself.

An effective value comes from the narrowest layer that names it, and each says where from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ctxcore.gateway.replies import Price
from ctxcore.gateway.values import Connection
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.layers import PRESET_FIELD, Layer, merge, to_field
from ctxcore.policy.names import REMOVED
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import PolicyCode
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import PolicyVersion, Scope
from ctxcore.tokens.catalog import ModelInfo, model_info


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


CONNECTIONS = "connections"
MODELS = "models"
_NUMBERS = (
    "window_tokens",
    "max_output_tokens",
    "input_price",
    "output_price",
    "cache_read_price",
    "cache_write_price",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCatalog:
    """The connections and the overridden figures of one installation."""

    connections: tuple[Connection, ...] = ()
    overrides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def load(cls, store: SessionStore) -> ModelCatalog:
        """What the store holds."""
        raw_connections = store.setting(CONNECTIONS) or []
        raw_models = store.setting(MODELS) or {}
        listed = raw_connections if isinstance(raw_connections, list) else []
        figures = raw_models if isinstance(raw_models, dict) else {}
        return cls(
            connections=tuple(_to_connection(raw) for raw in listed if isinstance(raw, dict)),
            overrides={name: _figures(raw) for name, raw in figures.items()},
        )

    def info(self, model: str | None) -> ModelInfo:
        """What is known about `model`, this installation's figures first."""
        info = model_info(model)
        figures = self.overrides.get(model or "", {})
        whole = {name: int(value) for name, value in figures.items() if name.endswith("_tokens")}
        prices = {name: value for name, value in figures.items() if name.endswith("_price")}
        return replace(info, **whole, **prices) if figures else info  # type: ignore[arg-type]  # split by kind above

    def own_price(self, model: str | None) -> Price | None:
        """What this installation says `model` costs; None where it does not say both ways."""
        figures = self.overrides.get(model or "", {})
        if "input_price" not in figures or "output_price" not in figures:
            return None
        million = {name: value * 1_000_000 for name, value in figures.items()}
        return Price(
            input=million["input_price"],
            output=million["output_price"],
            cached=million.get("cache_read_price"),
            cache_write=million.get("cache_write_price"),
        )

    def connection(self, model: str) -> Connection | None:
        """The first connection that was made for `model`."""
        return next((one for one in self.connections if one.model == model), None)


def save_connections(store: SessionStore, connections: Sequence[Connection]) -> None:
    """Stores `connections` in place of those there are."""
    store.save_setting(CONNECTIONS, [_from_connection(one) for one in connections])


def save_figures(store: SessionStore, model: str, figures: Mapping[str, float | None]) -> None:
    """Stores windows and prices of `model`; None takes one back."""
    raw = store.setting(MODELS)
    known = dict(raw) if isinstance(raw, dict) else {}
    kept = {
        name: value for name, value in figures.items() if name in _NUMBERS and value is not None
    }
    known[model] = cast("JsonObject", kept)
    if not kept:
        del known[model]
    store.save_setting(MODELS, known)


def _figures(raw: JsonValue) -> dict[str, float]:
    given = raw if isinstance(raw, dict) else {}
    return {
        name: float(value)
        for name, value in given.items()
        if name in _NUMBERS and isinstance(value, (int, float))
    }


def _to_connection(raw: JsonObject) -> Connection:
    options = raw.get("options")
    return Connection(
        name=str(raw.get("name", "")),
        model=str(raw.get("model", "")),
        api_base=_text(raw.get("api_base")),
        key_env=_text(raw.get("key_env")),
        options=options if isinstance(options, dict) else {},
    )


def _from_connection(connection: Connection) -> JsonObject:
    return {
        "name": connection.name,
        "model": connection.model,
        "api_base": connection.api_base,
        "key_env": connection.key_env,
        "options": dict(connection.options),
    }


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
