"""Owns what tool definitions take: they are counted as the declarations a model reads.

OpenAI shows a model its functions as TypeScript types; that text is counted. Whatever is not a
definition is counted as its JSON, since it is sent all the same.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache

from ctxcore.tokens.counter import TokenCounter

# On two functions with enums and nested objects the text plus 9 is 1 to 2 % from what
# openai-harmony renders; compact JSON is 40 % above.
_FRAME_TOKENS = 9
_MAX_DEPTH = 32  # of nested objects; what lies deeper reads `any`

_PLAIN_TYPES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def count_tools(tools: Sequence[Mapping[str, object]], counter: TokenCounter) -> int:
    """The tokens of tool definitions: OpenAI's form, Anthropic's or Gemini's; 0 for none."""
    if not tools:
        return 0
    try:
        as_json = json.dumps(tools, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # odd keys, a cycle, bottomless nesting
        return _FRAME_TOKENS + counter.count(render_tools(tools))
    if isinstance(counter, Hashable):
        return _count_cached(as_json, counter)
    return _count_json(as_json, counter)


def render_tools(tools: Sequence[Mapping[str, object]]) -> str:
    """The definitions as the TypeScript namespace that OpenAI's models are shown."""
    lines = ["namespace functions {", ""]
    for tool in tools:
        lines.extend(_render_tool(tool))
    return "\n".join([*lines, "} // namespace functions"])


@lru_cache(maxsize=64)  # a session sends the same definitions with every call
def _count_cached(as_json: str, counter: TokenCounter) -> int:
    return _count_json(as_json, counter)


def _count_json(as_json: str, counter: TokenCounter) -> int:
    return _FRAME_TOKENS + counter.count(render_tools(json.loads(as_json)))


def _render_tool(tool: object) -> Iterator[str]:
    for function in _functions(tool):
        rendered = _render_function(function) if isinstance(function, Mapping) else None
        yield from rendered or [_to_json(function), ""]


def _functions(tool: object) -> list[object]:
    """What `tool` defines: one function, except that Gemini lists several in one tool."""
    if not isinstance(tool, Mapping):
        return [tool]
    if isinstance(tool.get("function"), Mapping):
        return [tool["function"]]
    declared = tool.get("function_declarations") or tool.get("functionDeclarations")
    return declared if isinstance(declared, list) else [tool]


def _render_function(function: Mapping[str, object]) -> list[str] | None:
    """The declaration of one function; None if it lacks a name or its schema is not one."""
    name = function.get("name")
    schema = function.get("parameters") or function.get("input_schema") or {}
    if not isinstance(name, str) or not name or not isinstance(schema, Mapping):
        return None
    about = [f"// {function['description']}"] if function.get("description") else []
    properties = _render_properties(schema, depth=0)
    if not properties:
        return [*about, f"type {name} = () => any;", ""]
    return [*about, f"type {name} = (_: {{", *properties, "}) => any;", ""]


def _render_properties(schema: Mapping[str, object], depth: int) -> list[str]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return []
    names = required if isinstance(required, list) else []
    indent = "  " * depth
    lines = []
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and inner.get("description"):
            lines.append(f"{indent}// {inner['description']}")
        optional = "" if name in names else "?"
        lines.append(f"{indent}{name}{optional}: {_render_type(inner, depth)},")
    return lines


def _render_type(schema: object, depth: int) -> str:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return "any"
    if isinstance(values := schema.get("enum"), list) and values:
        return " | ".join(_to_json(value) for value in values)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        return " | ".join(_render_type(choice, depth + 1) for choice in choices)
    kind = schema.get("type")
    if isinstance(kind, str):
        kind = kind.lower()  # Gemini writes STRING
    if isinstance(kind, list):
        return " | ".join(_render_type({**schema, "type": one}, depth + 1) for one in kind)
    if kind == "array":
        return f"{_render_type(schema.get('items'), depth + 1)}[]"
    if kind == "object":
        inner = _render_properties(schema, depth + 1)
        return "\n".join(["{", *inner, "}"]) if inner else "object"
    return _PLAIN_TYPES.get(str(kind), "any")


def _to_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:  # nested deeper than anything that came from JSON
        return "any"
    except (TypeError, ValueError):
        return str(value)
