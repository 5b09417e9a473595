"""Two dashboards on one PostgreSQL behind the balancer of deploy/, as plain processes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Page, expect

from ctxcore.engine.core import ContextEngine
from ctxcore.store import open_store
from tests.browser.conftest import ROOT, SCRIPTS, fresh_page
from tests.browser.test_chat import IS_IDLE, say
from tests.limits import HANG_SECONDS
from tests.servers import free_port, started, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]
COOKIE = "ctxcore_browser"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """The dashboards behind their balancer, and an engine on the same database."""

    url: str
    servers: dict[str, subprocess.Popen[bytes]]
    """By address, without the scheme."""
    engine: ContextEngine

    def server_of(self, number: str) -> str:
        """The address of the server that the balancer gives a browser of this number."""
        request = Request(f"{self.url}/_stcore/health", headers={"Cookie": f"{COOKIE}={number}"})
        with urlopen(request, timeout=HANG_SECONDS) as answer:
            return str(answer.headers["X-Server"])

    def numbers(self) -> list[str]:
        """Numbers of two browsers at different servers."""
        found: dict[str, str] = {}
        for number in map(str, range(64)):
            found.setdefault(self.server_of(number), number)
        return list(found.values())


@pytest.fixture(scope="module")
def deployed(
    postgres_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployed]:
    if shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None:
        pytest.skip("nginx is not installed")
    folder = tmp_path_factory.mktemp("deployed")
    scripts = folder / "scripts.json"
    scripts.write_text(json.dumps(SCRIPTS), encoding="utf-8")
    store = open_store(postgres_database)
    store.save_setting("demo_offered:local", True)
    variables = {
        "CTXCORE_DATABASE_URL": postgres_database,
        "CTXCORE_MODEL": "scripted/demo",
        "CTXCORE_SCRIPTED_MODELS": str(scripts),
    }
    ports, port = (free_port(), free_port()), free_port()
    with ExitStack() as stack:
        stack.callback(store.close)
        servers = {}
        for own in ports:
            command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={own}"]
            log = folder / f"{own}.log"
            running = started(command, own, folder=ROOT, log=log, variables=variables)
            address, process = stack.enter_context(running)
            servers[address.removeprefix("http://")] = process
        url = stack.enter_context(balancing(folder, ports, port))
        yield Deployed(url=url, servers=servers, engine=ContextEngine(store, model="scripted/demo"))


@contextmanager
def balancing(folder: Path, ports: tuple[int, int], port: int) -> Iterator[str]:
    """nginx with the configuration of deploy/, the addresses replaced by those of this machine."""
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{part}_temp_path {folder / part};" for part in parts)
    for old, new in {
        "app1:8501": f"127.0.0.1:{ports[0]}",
        "app2:8501": f"127.0.0.1:{ports[1]}",
        "proxy:4000": f"127.0.0.1:{free_port()}",
        "listen 8080": f"listen 127.0.0.1:{port}",
        "listen 4000": f"listen 127.0.0.1:{free_port()}",
        "add_header": "add_header X-Server $upstream_addr; add_header",
        "http {": f"http {{ access_log off; {temporary}",
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    alone = f"daemon off; pid {folder / 'nginx.pid'}; error_log {folder / 'nginx.log'};"
    found = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
    command = [str(found), "-c", str(folder / "nginx.conf"), "-g", alone]
    process = subprocess.Popen(command)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(f"{url}/_stcore/health", process)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=HANG_SECONDS)


def opened(page: Page, deployed: Deployed, session_id: str) -> None:
    page.goto(f"{deployed.url}/?session={session_id}")
    page.locator(".st-key-chat_ask textarea").wait_for()
    page.wait_for_selector(IS_IDLE)


def numbered(page: Page, deployed: Deployed, number: str) -> None:
    page.context.add_cookies([{"name": COOKIE, "value": number, "url": deployed.url}])


def test_a_new_browser_gets_a_number(deployed: Deployed, browser: Browser) -> None:
    session = deployed.engine.create_session("New")
    with fresh_page(browser) as page:
        opened(page, deployed, session.id)
        first = page.context.cookies()
        opened(page, deployed, session.id)

        assert [one["name"] for one in first].count(COOKIE) == 1
        assert [one["value"] for one in page.context.cookies() if one["name"] == COOKIE] == [
            one["value"] for one in first if one["name"] == COOKIE
        ]


def test_what_is_said_at_one_server_appears_in_a_browser_at_the_other_one(
    deployed: Deployed, browser: Browser
) -> None:
    session = deployed.engine.create_session("Shared")
    with ExitStack() as stack:
        first, second = (stack.enter_context(fresh_page(browser)) for _ in range(2))
        for page, number in zip((first, second), deployed.numbers(), strict=True):
            numbered(page, deployed, number)
            opened(page, deployed, session.id)

        say(first, "Hello from the first")
        for page in (first, second):
            expect(page.get_by_text("You said: Hello from the first")).to_be_visible()

        say(second, "Hello from the second")
        for page in (first, second):
            expect(page.get_by_text("You said: Hello from the second")).to_be_visible()

        deployed.engine.rename(session.id, "Under a new title")
        picked = second.locator(".st-key-shell_session input")
        expect(picked).to_have_value("Under a new title")
    assert deployed.engine.session(session.id).length == 4


def test_a_browser_whose_server_ends_goes_on_at_the_other_one(
    deployed: Deployed, browser: Browser
) -> None:
    session = deployed.engine.create_session("Kept")
    with fresh_page(browser) as page:
        [number, _] = deployed.numbers()
        numbered(page, deployed, number)
        opened(page, deployed, session.id)
        say(page, "Before")
        expect(page.get_by_text("You said: Before")).to_be_visible()

        ended = deployed.servers[deployed.server_of(number)]
        ended.kill()
        ended.wait()

        opened(page, deployed, session.id)
        say(page, "After")
        expect(page.get_by_text("You said: After")).to_be_visible()
    assert deployed.engine.session(session.id).length == 4
