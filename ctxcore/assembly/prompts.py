"""Which system messages of a history are in force.

They add up, until a change of the system prompt takes all before it out of force.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias

from ctxcore.messages.values import JsonValue
from ctxcore.plain import Plain


@dataclass(frozen=True, slots=True)
class PromptChange(Plain):
    """A change of the system prompt: only system messages from `first` on are in force."""

    since: int
    """The length of the history that it holds from: a new prompt is its last message."""
    first: int

    @classmethod
    def to_message(cls, seq: int) -> PromptChange:
        """The change that made message `seq` the system prompt."""
        return cls(since=seq, first=seq)

    @classmethod
    def to_none(cls, length: int) -> PromptChange:
        """The change that left a history of `length` messages without a system prompt."""
        return cls(since=length, first=length + 1)


Changes: TypeAlias = Sequence[PromptChange]
"""The changes of one history, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The system messages of a history by what became of them."""

    in_force: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    """Out of force since a later change."""
    dismissed: tuple[int, ...] = ()
    """Excluded by the caller, replaced or not."""

    @classmethod
    def of(
        cls, system: Sequence[int], changes: Changes, length: int, excluded: Collection[int]
    ) -> Prompts:
        """Those of the first `length` messages; `system` are all system messages, in order."""
        known = system[: bisect_right(system, length)]
        held = bisect_right(changes, length, key=attrgetter("since"))
        first = changes[held - 1].first if held else 0
        since = bisect_left(known, first)
        left_out = set(excluded)
        return cls(
            in_force=tuple(seq for seq in known[since:] if seq not in left_out),
            replaced=tuple(known[:since]),
            dismissed=tuple(seq for seq in known if seq in left_out),
        )


def until(changes: Changes, length: int) -> tuple[PromptChange, ...]:
    """The changes that hold in the first `length` messages."""
    return tuple(change for change in changes if change.since <= length)


def changes_to_json(changes: Changes) -> list[list[JsonValue]]:
    """`changes` as JSON: pairs of `since` and `first`."""
    return [[change.since, change.first] for change in changes]


def changes_from_json(stored: Iterable[Iterable[int]]) -> tuple[PromptChange, ...]:
    """The changes that `changes_to_json` wrote.

    Raises:
        ValueError, TypeError: they are none.
    """
    return tuple(PromptChange(int(since), int(first)) for since, first in stored)
