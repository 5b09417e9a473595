"""Writes sessions as the bodies of requests, each API with its own messages and tool definitions.

They can be sent: what a provider does not take back, such as unsigned thinking, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from ctxcore.exports.values import ExportForm, SessionContent, applying, one_file_each
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.anthropic import openai_tool
from ctxcore.messages.shapes.bodies import body_of
from ctxcore.messages.shapes.values import Shape


def _claude_tool(function: JsonObject) -> JsonObject:
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    described: JsonObject = {
        key: function[key] for key in ("name", "description") if key in function
    }
    return {**described, "input_schema": schema}


def _responses_tool(function: JsonObject) -> JsonObject:
    return {"type": "function", **function}


def _gemini_tool(function: JsonObject) -> JsonObject:
    named = {"parameters": "parametersJsonSchema"}  # the key that takes any JSON schema
    kept = {key: function[key] for key in ("name", "description", "parameters") if key in function}
    return {named.get(key, key): value for key, value in kept.items()}


_TOOLS: Final[Mapping[Shape, Callable[[JsonObject], JsonObject]]] = {
    "anthropic": _claude_tool,
    "responses": _responses_tool,
    "gemini": _gemini_tool,
}
"""How each API defines a function, as OpenAI's chat completions define it."""


def _form(name: str, shape: Shape) -> ExportForm:
    return ExportForm(
        name=name,
        suffix=".json",
        media_type="application/json",
        write=one_file_each(lambda content: _text(content, shape)),
    )


def _text(content: SessionContent, shape: Shape) -> str:
    return json.dumps(request_of(content, shape), ensure_ascii=False, indent=1) + "\n"


def request_of(content: SessionContent, shape: Shape) -> JsonObject:
    """The model, messages and tools of a session as the body of a request.

    Gemini's has no model, which stands in the address there.
    """
    model, tools = content.session.model, _tools(content, shape)
    body: JsonObject = {"model": model} if model and shape != "gemini" else {}
    body |= body_of([info.message for info in applying(content)], shape)
    if shape == "anthropic":
        body.setdefault("system", [])  # says that it is a request to Claude
    if not tools and shape != "openai":
        return body
    if shape == "gemini":
        return {**body, "tools": [{"functionDeclarations": tools}]}
    return {**body, "tools": tools}


def _tools(content: SessionContent, shape: Shape) -> list[JsonValue]:
    return [_tool(openai_tool(tool), shape) for tool in content.session.tools]


def _tool(tool: JsonObject, shape: Shape) -> JsonObject:
    """A definition as the API takes it; one that is no function stays as it is."""
    function, write = tool.get("function"), _TOOLS.get(shape)
    return write(function) if write and isinstance(function, dict) else tool


OPENAI = _form("openai", "openai")
ANTHROPIC = _form("anthropic", "anthropic")
RESPONSES = _form("responses", "responses")
GEMINI = _form("gemini", "gemini")
