"""Several people log in to one server in a real browser: what each sees, and what is recorded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore.engine.core import ContextEngine
from ctxcore.store.protocol import SessionStore
from ctxcore.store.sql import open_store
from ctxcore.store.values import Scope
from tests.browser.conftest import ROOT, SCRIPTS, fresh_page
from tests.oidc_provider import REFUSES, Provider, oidc_provider
from tests.servers import free_port, serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

IS_IDLE = '[data-test-script-state="notRunning"]'
SECRET = "The orchid code is 7141."
TITLE = "Orchids of the north"
PEOPLE = {
    "id-olga": {"name": "Olga", "groups": ["staff"]},
    "id-ben": {"name": "Ben", "groups": ["staff"]},
    "id-rita": {"name": "Rita", "groups": ["staff"]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A dashboard behind a login, and its database."""

    url: str
    provider: Provider
    store: SessionStore
    session_id: str
    """A session of Ben's."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("login")
    database = f"sqlite:///{folder / 'test.db'}"
    scripts, secrets, port = folder / "scripts.json", folder / "secrets.toml", free_port()
    scripts.write_text(json.dumps(SCRIPTS), encoding="utf-8")
    variables = {
        "CTXCORE_DATABASE_URL": database,
        "CTXCORE_MODEL": "scripted/demo",
        "CTXCORE_SCRIPTED_MODELS": str(scripts),
    }
    with closing(open_store(database)) as store, oidc_provider(PEOPLE) as provider:
        session_id = filled(store)
        secrets.write_text(
            f'[auth]\nredirect_uri = "http://127.0.0.1:{port}/oauth2callback"\n'
            f'cookie_secret = "{"0123456789abcdef" * 2}"\n{provider.secrets}',
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true"]
        flags = [f"--server.port={port}", f"--secrets.files={secrets}"]
        log = folder / "server.log"
        with serving([*command, *flags], port, folder=ROOT, log=log, variables=variables) as url:
            yield Site(url=url, provider=provider, store=store, session_id=session_id)


def filled(store: SessionStore) -> str:
    """An operator, an auditor, and Ben with a session, whose id this gives."""
    first = ContextEngine(store, user_id="first")
    first.user()
    for subject in PEOPLE:
        ContextEngine(store, user_id=subject).user()
        store.save_setting(f"demo_offered:{subject}", True)
    first.people.set_roles("id-olga", is_operator=True)
    first.people.set_roles("id-rita", is_operator=True, is_auditor=True)
    ben = ContextEngine(store, user_id="id-ben", model="scripted/demo")
    session = ben.create_session(TITLE)
    ben.append(session.id, [{"role": "user", "content": SECRET}])
    return session.id


def log_in(page: Page, subject: str) -> None:
    page.locator(".st-key-shell_login button").click()
    page.get_by_role("link", name=subject).click()


@contextmanager
def logged_in(browser: Browser, site: Site, subject: str, place: str = "") -> Iterator[Page]:
    """The dashboard of somebody who has logged in from a place, in a profile of its own."""
    size = {"width": 1280, "height": 900}
    with fresh_page(browser, viewport=size, locale="en-GB") as page:
        page.goto(f"{site.url}{place}")
        log_in(page, subject)
        expect(page.locator(".st-key-shell_login_state")).to_contain_text(
            str(PEOPLE[subject]["name"])
        )
        yield page


def go(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_test_id("stSidebarNavLink").first.wait_for()
    page.wait_for_selector(IS_IDLE)


def set_threshold(page: Page, site: Site, scope: str, field: str, value: str) -> None:
    go(page, f"{site.url}/settings")
    page.locator(".st-key-settings_scope").get_by_text(scope, exact=True).click()
    box = page.locator(f".st-key-{field} input")
    box.fill(value)
    box.press("Enter")
    page.locator(".st-key-settings_save button").click()
    expect(page.get_by_test_id("stToast").get_by_text("Saved")).to_be_visible()


def test_people_log_in_and_see_what_their_roles_allow(browser: Browser, site: Site) -> None:
    """An operator, a user and an auditor, one after the other, on one server."""
    with logged_in(browser, site, "id-olga") as page:
        set_threshold(page, site, "Everybody", "settings_main_default___trigger_ratio", "61")
        go(page, f"{site.url}/?session={site.session_id}")
        expect(page.get_by_text("You see the figures of this session")).to_be_visible()
        assert SECRET not in page.content()
        go(page, f"{site.url}/sessions")
        page.locator(".st-key-sessions_filters_open button").click()
        page.locator(".st-key-sessions_by_user input").click()
        page.get_by_role("option", name="Everybody").click()
        expect(page.get_by_text(f"Session {site.session_id[:8]}").first).to_be_visible()
        assert TITLE not in page.content()

    with logged_in(browser, site, "id-ben") as page:
        mine = "settings_main_user_id-ben__trigger_ratio"
        set_threshold(page, site, "Me", mine, "52")
        other = ContextEngine(site.store, user_id="id-olga").create_session("Olga's own")
        go(page, f"{site.url}/?session={other.id}")
        expect(page.get_by_text("This session belongs to somebody else.")).to_be_visible()
        assert "Olga's own" not in page.content()
        go(page, f"{site.url}/reports?view=audit")
        expect(page.get_by_text("Nobody has read what others said.")).to_be_visible()

    with logged_in(browser, site, "id-rita", place=f"/?session={site.session_id}") as page:
        expect(page.get_by_text(SECRET)).to_be_visible()

    with logged_in(browser, site, "id-ben") as page:
        go(page, f"{site.url}/reports?view=audit")
        table = page.get_by_test_id("stDataFrame")
        expect(table).to_contain_text("Rita")
        expect(table).to_contain_text("opened it")
        expect(table).to_contain_text(TITLE)

    for scope, ratio in ((Scope(), 0.61), (Scope(kind="user", owner="id-ben"), 0.52)):
        saved = site.store.policy(scope)
        assert saved is not None
        assert saved.overrides == {"trigger_ratio": ratio}
    read = [one for one in site.store.audit_records() if one.session_id == site.session_id]
    assert {(one.user_id, one.action) for one in read} == {("id-rita", "open")}


def test_a_login_that_fails_says_why_and_a_logout_ends_it(browser: Browser, site: Site) -> None:
    with fresh_page(browser, locale="zh-CN") as page:
        refused: list[str] = []
        page.on("console", lambda line: refused.append(line.text) if line.type == "error" else None)
        page.goto(site.url)
        expect(page.get_by_text("请先登录")).to_be_visible()
        log_in(page, REFUSES)
        expect(page.get_by_text("您的登录服务拒绝了登录")).to_be_visible()
        site.provider.breaks_tokens = True
        log_in(page, "id-ben")
        expect(page.get_by_text("登录服务的答复未被接受")).to_be_visible()
        site.provider.breaks_tokens = False
        log_in(page, "id-ben")
        page.locator(".st-key-shell_logout button").click()

        expect(page.locator(".st-key-shell_login button")).to_be_visible()
        page.goto(f"{site.url}/?session={site.session_id}")
        expect(page.locator(".st-key-shell_login button")).to_be_visible()
        assert SECRET not in page.content()
        assert not [line for line in refused if "Content Security Policy" in line]
