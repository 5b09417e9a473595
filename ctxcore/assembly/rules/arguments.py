"""The rule that a call's arguments are a JSON object, as all providers but OpenAI need them.

Others are kept as text inside an object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ctxcore.assembly.items import Item
from ctxcore.assembly.rules.values import (
    STRICT,
    Bench,
    Conversation,
    EachExchange,
    Exchange,
    Finding,
    Provider,
    Rule,
)
from ctxcore.messages.values import ToolCall
from ctxcore.reasons.codes import LegalityCode, RepairCode


def _check(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        for call in message.calls:
            if not is_json_object(call.arguments):
                yield at, LegalityCode.ARGUMENTS(id=call.id)


def _repair(exchange: Exchange, bench: Bench) -> Exchange:
    return exchange.mending(_is_sound, _sound, bench)


def _is_sound(call: ToolCall) -> bool:
    return is_json_object(call.arguments)


def _sound(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
    bench.note(head, RepairCode.BROKEN_ARGUMENTS(id=call.id))
    raw = {"arguments": call.arguments} if call.arguments.strip() else {}
    return replace(call, arguments=json.dumps(raw, ensure_ascii=False))


@lru_cache(maxsize=1024)  # the same calls are looked at in every context until they fold
def is_json_object(text: str) -> bool:
    """Whether `text` is the JSON text of an object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


_BROKEN_CALL = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "[1]"}}
ARGUMENTS = Rule(
    name="arguments",
    check=_check,
    providers=STRICT,
    repair=EachExchange(_repair),
    broken=[
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [_BROKEN_CALL]},
        {"role": "tool", "tool_call_id": "a", "content": "42"},
    ],
)
