"""Tells who sent a request to the proxy, and which session it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

LOCAL_USER: Final = "local"
"""The user of a key without alias or user, such as the master key: the one of the dashboard."""
METADATA_KEY: Final = "ctxcore_session"
_MASTER: Final = "default_user_id"  # what the proxy calls the user of the master key
_SESSION_CHARS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The user of a request; a policy may be for the user, or for the group."""

    user: str
    name: str
    group: str = ""


def caller_of(key: object) -> Caller:
    """A key is a user, called by its alias; its team, else its user in the proxy, is the group.

    A key without an alias counts as its user, and one without either as the local user.
    """
    alias, user = _text(key, "key_alias"), _text(key, "user_id")
    user = "" if user == _MASTER else user
    name = alias or user
    if name == LOCAL_USER:  # whoever may name keys must not become the user of the dashboard
        name = f"key:{name}"
    name = name or LOCAL_USER
    team = _text(key, "team_alias") or _text(key, "team_id")
    return Caller(user=name, name=name, group=team or (user if alias else ""))


def name_of_session(data: Mapping[str, Any], header: str) -> str:
    """What the request calls its session, in a header or its metadata; empty for nothing."""
    request = data.get("proxy_server_request")
    headers = request.get("headers") if isinstance(request, Mapping) else None
    named = _named(headers, header)
    for part in ("metadata", "litellm_metadata"):
        named = named or _named(data.get(part), METADATA_KEY)
    return named[:_SESSION_CHARS]


def _named(values: object, key: str) -> str:
    found = values.items() if isinstance(values, Mapping) else ()
    return next((one for name, one in found if _is_name(name, key) and isinstance(one, str)), "")


def _is_name(name: object, key: str) -> bool:
    return isinstance(name, str) and name.lower() == key  # headers have any case


def _text(key: object, name: str) -> str:
    value = getattr(key, name, None)
    return value if isinstance(value, str) else ""
