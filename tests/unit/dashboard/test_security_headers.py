"""Every answer of the application forbids the browser to load from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from app import SecurityHeaders

Message = MutableMapping[str, Any]


async def inner(scope: Message, receive: object, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})
    await send({"type": "http.response.body", "body": b"ok"})


def answered(kind: str) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(SecurityHeaders(inner)({"type": kind}, receive, send))
    return sent


def test_pages_may_load_from_their_own_origin_only() -> None:
    head, body = answered("http")
    headers = dict(head["headers"])

    policy = headers[b"content-security-policy"].decode()
    assert "img-src 'self' data: blob:" in policy
    assert "frame-ancestors 'self'" in policy
    assert "http" not in policy
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert headers[b"referrer-policy"] == b"no-referrer"
    assert headers[b"x-own"] == b"1"
    assert body["body"] == b"ok"


def test_websockets_pass_untouched() -> None:
    assert answered("websocket")[0]["headers"] == [(b"x-own", b"1")]
