"""Reads tool definitions that a person writes, and says what each takes; pure functions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ctxcore.engine.services import to_definitions
from ctxcore.messages.arguments import Tools
from ctxcore.messages.values import JsonObject
from ctxcore.tokens.count import ToolTokens, count_tools, counter_for, tool_tokens
from dashboard.codes import GivenError, GivenProblem

Definitions = tuple[JsonObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSizes:
    """What tool definitions take of every request, the largest first."""

    each: tuple[ToolTokens, ...]
    total: int
    """All of them with the frame that they share; 0 for a model that is sent none."""


def parse_tools(text: str) -> Definitions:
    """The definitions in `text`: a JSON list, or an object with one under `tools`.

    Raises:
        GivenError: it is not JSON, or a definition has no name; the place is named.
        MessageError: it is no list of objects; the place is named.
    """
    if not text.strip():
        return ()
    found = _parse_json(text)
    if isinstance(found, Mapping) and isinstance(found.get("tools"), list):
        found = found["tools"]  # a whole request
    definitions = to_definitions(cast("Tools", found))  # which checks it
    for number, tool in enumerate(definitions, 1):
        if not all(size.name for size in tool_tokens([tool])):
            raise GivenError(GivenProblem.NO_NAME(number=number))
    return definitions


def _parse_json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = GivenProblem.NOT_JSON(line=error.lineno, column=error.colno)
        raise GivenError(problem) from error
    except RecursionError as error:
        raise GivenError(GivenProblem.DEEP()) from error


def tools_text(tools: Sequence[JsonObject]) -> str:
    """`tools` as the text that a person edits; empty for none."""
    return json.dumps(list(tools), ensure_ascii=False, indent=2) if tools else ""


def sizes_of(tools: Sequence[JsonObject], model: str | None) -> ToolSizes:
    """What `tools` take with the counter of `model`."""
    each = sorted(tool_tokens(tools, model=model), key=lambda one: (-one.tokens, one.name))
    return ToolSizes(each=tuple(each), total=tools_total(tools, model))


def tools_total(tools: Sequence[JsonObject], model: str | None) -> int:
    """The tokens of `tools` together, with the frame that they share."""
    return count_tools(tools, counter_for(model)) if tools else 0
