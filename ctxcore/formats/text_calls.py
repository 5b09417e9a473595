"""Finds the tool calls and thinking that models write into their text, between tags.

Open models are trained to write `<tool_call>{"name": …, "arguments": …}</tool_call>`, and read
results between `<tool_response>`. A call that is no JSON stays in the text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxcore.formats.tools import parsed
from ctxcore.json_types import JsonValue

_CALL = re.compile(
    r"<(tool_call|functioncall|function_call)>\s*(.*?)\s*(?:</\1>|<\|endoftext\|>|\Z)", re.DOTALL
)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_THINKING = re.compile(r"\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*", re.DOTALL)
_QUOTED_ARGUMENTS = re.compile(r"(\"arguments\":\s*)'(.*)'(\s*\}\s*)\Z", re.DOTALL)
"""Glaive writes arguments as JSON between single quotes."""
_MOST_LITERAL_CHARS = 100_000  # chosen: Python's parser takes much memory for long texts


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCall:
    """A call as it was written; `arguments` is JSON text or a value."""

    name: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenResult:
    """A result as it was written, with the name of its tool where it is said."""

    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenAnswer:
    """What a model wrote: its thinking, its text, and its calls."""

    thinking: str
    text: str
    calls: tuple[WrittenCall, ...]


def has_calls(text: object) -> bool:
    """Whether a text holds a call that can be read."""
    return isinstance(text, str) and "<" in text and bool(read_answer(text).calls)


def read_answer(text: str) -> WrittenAnswer:
    """An answer taken apart; texts around calls stay in order."""
    thinking = ""
    if begins := _THINKING.match(text):
        thinking, text = begins[1].strip(), text[begins.end() :]
    calls: list[WrittenCall] = []

    def take(found: re.Match[str]) -> str:
        read = calls_in(found[2])
        calls.extend(read)
        return "" if read else found[0]

    left = _CALL.sub(take, text) if "<" in text else text
    return WrittenAnswer(
        thinking=thinking, text=left.strip() if calls else left, calls=tuple(calls)
    )


def calls_in(text: str) -> Sequence[WrittenCall]:
    """The calls that a text is: an object with a name, or a list of them; else none."""
    value = _value(text)
    values = value if isinstance(value, list) else [value]
    calls = [call for one in values if (call := _call(one)) is not None]
    return calls if len(calls) == len(values) else []


def results_in(text: str) -> list[WrittenResult]:
    """The results between tags, if a text is nothing else; else the text as one result."""
    found = _RESPONSE.findall(text)
    if not found or _RESPONSE.sub("", text).strip():
        return [WrittenResult(text=text)]
    return [_result(inner) for inner in found]


def is_results(text: str) -> bool:
    """Whether a text is results between tags and nothing else."""
    return "<tool_response>" in text and not _RESPONSE.sub("", text).strip()


def _call(value: JsonValue) -> WrittenCall | None:
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    if isinstance(function, dict):
        value = function
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    arguments = value.get("arguments", value.get("parameters"))
    return WrittenCall(name=name, arguments=arguments)


def _result(inner: str) -> WrittenResult:
    value = parsed(inner)
    if not isinstance(value, dict) or not value.keys() <= {"name", "content", "tool_call_id"}:
        return WrittenResult(text=inner)
    name, content = value.get("name"), value.get("content")
    is_named = isinstance(name, str) and name
    return WrittenResult(
        text=content if isinstance(content, str) else inner, name=str(name) if is_named else None
    )


def _value(text: str) -> JsonValue:
    """The JSON of a call; also with quoted arguments, or written as Python writes values."""
    value = parsed(text)
    if value is None and (quoted := _QUOTED_ARGUMENTS.search(text)):
        outer = parsed(f"{text[: quoted.start()]}{quoted[1]}null{quoted[3]}")
        if isinstance(outer, dict):
            return {**outer, "arguments": quoted[2]}
    return _literal(text) if value is None else value


def _literal(text: str) -> JsonValue:
    """A value as Python writes it, if JSON can hold it."""
    if not text.startswith(("{", "[")) or len(text) > _MOST_LITERAL_CHARS:
        return None
    try:
        return parsed(json.dumps(ast.literal_eval(text)))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def python_call(text: str) -> WrittenCall | None:
    """A call as Python code writes it, e.g. `find(path='.')`; None if it is none."""
    if len(text) > _MOST_LITERAL_CHARS:
        return None
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return None
    given = {f"arg{at}": argument for at, argument in enumerate(call.args)}
    given |= {word.arg or "kwargs": word.value for word in call.keywords}
    arguments = {name: _argument(value) for name, value in given.items()}
    return WrittenCall(name=ast.unparse(call.func), arguments=arguments)


def _argument(node: ast.expr) -> JsonValue:
    """The value of an argument; code that is no value as its text."""
    source = ast.unparse(node)
    value = _literal(f"[{source}]")
    return value[0] if isinstance(value, list) and len(value) == 1 else source
