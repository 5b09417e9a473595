"""The MCP server, with the real client: in the same process, and over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from ctxcore import ContextEngine, open_store
from ctxcore.cli.sessions import find_session
from ctxcore.integrations.mcp_server import make_server
from ctxcore.policy.layers import Layer
from tests.integration.frameworks.conversations import answer, note

TOOLS = {
    "list_sessions",
    "context_status",
    "recall_history",
    "expand_tool_output",
    "compact_now",
    "undo",
}
ROWS = "\n".join(f"crate {n}: weight {n * 3} kg" for n in range(900))


def stored(engine: ContextEngine) -> str:
    """A session of forty turns, one with a long output of a tool."""
    session = engine.create_session(title="Crates", model="gpt-4o")
    call = {"id": "c1", "type": "function", "function": {"name": "crates", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "List the crates"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": ROWS},
    ]
    for turn in range(40):
        messages.append({"role": "user", "content": note(turn)})
        messages.append({"role": "assistant", "content": answer(turn)})
    engine.append(session.id, messages)
    return session.id


def asked(server: Any, ask: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await ask(client)

    return asyncio.run(run())


def called(server: Any, tool: str, **arguments: Any) -> Any:
    return asked(server, lambda client: client.call_tool(tool, arguments))


def text(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[ContextEngine]:
    layer = Layer(name="file", overrides={"window_tokens": 6_000})
    with closing(open_store(f"sqlite:///{tmp_path / 'mcp.db'}")) as store:
        yield ContextEngine(store, layers=[layer])


@pytest.fixture
def server(engine: ContextEngine) -> Any:
    return make_server(engine, partial(find_session, engine))


def test_its_tools_are_these(server: Any) -> None:
    listed = asked(server, lambda client: client.list_tools())

    assert {tool.name for tool in listed.tools} == TOOLS
    assert all(tool.description for tool in listed.tools)


def test_the_status_tells_what_fills_a_context(server: Any, engine: ContextEngine) -> None:
    session_id = stored(engine)

    status = called(server, "context_status", session=session_id[:8]).structured_content

    assert status["session"] == session_id
    assert status["messages"] == 83
    assert status["tokens"] == engine.context(session_id).tokens
    assert status["usable_tokens"] >= status["tokens"]


def test_what_was_folded_is_found_and_a_compaction_is_undone(
    server: Any, engine: ContextEngine
) -> None:
    session_id = stored(engine)

    compacted = called(server, "compact_now").structured_content
    found = text(called(server, "recall_history", query="turn 7 station crates"))
    status = called(server, "context_status").structured_content
    undone = called(server, "undo").structured_content
    again = called(server, "undo").structured_content

    assert compacted["done"]
    assert compacted["tokens_after"] < compacted["tokens_before"]
    assert "122 crates" in found
    assert status["hidden_messages"] > 0
    assert (undone["tokens_before"], undone["done"]) == (compacted["tokens_after"], True)
    assert not again["done"]
    assert engine.context(session_id).summary == ""


def test_the_original_of_an_output_is_read_in_parts(server: Any, engine: ContextEngine) -> None:
    stored(engine)

    part = text(called(server, "expand_tool_output", ref="m3", rows="500:502"))
    refused = called(server, "expand_tool_output", ref="m999")

    assert "crate 500: weight 1500 kg" in part
    assert refused.is_error
    assert "m999" in text(refused)


def test_without_sessions_it_says_what_to_do(server: Any) -> None:
    result = called(server, "context_status")

    assert result.is_error
    assert "ctxcore import FILE" in text(result)


def test_sessions_of_others_are_not_found(engine: ContextEngine) -> None:
    session_id = stored(engine)
    engine.store.create_user("eve", at=engine.session(session_id).created_at, name="Eve")
    other = ContextEngine(engine.store, user_id="eve")
    server = make_server(other, partial(find_session, other))

    assert called(server, "list_sessions").structured_content == {"result": []}
    assert called(server, "recall_history", query="crates", session=session_id).is_error


def test_the_command_speaks_the_protocol_and_nothing_else(
    engine: ContextEngine, tmp_path: Path
) -> None:
    stored(engine)
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ctxcore.cli", "mcp", "--database", f"sqlite:///{tmp_path / 'mcp.db'}"],
    )

    assert "122 crates" in text(called(command, "recall_history", query="turn 7 station crates"))
