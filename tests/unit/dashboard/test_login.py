"""What a login needs, which roles it gives, where there must be one, and how failures are told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from ctxcore.reasons.problems import PackageProblem
from dashboard import login
from dashboard.callback import LoginOutcome
from dashboard.codes import LoginError, LoginProblem
from dashboard.login import (
    Login,
    Roles,
    configured_login,
    login_problem,
    open_server_problem,
    roles_of,
    user_id,
)

SECRET = "0123456789abcdef" * 2
WHOLE = {
    "redirect_uri": "https://ctx.example.org/oauth2callback",
    "cookie_secret": SECRET,
    "client_id": "x",
    "client_secret": "y",
    "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
}
GROUPS = {
    "CTXCORE_ROLES_CLAIM": "realm_access.roles",
    "CTXCORE_OPERATORS": "ops, admins",
    "CTXCORE_AUDITORS": "review",
}


class Unreadable:
    """Secrets of which no file can be read, as Streamlit tells it."""

    def get(self, name: str) -> object:
        raise FileNotFoundError


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    login._configured.cache_clear()
    yield
    login._configured.cache_clear()


class TestConfiguration:
    def test_a_whole_configuration_has_no_problem(self) -> None:
        own = {name: WHOLE[name] for name in ("client_id", "client_secret", "server_metadata_url")}
        common = {name: WHOLE[name] for name in ("redirect_uri", "cookie_secret")}

        assert login_problem(WHOLE) is None
        assert login_problem({**common, "okta": own, "google": own}) is None
        assert login_problem({**WHOLE, "client_kwargs": {"scope": "openid"}}) is None

    @pytest.mark.parametrize("name", WHOLE)
    def test_what_is_missing_is_named(self, name: str) -> None:
        assert login_problem({**WHOLE, name: ""}) is not None
        left = {key: value for key, value in WHOLE.items() if key != name}

        problem = login_problem(left)

        assert problem is not None
        assert problem.code == LoginProblem.LACKS
        assert name in str(problem) or name == "client_id"  # without one the providers may be named

    def test_a_provider_that_lacks_something_is_named(self) -> None:
        broken = {**WHOLE, "okta": {"client_id": "x"}}
        problem = login_problem(broken)

        assert str(problem) == "[auth.okta] lacks client_secret, server_metadata_url"

    @pytest.mark.parametrize(
        ("changed", "code"),
        [
            ({"redirect_uri": "https://ctx.example.org/"}, LoginProblem.CALLBACK),
            ({"cookie_secret": "xxx"}, LoginProblem.SHORT_SECRET),
            ({"my_own": {**WHOLE}}, LoginProblem.UNDERSCORE),
        ],
    )
    def test_what_would_fail_later_or_be_guessed_is_refused(
        self, changed: dict[str, object], code: LoginProblem
    ) -> None:
        problem = login_problem({**WHOLE, **changed})

        assert problem is not None
        assert problem.code == code

    def test_a_missing_package_is_told_with_its_command(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(login, "is_installed", lambda name: False)

        problem = login_problem(WHOLE)

        assert problem is not None
        assert problem.code == PackageProblem.MISSING
        assert "ctxcore-window[dashboard,login]" in str(problem)

    def test_secrets_that_cannot_be_read_let_nobody_in(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        file = tmp_path / "secrets.toml"
        file.write_text("[auth\n", encoding="utf-8")

        monkeypatch.setattr(st, "secrets", Unreadable())
        monkeypatch.setattr(st, "get_option", lambda name: [str(file)])

        found = configured_login()
        assert found is not None
        assert found.problem == LoginProblem.UNREADABLE(file=str(file))
        with pytest.raises(LoginError):
            user_id()

        file.unlink()
        assert configured_login() is None
        assert user_id() == "local"


class TestWho:
    def told(self, monkeypatch: pytest.MonkeyPatch, *providers: str, **claims: object) -> str:
        monkeypatch.setattr(login, "_configured", lambda files: Login(providers=providers))
        monkeypatch.setattr(st, "user", claims)
        return user_id()

    def test_the_subject_is_the_user(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.told(monkeypatch, "default", is_logged_in=True, sub="ada") == "ada"

    def test_no_login_becomes_the_user_that_there_is_without_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told = self.told(monkeypatch, "default", is_logged_in=True, sub="local")

        assert told == "login:local"

    def test_subjects_of_two_providers_are_two_people(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        told = self.told(monkeypatch, "a", "b", is_logged_in=True, sub="ada", provider="b")

        assert told == "b:ada"

    @pytest.mark.parametrize("claims", [{}, {"is_logged_in": False}, {"is_logged_in": True}])
    def test_who_is_not_logged_in_is_nobody_and_not_the_local_user(
        self, monkeypatch: pytest.MonkeyPatch, claims: dict[str, object]
    ) -> None:
        with pytest.raises(LoginError):
            self.told(monkeypatch, "default", **claims)


class TestRoles:
    @pytest.mark.parametrize(
        ("claims", "operator", "auditor"),
        [
            ({"realm_access": {"roles": ["ops", "review"]}}, True, True),
            ({"realm_access": {"roles": ["admins"]}}, True, False),
            ({"realm_access": {"roles": ["review"]}}, False, False),
            ({"realm_access": {"roles": "ops"}}, True, False),
            ({"realm_access.roles": ["ops"]}, True, False),
            ({"realm_access": ["ops"]}, False, False),
            ({"realm_access": {"roles": {"ops": 1}}}, False, False),
            ({}, False, False),
        ],
    )
    def test_roles_follow_from_the_names_in_a_claim(
        self, claims: dict[str, object], operator: bool, auditor: bool
    ) -> None:
        assert roles_of(claims, GROUPS) == Roles(is_operator=operator, is_auditor=auditor)

    def test_a_claim_without_names_that_mean_something_gives_none(self) -> None:
        environ = {"CTXCORE_ROLES_CLAIM": "groups"}
        none = Roles(is_operator=False, is_auditor=False)

        assert roles_of({"groups": ["", "ops"]}, environ) == none


class TestOpenServer:
    @pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost", "127.0.0.9"])
    def test_this_machine_alone_needs_no_login(self, address: str) -> None:
        assert open_server_problem(address, None, {}) is None

    @pytest.mark.parametrize("address", ["0.0.0.0", "::", None, "", "192.0.2.7", "ctx.lan"])
    def test_others_need_one_or_a_word(self, address: str | None) -> None:
        problem = open_server_problem(address, None, {"CTXCORE_WITHOUT_LOGIN": "yes"})

        assert problem is not None
        assert "CTXCORE_WITHOUT_LOGIN=allow" in str(problem)
        assert open_server_problem(address, None, {"CTXCORE_WITHOUT_LOGIN": "allow"}) is None
        assert open_server_problem(address, Login(providers=("default",)), {}) is None

    def test_a_login_that_is_incomplete_is_told_as_that(self) -> None:
        lacks = LoginProblem.LACKS(section="auth", names=("client_id",))

        problem = open_server_problem("0.0.0.0", Login(problem=lacks), {})

        assert str(problem).endswith("the login is incomplete: [auth] lacks client_id")


class TestFailures:
    """Answers as Streamlit's own routes give them."""

    def led(
        self, path: str, answer: Response, cookie: str = "", accept: str = "text/html"
    ) -> dict[str, str]:
        """The status and the head of what a browser gets."""

        async def own(request: Request) -> Response:
            return answer

        app = LoginOutcome(Starlette(routes=[Route(path.partition("?")[0], own)]))
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request"}

        async def send(message: Any) -> None:
            sent.append(message)

        place, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": "GET",
            "path": place,
            "query_string": query.encode(),
            "headers": [
                (b"host", b"ctx.example.org"),
                (b"accept", accept.encode()),
                (b"cookie", cookie.encode()),
            ],
        }
        asyncio.run(app(scope, receive, send))
        assert [message["type"] for message in sent].count("http.response.start") == 1
        head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return {"status": str(sent[0]["status"]), **head}

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ("/oauth2callback?error=access_denied&state=x", "/?login=refused"),
            ("/oauth2callback?code=1&state=x", "/?login=failed"),
            ("/oauth2callback", "/"),  # the way back from a logout
        ],
    )
    def test_a_login_that_failed_leads_back_with_why(self, path: str, place: str) -> None:
        assert self.led(path, RedirectResponse("/", status_code=302))["location"] == place

    def test_a_login_leads_on_as_it_did(self) -> None:
        done = RedirectResponse("/", status_code=302)
        done.set_cookie("_streamlit_user", "x")

        assert self.led("/oauth2callback?code=1&state=x", done)["location"] == "/"

    def test_a_login_leads_to_the_page_that_was_asked_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("dashboard.callback.configured_login", Login)
        page = "/usage?session=3f2a%2F1&view=calls"
        kept = self.led(page, PlainTextResponse("page"))["set-cookie"]
        assert kept.endswith("; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax")

        done = RedirectResponse("/", status_code=302)
        done.set_cookie("_streamlit_user", "x")
        head = self.led("/oauth2callback?code=1&state=x", done, kept.partition(";")[0])

        assert head["location"] == page
        assert head["set-cookie"].startswith("ctxcore_wanted=; Path=/; Max-Age=0")

    @pytest.mark.parametrize("place", ["//evil.example", "/\\evil.example", "https://x", "/a\nb"])
    def test_a_login_leads_to_no_other_server(self, place: str) -> None:
        done = RedirectResponse("/", status_code=302)
        done.set_cookie("_streamlit_user", "x")
        cookie = f"ctxcore_wanted={quote(place, safe='')}"

        assert self.led("/oauth2callback?code=1&state=x", done, cookie)["location"] == "/"

    @pytest.mark.parametrize(
        ("path", "cookie", "accept"),
        [
            ("/?login=refused", "", "text/html"),
            ("/usage", "_streamlit_user=x", "text/html"),
            ("/usage", "", "application/json"),
        ],
    )
    def test_other_requests_are_not_kept(
        self, monkeypatch: pytest.MonkeyPatch, path: str, cookie: str, accept: str
    ) -> None:
        monkeypatch.setattr("dashboard.callback.configured_login", Login)

        assert "set-cookie" not in self.led(path, PlainTextResponse("page"), cookie, accept)

    def test_without_a_login_nothing_is_kept(self) -> None:
        assert "set-cookie" not in self.led("/usage", PlainTextResponse("page"))

    def test_an_error_of_the_program_leads_back_too(self) -> None:
        head = self.led("/oauth2callback?code=1&state=x", PlainTextResponse("", status_code=500))

        assert (head["status"], head["location"]) == ("302", "/?login=failed")

    def test_a_provider_that_cannot_be_asked_leads_back(self) -> None:
        head = self.led("/auth/login", PlainTextResponse("Authentication error", status_code=400))

        assert (head["status"], head["location"]) == ("302", "../?login=unreachable")

    def test_the_way_to_the_provider_stays(self) -> None:
        there = RedirectResponse("https://id.example.org/authorize", status_code=302)

        assert self.led("/auth/login", there)["location"] == "https://id.example.org/authorize"
