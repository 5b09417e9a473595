"""Whether the key of a model is there: the variable that holds it, never the key."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ctxcore.gateway.local.status import LOCAL_MODEL
from ctxcore.gateway.secrets import key_variable
from ctxcore.gateway.values import Connection
from ctxcore.tokens.catalog import READER_WINDOWS, model_info
from dashboard.safe_markdown import plain_label
from dashboard.texts import t


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """The variable that holds a model's key, if one is needed and known, and whether it is set."""

    variable: str | None
    is_set: bool = False
    is_needed: bool = True


def key_state(model: str, connection: Connection | None) -> KeyState:
    """The key that `model` needs, reached through `connection` or through its provider."""
    if model == LOCAL_MODEL or model in READER_WINDOWS:
        return KeyState(variable=None, is_needed=False)
    if connection is not None and (connection.key_env or connection.api_base):
        variable = connection.key_env
        return KeyState(variable=variable, is_set=_is_set(variable), is_needed=variable is not None)
    variable = key_variable(model, model_info(model).provider)
    return KeyState(variable=variable, is_set=_is_set(variable))


def _is_set(variable: str | None) -> bool:
    return bool(variable and os.environ.get(variable))


def key_text(key: KeyState) -> str:
    """Whether the key is there, by the name of its variable."""
    if not key.is_needed:
        return t("models.key.none")
    if key.variable is None:
        return t("models.key.unknown")
    found = "set" if key.is_set else "unset"
    return t(f"models.key.{found}", variable=plain_label(key.variable))
