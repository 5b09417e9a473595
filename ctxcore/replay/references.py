"""Owns literals at use: exact strings that a tool call's arguments take from what was said before.

Ids, paths, numbers, dates. A caller that knows them better passes its own list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.compaction.losing import call_text, said_text
from ctxcore.facts.file_uses import arguments_of, strings_of
from ctxcore.messages.values import Message, ToolCall
from ctxcore.worth.literals import read_literals
from ctxcore.worth.units import Unit

LEAST_CHARS = 3
LEAST_DIGITS = 4  # a shorter bare number is a count, a line or a size more often than a reference
ARGUMENT_CHARS = 2_000  # longer ones are content that the call writes, not what it refers to
MOST_OF_A_CALL = 24

_NUMBER = re.compile(r"[\d.,:+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralUse:
    """A literal that the message at `used_at` needs; places are indexes into the messages."""

    literal: str
    used_at: int
    first_source_at: int | None = None
    """Where it was said first."""
    last_seen_at: int | None = None
    """Where it was said last before it was used."""
    function_name: str = ""

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> LiteralUse:
        """A use from JSON: `literal`, `used_at`, and what else it says of the fields here.

        Raises:
            KeyError, TypeError: a needed key is missing or is no text or number.
        """
        literal, used_at = raw["literal"], raw["used_at"]
        if not isinstance(literal, str) or not isinstance(used_at, int):
            raise TypeError("a use needs a text `literal` and a number `used_at`")
        first, last, name = raw.get("first_source_at"), raw.get("last_seen_at"), raw.get("tool")
        return cls(
            literal=literal,
            used_at=used_at,
            first_source_at=first if isinstance(first, int) else None,
            last_seen_at=last if isinstance(last, int) else None,
            function_name=name if isinstance(name, str) else "",
        )


def find_literal_uses(messages: Sequence[Message]) -> list[LiteralUse]:
    """Every literal that a call uses after it was said, each once a message, in order."""
    said: dict[str, tuple[int, int]] = {}
    uses: list[LiteralUse] = []
    for at, message in enumerate(messages):
        for call in message.calls:
            uses += _uses(call, at, said)
        for literal in _literals(said_text(message)):
            said[literal] = (said[literal][0] if literal in said else at, at)
    return list({(use.used_at, use.literal): use for use in reversed(uses)}.values())[::-1]


def _uses(call: ToolCall, at: int, said: Mapping[str, tuple[int, int]]) -> Iterator[LiteralUse]:
    known = [literal for literal in _literals(reference_text(call)) if literal in said]
    for literal in known[:MOST_OF_A_CALL]:
        first, last = said[literal]
        yield LiteralUse(
            literal=literal,
            used_at=at,
            first_source_at=first,
            last_seen_at=last,
            function_name=call.name,
        )


def reference_text(call: ToolCall) -> str:
    """What a call refers to: the values of its arguments, long texts left out."""
    long = [
        one
        for one in strings_of(arguments_of(call.arguments)).values()
        if len(one) > ARGUMENT_CHARS
    ]
    text = call_text(call)
    for one in long:
        text = text.replace(one, "")
    return text


def _literals(text: str) -> tuple[str, ...]:
    (found,) = read_literals([Unit(seq=0, text=text, role="user", tokens=0)])
    return tuple(filter(is_reference, found))


def is_reference(literal: str) -> bool:
    """Whether a literal is long enough to refer to one thing."""
    if _NUMBER.fullmatch(literal):
        return sum(sign.isdigit() for sign in literal) >= LEAST_DIGITS
    return len(literal) >= LEAST_CHARS


def says_literal(text: str, literal: str) -> bool:
    """Whether `text` holds `literal`, not as a part of a longer word or number."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        if not (_joins(text, at - 1, at) or _joins(text, end - 1, end)):
            return True
        at = text.find(literal, at + 1)
    return False


def _joins(text: str, one: int, other: int) -> bool:
    """Whether the signs at two neighbouring places belong to one word."""
    if one < 0 or other >= len(text):
        return False
    return _is_word(text[one]) and _is_word(text[other])


def _is_word(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def places_of(literals: Iterable[str], texts: Sequence[str]) -> dict[str, list[int]]:
    """For each of `literals` the places in `texts` that say it as a word of its own."""
    wanted = set(literals)
    places: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        for literal in wanted.intersection(_literals(text)):
            places[literal].append(at)
    return dict(places)
