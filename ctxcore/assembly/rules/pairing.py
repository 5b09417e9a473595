"""The rules that a call is answered by results directly behind it, and a result has its call.

A call without a result gets one that says so; a result without a call becomes a user's text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ctxcore.assembly.items import Item
from ctxcore.assembly.rules.values import (
    Bench,
    Conversation,
    EachExchange,
    Exchange,
    Finding,
    Placed,
    Provider,
    Rule,
)
from ctxcore.assembly.texts import NO_RESULT, orphan_text
from ctxcore.messages.values import Media, Message, Text, ToolCall, tool_result
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message


def _check_missing(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    found = _unpaired(conversation.placed)
    return (one for one in found if one[1].code == LegalityCode.MISSING_RESULT)


def _check_orphans(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    found = _unpaired(conversation.placed)
    return (one for one in found if one[1].code == LegalityCode.ORPHAN_RESULT)


def _add_missing(exchange: Exchange, bench: Bench) -> Exchange:
    if len(exchange.results) == len(exchange.calls) or exchange.head is None:
        return exchange
    answered = {place for place, _ in exchange.results}
    missing = (at for at in range(len(exchange.calls)) if at not in answered)
    added = ((at, _no_result(exchange.calls[at], exchange.head, bench)) for at in missing)
    return exchange._replace(results=(*exchange.results, *added))


def _no_result(call: ToolCall, head: Item, bench: Bench) -> Item:
    bench.note(head, RepairCode.MISSING_RESULT(id=call.id, tool=call.name))
    message = tool_result(call.id, NO_RESULT)
    tokens = count_message(message, bench.counter, function_name=call.name)
    return Item(segment=head.segment, message=message, tokens=tokens, is_laid_out=False)


def _say_orphans(exchange: Exchange, bench: Bench) -> Exchange:
    if not exchange.orphans:
        return exchange
    return exchange._replace(orphans=tuple(_in_words(item, bench) for item in exchange.orphans))


def _in_words(item: Item, bench: Bench) -> Item:
    bench.note(item, RepairCode.ORPHAN_RESULT(id=item.message.answers))
    name = item.message.name or ""
    media = tuple(part for part in item.message.content if isinstance(part, Media))
    words = tuple(part for part in item.message.content if not isinstance(part, Media))
    said = Text(text=orphan_text(name, replace(item.message, content=words).text))
    message = Message(role="user", content=(said, *media))
    return replace(item, message=message, tokens=count_message(message, bench.counter))


def _unpaired(placed: Sequence[Placed]) -> Iterator[tuple[int, Reason]]:
    """Calls not answered before the next message, and results without a call before them."""
    open_calls: dict[str, int] = {}
    for at, message in placed:
        if message.is_tool_result:
            if open_calls.pop(message.answers or "", None) is None:
                yield at, LegalityCode.ORPHAN_RESULT(id=message.answers)
            continue
        yield from _unanswered(open_calls)
        open_calls = {call.id: at for call in message.calls}
    yield from _unanswered(open_calls)


def _unanswered(open_calls: Mapping[str, int]) -> Iterator[tuple[int, Reason]]:
    for call_id, at in open_calls.items():
        yield at, LegalityCode.MISSING_RESULT(id=call_id)


_ASKED = {"role": "user", "content": "hi"}
_CALL = {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}}
MISSING_RESULT = Rule(
    name="missing_result",
    check=_check_missing,
    repair=EachExchange(_add_missing),
    broken=[_ASKED, {"role": "assistant", "content": None, "tool_calls": [_CALL]}],
)
ORPHAN_RESULT = Rule(
    name="orphan_result",
    check=_check_orphans,
    repair=EachExchange(_say_orphans),
    broken=[_ASKED, {"role": "tool", "tool_call_id": "a", "content": "42"}],
)
