"""Owns literals at use: exact strings that a tool call's arguments take from what was said before.

Ids, paths, numbers, dates. A caller that knows them better passes its own list.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.compaction.loss_report import call_text, said_text
from ctxcore.facts.agent_records import arguments_of, file_uses, strings_of
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import JsonObject, Message, ToolCall
from ctxcore.salience.ranking import read_literals
from ctxcore.salience.units import Unit

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


_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A call that brought what an earlier one had brought; places are indexes into the messages."""

    at: int
    first_at: int
    """The latest earlier call of the same."""
    function_name: str
    what: str
    """The file, or the arguments."""
    tokens: int
    """Its result."""

    def to_dict(self) -> JsonObject:
        """The repeat as JSON."""
        return {
            "at": self.at,
            "first_at": self.first_at,
            "function_name": self.function_name,
            "what": self.what,
            "tokens": self.tokens,
        }


def find_repeats(
    messages: Sequence[Message], sizes: Sequence[int], *, split_at: int, until: int
) -> list[Repeat]:
    """Calls in split_at … until that repeat one before `split_at`, each thing once.

    `sizes` are the tokens of each message. The same file read again is a repeat, and so is the
    same call with the same arguments.
    """
    before: dict[tuple[str, str], int] = {}
    repeats: dict[tuple[str, str], Repeat] = {}
    for at, call, result in _answered(messages[:until]):
        for key in _matters(call):
            if at < split_at:
                before[key] = at
            elif key in before and key not in repeats:
                repeats[key] = Repeat(
                    at=at,
                    first_at=before[key],
                    function_name=call.name,
                    what=key[1][:_SHOWN_CHARS],
                    tokens=0 if result is None else sizes[result],
                )
    once = {(repeat.at, repeat.function_name, repeat.tokens): repeat for repeat in repeats.values()}
    return sorted(once.values(), key=lambda repeat: (repeat.at, repeat.what))


def _matters(call: ToolCall) -> list[tuple[str, str]]:
    """What a call brings: the files it reads, else its name and arguments."""
    uses = file_uses(call.name, arguments_of(call.arguments), "assistant")
    facts = list(uses)
    if any(fact.kind == "file_changed" for fact in facts):
        return []  # a change is not repeated but made
    read = [("read", fact.key) for fact in facts if fact.kind == "file_read"]
    return read or [(call.name, call.arguments)]


def _answered(messages: Sequence[Message]) -> Iterator[tuple[int, ToolCall, int | None]]:
    """Every call with its message's place and the place of the message that answers it."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for at, start in enumerate(block_starts(messages)):
        blocks[start].append(at)
    for head, *places in blocks.values():
        calls = messages[head].calls
        answered_by, _ = pair_results(calls, [messages[at] for at in places])
        for call, place in zip(calls, answered_by, strict=True):
            yield head, call, None if place is None else places[place]
