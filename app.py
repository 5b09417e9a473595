"""The web application: the dashboard behind security headers.

Start it with `streamlit run app.py`. The headers restrict every page to its own origin,
so that text of a model cannot make a browser fetch anything. Requests under names that are not this
server's are refused, and where others could reach it without a login it does not start, or refuses
them under another server. Each page says where the server is. `/chat` leads to the chat page.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from importlib import import_module

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.callback import LoginOutcome
from dashboard.hosts import HOSTS_VARIABLE, AllowedHosts, Hosts, hosts_of, named_hosts
from dashboard.login import configured_login, open_server_problem
from dashboard.reach import Reach

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",  # the front end's own bundles need both
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' ws: wss:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self'",
    )
)
SECURITY_HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


HEAD = b"<head>"
BASE_SCRIPT = (
    b"<script>window.__streamlit = {BACKEND_BASE_URL: new URL('.', location.href).href}</script>"
)
"""Says where the server is: in the folder of the page, as for the scripts that it loads.

Without it the front end asks below the page first, and the browser reports two missing files.
"""


class BaseAddress:
    """Adds `BASE_SCRIPT` to every HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request; the answer is held until it is whole if it is HTML."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def send_page(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_html(message):
                start = message
                return
            if start is None:
                await send(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                page = bytes(body).replace(HEAD, HEAD + BASE_SCRIPT, 1)
                await send(_sized(start, len(page) if body else None))
                await send({"type": "http.response.body", "body": page})

        await self._app(_uncompressed(scope), receive, send_page)


def _uncompressed(scope: Scope) -> Scope:
    """The request of a page without the encodings it accepts: eight kilobytes of plain HTML."""
    headers = scope["headers"]
    if b"text/html" not in dict(headers).get(b"accept", b""):
        return scope
    return {**scope, "headers": [one for one in headers if one[0] != b"accept-encoding"]}


def _is_html(start: Message) -> bool:
    headers = dict(start["headers"])
    is_html = bytes(headers.get(b"content-type", b"")).startswith(b"text/html")
    return start["status"] == 200 and is_html and b"content-encoding" not in headers


def _sized(start: Message, size: int | None) -> Message:
    """The start of an answer with the length of its body; as it was for one without, as to HEAD."""
    if size is None:
        return start
    rest = [header for header in start["headers"] if header[0].lower() != b"content-length"]
    return {**start, "headers": [*rest, (b"content-length", str(size).encode())]}


class SecurityHeaders:
    """Adds the security headers to every HTTP response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request and adds the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            await send(_with_headers(message))

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _with_headers(message: MutableMapping[str, object]) -> MutableMapping[str, object]:
    if message["type"] != "http.response.start":
        return message
    given = message.get("headers") or ()
    assert isinstance(given, (list, tuple))
    return {**message, "headers": [*given, *SECURITY_HEADERS]}


@asynccontextmanager
async def import_early(_: st.App) -> AsyncIterator[None]:
    """Imports the shell while the first browser still loads its scripts; saves about a second."""
    threading.Thread(target=import_module, args=("dashboard.shell",), daemon=True).start()
    yield


def to_chat(request: Request) -> RedirectResponse:
    """Leads from `/chat` to `/`: the first page of a navigation has no path of its own."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"./{query}")  # relative, as the dashboard may be below a path


def own_hosts() -> Hosts:
    """The names of this server: of `CTXCORE_ALLOWED_HOSTS`, and of Streamlit's own options."""
    named = named_hosts(os.environ.get(HOSTS_VARIABLE, ""))
    return hosts_of(
        st.get_option("server.address"), [*named, *st.get_option("server.allowedHosts")]
    )


def check_open(environ: Mapping[str, str] = os.environ) -> None:
    """Ends the program where others could reach it and nobody has to log in."""
    address = st.get_option("server.address")
    problem = open_server_problem(address, configured_login(), environ)
    if problem is not None:
        sys.exit(f"ctxcore: {problem}")


check_open()
ROUTES = (Route("/chat", to_chat),)

app = st.App(
    "dashboard/main.py",
    lifespan=import_early,
    routes=ROUTES,
    middleware=[
        Middleware(SecurityHeaders),
        Middleware(Reach),
        Middleware(AllowedHosts, hosts=own_hosts()),
        Middleware(BaseAddress),
        Middleware(LoginOutcome),
    ],
)
