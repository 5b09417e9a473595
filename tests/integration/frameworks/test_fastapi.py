"""The example application for FastAPI, and replies of calls that programs make themselves."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from ctxcore import MessageError, reply_of
from tests.engines import quiet_litellm

EXAMPLE = Path(__file__).parents[3] / "examples" / "fastapi" / "app.py"


def application() -> Any:
    found = importlib.util.spec_from_file_location("example_app", EXAMPLE)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)

    sys.modules["example_app"] = module  # annotations are looked up there
    found.loader.exec_module(module)
    return module


def test_a_session_goes_on_over_requests() -> None:
    quiet_litellm()
    example = application()

    async def run() -> tuple[dict[str, str], dict[str, str]]:
        transport = httpx.ASGITransport(app=example.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            first = (await client.post("/chat", json={"text": "Hello"})).json()
            again = {"text": "And then?", "session": first["session"]}
            return first, (await client.post("/chat", json=again)).json()

    first, second = asyncio.run(run())

    session = example.engine.session(first["session"])
    assert first["text"] == second["text"] == "Noted."
    assert second["session"] == session.id
    assert session.length == 4
    assert [call.seq for call in example.engine.calls(session.id)] == [2, 4]


def test_a_reply_has_text_calls_and_usage() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    said = {"role": "assistant", "content": "Looking.", "tool_calls": [call], "audio": None}
    usage = {"prompt_tokens": 90, "completion_tokens": 7}
    reply = reply_of(
        {
            "choices": [{"message": said, "finish_reason": "tool_calls"}],
            "usage": usage,
            "model": "m",
        }
    )

    assert (reply.text, reply.calls[0].name, reply.finish_reason) == (
        "Looking.",
        "find",
        "tool_calls",
    )
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (90, 7, "m")


@pytest.mark.parametrize("response", [{}, {"choices": []}, "text", None])
def test_a_response_without_a_message_is_refused(response: object) -> None:
    with pytest.raises(MessageError):
        reply_of(response)
