"""Finds the literals that tool calls take from earlier messages, and calls that repeat others.

Literals are ids, paths, numbers and dates. A caller that knows them better passes its own list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from ctxcore.compaction.loss_report import call_text, message_text
from ctxcore.facts.agent_records import arguments_of, file_uses, strings_of
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import JsonObject, Message, ToolCall
from ctxcore.text.identifiers import exact_strings, is_bare_number

LEAST_CHARS = 3  # chosen: shorter words are rarely a reference
LEAST_DIGITS = 4  # chosen: a shorter bare number is more often a count, a line or a size
ARGUMENT_CHARS = 2_000  # chosen: a longer argument is content that the call writes
MOST_OF_A_CALL = 24  # chosen: literals counted of one call, so that no single call dominates
_SHOWN_CHARS = 120  # chosen: of the arguments of a repeated call, one line in a table


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteralUse:
    """A literal that the message at `used_at` needs; all `…_at` are indexes of messages."""

    literal: str
    used_at: int
    first_source_at: int | None = None
    """Where it appeared first."""
    last_seen_at: int | None = None
    """Where it appeared last before it was used."""
    function_name: str = ""


def find_literal_uses(messages: Sequence[Message]) -> list[LiteralUse]:
    """Returns every literal that a call uses after it appeared, each once a message, in order."""
    seen_at: dict[str, tuple[int, int]] = {}
    uses: list[LiteralUse] = []
    for at, message in enumerate(messages):
        for call in message.calls:
            uses += _uses(call, at, seen_at)
        for literal in _literals(message_text(message)):
            seen_at[literal] = (seen_at[literal][0] if literal in seen_at else at, at)
    return list({(use.used_at, use.literal): use for use in reversed(uses)}.values())[::-1]


def _uses(call: ToolCall, at: int, seen_at: Mapping[str, tuple[int, int]]) -> Iterator[LiteralUse]:
    known = [literal for literal in _literals(reference_text(call)) if literal in seen_at]
    for literal in known[:MOST_OF_A_CALL]:
        first, last = seen_at[literal]
        yield LiteralUse(
            literal=literal,
            used_at=at,
            first_source_at=first,
            last_seen_at=last,
            function_name=call.name,
        )


def reference_text(call: ToolCall) -> str:
    """Returns the values of a call's arguments without long texts."""
    text = call_text(call)
    for value in strings_of(arguments_of(call.arguments)).values():
        if len(value) > ARGUMENT_CHARS:
            text = text.replace(value, "")
    return text


def _literals(text: str) -> tuple[str, ...]:
    return tuple(filter(is_reference, exact_strings(text)))


def is_reference(literal: str) -> bool:
    """Whether a literal is long enough to identify something."""
    if is_bare_number(literal):
        return sum(char.isdigit() for char in literal) >= LEAST_DIGITS
    return len(literal) >= LEAST_CHARS


def says_literal(text: str, literal: str) -> bool:
    """Whether `text` holds `literal`, not as a part of a longer word or number."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        if not (_joins(text, at) or _joins(text, end)):
            return True
        at = text.find(literal, at + 1)
    return False


def _joins(text: str, place: int) -> bool:
    """Whether the characters before and at `place` belong to one word."""
    around = text[place - 1 : place + 1] if place else ""
    return len(around) == 2 and around.isascii() and around.isalnum()


def places_of(literals: Iterable[str], texts: Sequence[str]) -> dict[str, list[int]]:
    """Returns for each of `literals` the indexes of the `texts` that hold it as a word."""
    wanted = set(literals)
    places: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        for literal in wanted.intersection(_literals(text)):
            places[literal].append(at)
    return dict(places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A call that returns what an earlier one returned; `at` and `first_at` are message indexes."""

    at: int
    first_at: int
    """The latest earlier call for the same."""
    function_name: str
    what: str
    """The file, or the arguments."""
    tokens: int
    """Size of its result."""

    def to_dict(self) -> JsonObject:
        """Returns the repeat as JSON."""
        return asdict(self)


def find_repeats(
    messages: Sequence[Message], sizes: Sequence[int], *, split_at: int, until: int
) -> list[Repeat]:
    """Returns the calls in split_at … until that repeat one before `split_at`, each thing once.

    `sizes` are the tokens of each message. The same file read again is a repeat, and so is the
    same call with the same arguments.
    """
    before: dict[tuple[str, str], int] = {}
    repeats: dict[tuple[str, str], Repeat] = {}
    for at, call, result in answered_calls(messages[:until]):
        for key in _topics(call):
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


def _topics(call: ToolCall) -> list[tuple[str, str]]:
    """Returns what a call is about: the files it reads, else its name and arguments."""
    facts = list(file_uses(call.name, arguments_of(call.arguments), "assistant"))
    if any(fact.kind == "file_changed" for fact in facts):
        return []  # the same change made again is a new change
    read = [("read", fact.key) for fact in facts if fact.kind == "file_read"]
    return read or [(call.name, call.arguments)]


def answered_calls(messages: Sequence[Message]) -> Iterator[tuple[int, ToolCall, int | None]]:
    """Yields the index of its message, every call, and the index of the message that answers it."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for at, start in enumerate(block_starts(messages)):
        blocks[start].append(at)
    for head, *places in blocks.values():
        calls = messages[head].calls
        answered_by, _ = pair_results(calls, [messages[at] for at in places])
        for call, place in zip(calls, answered_by, strict=True):
            yield head, call, None if place is None else places[place]
