"""Recipes of requests: what each message that was sent is made of, so that it can be made again.

A recipe names messages of the history by their numbers, and every other text by its SHA-256. It
keeps no copy of the history, however much of it was sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ctxcore.assembly.context import Context
from ctxcore.assembly.items import Item, Merged, to_dictionary
from ctxcore.assembly.rules.roles import join_messages
from ctxcore.messages.canonical import parse_canonical, to_canonical, to_ordered
from ctxcore.messages.openai import parse_message, to_full
from ctxcore.messages.values import JsonObject, JsonValue, Message

_MARK_CHARS = 4  # of each message's SHA-256: tells which one differs, 65,535 times in 65,536


def address_of(text: str) -> str:
    """The SHA-256 of a text in JSON."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """What is sent beside the messages."""

    model: str
    tools: Sequence[JsonObject]
    max_output_tokens: int | None

    def digest_with(self, messages: Iterable[str]) -> str:
        """The SHA-256 of a request with these messages in canonical JSON.

        Definitions of tools count as they stand, since models read their keys in order.
        """
        rest: JsonObject = {
            "max_output_tokens": self.max_output_tokens,
            "model": self.model,
            "tools": list(self.tools),
        }
        return address_of("\n".join([*messages, to_ordered(rest)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to make a request again."""

    digest: str
    body: JsonObject
    texts: Mapping[str, str]
    """What the history does not hold, by address, in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a message that was sent is made of, or one of several things joined into it."""

    seq: int | None = None
    """The message of the history; None for a text of this library or its caller."""
    address: str | None = None
    """Of the text, or of what differs from the message of the history; None: it is as stored."""
    segment: str = ""
    """Of a text that no message holds."""
    tokens: int | None = None
    """Of a text that no message holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A message that was sent, made again."""

    message: JsonObject
    parts: tuple[Part, ...]
    is_whole: bool = True
    """Whether everything it was made of is still there and unchanged."""


def write_recipe(context: Context, sending: Sending) -> Recipe:
    """The recipe of a request with the messages of `context`."""
    writer, lines = _Writer(), [to_canonical(message) for message in context.messages]
    entries = list(_in_spans([writer.entry(made) for made in context.made_of]))
    body: JsonObject = {
        "messages": entries,
        "marks": "".join(map(_mark, lines)),
        "max_output_tokens": sending.max_output_tokens,
        "tools": writer.keep(to_ordered([*sending.tools])) if sending.tools else None,
    }
    return Recipe(digest=sending.digest_with(lines), body=body, texts=writer.texts)


def _mark(line: str) -> str:
    return address_of(line)[:_MARK_CHARS]


@dataclass
class _Writer:
    """Writes what messages are made of, and keeps the texts that are not in the history."""

    texts: dict[str, str] = field(default_factory=dict)

    def keep(self, text: str) -> str:
        """The address under which `text` is kept."""
        address = address_of(text)
        self.texts[address] = text
        return address

    def entry(self, made: Merged) -> JsonValue:
        """The number of a message that is sent as stored, else a list of its parts."""
        parts = [self._part(item) for item in made.items]
        if made.has_reasoning:
            return {"of": parts, "reasoning": True}
        return parts[0] if len(parts) == 1 and isinstance(parts[0], int) else {"of": parts}

    def _part(self, item: Item) -> JsonValue:
        if item.row is None:
            address = self.keep(to_canonical(to_full(item.message)))
            return {"text": address, "segment": item.segment, "tokens": item.tokens}
        if item.message is item.row.message:
            return item.seq
        changes = _changes(item.row.message, item.message)
        return {"seq": item.seq, "text": self.keep(to_canonical(changes))}


def _changes(stored: Message, sent: Message) -> JsonObject:
    """The keys of `sent` that `stored` lacks or has otherwise; None for those it has too many."""
    before, after = to_full(stored), to_full(sent)
    gone: JsonObject = {key: None for key in before if key not in after}
    return {key: value for key, value in after.items() if before.get(key) != value} | gone


