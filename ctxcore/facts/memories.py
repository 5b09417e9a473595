"""Owns what people pin within a message, and what they or an agent asked to be remembered.

Words are kept as they were said. Only users pin; only users and tool calls that write memories ask
to remember: what a tool printed never does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ctxcore.facts.file_uses import arguments_of
from ctxcore.facts.reading import PROSE_CHARS, one_line, sample, sentences
from ctxcore.messages.values import JsonValue, Message

MEMORY_CHARS: Final = 400
PASSAGE_CHARS: Final = 20_000
MOST_PASSAGES: Final = 20

_PIN = re.compile(r"<pin>(.*?)</pin>", re.IGNORECASE | re.DOTALL)
_REMEMBER = re.compile(
    r"(?:^|[,.;:!] ?|\b(?:please|and|so|but|also|just) )(?:remember|keep in mind|don't forget"
    r"|do not forget|make a note|note down)(?: that|:|,|\s)(?! (?:when|me|how|the time)\b)",
    re.IGNORECASE,
)
_REMEMBER_HAN = re.compile(
    "(?:^|[，,。；：请你要帮]|一定)(?:请)?(?:记住|记得|记一下|记下|别忘了|不要忘)"
)
_WRITES_MEMORY = re.compile(
    r"(?:save|add|create|store|write|update|insert|append|put|set|record|log|new|make)\w*memor"
    r"|memor(?:y|ies)\w*(?:save|add|create|store|write|update|insert|append|put|set|record)"
    r"|^(?:remember|memori[sz]e|memor(?:y|ies))(?:that|this|fact)?$"
)
_TEXTS: Final = (
    *("content", "text", "memory", "fact", "note", "value", "observation", "data", "message"),
    *("memories", "observations", "file_text", "new_str", "insert_text"),
)
_READS_MEMORY: Final = ("view", "read", "search", "list", "delete", "get")


def passages_of(message: Message) -> list[str]:
    """What stands between `<Pin>` and `</Pin>` in a user's message."""
    if message.role != "user":
        return []
    text = message.text
    if "<" not in text:
        return []
    found = (part.strip() for part in _PIN.findall(text)[:MOST_PASSAGES])
    return [part[:PASSAGE_CHARS] for part in found if part]


def memories_of(message: Message) -> list[str]:
    """What a message asks to be remembered, in its words."""
    if message.role == "user":
        return [*_asked(message.text)]
    return [told for call in message.calls for told in _written(call.name, call.arguments)]


def _asked(text: str) -> Iterator[str]:
    prose = sample(text, PROSE_CHARS)
    if not (_REMEMBER.search(prose) or _REMEMBER_HAN.search(prose)):
        return
    for sentence in sentences(prose):
        said = sentence.text.strip()
        if said.endswith(("?", "？")):
            continue
        if _REMEMBER.search(said) or _REMEMBER_HAN.search(said):
            yield one_line(said, MEMORY_CHARS)


def _written(name: str, arguments: str) -> Iterator[str]:
    """What a tool call that writes a memory writes."""
    if not _WRITES_MEMORY.search(re.sub(r"[^a-z]", "", name.rpartition("__")[2].lower())):
        return
    values = arguments_of(arguments)
    if str(values.get("command") or values.get("action") or "").lower() in _READS_MEMORY:
        return
    value = next((values[key] for key in _TEXTS if values.get(key)), None)
    yield from _told(value)


def _told(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield one_line(value, MEMORY_CHARS)
    elif isinstance(value, list):
        for one in value[:MOST_PASSAGES]:
            yield from _told(one)
    elif isinstance(value, dict):
        yield from _told(next((value[key] for key in _TEXTS if value.get(key)), None))
