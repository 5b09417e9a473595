"""Owns which key goes with a call. A key is read when it is needed and kept nowhere.

A key made for a public service is never sent to an address of somebody else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from ctxcore.gateway.errors import MissingKeyError
from ctxcore.gateway.values import ModelRequest

KeySource = Callable[[str], str | None]
"""The key behind a name, or None; `os.environ.get` by default, secrets of a server likewise."""

NO_KEY = "no-key-set"  # clients insist on some text; own servers mostly ignore it


def find_key(request: ModelRequest, source: KeySource, litellm: ModuleType) -> str | None:
    """The key to send; None lets litellm find what the provider needs beyond one key.

    Raises:
        MissingKeyError: a key is needed and its variable is not set.
    """
    connection = request.connection
    if connection is not None and connection.key_env is not None:
        key = source(connection.key_env)
        if not key:
            raise MissingKeyError(model=request.model, variables=(connection.key_env,))
        return key
    if connection is not None and connection.api_base is not None:
        return NO_KEY
    return _provider_key(request.model, source, litellm)


def _provider_key(model: str, source: KeySource, litellm: ModuleType) -> str | None:
    """The key of a provider whose only need is one; clouds with several needs are left alone."""
    found: Mapping[str, object] = litellm.validate_environment(model)
    names = found.get("missing_keys")
    if not isinstance(names, list) or not names:
        return None
    variables = tuple(str(name) for name in names)
    if not all(name.endswith(("_API_KEY", "_TOKEN")) for name in variables):
        return None
    for name in variables:
        if key := source(name):
            return key
    raise MissingKeyError(model=model, variables=variables)
