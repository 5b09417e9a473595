"""Owns what the outputs that the model has yet to see have of a room that all competes for.

They do not compete by pieces: of what nobody has read, no one can tell what is worth its room. They
share a third of what is left beside the words of users and calls, more for a few words of each;
then what the others leave.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ctxcore.assembly.history import Counted, is_expansion, with_short
from ctxcore.assembly.items import SHORT_TOKENS
from ctxcore.compaction.selectors import NONE_OUTDATED, Outdated, outdated_units
from ctxcore.salience.ranking import Group, Ranking, Step, Worth, is_talk, score_groups
from ctxcore.salience.units import WHOLE_TOKENS, Unit, split_message
from ctxcore.tokens.families import TokenCounter

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


Pieces = tuple[str | None, ...]
"""The pieces of one message in order; None for one that is left out."""

TALK_SHARE = 0.1  # of the room that talk gets first: outputs hold far more literals per token
MOST_SHARE = 0.25  # of the room that a block may be opened with; more pushes out too many others
LEAST_OPENING = 64  # a call, its result's frame and one piece
MOST_OTHERS = 400  # what a summary leaves free of its room is a tenth of usable at most
FRAME_TOKENS = 8  # a role, and the mark of what is left out
GAP = "…"
_BEGUN_CHARS = 24  # of a message of which no piece is worth its room


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A block to keep, with what stays of its long messages."""

    block: tuple[int, ...]
    """All its messages, by sequence number."""
    pieces: Mapping[int, Pieces]


@dataclass(slots=True)
class Keeping:
    """What stays of what is covered, in exact sizes."""

    counter: TokenCounter
    rows: Mapping[int, Counted]
    """Every row that may stay, as it was said."""
    pieces: dict[int, Pieces] = field(default_factory=dict)
    """Of those that stay in pieces."""
    sizes: dict[int, int] = field(default_factory=dict)
    """What each row that stays takes."""
    begun: Collection[int] = frozenset()
    """Of these the first words stay where no piece does."""

    @classmethod
    def having(
        cls,
        rows: Iterable[Counted],
        kept: Collection[int],
        pieces: Mapping[int, Pieces],
        counter: TokenCounter,
    ) -> Keeping:
        """`kept` of `rows` stay so far, with `pieces` of those that do not stay whole."""
        made = cls(counter, {row.seq: row for row in rows})
        made.add(Addition(block=tuple(kept), pieces=pieces))
        return made

    @property
    def seqs(self) -> tuple[int, ...]:
        """What stays, ascending."""
        return tuple(sorted(self.sizes))

    @property
    def tokens(self) -> int:
        """What it takes together."""
        return sum(self.sizes.values())

    def add(self, addition: Addition, room_tokens: int | None = None) -> int | None:
        """Keeps it beside what stays already; what it takes, None if there is no room for it."""
        shown = list(self._shown(addition))
        more = sum(size - self.sizes.get(seq, 0) for seq, size, _ in shown)
        if room_tokens is not None and more > room_tokens:
            return None
        for seq, size, pieces in shown:
            self.sizes[seq] = size
            self.pieces.pop(seq, None)
            if pieces is not None:
                self.pieces[seq] = pieces
        return more

    def _shown(self, addition: Addition) -> Iterator[tuple[int, int, Pieces | None]]:
        """Each row as it would stay: its number and size, and its pieces if it is not whole."""
        for seq in addition.block:
            row, pieces = self.rows[seq], addition.pieces.get(seq)
            if pieces is not None and seq in self.sizes:
                before = self.pieces.get(seq)
                pieces = before and tuple(
                    old or new for old, new in zip(before, pieces, strict=True)
                )
            tokens = self._tokens(row, pieces) if pieces else row.sent_tokens
            is_shorter = pieces is not None and tokens < row.sent_tokens
            yield seq, tokens if is_shorter else row.sent_tokens, pieces if is_shorter else None

    def _tokens(self, row: Counted, pieces: Pieces) -> int:
        text = text_of(row, pieces, begins=row.seq in self.begun)
        return with_short(row, text, self.counter).sent_tokens


