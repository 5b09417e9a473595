"""Owns references to originals: the tool that a model asks for one with, and how one is written.

The original is the message itself, so a reference is its place in the history, `m12`, and holds
after a restart, in an export and in a fork. Only who answers the tool may write one into a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from ctxcore.compression.markers import ELISION
from ctxcore.messages.values import JsonObject

EXPAND_NAME: Final = "expand_tool_output"
EXPAND_TOKENS: Final = 1_000  # of an answer, where the model names no number
REFERENCE_TOKENS: Final = 12  # that a reference takes at most, up to m999999
LEAST_TOKENS: Final = 40  # below, no budget of a compression holds

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
                "max_tokens": {"type": "integer", "description": f"At most; {EXPAND_TOKENS}"},
            },
            "required": ["ref"],
        },
    },
}
"""The tool `expand_tool_output` as a definition in OpenAI's form."""

_REFERENCE: Final = re.compile(rf"\s*\[?(?:{ELISION}?\s*whole:\s*)?m?(\d{{1,15}})\]?\s*")


def reference(seq: int) -> str:
    """What message `seq` (from 1) is asked for by."""
    return f"m{seq}"


def seq_of(ref: str) -> int | None:
    """The message that a reference means; None if it is none."""
    found = _REFERENCE.fullmatch(ref)
    return int(found[1]) if found else None


@lru_cache(maxsize=2048)  # the same texts are in every context until they are folded
def with_reference(text: str, seq: int) -> str:
    """A shortened output that says where its original is; JSON stays JSON."""
    told, shown = f"{ELISION} whole", text.rstrip()
    match _json_end(shown):
        case "}":
            return f'{shown[:-1]},"{told}":"{reference(seq)}"}}'
        case "]":
            return f'{shown[:-1]},"{told}: {reference(seq)}"]'
        case _:
            return f"{text}\n[{told}: {reference(seq)}]"


def _json_end(text: str) -> str:
    """How a JSON object or list with something in it ends; empty for any other text."""
    if text[:1] not in ("{", "["):
        return ""
    try:
        return text[-1] if json.loads(text) else ""
    except (ValueError, RecursionError):
        return ""


def offered_beside(tools: Iterable[Mapping[str, object]]) -> bool:
    """Whether the tool may stand beside `tools`: there are some, and none has its name."""
    names = [name_of(tool) for tool in tools]
    return bool(names) and EXPAND_NAME not in names


def is_answered_beside(tools: Iterable[Mapping[str, object]]) -> bool:
    """Whether a call of the tool is this library's to answer: no other of `tools` has its name."""
    return all(tool == EXPAND_TOOL or name_of(tool) != EXPAND_NAME for tool in tools)


def name_of(tool: Mapping[str, object]) -> str:
    """The function that a definition in OpenAI's form names."""
    function = tool.get("function")
    return str(function.get("name", "")) if isinstance(function, Mapping) else ""
