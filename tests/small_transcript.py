"""A small coding session as Claude Code writes it down, made up for these tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

FILE = "/project/greet.py"
CODE = "def greet(name):\n    return f'Hello {name}'\n" * 12


def claude_code_lines() -> str:
    """One question, a file read twice, an edit, and an answer; each call with its usage."""
    return "".join(f"{json.dumps(line)}\n" for line in _lines())


def _lines() -> Iterator[dict[str, object]]:
    yield _line(1, "user", {"role": "user", "content": "Make the greeting louder"})
    yield _asks(2, "t1", "Read", {"file_path": FILE}, input_tokens=9_000)
    yield _result(3, "t1", CODE)
    yield _asks(4, "t2", "Edit", {"file_path": FILE, "old_string": "Hello", "new_string": "HELLO"})
    yield _result(5, "t2", "The file was updated.")
    yield _asks(6, "t3", "Read", {"file_path": FILE})
    yield _result(7, "t3", CODE.replace("Hello", "HELLO"))
    yield _answer(8, [{"type": "text", "text": "The greeting is loud now: HELLO."}])


def _line(number: int, kind: str, message: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": "small",
        "timestamp": f"2026-03-02T09:00:{number:02}.000Z",
        "message": message,
    }


def _answer(number: int, content: list[object], input_tokens: int = 20) -> dict[str, object]:
    usage = {
        "input_tokens": input_tokens,
        "cache_read_input_tokens": 500 * number,
        "cache_creation_input_tokens": 100,
        "output_tokens": 40,
    }
    message = {
        "id": f"m{number}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "usage": usage,
    }
    return _line(number, "assistant", message)


def _asks(
    number: int, call_id: str, tool: str, arguments: dict[str, str], input_tokens: int = 20
) -> dict[str, object]:
    use = {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}
    return _answer(number, [use], input_tokens)


def _result(number: int, call_id: str, output: str) -> dict[str, object]:
    part = {"type": "tool_result", "tool_use_id": call_id, "content": output}
    return _line(number, "user", {"role": "user", "content": [part]})
