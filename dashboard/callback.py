"""What follows a login: the page that was asked for, or why it failed.

Streamlit leads to the start page after every login, and writes failures into its log alone. Here a
cookie keeps which page was asked for, and the page that a failed login leads back to gets a code in
its address: `?login=refused`.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import quote, unquote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dashboard.login import configured_login

Failure: TypeAlias = Literal["refused", "failed", "unreachable"]
"""`refused`: the provider said no; `failed`: its answer was not accepted; `unreachable`."""
FAILURES: Final[tuple[Failure, ...]] = get_args(Failure)
PARAMETER: Final = "login"
_USER: Final = "_streamlit_user"
_WANTED: Final = "ctxcore_wanted"
_WANTED_SECONDS: Final = 3600  # chosen: longer than any login at a provider takes
_OWN_PLACE: Final = re.compile(r"/(?![/\\])[\x21-\x7e]*")
"""A path and query of this server; what two slashes begin leads to another one."""
_LOGIN: Final = "/auth/login"
_CALLBACK: Final = "/oauth2callback"


class LoginOutcome:
    """Leads to the page that was asked for, or adds why a login failed to the address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request; answers to logins lead to that page, or to the login page."""
        path = scope["path"] if scope["type"] == "http" else ""
        if path.endswith(_LOGIN):
            await self._begin(scope, receive, send)
        elif path.endswith(_CALLBACK):
            await self._app(scope, receive, _told(Request(scope), send))
        elif path and configured_login() is not None:
            await self._app(scope, receive, _remembering(Request(scope), send))
        else:
            await self._app(scope, receive, send)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Leads to the provider, or back where the provider cannot be asked."""
        has_failed = False

        async def send_or_note(message: Message) -> None:
            nonlocal has_failed
            if message["type"] == "http.response.start":
                has_failed = message["status"] >= 400
            if not has_failed:
                await send(message)

        await self._app(scope, receive, send_or_note)
        if has_failed:
            back = RedirectResponse(f"../?{PARAMETER}=unreachable", status_code=302)
            await back(scope, receive, send)


def _told(request: Request, send: Send) -> Send:
    """Changes where the answer to a callback leads; a logout has no state."""
    is_login = "state" in request.query_params or "error" in request.query_params
    failure: Failure = "refused" if "error" in request.query_params else "failed"

    async def send_told(message: Message) -> None:
        if is_login and message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message["headers"]))
            if not _names_user(message):
                place = headers.get("location", "/")
                headers["location"] = f"{place.partition('?')[0]}?{PARAMETER}={failure}"
                message = {**message, "status": 302}
            elif wanted := _wanted(request):
                headers["location"] = wanted
                headers.append("set-cookie", _cookie("", request, seconds=0))
            message = {**message, "headers": headers.raw}
        await send(message)

    return send_told


def _remembering(request: Request, send: Send) -> Send:
    """Keeps the address of a page that somebody asks for who is not logged in."""
    is_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
    if not is_page or _USER in request.cookies or PARAMETER in request.query_params:
        return send
    query = f"?{request.url.query}" if request.url.query else ""
    cookie = _cookie(f"{request.url.path}{query}", request, seconds=_WANTED_SECONDS)

    async def send_remembering(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            headers = MutableHeaders(raw=list(message["headers"]))
            headers.append("set-cookie", cookie)
            message = {**message, "headers": headers.raw}
        await send(message)

    return send_remembering


def _cookie(place: str, request: Request, *, seconds: int) -> str:
    """The cookie with a place; one without seconds removes it. No script can read it."""
    secure = "; Secure" if request.url.scheme == "https" else ""
    rules = f"Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
    return f"{_WANTED}={quote(place, safe='')}; {rules}"


def _wanted(request: Request) -> str | None:
    """The place that was asked for before the login, if it is one of this server."""
    place = unquote(request.cookies.get(_WANTED, ""))
    return place if _OWN_PLACE.fullmatch(place) else None


def _names_user(message: Message) -> bool:
    """Whether an answer sets the cookie of a login."""
    cookies = Headers(raw=list(message["headers"])).getlist("set-cookie")
    return any(one.startswith(f"{_USER}=") and "Max-Age=0" not in one for one in cookies)
