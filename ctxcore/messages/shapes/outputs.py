"""Reads and writes the outputs of Responses API calls, which have a form for each kind of call.

Some of them cannot hold text (a screenshot, a list of tools). Where text is to replace such an
output, its call is written as a function call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from ctxcore.messages.canonical import type_of
from ctxcore.messages.values import JsonObject, JsonValue

ANY_OUTPUT: Final = ("function_call_output", "custom_tool_call_output")
_ID_KEYS: Final = ("call_id", "approval_request_id", "id")
_UNANSWERABLE: Final = ("mcp_approval_request", "computer_call")


def answer_key(raw: Mapping[str, object]) -> str:
    """The key under which an output names its call."""
    return next((key for key in _ID_KEYS if isinstance(raw.get(key), str)), "call_id")


def is_textless(raw: Mapping[str, object]) -> bool:
    """Whether an output of this kind cannot hold text."""
    return type_of(raw) not in ANY_OUTPUT and with_text(raw, "") is None


def with_text(raw: Mapping[str, object], words: JsonValue) -> JsonObject | None:
    """A copy of an output with `words` as its text; None if it cannot hold text.

    `words` is text, or a list of content parts for the output of a function.
    """
    item = cast("JsonObject", raw)
    if type_of(raw) in ANY_OUTPUT:
        return {**item, "output": words}
    if not isinstance(words, str):
        return None
    commands = raw.get("output")
    if type_of(raw) == "shell_call_output" and shell_text(commands) is not None:
        last = cast("list[JsonObject]", commands)[-1]
        return {**item, "output": [{**last, "stdout": words, "stderr": ""}]}
    key = next((key for key in ("output", "result") if isinstance(raw.get(key), str)), None)
    return None if key is None else {**item, key: words}


def shell_text(output: object) -> str | None:
    """The printed text of a shell call's commands; None if `output` is of another form."""
    if not isinstance(output, list) or not output:
        return None
    printed: list[str] = []
    for command in output:
        if not isinstance(command, Mapping):
            return None
        for key in ("stdout", "stderr"):
            text = command.get(key, "")
            if not isinstance(text, str):
                return None
            printed += [text] if text else []
    return "\n".join(printed)


def output_for(kind: str, call_id: str, words: JsonValue) -> JsonObject | None:
    """The output that answers a call of `kind` with `words`; None if only the client can answer.

    That is so for a screenshot, and for the approval of a call.
    """
    if kind in _UNANSWERABLE:
        return None
    out: JsonObject = {"call_id": call_id}
    match kind:
        case "custom_tool_call":
            return {"type": "custom_tool_call_output", **out, "output": words}
        case "shell_call":
            command: JsonObject = {"stdout": words, "stderr": "", "outcome": {"type": "timeout"}}
            return {"type": "shell_call_output", **out, "output": [command]}
        case "apply_patch_call":
            return {"type": "apply_patch_call_output", **out, "status": "failed", "output": words}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call_id, "output": words}
        case "program":
            return {"type": "program_output", **out, "status": "incomplete", "result": words}
        case "tool_search_call":
            found: JsonObject = {"execution": "client", "status": "incomplete", "tools": []}
            return {"type": "tool_search_output", **out, **found}
    return {"type": "function_call_output", **out, "output": words}
