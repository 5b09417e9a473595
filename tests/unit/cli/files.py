"""Small files to run commands on, and a way to run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from typer.testing import CliRunner, Result

from ctxcore.cli import app
from ctxcore.messages.values import JsonObject, JsonValue

Document: TypeAlias = dict[str, Any]  # what json.loads gives, read key by key


def run(*args: str | Path, stdin: bytes | None = None, columns: int = 100) -> Result:
    """What `ctxcore` with these arguments prints in a terminal so wide."""
    runner = CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"})
    return runner.invoke(app, [str(arg) for arg in args], input=stdin)


def run_json(*args: str | Path) -> Document:
    """The document that a command prints with `--json`."""
    document: Document = json.loads(run(*args, "--json").stdout)
    return document


def results(document: Document) -> list[Document]:
    """The conversations in a document."""
    return list(document["results"])


def errors(document: Document) -> list[Document]:
    """The failures in a document."""
    return list(document["errors"])


def talk(turns: int = 10) -> list[JsonValue]:
    """A conversation about an order, with a tool output that has many lines."""
    messages: list[JsonValue] = [
        {"role": "system", "content": "You help with orders."},
        {"role": "user", "content": "Please find out why order ORD-7 is late."},
        {"role": "assistant", "content": None, "tool_calls": [call("c1", file_path="/srv/a.log")]},
        {"role": "tool", "tool_call_id": "c1", "content": "\n".join(f"row {n}" for n in range(90))},
    ]
    for turn in range(turns):
        messages += [
            {"role": "assistant", "content": f"Parcel {turn} left the depot on day {turn}. " * 4},
            {"role": "user", "content": f"And what about parcel {turn + 1}? It is urgent."},
        ]
    return messages


def call(call_id: str, name: str = "read_file", **arguments: str) -> JsonObject:
    """A tool call."""
    function: JsonObject = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def write(path: Path, value: JsonValue) -> Path:
    """`value` in a file."""
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def compacted_session(path: Path) -> Path:
    """A Claude Code session with a compaction of its own, usage and a line that is cut off."""
    usage = {"input_tokens": 900, "cache_read_input_tokens": 100, "output_tokens": 7}
    said = [
        _said("u1", None, "user", content="Fix the login page."),
        _said("a1", "u1", "assistant", id="m1", content=[_text("Reading it.")], usage=usage),
        {
            **_line("b1", None, "system"),
            "subtype": "compact_boundary",
            "logicalParentUuid": "a1",
            "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
        },
        {**_said("s1", "b1", "user", content="We fixed half of it."), "isCompactSummary": True},
        _said("u2", "s1", "user", content="Now the other half."),
        _said("a2", "u2", "assistant", id="m2", content=[_text("Done.")], usage=usage),
    ]
    path.write_text("\n".join(map(json.dumps, said)) + '\n{"type": "us\n', encoding="utf-8")
    return path


def _line(uuid: str, parent: str | None, kind: str) -> dict[str, object]:
    at = "2026-03-01T10:00:00.000Z"
    about = {"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": at}
    return {**about, "sessionId": "session-1", "isSidechain": False}


def _said(uuid: str, parent: str | None, role: str, **message: object) -> dict[str, object]:
    model = {"model": "claude-sonnet-4-5"} if role == "assistant" else {}
    return {**_line(uuid, parent, role), "message": {"role": role, **model, **message}}


def _text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}
