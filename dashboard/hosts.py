"""Refuses requests under names that are not this server's, against DNS rebinding.

A page of somebody else can let its own name lead to this machine; the browser then counts what is
served here as that page's own. The `Host` header still has the other name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dashboard.texts import language_of, translate

HOSTS_VARIABLE = "CTXCORE_ALLOWED_HOSTS"
ANY = "*"
FORBIDDEN: Final = 403  # what a websocket that is not accepted is answered with, too
_LOCAL_NAMES = ("localhost", "*.localhost")  # RFC 6761: these never leave the machine
_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosts:
    """The names under which this server answers."""

    names: Collection[str]
    """In lower case; `*.example.org` stands for all names below it, `*` for every name."""
    takes_addresses: bool = False
    """Whether any IP address is one of them: no name of somebody else leads to an address."""

    def allows(self, name: str) -> bool:
        """Whether `name`, as `host_name` reads it, is one of them."""
        found = address_of(name)
        if found is not None and (found.is_loopback or self.takes_addresses):
            return True
        return any(_matches(name, pattern) for pattern in self.names)


def hosts_of(address: str | None, given: Iterable[str]) -> Hosts:
    """Loopback names, the address that the server is bound to, and the `given` names.

    A server that listens on all addresses, with None too, is reached under each of them.
    """
    names = {name.strip().lower().rstrip(".") for name in (*_LOCAL_NAMES, *given, address or "")}
    return Hosts(names=frozenset(names - {""}), takes_addresses=_is_every_address(address))


def named_hosts(text: str) -> list[str]:
    """The names in the value of `CTXCORE_ALLOWED_HOSTS`, which stand between commas."""
    return [name for name in text.split(",") if name.strip()]


def host_name(header: str) -> str | None:
    """The name or address in a `Host` header, without its port; None for anything else."""
    match = _HOST.fullmatch(header)
    return (match[1] or match[2]).lower().rstrip(".") if match else None


class AllowedHosts:
    """Answers requests and websockets under the names of `hosts`, and refuses all others."""

    def __init__(self, app: ASGIApp, *, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request that has one `Host` header with an allowed name."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.getlist("host")
        name = host_name(given[0]) if len(given) == 1 else None
        if name is not None and self._hosts.allows(name):
            await self._app(scope, receive, send)
        elif name is None:
            await refuse(scope, receive, send, "shell.host_missing")
        else:
            named = {"host": name, "variable": HOSTS_VARIABLE}
            await refuse(scope, receive, send, "shell.host_refused", **named)


async def refuse(scope: Scope, receive: Receive, send: Send, key: str, **values: object) -> None:
    """Refuses a request with a text in its language, or a websocket without one."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close"})
        return
    asked = Headers(scope=scope).get("accept-language", "")
    language = language_of(asked.split(",")[0].split(";")[0].strip())
    refusal = PlainTextResponse(translate(key, language, **values), status_code=FORBIDDEN)
    await refusal(scope, receive, send)


def _matches(name: str, pattern: str) -> bool:
    if pattern.startswith("*."):
        return name.endswith(pattern[1:])
    return pattern in (ANY, name)


def address_of(name: str) -> IPv4Address | IPv6Address | None:
    """The IP address that is written so; None for a name, or the path of a socket."""
    try:
        return ip_address(name)
    except ValueError:
        return None


def _is_every_address(address: str | None) -> bool:
    found = address_of(address) if address else None
    return not address or (found is not None and found.is_unspecified)
