"""Reads replies that came whole, from a call that the caller made itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ctxcore.gateway.replies import read_usage
from ctxcore.gateway.values import ModelReply, ModelUsage
from ctxcore.messages.provider_edits import NOTHING_CLEARED, read_cleared
from ctxcore.messages.shapes.reading import parse_one
from ctxcore.messages.values import Reasoning

_KNOWN: Final = ("role", "content", "tool_calls", "reasoning_content", "thinking_blocks", "refusal")


@dataclass(frozen=True, slots=True)
class _ReportedUsage:
    """A report of usage as chunks of streams hold it."""

    usage: object


def reply_of(response: object, *, seconds: float = 0.0, cost: float | None = None) -> ModelReply:
    """The reply in a response of `litellm.completion` or of OpenAI's chat completions.

    Args:
        response: the object that the call returned, or its dictionary.
        seconds: how long the call took.
        cost: US dollars, where they are known.

    Raises:
        MessageError: it holds no message.
    """
    plain = plain_response(response)
    said = message_in(plain)
    message = parse_one({key: said[key] for key in _KNOWN if said.get(key) is not None})
    return ModelReply(
        text=message.text,
        thoughts=tuple(part for part in message.content if isinstance(part, Reasoning)),
        calls=message.calls,
        finish_reason=str(_first_choice(plain).get("finish_reason") or "stop"),
        usage=usage_in(plain, plain.get("usage")),
        model=str(plain.get("model") or ""),
        cost=cost,
        latency_seconds=seconds,
        first_token_seconds=None,
    )


def usage_in(plain: Mapping[str, Any], reported: object) -> ModelUsage:
    """The usage that `reported` holds, with what the provider left out of the request by itself.

    `plain` is the whole response, in the provider's own form or litellm's.
    """
    fields = message_in(plain).get("provider_specific_fields")
    cleared = next(
        (found for one in (plain, fields) if (found := read_cleared(one)) != NOTHING_CLEARED),
        NOTHING_CLEARED,
    )
    return replace(read_usage([_ReportedUsage(reported)]), **cleared._asdict())


def message_in(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of chat completions; empty where there is none."""
    message = _first_choice(plain).get("message")
    return message if isinstance(message, Mapping) else {}


def _first_choice(plain: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = plain.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def plain_response(response: object) -> Mapping[str, Any]:
    """A response as a dictionary; empty where it is none."""
    dump = getattr(response, "model_dump", None)
    found = dump() if callable(dump) else response
    return found if isinstance(found, Mapping) else {}
