"""The rules of call ids: each call has its own, of characters and a length that providers take.

OpenAI minds an id that is used twice within one message only. Sources of the forms: OpenAI's
refusal names 40 characters, Anthropic's the pattern; Bedrock's API reference has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from ctxcore.assembly.items import Item
from ctxcore.assembly.rules.sent_names import plain, with_digest
from ctxcore.assembly.rules.values import (
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

LONGEST_ID = 40
_SIGNED = "__thought__"
"""litellm puts Gemini's signature of a call behind its id so, and takes it off for others."""
_TAKEN_EVERYWHERE = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TAKEN_BY: Mapping[Provider, re.Pattern[str]] = {
    "openai": re.compile(r"(?s:.{1,40})"),
    "anthropic": re.compile(r"[A-Za-z0-9_-]+"),
    "bedrock": re.compile(r"[A-Za-z0-9_-]{1,64}"),
}


def _check_own(conversation: Conversation, provider: Provider) -> Iterator[Finding]:
    seen: set[str] = set()
    for at, message in conversation.placed:
        if provider == "openai":
            seen.clear()
        for call in message.calls:
            if not call.id:
                yield at, LegalityCode.CALL_ID_MISSING(tool=call.name)
            elif call.id in seen:
                yield at, LegalityCode.CALL_ID_TWICE(id=call.id)
            seen.add(call.id)


def _check_form(conversation: Conversation, provider: Provider) -> Iterator[Finding]:
    pattern = _TAKEN_BY[provider]
    for at, message in conversation.placed:
        ids = [call.id for call in message.calls]
        for one in [message.answers or ""] if message.is_tool_result else ids:
            if one and not pattern.fullmatch(_unsigned(one)):
                yield at, LegalityCode.CALL_ID_FORM(id=one, pattern=pattern.pattern)


def _make_own(exchange: Exchange, bench: Bench) -> Exchange:
    used, taken = bench.used_ids, bench.taken_ids
    calls = exchange.calls
    for at, call in enumerate(calls):
        if not call.id or call.id in used or call.id in taken:
            assert exchange.head is not None  # it has calls
            own = _own(call, exchange.head, bench)
            calls = (*calls[:at], own, *calls[at + 1 :])
            used.add(own.id)
        else:
            used.add(call.id)
    return exchange if calls is exchange.calls else exchange._replace(calls=calls)


def _own(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
    """`call` under an id that no other call of this context has."""
    call_id, again = call.id, 0
    while not call_id or call_id in bench.used_ids or call_id in bench.taken_ids:
        again += 1
        call_id = f"{call.id[:24] or 'call'}_{head.seq}_{again}"
    if call.id:
        bench.note(head, RepairCode.RENAMED_CALL(id=call.id, new_id=call_id))
        bench.renamed_ids[call_id] = bench.renamed_ids.get(call.id, call.id)
    else:
        bench.note(head, RepairCode.NAMED_CALL(new_id=call_id))
    return replace(call, id=call_id)


def _make_plain(exchange: Exchange, bench: Bench) -> Exchange:
    return exchange.mending(_is_plain, _plain, bench)


def _is_plain(call: ToolCall) -> bool:
    return is_taken_everywhere(call.id)


def _plain(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
    call_id = with_digest(plain(call.id), call.id, most=LONGEST_ID)
    bench.note(head, RepairCode.RENAMED_ID(id=call.id, new_id=call_id))
    bench.renamed_ids[call_id] = call.id
    return replace(call, id=call_id)


@lru_cache(maxsize=4096)  # the same calls are looked at in every context until they fold
def is_taken_everywhere(call_id: str) -> bool:
    """Whether every provider takes an id of this form; one that is missing is another matter."""
    return not call_id or bool(_TAKEN_EVERYWHERE.fullmatch(_unsigned(call_id)))


def _unsigned(call_id: str) -> str:
    return call_id.partition(_SIGNED)[0] or call_id


def _call(call_id: str) -> Mapping[str, object]:
    return {"id": call_id, "type": "function", "function": {"name": "search", "arguments": "{}"}}


_ASKED = {"role": "user", "content": "hi"}
_LONG = f"functions.search:{'0' * 64}"
CALL_ID_FORM = Rule(
    name="call_id_form",
    check=_check_form,
    providers=tuple(_TAKEN_BY),
    repair=EachExchange(_make_plain),
    broken=[
        _ASKED,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [_call(_LONG)],
        },
        {"role": "tool", "tool_call_id": _LONG, "content": "42"},
    ],
)
CALL_ID = Rule(
    name="call_id",
    check=_check_own,
    repair=EachExchange(_make_own),
    broken=[
        _ASKED,
        {"role": "assistant", "content": None, "tool_calls": [_call("a"), _call("a")]},
        {"role": "tool", "tool_call_id": "a", "content": "42"},
    ],
)
