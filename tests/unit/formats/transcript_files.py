"""Reads made-up session files of any product, and shows what became of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ctxcore.errors import FormatError
from ctxcore.formats import spool
from ctxcore.formats.reading import parse_transcripts
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import JsonValue, Message

TIME = "2026-03-01T10:00:00.000Z"


def jsonl(*records: JsonValue | str) -> str:
    """The records, one a line; text is a line as it is, of whatever it holds."""
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    return "\n".join(lines) + "\n"


def read_all(*records: JsonValue | str, name: str = "a.jsonl") -> list[Transcript]:
    """The conversations of the file that these lines make; the same as those of a very long one."""
    text = jsonl(*records)
    found = parse_transcripts(text, name=name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "_MOST_HELD", -1)
        spooled = parse_transcripts(text, name=name)
    assert [*map(_held, spooled)] == found
    return found


def _held(found: Transcript) -> Transcript:
    return replace(found, messages=tuple(found.messages), usage=tuple(found.usage))


def read(*records: JsonValue | str, name: str = "a.jsonl") -> Transcript:
    """The one conversation of the file that these lines make."""
    [found] = read_all(*records, name=name)
    return found


def refusal(*records: JsonValue | str) -> str:
    """What is said of a file that cannot be read."""
    with pytest.raises(FormatError) as raised:
        read_all(*records)
    return str(raised.value)


def shape(found: Transcript) -> list[str]:
    """Each message as `role(answered id): text +tool(id arguments)`."""
    return [_shape(message) for message in found.messages]


def _shape(message: Message) -> str:
    calls = "".join(f" +{call.name}({call.id} {call.arguments})" for call in message.calls)
    answers = f"({message.answers})" if message.answers else ""
    return f"{message.role}{answers}: {message.text}{calls}"
