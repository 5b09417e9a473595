"""Owns what an installation says about its models: connections, windows and prices of its own.

They are stored as settings, never with a key: a connection names the variable that holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ctxcore.gateway.usage import Price
from ctxcore.gateway.values import Connection
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.store.protocol import SessionStore
from ctxcore.tokens.catalog import ModelInfo, model_info

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
