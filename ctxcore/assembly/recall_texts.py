"""Quotes messages that were found for a query: where each comes from, and what it says about it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from ctxcore.assembly.arguments import told
from ctxcore.assembly.history import Counted
from ctxcore.compression.markers import reference
from ctxcore.compression.outputs import compress_with
from ctxcore.messages.values import Message
from ctxcore.recalling.index_words import message_words
from ctxcore.tokens.families import TokenCounter

PIECE_TOKENS: Final = 300  # of a message; of a longer one, what the query is about
_SAME_WORDS: Final = 0.8  # of the words of two messages that say the same


def heading(seq: int, role: str, said_at: datetime | None, name: str = "") -> str:
    """Where a message comes from, e.g. `m12 · tool search · 2026-03-02 09:14`."""
    date = [f"{said_at:%Y-%m-%d %H:%M}"] if said_at else []
    return " · ".join([reference(seq), f"{role} {name}".strip(), *date])


def quoted(row: Counted, query: str, counter: TokenCounter) -> str:
    """A message below its heading; of a long one the piece that `query` is about."""
    name = row.function_name if row.message.is_tool_result else ""
    at = heading(row.seq, row.message.role, row.said_at, name)
    return f"[{at}]\n{piece_of(row, query, counter)}"


def piece_of(row: Counted, query: str, counter: TokenCounter) -> str:
    """The text of a message with its calls; of a long one what `query` is about."""
    if row.tokens <= PIECE_TOKENS:
        return told(row.message).strip()
    return _piece(told(row.message), query, counter).strip()


def text_within(message: Message, query: str, counter: TokenCounter) -> str:
    """The same of a message that was not counted by `counter`."""
    text = told(message)
    return (_piece(text, query, counter) if counter.count(text) > PIECE_TOKENS else text).strip()


def index_words_of(row: Counted) -> frozenset[str]:
    """The words of a message, to tell whether another says the same."""
    return frozenset(message_words(row.message).split())


def says_the_same(words: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether a message with these words says nearly what one with `others` says."""
    return any(_are_alike(words, other) for other in others)


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    every = len(one | other)
    return not every or len(one & other) / every >= _SAME_WORDS


def _piece(text: str, query: str, counter: TokenCounter) -> str:
    if isinstance(counter, Hashable):
        return _piece_once(text, query, counter)
    return compress_with(text, max_tokens=PIECE_TOKENS, counter=counter, query=query).text


@lru_cache(maxsize=512)  # what was recalled is in every context until its request is folded
def _piece_once(text: str, query: str, counter: TokenCounter) -> str:
    return compress_with(text, max_tokens=PIECE_TOKENS, counter=counter, query=query).text
