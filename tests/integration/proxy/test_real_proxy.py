"""LiteLLM Proxy as a process with the hook in its configuration, before a scripted server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from ctxcore import ContextEngine, open_store
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CallInfo, Scope
from tests.scripted_upstream import Body, Say, Upstream, scripted_upstream

pytestmark = [pytest.mark.proxy, pytest.mark.xdist_group("proxy")]

START_SECONDS = 120
CONFIG = """
model_list:
  - model_name: gpt
    litellm_params: {{model: openai/gpt-4o, api_base: {url}/v1, api_key: none}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-sonnet-4-5, api_base: {url}, api_key: none}}
{documented}  num_retries: 0
general_settings:
  custom_auth: own_auth.authenticate
"""
AUTH = """
from litellm.proxy._types import UserAPIKeyAuth

async def authenticate(request, api_key):
    return UserAPIKeyAuth(api_key=api_key, key_alias=api_key, user_id="ana", team_id="team")
"""


@dataclass
class Proxy:
    """A running proxy, what is behind it, and its store."""

    url: str
    upstream: Upstream
    store: SessionStore

    def send(
        self, path: str, body: Body, *, key: str = "key-one", session: str = ""
    ) -> tuple[str, str]:
        """The text of an answer, and the session it is of."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        if session:
            headers["x-ctxcore-session"] = session
        request = Request(f"{self.url}{path}", json.dumps(body).encode(), headers)
        with urlopen(request, timeout=60) as answer:
            return answer.read().decode(), answer.headers["x-ctxcore-session"]

    def calls(self, session_id: str, count: int) -> list[CallInfo]:
        """The calls of a session, once there are `count`: they are recorded behind the answer."""
        for _ in range(200):
            found = self.store.calls(session_id)
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"{len(found)} calls are recorded, not {count}")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("proxy")
    database = f"sqlite:///{folder / 'ctxcore.db'}"
    store = open_store(database)
    with scripted_upstream() as upstream:
        (folder / "config.yaml").write_text(
            CONFIG.format(url=upstream.url, documented=_documented())
        )
        (folder / "own_auth.py").write_text(AUTH)
        with _running(folder, database) as url:
            yield Proxy(url, upstream, store)
    store.close()


def _saying(text: str) -> Say:
    return lambda _: text


def _documented() -> str:
    """The lines that the documentation tells to write."""
    page = Path(__file__).parents[3] / "docs" / "integrations" / "litellm-proxy.md"
    return page.read_text(encoding="utf-8").partition("```yaml\n")[2].partition("```")[0]


class _running:
    """Runs the proxy while the block does."""

    def __init__(
        self, folder: Path, database: str, *, config: Path | None = None, key: str = ""
    ) -> None:
        self._folder, self._database = folder, database
        self._config, self._key = config or folder / "config.yaml", key or f"sk-{token_hex(32)}"

    def __enter__(self) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._log = (self._folder / "log").open("w")
        own = {"CTXCORE_DATABASE_URL": self._database, "LITELLM_MASTER_KEY": self._key}
        command = [str(Path(sys.executable).with_name("litellm")), "--config", str(self._config)]
        self._process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=self._folder,
            env={**os.environ, **own, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        url = f"http://127.0.0.1:{port}"
        end = time.monotonic() + START_SECONDS
        while not _answers(f"{url}/health/liveliness"):
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise AssertionError((self._folder / "log").read_text()[-3_000:])
            time.sleep(0.2)
        return url

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):
            return True
    except (URLError, OSError):
        return False


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Body:
    return {"role": "assistant", "content": text}


