"""The language of a conversation, by its share of Chinese characters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from ctxcore.messages.values import Message
from ctxcore.text.scripts import HAN_RUN

Language: TypeAlias = Literal["en", "zh"]
LATIN_WORD = re.compile(r"[A-Za-z]+")
CHARS_READ = 4_000  # of one message, so that one long tool output does not decide


def detect_language(messages: Iterable[Message]) -> Language:
    """`zh` where Chinese characters outnumber Latin words, `en` otherwise.

    A Chinese word is about two characters, so a Chinese conversation full of English identifiers
    is still Chinese. Tool outputs do not count: they are seldom in the language people speak.
    """
    said = [message.text[:CHARS_READ] for message in messages if not message.is_tool_result]
    han = sum(sum(map(len, HAN_RUN.findall(text))) for text in said if not text.isascii())
    if not han:
        return "en"
    return "zh" if han > sum(len(LATIN_WORD.findall(text)) for text in said) else "en"
