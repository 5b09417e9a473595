"""What calls of the Responses API return: which outputs are words, and how words become one.

Each kind of call has a kind of output of its own. Some of them hold no words (a screenshot, a list
of tools); where words are to stand for such an output, its call is written as a function's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ctxcore.messages.canonical import type_of
from ctxcore.messages.values import JsonObject, JsonValue

_ANY_OUTPUT: Final = ("function_call_output", "custom_tool_call_output")
_WORD_KEYS: Final = ("output", "result")
_ID_KEYS: Final = ("call_id", "approval_request_id", "id")
_UNANSWERABLE: Final = ("mcp_approval_request", "computer_call")


def answer_key(raw: Mapping[str, object]) -> str:
    """The key under which an output names its call."""
    return next((key for key in _ID_KEYS if isinstance(raw.get(key), str)), "call_id")


def is_wordless(raw: Mapping[str, object]) -> bool:
    """Whether an output of this kind cannot be words, so that none may stand for it."""
    return type_of(raw) not in _ANY_OUTPUT and with_words(raw, "") is None


def with_words(raw: Mapping[str, object], words: JsonValue) -> JsonObject | None:
    """A copy of an output with `words` for what it held; None if it cannot hold any.

    `words` are text, or content parts where a function returned them.
    """
    if type_of(raw) in _ANY_OUTPUT:
        return _copy(raw, "output", words)
    if not isinstance(words, str):
        return None
    if type_of(raw) == "shell_call_output" and shell_words(raw.get("output")) is not None:
        return _copy(raw, "output", [{**_last_command(raw), "stdout": words, "stderr": ""}])
    key = next((key for key in _WORD_KEYS if isinstance(raw.get(key), str)), None)
    return None if key is None else _copy(raw, key, words)


def shell_words(output: object) -> str | None:
    """What the commands of a shell call printed; None if `output` is of another form."""
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
    """The output that answers a call of `kind` with `words`; None where nobody can answer for it.

    Only a client, or a person, knows what a screen shows and whether a call was approved.
    """
    if kind in _UNANSWERABLE:
        return None
    out: JsonObject = {"call_id": call_id}
    match kind:
        case "custom_tool_call":
            return {"type": "custom_tool_call_output", **out, "output": words}
        case "shell_call":
            printed: JsonObject = {"stdout": words, "stderr": "", "outcome": {"type": "timeout"}}
            return {"type": "shell_call_output", **out, "output": [printed]}
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


def _last_command(raw: Mapping[str, object]) -> JsonObject:
    output = raw["output"]
    assert isinstance(output, list)  # its words were read
    return dict(output[-1])


def _copy(raw: Mapping[str, object], key: str, value: JsonValue) -> JsonObject:
    return {**raw, key: value}  # type: ignore[dict-item]  # JSON, as it was read
