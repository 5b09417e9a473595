"""The rules of tool calls: each has a result directly behind it, legal arguments and an id.

A call without a result gets one that states it; a result without a call becomes a user's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from ctxcore.assembly.items import Item, with_message
from ctxcore.assembly.rules.values import (
    STRICT,
    Bench,
    Check,
    Conversation,
    EachExchange,
    Exchange,
    Finding,
    Placed,
    Rule,
    each_call,
    plain,
    with_digest,
)
from ctxcore.assembly.texts import NO_RESULT, orphan_text
from ctxcore.messages.values import JsonObject, Media, Message, Text, ToolCall, tool_result
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import Provider


def example_call(call_id: str = "a", name: str = "search", arguments: str = "{}") -> JsonObject:
    """A tool call for the `broken` conversation of a rule."""
    function: JsonObject = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def example(*calls: JsonObject, result: JsonObject | None = None) -> list[JsonObject]:
    """A conversation of a request, `calls` and the fields of a `result`, where there are any."""
    messages: list[JsonObject] = [{"role": "user", "content": "hi"}]
    if calls:
        messages.append({"role": "assistant", "content": None, "tool_calls": [*calls]})
    if result is not None:
        messages.append({"role": "tool", "tool_call_id": "a", **result, "content": "42"})
    return messages


def _check_pairs(code: LegalityCode) -> Check:
    def check(conversation: Conversation, _: Provider) -> Iterator[Finding]:
        return (found for found in _unpaired(conversation.placed) if found[1].code == code)

    return check


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


def _put_in_words(exchange: Exchange, bench: Bench) -> Exchange:
    if not exchange.orphans:
        return exchange
    return exchange._replace(orphans=tuple(_in_words(item, bench) for item in exchange.orphans))


def _in_words(item: Item, bench: Bench) -> Item:
    bench.note(item, RepairCode.ORPHAN_RESULT(id=item.message.answers))
    name = item.message.name or ""
    media = tuple(part for part in item.message.content if isinstance(part, Media))
    words = tuple(part for part in item.message.content if not isinstance(part, Media))
    text = Text(text=orphan_text(name, replace(item.message, content=words).text))
    return with_message(item, Message(role="user", content=(text, *media)), bench.counter)


def _unpaired(placed: Sequence[Placed]) -> Iterator[tuple[int, Reason]]:
    """Calls not answered before the next message, and results without a call before them."""
    open_calls: dict[str, int] = {}
    for at, message in placed:
        if message.is_tool_result:
            if open_calls.pop(message.answers or "", None) is None:
                yield at, LegalityCode.ORPHAN_RESULT(id=message.answers)
            continue
        yield from ((at, LegalityCode.MISSING_RESULT(id=id)) for id, at in open_calls.items())
        open_calls = {call.id: at for call in message.calls}
    yield from ((at, LegalityCode.MISSING_RESULT(id=id)) for id, at in open_calls.items())


MISSING_RESULT = Rule(
    name="missing_result",
    check=_check_pairs(LegalityCode.MISSING_RESULT),
    repair=EachExchange(_add_missing),
    broken=example(example_call()),
)
ORPHAN_RESULT = Rule(
    name="orphan_result",
    check=_check_pairs(LegalityCode.ORPHAN_RESULT),
    repair=EachExchange(_put_in_words),
    broken=example(result={}),
)


def _check_arguments(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        for call in message.calls:
            if not is_json_object(call.arguments):
                yield at, LegalityCode.ARGUMENTS(id=call.id)


def _wrapped(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
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


ARGUMENTS = Rule(
    name="arguments",
    check=_check_arguments,
    providers=STRICT,
    repair=each_call(lambda call: is_json_object(call.arguments), _wrapped),
    broken=example(example_call(arguments="[1]"), result={}),
)

LONGEST_ID = 40  # OpenAI's
_SIGNED = "__thought__"
"""litellm appends Gemini's signature of a call to its id with this, and removes it for others."""
_TAKEN_EVERYWHERE = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TAKEN_BY: Mapping[Provider, re.Pattern[str]] = {
    "openai": re.compile(r"(?s:.{1,40})"),
    "anthropic": re.compile(r"[A-Za-z0-9_-]+"),
    "bedrock": re.compile(r"[A-Za-z0-9_-]{1,64}"),
}


def _check_unique(conversation: Conversation, provider: Provider) -> Iterator[Finding]:
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
        for call_id in [message.answers or ""] if message.is_tool_result else ids:
            if call_id and not pattern.fullmatch(_unsigned(call_id)):
                yield at, LegalityCode.CALL_ID_FORM(id=call_id, pattern=pattern.pattern)


def _repair_ids(exchange: Exchange, bench: Bench) -> Exchange:
    calls = exchange.calls
    for at, call in enumerate(calls):
        if not call.id or call.id in bench.used_ids or call.id in bench.taken_ids:
            assert exchange.head is not None  # it has calls
            call = _renamed(call, exchange.head, bench)
            calls = (*calls[:at], call, *calls[at + 1 :])
        bench.used_ids.add(call.id)
    return exchange if calls is exchange.calls else exchange._replace(calls=calls)


def _renamed(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
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


def _plain(call: ToolCall, head: Item, bench: Bench) -> ToolCall:
    call_id = with_digest(plain(call.id), call.id, most=LONGEST_ID)
    bench.note(head, RepairCode.RENAMED_ID(id=call.id, new_id=call_id))
    bench.renamed_ids[call_id] = call.id
    return replace(call, id=call_id)


@lru_cache(maxsize=4096)  # the same calls are looked at in every context until they fold
def is_taken_everywhere(call_id: str) -> bool:
    """Whether every provider takes an id of this form; a missing one breaks another rule."""
    return not call_id or bool(_TAKEN_EVERYWHERE.fullmatch(_unsigned(call_id)))


def _unsigned(call_id: str) -> str:
    return call_id.partition(_SIGNED)[0] or call_id


_LONG = f"functions.search:{'0' * 64}"
CALL_ID_FORM = Rule(
    name="call_id_form",
    check=_check_form,
    providers=tuple(_TAKEN_BY),
    repair=each_call(lambda call: is_taken_everywhere(call.id), _plain),
    broken=example(example_call(_LONG), result={"tool_call_id": _LONG}),
)
CALL_ID = Rule(
    name="call_id",
    check=_check_unique,
    repair=EachExchange(_repair_ids),
    broken=example(example_call(), example_call(), result={}),
)