MARKED = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
ROUTES: dict[str, tuple[str, str, Body]] = {
    "/v1/chat/completions": ("gpt", "messages", {}),
    "/v1/messages": ("claude", "messages", {"system": [MARKED], "max_tokens": 100}),
    "/v1/responses": ("gpt", "input", {"instructions": "Be brief."}),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", ROUTES)
def test_turns_of_each_route_are_one_session(proxy: Proxy, path: str, stream: bool) -> None:
    model, part, beside = ROUTES[path]
    name = f"{path} {stream}"
    said: list[Body] = [_user("Lisbon in May?")]
    sessions = []
    for turn in range(3):
        answer = f"It is warm, day {turn}."
        proxy.upstream.say = _saying(answer)
        body = {"model": model, part: said, "stream": stream, **beside}
        text, session_id = proxy.send(path, body, session=name)
        sessions.append(session_id)
        assert "day" in text
        assert proxy.upstream.requests[-1][part] == said
        if path == "/v1/messages":
            assert proxy.upstream.requests[-1]["system"] == [MARKED]
        calls = proxy.calls(session_id, turn + 1)
        assert (calls[-1].input_tokens, calls[-1].cached_tokens) == (100, 7)
        assert (calls[-1].output_tokens, calls[-1].error) == (5, None)
        assert calls[-1].cost
        said = [*said, _assistant(answer), _user(f"And {turn}?")]

    assert len(set(sessions)) == 1
    session = proxy.store.session(sessions[0])
    assert session.user_id == "key-one"
    assert proxy.store.user("key-one").group == "team"
    texts = [info.message.text for info in proxy.store.messages(session.id)]
    system = ["Be brief."] if beside else []
    assert texts == [*system, *(one["content"] for one in said[:-1])]


def test_two_conversations_on_one_key_stay_apart(proxy: Proxy) -> None:
    proxy.upstream.say = lambda body: f"about {body['messages'][0]['content']}"
    said = {name: [_user(f"main task {name}")] for name in ("one", "two")}
    found: dict[str, list[str]] = {"one": [], "two": []}
    for turn in range(3):
        for name, messages in said.items():
            body = {"model": "claude", "messages": messages, "max_tokens": 100}
            _, session_id = proxy.send("/v1/messages", body)
            proxy.calls(session_id, turn + 1)
            found[name].append(session_id)
            messages += [_assistant(f"about main task {name}"), _user(f"{name} {turn}")]

    assert len({*found["one"]}) == len({*found["two"]}) == 1
    assert found["one"] != found["two"]


@pytest.mark.parametrize("path", ROUTES)
def test_a_long_conversation_fits_and_keeps_its_beginning(proxy: Proxy, path: str) -> None:
    model, part, beside = ROUTES[path]
    key = f"small-{model}-{part}"
    engine = ContextEngine(proxy.store)
    engine.save_policy(Scope(kind="user", owner=key), {"window_tokens": 4_000})
    proxy.upstream.say = lambda body: "Noted. " * 60
    said: list[Body] = []
    sent: list[Any] = []
    for turn in range(25):
        said = [*said, _user(f"Delivery {turn} has {turn * 17} crates. " + "Counted. " * 120)]
        _, session_id = proxy.send(path, {"model": model, part: said, **beside}, key=key)
        proxy.calls(session_id, turn + 1)
        sent.append(proxy.upstream.requests[-1][part])
        said = [*said, _assistant("Noted. " * 60)]

    compactions = proxy.store.compactions(session_id)
    pairs = pairwise(sent)
    breaks = sum(after[: len(before)] != before for before, after in pairs)
    assert compactions
    assert breaks <= len(compactions)
    assert len(json.dumps(sent[-1])) < len(json.dumps(said)) / 2
    assert sent[-1][-1] == said[-2]
    assert all(call.error is None for call in proxy.store.calls(session_id))


def test_the_example_runs(tmp_path: Path) -> None:
    """With the configuration beside it and no provider."""
    example = Path(__file__).parents[3] / "examples" / "litellm_proxy"
    key, database = f"sk-{token_hex(32)}", f"sqlite:///{tmp_path / 'own.db'}"
    with _running(tmp_path, database, config=example / "config.yaml", key=key) as url:
        said = subprocess.run(
            [sys.executable, example / "talk.py"],
            env={**os.environ, "PROXY_URL": url, "LITELLM_MASTER_KEY": key},
            capture_output=True,
            text=True,
            check=True,
        )
    store = open_store(database)
    [session] = store.list_sessions("local")
    assert [info.message.text for info in store.messages(session.id)][::2] == [
        f"Delivery {turn} has {turn * 17} crates." for turn in range(3)
    ]
    assert said.stdout.splitlines()[-1] == f"turn 3 of session {session.id}: Noted."
    store.close()


def test_a_failure_upstream_is_recorded(proxy: Proxy) -> None:
    proxy.upstream.status = 500
    body = {"model": "gpt", "messages": [_user("will it fail?")]}
    try:
        with pytest.raises(HTTPError):
            proxy.send("/v1/chat/completions", body)
    finally:
        proxy.upstream.status = 200
    [session] = proxy.store.list_sessions("key-one", title="will it fail?")
    [call] = proxy.calls(session.id, 1)
    assert call.error_code == "call.refused_there"


def test_what_cannot_be_fitted_goes_through(proxy: Proxy) -> None:
    ContextEngine(proxy.store).save_policy(
        Scope(kind="user", owner="tiny"), {"window_tokens": 1_000}
    )
    said = [{"role": "system", "content": "Be brief. " * 2_000}, _user("hello")]
    body = {"model": "gpt", "messages": said}
    _, session_id = proxy.send("/v1/chat/completions", body, key="tiny")

    assert proxy.upstream.requests[-1]["messages"] == said
    [call] = proxy.calls(session_id, 1)
    assert call.error_code == "call.untouched"
    assert call.input_tokens == 100
