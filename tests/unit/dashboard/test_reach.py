"""Where others reach a server and nobody logs in, nothing is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from starlette.types import Message, Receive, Scope, Send

from dashboard.login import Login
from dashboard.reach import Reach, is_open_to_others

ALLOWED = {"CTXCORE_WITHOUT_LOGIN": "allow"}


@pytest.mark.parametrize(
    ("server", "login", "environ", "is_open"),
    [
        ("192.0.2.7", None, {}, True),
        ("2001:db8::1", None, {}, True),
        ("fe80::1%eth0", None, {}, True),
        ("::ffff:192.0.2.7", None, {}, True),
        ("127.0.0.1", None, {}, False),
        ("127.0.0.2", None, {}, False),
        ("::1", None, {}, False),
        ("::ffff:127.0.0.1", None, {}, False),
        ("/run/app.sock", None, {}, False),
        (None, None, {}, False),
        ("192.0.2.7", None, ALLOWED, False),
        ("192.0.2.7", Login(providers=("default",)), {}, False),
    ],
)
def test_an_address_is_open_where_others_come_without_a_login(
    server: str | None, login: Login | None, environ: Mapping[str, str], is_open: bool
) -> None:
    assert is_open_to_others(server, login, environ) == is_open


def answered(kind: str, server: str, language: str = "en") -> list[Message]:
    """What an application behind `Reach` sends for a connection to this address."""
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "reached"})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"accept-language", language.encode())]
    scope = {"type": kind, "server": (server, 8501), "headers": headers}
    asyncio.run(Reach(app)(scope, receive, send))
    return sent


@pytest.fixture(autouse=True)
def without_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTXCORE_WITHOUT_LOGIN", raising=False)


@pytest.mark.parametrize("kind", ["http", "websocket", "lifespan"])
def test_what_arrives_on_this_machine_is_answered(kind: str) -> None:
    assert answered(kind, "127.0.0.1") == [{"type": "reached"}]


def test_what_others_send_is_refused_with_what_to_do() -> None:
    start, body = answered("http", "192.0.2.7")

    assert start["status"] == 403
    assert body["body"].startswith(b"Others reach 192.0.2.7 and could read everything")
    assert b"CTXCORE_WITHOUT_LOGIN=allow" in body["body"]
    assert "192.0.2.7" in answered("http", "192.0.2.7", "zh-CN")[1]["body"].decode()
    assert answered("websocket", "192.0.2.7") == [{"type": "websocket.close"}]
