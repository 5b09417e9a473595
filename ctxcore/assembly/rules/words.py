"""The rules of words: no message is empty or blank, and a speaker's name is one that OpenAI takes.

OpenAI alone minds names, the others alone what is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ctxcore.assembly.rules.values import (
    STRICT,
    Conversation,
    EachMessage,
    Finding,
    Note,
    Provider,
    Rule,
)
from ctxcore.assembly.texts import EMPTY
from ctxcore.messages.values import Media, Message, Opaque, Part, Refusal, Text
from ctxcore.reasons.codes import LegalityCode, RepairCode

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
    return is_plain_name(message.name) and _says_something(message)


def _says_something(message: Message) -> bool:
    if message.is_system:
        return True
    if any(isinstance(part, Refusal) or _is_blank(part) for part in message.content):
        return False
    return bool(message.calls) or any(_is_visible(part) for part in message.content)


def _check_empty(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        if message.is_tool_result or message.is_system:
            continue
        said = [part for part in message.content if isinstance(part, (Text, Media, Opaque))]
        if not said and not message.calls:
            yield at, LegalityCode.EMPTY(role=message.role)
        if any(isinstance(part, Text) and not part.text.strip() for part in said):
            yield at, LegalityCode.BLANK(role=message.role)


def _say_something(message: Message, note: Note) -> Message:
    """`message` in words that every provider takes: no refusal apart, none blank, never nothing."""
    content = message.content
    if len(content) == 1 and isinstance(content[0], Text) and content[0].text.strip():
        return message
    if message.is_tool_result or _says_something(message):
        return message
    if any(isinstance(part, Refusal) for part in message.content):
        note(RepairCode.REFUSAL_IN_WORDS())
        message = replace(message, content=tuple(map(_in_words, message.content)))
    said = tuple(part for part in message.content if not _is_blank(part))
    if not message.calls and not any(_is_visible(part) for part in said):
        note(RepairCode.EMPTY_MESSAGE(role=message.role))
        said = (*said, Text(text=EMPTY))
    elif len(said) < len(message.content):
        note(RepairCode.BLANK_TEXT())
    return replace(message, content=said)


def _check_name(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    for at, message in conversation.placed:
        if not message.is_tool_result and not is_plain_name(message.name):
            yield at, LegalityCode.NAME(name=message.name)


def _say_name(message: Message, note: Note) -> Message:
    """`message` with its speaker's name before the words, where it is none that a field takes."""
    if not message.name or message.is_tool_result or is_plain_name(message.name):
        return message
    note(RepairCode.NAME_IN_WORDS(name=message.name))
    label = f"{message.name}: "
    first = message.content[0] if message.content else None
    if isinstance(first, Text) and first.extra is None:
        content = (Text(text=label + first.text), *message.content[1:])
    else:
        content = (Text(text=label), *message.content)
    return replace(message, name=None, content=content)


@lru_cache(maxsize=512)  # a speaker's name comes with each of the messages
def is_plain_name(name: str | None) -> bool:
    """Whether OpenAI takes `name` as a speaker's: no white space, none of `<|\\/>`."""
    return not name or bool(_PLAIN_NAME.fullmatch(name))


def _is_visible(part: Part) -> bool:
    return isinstance(part, (Media, Opaque)) or (isinstance(part, Text) and not _is_blank(part))


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and (not part.text or part.text.isspace())


def _in_words(part: Part) -> Part:
    return Text(text=part.text) if isinstance(part, Refusal) else part


NAME = Rule(
    name="name",
    check=_check_name,
    providers=("openai",),
    repair=EachMessage(_say_name, passes=is_sayable),
    broken=[{"role": "user", "name": "Ada Lovelace", "content": "hi"}],
)
EMPTY_WORDS = Rule(
    name="empty",
    check=_check_empty,
    providers=STRICT,
    repair=EachMessage(_say_something, passes=is_sayable),
    broken=[{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}],
)