def keep_blocks(
    blocks: Sequence[Block],
    room_tokens: int,
    counter: TokenCounter,
    *,
    opened: Sequence[Block] = (),
    outdated: Outdated = NONE_OUTDATED,
    request: str = "",
) -> tuple[Keeping, list[Addition]]:
    """What stays of `blocks`, oldest first, within `room_tokens`, and what comes next.

    What the `request` asks for is worth more. Sentences that are `outdated` do not stay. The
    `opened` blocks, newer than all those, stay anyway; of their long messages only the pieces that
    are worth it, but all that a user said.
    """
    groups = [
        *(group_of(block, outdated) for block in blocks),
        *(group_of(block, keeps_user=True) for block in opened),
    ]
    blocks = [*blocks, *opened]
    worths = _worths(groups, outdated, request)
    ranking = Ranking(groups, worths, most_tokens=max(LEAST_OPENING, int(room_tokens * MOST_SHARE)))
    keeping = Keeping.having(chain.from_iterable(blocks), (), {}, counter)
    keeping.begun = {row.seq for block in opened for row in block}
    for at in range(len(blocks) - len(opened), len(blocks)):
        step = Step(group=at, loose=())
        keeping.add(_addition(blocks[at], groups[at], step, ranking))
        ranking.take(step)
    others: list[Addition] = []
    passes: list[tuple[Callable[[Unit], bool] | None, float]] = [(None, 1.0)]
    if not all(is_talk(unit) for group in groups for unit in group.units):
        passes.insert(0, (is_talk, TALK_SHARE))
    for counts, share in passes:
        others.clear()
        left = int(room_tokens * share) - keeping.tokens
        for step in ranking.steps(counts):
            addition = _addition(blocks[step.group], groups[step.group], step, ranking)
            taken = keeping.add(addition, left)
            if taken is not None:
                ranking.take(step)
                left -= taken
                continue
            others.append(addition)
            if len(others) >= MOST_OTHERS:
                break
    return keeping, others


def group_of(
    block: Block, outdated: Outdated = NONE_OUTDATED, *, keeps_user: bool = False
) -> Group:
    """A block taken apart: its calls and short messages stay with it, the rest may.

    A message with a sentence that is `outdated` is no short one. With `keeps_user`, what a user
    said stays too, however long.
    """
    long = {
        row.seq
        for row in block
        if (row.sent_tokens > WHOLE_TOKENS or row.seq in outdated)
        and not (keeps_user and row.message.role == "user")
    }
    units = [
        unit
        for row in block
        for unit in split_message(
            row.message, seq=row.seq, tokens=row.sent_tokens, is_whole=row.seq not in long
        )
    ]
    loose = [at for at, unit in enumerate(units) if unit.seq in long and unit.kind != "call"]
    taken = sum(units[at].tokens for at in loose)
    return Group(
        units=tuple(units),
        loose=frozenset(loose),
        tokens=sum(row.sent_tokens for row in block) - taken + FRAME_TOKENS * len(long),
        gap_tokens=1,
    )


def _worths(groups: Sequence[Group], outdated: Outdated, request: str) -> list[list[Worth]]:
    """What the units are worth: nothing where they say what no longer holds."""
    worths = score_groups(groups, request=request)
    for group, scored in zip(groups, worths, strict=True) if outdated else ():
        for seq in {unit.seq for unit in group.units} & outdated.keys():
            places = [at for at, unit in enumerate(group.units) if unit.seq == seq]
            gone = outdated_units([group.units[at] for at in places], outdated[seq])
            for place in gone:
                scored[places[place]] = Worth(talk=0.0)
    return worths


def text_of(row: Counted, pieces: Pieces, *, begins: bool) -> str:
    """What stays of a message of which only pieces do; its first words where none does, if it
    `begins` with them.
    """
    if any(pieces) or not begins:
        return join_pieces(pieces)
    text = row.message.text
    first = next((at for at, char in enumerate(text) if char.isalnum()), len(text))
    return join_pieces((text[first : first + _BEGUN_CHARS], None))


def join_pieces(pieces: Pieces) -> str:
    """The text of the pieces of one message, a mark for each gap."""
    parts, run = [], ""
    for piece in pieces:
        if piece is not None:
            run += piece
            continue
        if run.strip():
            parts.append(run.strip())
        run = ""
        if parts[-1:] != [GAP]:
            parts.append(GAP)
    return " ".join([*parts, run.strip()] if run.strip() else parts)


def _addition(block: Block, group: Group, step: Step, ranking: Ranking) -> Addition:
    """The block with what is kept of it already and what the step adds."""
    shown = {*step.loose, *(ranking.chosen[step.group] or ())}
    pieces: dict[int, list[str | None]] = {}
    for at in sorted(group.loose):
        unit = group.units[at]
        pieces.setdefault(unit.seq, []).append(unit.text if at in shown else None)
    return Addition(
        block=tuple(row.seq for row in block),
        pieces={seq: tuple(found) for seq, found in pieces.items() if None in found},
    )
