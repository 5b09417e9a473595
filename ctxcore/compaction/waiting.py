"""Owns what the outputs that the model has yet to see have of a room that all competes for.

They do not compete by pieces: of what nobody has read, no one can tell what is worth its room. They
share a third of what is left beside the words of users and calls, more for a few words of each;
then what the others leave.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ctxcore.assembly.cutting import SHORT_TOKENS
from ctxcore.assembly.history import Counted, is_expansion

OPEN_SHARE = 0.35  # of the room: with half, next calls miss more of earlier outputs
LEAST_TOKENS = 60  # in which an output says something for its call

Block = Sequence[Counted]


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The outputs that wait, by sequence number, and what they take."""

    sizes: Mapping[int, int]
    """What each takes now."""
    most: Mapping[int, int]
    """What each may take."""
    level: int
    """What each has at most of the room."""
    fixed_tokens: int = 0
    """What stands with them in their block."""

    @classmethod
    def among(
        cls,
        blocks: Sequence[Block],
        room_tokens: int,
        short_sizes: Mapping[int, int],
        pinned: Collection[int],
    ) -> Waiting:
        """Those of the last of `blocks`, in a room for all blocks; `pinned` ones stay whole."""
        rows = [
            row
            for row in blocks[-1]
            if row.message.is_tool_result and row.seq not in pinned and not is_expansion(row)
        ]
        sizes = {row.seq: row.sent_tokens for row in rows}
        most = {seq: min(size, short_sizes.get(seq, size)) for seq, size in sizes.items()}
        fixed = sum(row.sent_tokens for row in blocks[-1] if row.seq not in sizes)
        users = (row for row in chain.from_iterable(blocks[:-1]) if row.message.role == "user")
        room = room_tokens - fixed - sum(row.sent_tokens for row in users)
        share = max(level_within(most.values(), int(room * OPEN_SHARE)), LEAST_TOKENS)
        level = max(share, min(SHORT_TOKENS, level_within(most.values(), room)))
        return cls(sizes=sizes, most=most, level=level, fixed_tokens=fixed)

    @property
    def shares(self) -> dict[int, int]:
        """What each has of the room."""
        return {seq: min(most, self.level) for seq, most in self.most.items()}

    @property
    def short_sizes(self) -> dict[int, int]:
        """What each of those takes that are shortened."""
        return {seq: share for seq, share in self.shares.items() if share < self.sizes[seq]}

    @property
    def tokens(self) -> int:
        """Their whole block."""
        return self.fixed_tokens + sum(self.shares.values())

    def raised(self, left_tokens: int) -> Waiting:
        """They with what the others left too."""
        room = sum(self.shares.values()) + left_tokens
        return replace(self, level=max(self.level, level_within(self.most.values(), room)))


def level_within(sizes: Collection[int], room_tokens: int) -> int:
    """The most that each of `sizes` may take so that all together are within the room."""
    left, count = max(0, room_tokens), len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return left // count
        left, count = left - size, count - 1
    return max(sizes, default=0)
