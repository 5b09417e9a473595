"""The rules of words and names: no message is empty, and names have the form providers take.

OpenAI alone refuses speakers' names, the others alone what is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from ctxcore.assembly.items import Item, with_message
from ctxcore.assembly.rules.calls import example, example_call
from ctxcore.assembly.rules.values import (
    STRICT,
    Bench,
    Conversation,
    EachExchange,
    EachMessage,
    Exchange,
    Finding,
    Note,
    Rule,
    each_call,
    is_sent_everywhere,
)
from ctxcore.assembly.texts import EMPTY
from ctxcore.messages.values import Media, Message, Opaque, Part, Refusal, Text
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.tokens.families import Provider

_PLAIN_NAME = re.compile(r"[^\s<|\\/>]{1,64}")  # the pattern in OpenAI's own refusal


def is_sayable(message: Message) -> bool:
    """Whether every provider takes the words of `message` as they are; tool results any."""
    content = message.content
    if len(content) == 1 and isinstance(content[0], Text):
        text = content[0].text  # nearly every message: no look at the other rules is needed
        if text and not text.isspace() and (not message.name or is_plain_name(message.name)):
            return True
    if message.is_tool_result:
        return True
    return is_plain_name(message.name) and _has_content(message)


def _has_content(message: Message) -> bool:
    if message.is_system:
        return True
    if any(isinstance(part, Refusal) or _is_blank(part) for part in message.content):
        return False
    return bool(message.calls) or any(_is_visible(part) for part in message.content)


def _check_empty(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        if message.is_tool_result or message.is_system:
            continue
        parts = [part for part in message.content if isinstance(part, (Text, Media, Opaque))]
        if not parts and not message.calls:
            yield at, LegalityCode.EMPTY(role=message.role)
        if any(map(_is_blank, parts)):
            yield at, LegalityCode.BLANK(role=message.role)


def _repair_empty(message: Message, note: Note) -> Message:
    """`message` with words that every provider takes: refusals as text, some text, none blank."""
    content = message.content
    if len(content) == 1 and isinstance(content[0], Text) and content[0].text.strip():
        return message
    if message.is_tool_result or _has_content(message):
        return message
    if any(isinstance(part, Refusal) for part in message.content):
        note(RepairCode.REFUSAL_IN_WORDS())
        words = (Text(text=p.text) if isinstance(p, Refusal) else p for p in message.content)
        message = replace(message, content=tuple(words))
    content = tuple(part for part in message.content if not _is_blank(part))
    if not message.calls and not any(map(_is_visible, content)):
        note(RepairCode.EMPTY_MESSAGE(role=message.role))
        content = (*content, Text(text=EMPTY))
    elif len(content) < len(message.content):
        note(RepairCode.BLANK_TEXT())
    return replace(message, content=content)


def _check_name(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        if not message.is_tool_result and not is_plain_name(message.name):
            yield at, LegalityCode.NAME(name=message.name)


def _repair_name(message: Message, note: Note) -> Message:
    """`message` with its speaker's name before the words, where OpenAI's field does not take it."""
    if not message.name or message.is_tool_result or is_plain_name(message.name):
        return message
    note(RepairCode.NAME_IN_WORDS(name=message.name))
    label = speaker_label(message)
    first = message.content[0] if message.content else None
    if isinstance(first, Text) and first.extra is None:
        content = (Text(text=label + first.text), *message.content[1:])
    else:
        content = (Text(text=label), *message.content)
    return replace(message, name=None, content=content)


def speaker_label(message: Message) -> str:
    """What names the speaker before the words of `message`; empty where they begin with it."""
    if not message.name:
        return ""
    first = message.content[0] if message.content else None
    said = first.text if isinstance(first, Text) else ""
    return "" if _begins_with(said, message.name) else f"{message.name}: "


def words_of_speaker(message: Message) -> str:
    """The text of `message` without the name of its speaker, where it begins with that."""
    is_named = message.name and _begins_with(message.text, message.name)
    return message.text[len(message.name or "") + 1 :].strip() if is_named else message.text


def _begins_with(text: str, name: str) -> bool:
    begins = text[: len(name) + 1].replace(" ", "_").casefold()
    named = name.replace(" ", "_").casefold()
    return begins in (f"{named}:", f"{named}：")


@lru_cache(maxsize=512)  # a speaker's name comes with each of the messages
def is_plain_name(name: str | None) -> bool:
    """Whether OpenAI takes `name` as a speaker's: no white space, none of `<|\\/>`."""
    return not name or bool(_PLAIN_NAME.fullmatch(name))


def _is_visible(part: Part) -> bool:
    return isinstance(part, (Media, Opaque)) or (isinstance(part, Text) and not _is_blank(part))


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and (not part.text or part.text.isspace())


NAME = Rule(
    name="name",
    check=_check_name,
    providers=("openai",),
    repair=EachMessage(_repair_name, passes=is_sayable),
    broken=[{"role": "user", "name": "Ada Lovelace", "content": "hi"}],
)
EMPTY_WORDS = Rule(
    name="empty",
    check=_check_empty,
    providers=STRICT,
    repair=EachMessage(_repair_empty, passes=is_sayable),
    broken=[{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}],
)

_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TAKEN_BY: Mapping[Provider, re.Pattern[str]] = {
    "openai": _PLAIN,
    "anthropic": _PLAIN,
    "bedrock": _PLAIN,
    "gemini": re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"),
}


def _check_tool_names(conversation: Conversation, provider: Provider) -> Iterator[Finding]:
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


def _repair_tool_names(exchange: Exchange, bench: Bench) -> Exchange:
    exchange = _CALL_NAMES.change(exchange, bench)
    names = (item.message.name for _, item in exchange.results)
    if all(not name or is_sent_everywhere(name) for name in names):
        return exchange
    results = tuple((place, _answer(item, bench)) for place, item in exchange.results)
    return exchange._replace(results=results)


def _answer(item: Item, bench: Bench) -> Item:
    name = item.message.name
    if not name or is_sent_everywhere(name):
        return item
    message = replace(item.message, name=_sent(name, item, bench))
    return with_message(item, message, bench.counter)


def _sent(name: str, item: Item, bench: Bench) -> str:
    sent = bench.names.of(name)
    bench.note(item, RepairCode.RENAMED_TOOL(name=name, new_name=sent))
    bench.renamed_tools[sent] = name
    return sent


_CALL_NAMES = each_call(
    lambda call: is_sent_everywhere(call.name),
    lambda call, head, bench: replace(call, name=_sent(call.name, head, bench)),
)
_NAME = "my tool.v1"
TOOL_NAME = Rule(
    name="tool_name",
    check=_check_tool_names,
    repair=EachExchange(_repair_tool_names),
    broken=example(example_call(name=_NAME), result={"name": _NAME}),
    broken_tools=[{"type": "function", "function": {"name": _NAME}}],
)
