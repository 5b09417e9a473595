"""The effective policy of a session, and the installation's own connections and model figures.

A policy is merged from layers, from the preset to the session; the narrowest layer wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from ctxcore.gateway.values import Connection
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.policy.layers import PRESET_FIELD, Layer, merge, to_field
from ctxcore.policy.names import REMOVED
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import PolicyCode
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Reason
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import PolicyVersion, Scope
from ctxcore.tokens.catalog import ModelInfo, model_info
from ctxcore.tokens.prices import Price, list_price


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectivePolicy(Plain):
    """A merged policy, with the layer that each field's value comes from."""

    policy: Policy
    sources: Mapping[str, str]
    version_id: int | None
    """The newest of the merged stored versions; None where nothing is stored."""
    places: Mapping[str, Reason] = field(default_factory=dict)
    """The place in environment or file that sets a field, e.g. `config.yaml, line 4`."""
    notices: tuple[Reason, ...] = ()
    """Stored settings that are ignored, since policies no longer have such a field."""

    def source(self, field: str) -> str:
        """The layer that the value of `field` comes from.

        `call`, `session`, `user_model`, `user`, `group`, `default` (set for everybody), `file`,
        `environment`, or the preset, e.g. `preset pi`.
        """
        return self.sources.get(field) or f"preset {self.policy.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Plain):
    """A field whose value in a scope differs from the default for everybody."""

    scope: Scope
    field: str
    value: object
    """The scope's own value."""
    everybody: object
    """The default for everybody."""


def merge_layers(
    versions: Sequence[PolicyVersion], overrides: JsonObject, *, outer: Sequence[Layer] = ()
) -> EffectivePolicy:
    """Merges `outer` layers, stored `versions` (both widest first) and a caller's `overrides`.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
    """
    stored = [Layer(name=found.scope.kind, overrides=found.overrides) for found in versions]
    merged = merge([*outer, *stored, Layer(name="call", overrides=overrides)])
    return EffectivePolicy(
        policy=merged.policy,
        sources=merged.sources,
        places=merged.places,
        version_id=max((version.id for version in versions), default=None),
        notices=tuple(
            PolicyCode.FIELD_REMOVED(
                place=PlaceCode.POLICY_OF(layer=version.scope.kind), field=name, since=REMOVED[name]
            )
            for version in versions
            for name in version.removed
        ),
    )


def deviations(
    versions: Sequence[PolicyVersion], *, outer: Sequence[Layer] = ()
) -> list[Deviation]:
    """The fields in which scopes differ from the default, in the given order of scopes.

    Another preset is one deviation; its values are not listed.
    """
    defaults = [version for version in versions if version.scope.kind == "default"]
    everybody = merge_layers(defaults, {}, outer=outer).policy
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
    "cache_hour_price",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCatalog(Plain):
    """The connections of one installation, and its own windows and prices of models."""

    connections: tuple[Connection, ...] = ()
    overrides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def load(cls, store: SessionStore) -> ModelCatalog:
        """Reads the catalog from the store's settings."""
        stored = store.settings([CONNECTIONS, MODELS])
        connections, figures = stored.get(CONNECTIONS), stored.get(MODELS)
        listed = connections if isinstance(connections, list) else []
        named = figures if isinstance(figures, dict) else {}
        return cls(
            connections=tuple(_to_connection(raw) for raw in listed if isinstance(raw, dict)),
            overrides={name: _to_figures(raw) for name, raw in named.items()},
        )

    def info(self, model: str | None) -> ModelInfo:
        """The figures of `model`, this installation's own before the public ones."""
        info = model_info(model)
        figures = self.overrides.get(model or "", {})
        whole = {name: int(value) for name, value in figures.items() if name.endswith("_tokens")}
        prices = {name: value for name, value in figures.items() if name.endswith("_price")}
        if "window_tokens" in whole:
            info = replace(info, is_assumed=False)
        return replace(info, **whole, **prices) if figures else info  # type: ignore[arg-type]  # split by kind above

    def own_price(self, model: str | None) -> Price | None:
        """This installation's price of `model`; None unless input and output are set."""
        figures = self.overrides.get(model or "", {})
        if "input_price" not in figures or "output_price" not in figures:
            return None
        million = {name: value * 1_000_000 for name, value in figures.items()}
        return Price(
            input=million["input_price"],
            output=million["output_price"],
            cached=million.get("cache_read_price"),
            cache_write=million.get("cache_write_price"),
            cache_hour=million.get("cache_hour_price"),
        )

    def price(self, model: str, *, is_imported: bool) -> Price | None:
        """The price of a call to `model`: this installation's own, else the public one.

        A list price holds for the public service, not for an own server with the same names.
        """
        if (own := self.own_price(model)) is not None:
            return own
        used = None if is_imported else self.connection(model)
        return None if used is not None and used.api_base is not None else list_price(model)

    def connection(self, model: str) -> Connection | None:
        """The first connection for `model`."""
        return next((found for found in self.connections if found.model == model), None)


def save_connections(store: SessionStore, connections: Sequence[Connection]) -> None:
    """Replaces all stored connections."""
    store.save_setting(CONNECTIONS, [asdict(connection) for connection in connections])


def save_figures(store: SessionStore, model: str, figures: Mapping[str, float | None]) -> None:
    """Replaces the windows and prices of `model`; figures that are None are left out."""
    stored = store.setting(MODELS)
    known = dict(stored) if isinstance(stored, dict) else {}
    known.pop(model, None)
    kept: JsonObject = {
        name: value for name, value in figures.items() if name in _NUMBERS and value is not None
    }
    if kept:
        known[model] = kept
    store.save_setting(MODELS, known)


def _to_figures(raw: JsonValue) -> dict[str, float]:
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


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None
