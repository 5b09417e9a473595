"""The rule of tool names: definitions, calls and results name tools as a provider takes it.

Sources: OpenAI, Anthropic and Bedrock say `[a-zA-Z0-9_-]{1,64}`; Gemini takes dots and colons too,
but a letter or `_` first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ctxcore.assembly.items import Item
from ctxcore.assembly.rules.sent_names import is_sent_everywhere
from ctxcore.assembly.rules.values import (
    Bench,
    Conversation,
    EachExchange,
    Exchange,
    Finding,
    Provider,
    Rule,
)
from ctxcore.messages.values import Message, ToolCall
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.tokens.count import count_message

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TAKEN_BY: Mapping[Provider, re.Pattern[str]] = {
    "openai": _PLAIN,
    "anthropic": _PLAIN,
    "bedrock": _PLAIN,
    "gemini": re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"),
}


def _check(conversation: Conversation, provider: Provider) -> Iterator[Finding]:
    pattern = _TAKEN_BY[provider]
    for name in conversation.tools:
        if not pattern.fullmatch(name):
            yield None, LegalityCode.DEFINED_NAME(name=name, pattern=pattern.pattern)
    for at, message in conversation.placed:
        for name in _names_in(message):
            if not pattern.fullmatch(name):
                yield at, LegalityCode.TOOL_NAME(name=name, pattern=pattern.pattern)


def _names_in(message: Message) -> list[str]:
    if message.is_tool_result:
        return [message.name] if message.name else []
    return [call.name for call in message.calls]


def _repair(exchange: Exchange, bench: Bench) -> Exchange:
    for call in exchange.calls:
        if not is_sent_everywhere(call.name):
            break
    else:
        for _, item in exchange.results:
            if item.message.name and not is_sent_everywhere(item.message.name):
                break
        else:
            return exchange
    calls = tuple(_named(call, exchange.head, bench) for call in exchange.calls)
    results = tuple((place, _answer(item, bench)) for place, item in exchange.results)
    return exchange._replace(calls=calls, results=results)


def _named(call: ToolCall, head: Item | None, bench: Bench) -> ToolCall:
    if is_sent_everywhere(call.name) or head is None:
        return call
    return replace(call, name=_sent(call.name, head, bench))


def _answer(item: Item, bench: Bench) -> Item:
    name = item.message.name
    if not name or is_sent_everywhere(name):
        return item
    message = replace(item.message, name=_sent(name, item, bench))
    return replace(item, message=message, tokens=count_message(message, bench.counter))


def _sent(name: str, item: Item, bench: Bench) -> str:
    sent = bench.names.of(name)
    bench.note(item, RepairCode.RENAMED_TOOL(name=name, new_name=sent))
    bench.renamed_tools[sent] = name
    return sent


_CALL = {"id": "a", "type": "function", "function": {"name": "my tool.v1", "arguments": "{}"}}
TOOL_NAME = Rule(
    name="tool_name",
    check=_check,
    repair=EachExchange(_repair),
    broken=[
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "a", "name": "my tool.v1", "content": "42"},
    ],
    broken_tools=[{"type": "function", "function": {"name": "my tool.v1"}}],
)
