"""Pages say where the server is, so that the front end need not try."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from app import BASE_SCRIPT, BaseAddress

Message = MutableMapping[str, Any]
PAGE = (b"<html><head><title>x</title>", b"</head><body></body></html>")

REQUESTED = [(b"accept", b"text/html,*/*;q=0.8"), (b"accept-encoding", b"gzip, br")]


def answered(*parts: bytes, content_type: bytes = b"text/html; charset=utf-8") -> list[Message]:
    """What is sent for an answer in these parts."""
    sent: list[Message] = []

    async def inner(scope: Message, receive: object, send: Any) -> None:
        assert b"accept-encoding" not in dict(scope["headers"])  # a compressed page has no place
        size = str(len(b"".join(PAGE))).encode()
        headers = [(b"content-type", content_type), (b"content-length", size)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for at, part in enumerate(parts):
            more = at < len(parts) - 1
            await send({"type": "http.response.body", "body": part, "more_body": more})

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(BaseAddress(inner)({"type": "http", "headers": REQUESTED}, receive, send))
    return sent


@pytest.mark.parametrize("parts", [PAGE, (b"".join(PAGE),)])
def test_a_page_gets_the_script_before_all_others(parts: tuple[bytes, ...]) -> None:
    start, body = answered(*parts)

    assert body["body"] == b"".join(PAGE).replace(b"<head>", b"<head>" + BASE_SCRIPT)
    assert dict(start["headers"])[b"content-length"] == str(len(body["body"])).encode()


def test_other_files_pass_as_they_are_sent() -> None:
    start, first, second = answered(*PAGE, content_type=b"text/javascript")

    assert first["body"] + second["body"] == b"".join(PAGE)
    assert dict(start["headers"])[b"content-length"] == str(len(b"".join(PAGE))).encode()


def test_an_answer_without_a_body_keeps_the_length_that_it_names() -> None:
    start, body = answered(b"")

    assert body["body"] == b""
    assert dict(start["headers"])[b"content-length"] == str(len(b"".join(PAGE))).encode()
