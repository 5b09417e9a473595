"""The names under which the dashboard answers: its own, those given, and no others."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from dashboard.hosts import AllowedHosts, Hosts, host_name, hosts_of, named_hosts

Message = MutableMapping[str, Any]


def allowed(header: str, hosts: Hosts) -> bool:
    name = host_name(header)
    return name is not None and hosts.allows(name)


@pytest.mark.parametrize(
    "header",
    ["localhost:8501", "LOCALHOST", "localhost.", "127.0.0.1:8501", "127.9.9.9", "[::1]:8501"],
)
def test_loopback_names_are_always_allowed(header: str) -> None:
    assert allowed(header, hosts_of("127.0.0.1", []))


@pytest.mark.parametrize(
    "header",
    [
        "evil.example:8501",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example@localhost",
        "localhost:8501/evil.example",
        "localhost, evil.example",
        "192.168.1.7:8501",
        "[2001:db8::7]",
        "",
        ":8501",
        "é.example",
    ],
)
def test_others_are_refused_where_the_server_is_bound_to_loopback(header: str) -> None:
    assert not allowed(header, hosts_of("127.0.0.1", []))


def test_the_bound_address_is_allowed_and_no_other_one() -> None:
    hosts = hosts_of("192.168.1.7", [])

    assert allowed("192.168.1.7:8501", hosts)
    assert not allowed("192.168.1.8:8501", hosts)
    assert allowed("box.lan", hosts_of("box.lan", []))


@pytest.mark.parametrize("address", ["0.0.0.0", "::", None, ""])
def test_a_server_on_all_addresses_is_reached_by_each_but_by_no_name(address: str | None) -> None:
    hosts = hosts_of(address, [])

    assert allowed("192.168.1.8:8501", hosts)
    assert allowed("[2001:db8::7]:8501", hosts)
    assert not allowed("evil.example:8501", hosts)


def test_given_names_are_allowed_with_those_below_a_star() -> None:
    hosts = hosts_of("127.0.0.1", named_hosts(" Ctx.Example.org, *.lan,, "))

    assert allowed("ctx.example.org", hosts)
    assert allowed("a.b.lan:80", hosts)
    assert not allowed("lan", hosts)
    assert not allowed("evil.example.org", hosts)
    assert not allowed("evilctx.example.org", hosts)
    assert allowed("evil.example", hosts_of("127.0.0.1", ["*"]))


async def inner(scope: Message, receive: object, send: Any) -> None:
    await send({"type": "reached"})


def answered(kind: str, *headers: tuple[bytes, bytes]) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None:
        sent.append(message)

    application = AllowedHosts(inner, hosts=hosts_of("127.0.0.1", []))
    asyncio.run(application({"type": kind, "headers": list(headers)}, receive, send))
    return sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_requests_with_one_allowed_name_pass(kind: str) -> None:
    assert answered(kind, (b"host", b"localhost:1")) == [{"type": "reached"}]


def test_starting_and_ending_pass_without_any_name() -> None:
    assert answered("lifespan") == [{"type": "reached"}]


@pytest.mark.parametrize(
    "names", [(), (b"evil.example",), (b"localhost", b"evil.example"), (b"localhost\xff",)]
)
def test_other_requests_are_refused(names: tuple[bytes, ...]) -> None:
    headers = [(b"host", name) for name in names]

    assert answered("http", *headers)[0]["status"] == 403
    assert answered("websocket", *headers) == [{"type": "websocket.close"}]


@pytest.mark.parametrize(
    ("language", "said"), [(b"en-GB,en", "is not a name of this"), (b"zh-CN,zh;q=0.9", "不是本")]
)
def test_the_refusal_says_what_to_set(language: bytes, said: str) -> None:
    headers = ((b"host", b"Evil.example:1"), (b"accept-language", language))

    body = answered("http", *headers)[1]["body"].decode()

    assert said in body
    assert "CTXCORE_ALLOWED_HOSTS=evil.example" in body
