"""An OpenID Connect provider on this machine, for tests: people log in by a click on their name.

Discovery, authorization with PKCE, tokens signed by a key of its own, and logout. It runs in a
thread; nothing is kept.
"""

from __future__ import annotations

import secrets
import threading
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from urllib.parse import unquote, urlencode

import uvicorn
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.limits import HANG_SECONDS
from tests.servers import free_port

CLIENT_ID = "ctxcore"
CLIENT_SECRET = "a secret between this provider and the dashboard"
REFUSES = "refuse"
"""The name on the button that refuses the login."""

Claims = Mapping[str, object]


@dataclass
class Provider:
    """A running provider, its people by subject, and what it handed out."""

    url: str
    people: dict[str, Claims]
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, private=True))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    """What each code was asked for with; a code is used once."""
    breaks_tokens: bool = False
    """Signs tokens with a key that it does not publish."""

    @property
    def secrets(self) -> str:
        """The part of `[auth]` that names this provider."""
        return (
            f'client_id = "{CLIENT_ID}"\nclient_secret = "{CLIENT_SECRET}"\n'
            f'server_metadata_url = "{self.url}/.well-known/openid-configuration"\n'
        )

    def discovery(self, _: Request) -> Response:
        """Where everything is."""
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "end_session_endpoint": f"{self.url}/logout",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    def jwks(self, _: Request) -> Response:
        """The key that tokens are checked with."""
        return JSONResponse({"keys": [self.key.as_dict(private=False, kid="one", use="sig")]})

    def authorize(self, request: Request) -> Response:
        """A page with a button for each person, and the way back for the one that was clicked."""
        asked = dict(request.query_params)
        if asked.get("client_id") != CLIENT_ID or "code_challenge" not in asked:
            return Response("unknown client, or no PKCE", status_code=400)
        chosen = asked.pop("as", None)
        if chosen is None:
            names = [*self.people, REFUSES]
            links = "".join(
                f'<p><a href="/authorize?{escape(urlencode({**asked, "as": name}))}">{name}</a></p>'
                for name in names
            )
            return HTMLResponse(f"<h1>Who are you?</h1>{links}")
        answer = {"state": asked["state"]}
        if chosen == REFUSES:
            answer |= {"error": "access_denied", "error_description": "The person said no."}
        else:
            code = secrets.token_urlsafe(16)
            self.codes[code] = {**asked, "as": chosen}
            answer["code"] = code
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", status_code=302)

    async def token(self, request: Request) -> Response:
        """The tokens for a code."""
        form = await request.form()
        asked = self.codes.pop(str(form.get("code")), None)
        challenge = create_s256_code_challenge(str(form.get("code_verifier")))
        if (
            asked is None
            or not _is_client(request)
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked["code_challenge"] != challenge
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": asked["as"],
            "iat": now,
            "exp": now + 3600,
            "nonce": asked.get("nonce"),
            **self.people[asked["as"]],
        }
        key = RSAKey.generate_key(2048, private=True) if self.breaks_tokens else self.key
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)
        return JSONResponse(
            {"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "id_token": token}
        )

    def logout(self, request: Request) -> Response:
        """Leads back to where the client asks for."""
        return RedirectResponse(request.query_params["post_logout_redirect_uri"], status_code=302)


def _is_client(request: Request) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return False
    name, _, secret = b64decode(given).decode().partition(":")
    return (unquote(name), unquote(secret)) == (CLIENT_ID, CLIENT_SECRET)


@contextmanager
def oidc_provider(people: Mapping[str, Claims]) -> Iterator[Provider]:
    """Serves while the block runs."""
    port = free_port()
    provider = Provider(url=f"http://127.0.0.1:{port}", people=dict(people))
    routes = [
        Route("/.well-known/openid-configuration", provider.discovery),
        Route("/authorize", provider.authorize),
        Route("/token", provider.token, methods=["POST"]),
        Route("/jwks", provider.jwks),
        Route("/logout", provider.logout),
    ]
    config = uvicorn.Config(Starlette(routes=routes), port=port, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="oidc-provider", daemon=True)
    thread.start()
    deadline = time.monotonic() + HANG_SECONDS
    while not server.started:
        assert thread.is_alive(), "the provider ended"
        assert time.monotonic() < deadline, "the provider does not start"
        time.sleep(0.02)
    try:
        yield provider
    finally:
        server.should_exit = True
        thread.join(HANG_SECONDS)
