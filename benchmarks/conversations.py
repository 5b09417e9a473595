"""The conversations that are measured: recorded ones, repeated to a given length."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ctxcore import read_transcripts
from ctxcore.messages.openai import to_openai
from ctxcore.messages.values import JsonObject

DEMO = Path(__file__).parent.parent / "data"


def load_messages(folder: Path) -> list[JsonObject]:
    """All messages of the conversations in `folder` itself, as OpenAI chat dictionaries."""
    paths = sorted([*folder.glob("*.json"), *folder.glob("*.jsonl")])
    found = [
        to_openai(message)
        for path in paths
        for transcript in read_transcripts(path)
        for message in transcript.messages
        if not message.is_system
    ]
    if not found:
        raise SystemExit(f"{folder} holds no conversations")
    return found


def repeated(messages: Sequence[JsonObject], count: int) -> list[JsonObject]:
    """`count` messages behind one system prompt: `messages` again and again, ids made unique."""
    system: JsonObject = {"role": "system", "content": "You are a careful assistant."}
    return [system, *islice(_copies(messages), count - 1)]


def _copies(messages: Sequence[JsonObject]) -> Iterator[JsonObject]:
    copy = 0
    while True:
        copy += 1
        yield from (_renamed(message, copy) for message in messages)


def _renamed(message: JsonObject, copy: int) -> JsonObject:
    renamed: JsonObject = json.loads(json.dumps(message))
    if isinstance(answered := renamed.get("tool_call_id"), str):
        renamed["tool_call_id"] = f"{answered}-{copy}"
    calls = renamed.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            call["id"] = f"{call['id']}-{copy}"
    return renamed
