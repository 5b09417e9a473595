"""Owns what was done again: a file read a second time, a call made a second time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxcore.facts.file_uses import arguments_of, file_uses
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import JsonObject, Message, ToolCall

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
