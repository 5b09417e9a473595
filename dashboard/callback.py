"""Tells the login page why a login failed: Streamlit itself only writes that into its log.

The page that a failed login leads back to gets a code in its address: `?login=refused`.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Failure: TypeAlias = Literal["refused", "failed", "unreachable"]
"""`refused`: the provider said no; `failed`: its answer was not accepted; `unreachable`."""
FAILURES: Final[tuple[Failure, ...]] = get_args(Failure)
PARAMETER: Final = "login"
_USER_COOKIE: Final = "_streamlit_user="
_LOGIN: Final = "/auth/login"
_CALLBACK: Final = "/oauth2callback"


class LoginOutcome:
    """Adds why a login failed to the address that it leads back to."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request; answers to logins that failed lead to the login page."""
        path = scope["path"] if scope["type"] == "http" else ""
        if path.endswith(_LOGIN):
            await self._begin(scope, receive, send)
        elif path.endswith(_CALLBACK):
            await self._app(scope, receive, _told(Request(scope), send))
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
    """Adds the failure to where the answer to a callback leads; a logout has no state."""
    is_login = "state" in request.query_params or "error" in request.query_params
    failure: Failure = "refused" if "error" in request.query_params else "failed"

    async def send_told(message: Message) -> None:
        if is_login and message["type"] == "http.response.start" and not _names_user(message):
            headers = MutableHeaders(raw=list(message["headers"]))
            place = headers.get("location", "/")
            headers["location"] = f"{place.partition('?')[0]}?{PARAMETER}={failure}"
            message = {**message, "status": 302, "headers": headers.raw}
        await send(message)

    return send_told


def _names_user(message: Message) -> bool:
    """Whether an answer sets the cookie of a login."""
    cookies = Headers(raw=list(message["headers"])).getlist("set-cookie")
    return any(one.startswith(_USER_COOKIE) and "Max-Age=0" not in one for one in cookies)