def _in_spans(entries: Sequence[JsonValue]) -> Iterator[JsonValue]:
    """`entries` with numbers that follow each other as lists of the first and the last."""
    first: int | None = None
    for at, entry in enumerate(entries):
        if not isinstance(entry, int):
            yield entry
            continue
        first = entry if first is None else first
        following = entries[at + 1] if at + 1 < len(entries) else None
        if following != entry + 1:
            yield [first, entry]
            first = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeReader:
    """Makes requests again from a recipe's body."""

    body: Mapping[str, Any]

    def parts(self) -> list[tuple[Part, ...]]:
        """What each message is made of."""
        return [parts for parts, _ in self._entries()]

    def needed(self) -> tuple[set[int], set[str]]:
        """The numbers of the messages and the addresses of the texts that are needed."""
        parts = [part for made in self.parts() for part in made]
        seqs = {part.seq for part in parts if part.seq is not None}
        addresses = {part.address for part in parts if part.address is not None}
        return seqs, addresses | ({self.tools_address} if self.tools_address else set())

    @property
    def tools_address(self) -> str | None:
        """Where the tool definitions are kept."""
        return cast("str | None", self.body.get("tools"))

    @property
    def max_output_tokens(self) -> int | None:
        """The limit of the answer that was sent."""
        return cast("int | None", self.body.get("max_output_tokens"))

    def make(self, stored: Mapping[int, Message], texts: Mapping[str, str]) -> list[Made]:
        """The messages, from those of the history and the texts that are still there."""
        return [
            _made(parts, stored, texts, with_reasoning=reasons)
            for parts, reasons in self._entries()
        ]

    def tools(self, texts: Mapping[str, str]) -> list[JsonObject] | None:
        """The tool definitions that were sent; None where they are gone or changed."""
        if self.tools_address is None:
            return []
        kept = _kept(self.tools_address, texts)
        return cast("list[JsonObject]", kept) if isinstance(kept, list) else None

    def first_difference(self, messages: Sequence[JsonObject]) -> int | None:
        """The place of the first of `messages` that was sent otherwise; None for none."""
        marks = cast("str", self.body.get("marks", ""))
        for at, message in enumerate(messages):
            if _mark(to_canonical(message)) != marks[at * _MARK_CHARS : (at + 1) * _MARK_CHARS]:
                return at
        return None

    def _entries(self) -> Iterator[tuple[tuple[Part, ...], bool]]:
        for entry in self.body["messages"]:
            if isinstance(entry, list):
                first, last = entry
                yield from (((Part(seq=seq),), False) for seq in range(first, last + 1))
            else:
                yield tuple(map(_to_part, entry["of"])), bool(entry.get("reasoning"))


def _to_part(raw: int | Mapping[str, Any]) -> Part:
    if isinstance(raw, int):
        return Part(seq=raw)
    return Part(
        seq=raw.get("seq"),
        address=raw["text"],
        segment=raw.get("segment", ""),
        tokens=raw.get("tokens"),
    )


def _made(
    parts: tuple[Part, ...],
    stored: Mapping[int, Message],
    texts: Mapping[str, str],
    *,
    with_reasoning: bool,
) -> Made:
    found = [_message(part, stored, texts) for part in parts]
    there = [message for message in found if message is not None]
    if not there:
        return Made(message={"role": "user", "content": None}, parts=parts, is_whole=False)
    group = Merged(join_messages(there), (), has_reasoning=with_reasoning)
    return Made(message=to_dictionary(group), parts=parts, is_whole=len(there) == len(found))


def _message(part: Part, stored: Mapping[int, Message], texts: Mapping[str, str]) -> Message | None:
    """The message that a part was; None where something of it is gone or changed."""
    message = None if part.seq is None else stored.get(part.seq)
    if part.address is None or (part.seq is not None and message is None):
        return message
    kept = _kept(part.address, texts)
    if not isinstance(kept, dict):
        return None
    if message is None:
        return parse_message(kept)
    changed = {**to_full(message), **kept}
    gone = [key for key in kept if kept[key] is None and key != "content"]
    return parse_message({key: value for key, value in changed.items() if key not in gone})


def _kept(address: str, texts: Mapping[str, str]) -> JsonValue:
    """The value that is kept under an address; None where it is gone or changed."""
    text = texts.get(address)
    if text is None or address_of(text) != address:
        return None
    return parse_canonical(text)
