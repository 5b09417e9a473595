"""Whether people log in, who did, and which roles the login gives them.

The login is that of Streamlit: OpenID Connect, configured under `[auth]` in its secrets. One that
is configured but incomplete lets nobody in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Final, cast

import streamlit as st

from ctxcore.packages import is_installed
from ctxcore.reasons.problems import PackageProblem
from ctxcore.reasons.values import Reason
from dashboard.codes import LoginError, LoginProblem

LOCAL_USER = "local"
WITHOUT_LOGIN_VARIABLE = "CTXCORE_WITHOUT_LOGIN"
ALLOW = "allow"
CLAIM_VARIABLE = "CTXCORE_ROLES_CLAIM"
OPERATORS_VARIABLE = "CTXCORE_OPERATORS"
AUDITORS_VARIABLE = "CTXCORE_AUDITORS"
CALLBACK: Final = "/oauth2callback"
_OF_PROVIDER: Final = ("client_id", "client_secret", "server_metadata_url")
_COMMON: Final = ("redirect_uri", "cookie_secret")
_LEAST_SECRET = 32  # chosen: who guesses it is logged in as anybody; `openssl rand -hex 16`
_INSTALL = 'pip install "ctxcore-window[dashboard,login]"'
_DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """The login as it is configured."""

    providers: tuple[str, ...] = ()
    """Their names; `default` for one without a name."""
    problem: Reason | None = None
    """What is missing; then nobody can log in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles that a login gives."""

    is_operator: bool
    is_auditor: bool


def configured_login() -> Login | None:
    """The login that Streamlit's secrets configure; None if they configure none."""
    return _configured(tuple(map(_stamp, st.get_option("secrets.files"))))


def _stamp(file: str) -> tuple[str, int | None]:
    """A file and when it was changed; None where there is none."""
    try:
        return file, Path(file).stat().st_mtime_ns
    except OSError:
        return file, None


@lru_cache(maxsize=1)  # each page asks hundreds of times
def _configured(files: tuple[tuple[str, int | None], ...]) -> Login | None:
    try:
        section = st.secrets.get("auth")
    except FileNotFoundError:  # also raised where there is a file that cannot be read
        broken = next((file for file, changed in files if changed is not None), None)
        return Login(problem=LoginProblem.UNREADABLE(file=broken)) if broken else None
    if section is None:
        return None
    given = cast("Mapping[str, object]", section if isinstance(section, Mapping) else {})
    return Login(providers=_providers(given), problem=login_problem(given))


def login_problem(section: Mapping[str, object]) -> Reason | None:
    """What is wrong with the section `[auth]`, as far as that is known without the provider."""
    if not is_installed("authlib"):
        return PackageProblem.MISSING(package="authlib", command=_INSTALL)
    providers = _providers(section)
    own = {name: section if name == _DEFAULT else section.get(name) for name in providers}
    if lacking := _lacking(section, _COMMON):
        return LoginProblem.LACKS(section="auth", names=lacking)
    for name, part in own.items():
        given = part if isinstance(part, Mapping) else {}
        if lacking := _lacking(given, _OF_PROVIDER):
            place = "auth" if name == _DEFAULT else f"auth.{name}"
            return LoginProblem.LACKS(section=place, names=lacking)
        if "_" in name:
            return LoginProblem.UNDERSCORE(name=name)
    address, secret = str(section["redirect_uri"]), str(section["cookie_secret"])
    if not address.endswith(CALLBACK):
        return LoginProblem.CALLBACK(path=CALLBACK, given=address)
    if len(secret) < _LEAST_SECRET:
        return LoginProblem.SHORT_SECRET(chars=len(secret), least=_LEAST_SECRET)
    return None


def _lacking(section: Mapping[str, object], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not section.get(name))


def _providers(section: Mapping[str, object]) -> tuple[str, ...]:
    """The named providers, or the one without a name."""
    own = [name for name, part in section.items() if isinstance(part, Mapping)]
    named = tuple(name for name in own if name != "client_kwargs")
    return (*((_DEFAULT,) if section.get("client_id") or not named else ()), *named)


def user_id() -> str:
    """The subject of the login, or the local user where no login is configured.

    With several providers the provider stands before it, since two may give the same subject.

    Raises:
        LoginError: a login is configured, and nobody is logged in.
    """
    login = configured_login()
    if login is None:
        return LOCAL_USER
    if login.problem is not None or not st.user.get("is_logged_in"):
        raise LoginError(login.problem or LoginProblem.NEEDED())
    subject = st.user.get("sub")
    if not subject:
        raise LoginError(LoginProblem.NO_SUBJECT())
    if len(login.providers) > 1:
        return f"{st.user.get('provider')}:{subject}"
    return f"login:{subject}" if subject == LOCAL_USER else str(subject)


def user_name() -> str:
    """What the login calls the person; empty without a login."""
    if configured_login() is None:
        return ""
    found = (st.user.get(claim) for claim in ("name", "preferred_username", "email"))
    return next((str(name) for name in found if name), "")


def roles_come_from_login(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether roles follow from a claim of the login, where people log in."""
    return bool(environ.get(CLAIM_VARIABLE)) and configured_login() is not None


def login_roles() -> Roles | None:
    """The roles that the claims of the login give; None where roles are set by operators."""
    if not roles_come_from_login():
        return None
    return roles_of(st.user.to_dict(), os.environ)


def roles_of(claims: Mapping[str, object], environ: Mapping[str, str]) -> Roles:
    """The roles of somebody with these claims.

    The claim may be a name or a list of names, and may lie deeper: `realm_access.roles`.
    """
    names = set(_names(_claim(claims, environ.get(CLAIM_VARIABLE, ""))))
    is_operator = bool(names & _listed(environ.get(OPERATORS_VARIABLE, "")))
    is_auditor = bool(names & _listed(environ.get(AUDITORS_VARIABLE, "")))
    return Roles(is_operator=is_operator, is_auditor=is_operator and is_auditor)


def _claim(claims: Mapping[str, object], path: str) -> object:
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _names(claim: object) -> list[str]:
    if isinstance(claim, str):
        return [claim]
    return [str(name) for name in claim] if isinstance(claim, list | tuple) else []


def _listed(text: str) -> set[str]:
    return {name.strip() for name in text.split(",")} - {""}


def open_server_problem(
    address: str | None, login: Login | None, environ: Mapping[str, str]
) -> Reason | None:
    """Why a server at this address must not start; None listens everywhere."""
    if is_loopback(address or "") or environ.get(WITHOUT_LOGIN_VARIABLE) == ALLOW:
        return None
    shown = address or "every address"
    if login is None:
        return LoginProblem.OPEN(address=shown, variable=WITHOUT_LOGIN_VARIABLE, value=ALLOW)
    if login.problem is not None:
        return LoginProblem.OPEN_BROKEN(address=shown, problem=login.problem)
    return None


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address; a name but `localhost` leads anywhere."""
    if address == "localhost":
        return True
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback
