"""Reads answers and their usage as the proxy reports them to its hooks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from ctxcore.errors import ContextError
from ctxcore.gateway.values import ModelReply
from ctxcore.gateway.whole_replies import message_in, plain_response, usage_in
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Message, Reasoning

_REDACTED: Final = "redacted-by-litellm"
"""What stands for an answer where the proxy is told to log no messages."""


def read_reply(
    details: Mapping[str, Any], response: object, start: datetime, end: datetime
) -> ModelReply:
    """An answer with its usage; without words or calls where it cannot be read."""
    payload = details.get("standard_logging_object")
    told = payload if isinstance(payload, Mapping) else {}
    plain = plain_response(response) or plain_response(told.get("response"))
    cost = told.get("response_cost")
    message = _message(plain)
    return ModelReply(
        text=message.text if message else "",
        thoughts=tuple(p for p in message.content if isinstance(p, Reasoning)) if message else (),
        calls=message.calls if message else (),
        finish_reason="stop",
        usage=usage_in(plain, _usage(plain, told)),
        model=str(plain.get("model") or ""),
        cost=float(cost) if isinstance(cost, (int, float)) and cost else None,
        latency_seconds=max((end - start).total_seconds(), 0.0),
        first_token_seconds=_first_token_seconds(told),
    )


def _first_token_seconds(told: Mapping[str, Any]) -> float | None:
    """How long a streamed answer took to begin; the proxy reports both times in seconds."""
    times = told.get("startTime"), told.get("completionStartTime")
    start, first = (time if isinstance(time, (int, float)) else None for time in times)
    if not told.get("stream") or start is None or first is None:
        return None
    return max(first - start, 0.0)


def _usage(plain: Mapping[str, Any], told: Mapping[str, Any]) -> object:
    """The usage of an answer in the names of chat completions."""
    logged = told.get("response")
    reports = [plain.get("usage"), logged.get("usage") if isinstance(logged, Mapping) else None]
    for usage in reports:
        if isinstance(usage, Mapping) and usage.get("prompt_tokens") is not None:
            return usage
    for usage in reports:
        if isinstance(usage, Mapping) and usage.get("input_tokens") is not None:
            return {
                "prompt_tokens": usage["input_tokens"],
                "completion_tokens": usage.get("output_tokens"),
                "prompt_tokens_details": usage.get("input_tokens_details"),
                "completion_tokens_details": usage.get("output_tokens_details"),
            }
    return {
        "prompt_tokens": told.get("prompt_tokens"),
        "completion_tokens": told.get("completion_tokens"),
    }


def _message(plain: Mapping[str, Any]) -> Message | None:
    """The one message that the answer is; None where it is none or several."""
    output = plain.get("output")
    if isinstance(output, list):
        items = [_without_nulls(item) for item in output if isinstance(item, Mapping)]
    else:
        message = message_in(plain)
        if not message:
            return None
        known = ("role", "content", "tool_calls")
        items = [{key: message[key] for key in known if message.get(key) is not None}]
    try:
        found = parse_messages(items)
    except ContextError:  # a kind of answer that is not read; the next request brings it
        return None
    if len(found) != 1 or found[0].role != "assistant" or found[0].text == _REDACTED:
        return None
    return found[0] if found[0].text or found[0].calls else None


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
