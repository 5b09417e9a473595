"""Refuses what arrives at an address that others can reach, where nobody has to log in.

Streamlit does not start there at all. Another server for ASGI, e.g. uvicorn, has an address of its
own, which is known only once something arrives.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

from dashboard.hosts import address_of, refuse
from dashboard.login import (
    ALLOW,
    WITHOUT_LOGIN_VARIABLE,
    Login,
    configured_login,
    is_loopback,
)


def is_open_to_others(server: str | None, login: Login | None, environ: Mapping[str, str]) -> bool:
    """Whether others reach this end of a connection and nobody has to log in."""
    if login is not None or environ.get(WITHOUT_LOGIN_VARIABLE) == ALLOW:
        return False
    return server is not None and address_of(server) is not None and not is_loopback(server)


class Reach:
    """Answers what arrives on this machine alone, unless people log in or may come without."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request or websocket, or says why not."""
        server, _ = scope.get("server") or (None, None)
        if scope["type"] in ("http", "websocket") and is_open_to_others(
            server, configured_login(), os.environ
        ):
            named = {"address": server, "variable": WITHOUT_LOGIN_VARIABLE, "value": ALLOW}
            await refuse(scope, receive, send, "shell.open_refused", **named)
        else:
            await self._app(scope, receive, send)
