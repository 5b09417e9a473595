"""The tools that this library offers to models and answers itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ctxcore.compression.markers import ELISION
from ctxcore.messages.values import JsonObject

EXPAND_NAME: Final = "expand_tool_output"
EXPAND_ANSWER_TOKENS: Final = 1_000  # of an answer, where the model names no number
RECALL_NAME: Final = "recall_history"
RECALL_RESULTS: Final = 5  # of an answer, where the model names no number

EXPAND_TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": EXPAND_NAME,
        "description": "Reads exact parts of a tool output that stands shortened above. "
        f"A shortened output says where its original is: `{ELISION} whole: m12`.",
        "parameters": {
            "type": "object",
            "properties": {
                "ref": {"type": "string", "description": "The original, e.g. m12"},
                "path": {"type": "string", "description": "A value in JSON, e.g. items[3].name"},
                "rows": {"type": "string", "description": "Lines or items from 0, e.g. 10:20"},
                "grep": {"type": "string", "description": "A regular expression or plain words"},
                "max_tokens": {
                    "type": "integer",
                    "description": f"At most; {EXPAND_ANSWER_TOKENS}",
                },
            },
            "required": ["ref"],
        },
    },
}
"""The tool `expand_tool_output` as a definition in OpenAI's form."""

RECALL_TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": RECALL_NAME,
        "description": "Searches all of this conversation, also what no longer stands above, and "
        "quotes the best matches with what was said around them.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Words to look for, e.g. names, numbers, dates",
                },
                "max_results": {"type": "integer", "description": f"At most; {RECALL_RESULTS}"},
            },
            "required": ["query"],
        },
    },
}
"""The tool `recall_history` as a definition in OpenAI's form."""

_OWN: Final = {RECALL_NAME: RECALL_TOOL, EXPAND_NAME: EXPAND_TOOL}


def is_own_tool(name: str) -> bool:
    """Whether `name` is that of one of these tools."""
    return name in _OWN


def with_own_tools(tools: Sequence[JsonObject], names: Collection[str]) -> tuple[JsonObject, ...]:
    """`tools` and those of ours in `names`: if there are any tools, and none has that name."""
    taken = set(map(_name_of, tools))
    own = (_OWN[name] for name in _OWN if name in names and name not in taken)
    return (*tools, *own) if tools else ()


def without_own_tools(tools: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """`tools` without ours."""
    return tuple(tool for tool in tools if tool not in _OWN.values())


def is_own_call_with(name: str, tools: Sequence[Mapping[str, object]]) -> bool:
    """Whether this library answers calls of the tool `name`: no other of `tools` is called so."""
    own = _OWN.get(name)
    return own is not None and all(tool == own or _name_of(tool) != name for tool in tools)


def _name_of(tool: Mapping[str, object]) -> str:
    """The function that a definition in OpenAI's form names."""
    function = tool.get("function")
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""
