"""Chooses what stays of covered blocks, or of new ones too long to stay whole, within a room."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby

from ctxcore.assembly.history import Counted, is_own_answer, with_short
from ctxcore.assembly.items import SHORT_TOKENS
from ctxcore.assembly.layout import frame_shared
from ctxcore.compaction.selectors import NONE_OUTDATED, Outdated, outdated_units
from ctxcore.messages.lazy import load_all, loaded
from ctxcore.messages.values import Message
from ctxcore.salience.meetings import SENTENCE_CHARS, TURN_TOKENS
from ctxcore.salience.ranking import (
    NO_WISHES,
    Group,
    Ranking,
    Salience,
    Step,
    Wishes,
    is_prose,
    score_groups,
)
from ctxcore.salience.traits import noted_text
from ctxcore.salience.units import PROSE_CHARS, WHOLE_TOKENS, Unit, shares_of, split_message
from ctxcore.summarizers.notes import noted_pieces
from ctxcore.tokens.families import TokenCounter

OPEN_SHARE = 0.35  # source: ADR 0029; with half, next calls miss more of earlier outputs
LEAST_TOKENS = 60  # source: ADR 0029
PROSE_SHARE = 0.1  # chosen: of the room, for prose first; outputs hold far more literals per token
MOST_SHARE = 0.25  # chosen: of the room, for the first pieces of one block
STATED_WORTH = 4.0  # chosen: beside talk that states nothing
LEAST_OPENING = 64  # chosen: a call, the frame of its result and one piece
MOST_OTHERS = 400  # chosen: a summary leaves at most a tenth of usable free
FRAME_TOKENS = 8  # chosen: a role and the gap marks
GAP = "…"
_BREAK = "\n\n"  # between paragraphs
_BEGUN_CHARS = 24  # chosen: the beginning of a message of which no piece stays

_STRETCH = 500  # chosen: blocks whose texts are read at once
_MANY = 5_000  # chosen: texts of fewer blocks take a few MB, and reading some again a statement

Block = Sequence[Counted]
Pieces = tuple[str | None, ...]
"""The pieces of one message in order; None for one that is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Tool outputs that the model has yet to see, and their share of the room.

    They do not compete by pieces: before the model has read them, no score tells what is needed.
    They share a third of the room that users' words and calls leave, more if that is only a few
    words each, and then what all others leave.
    """

    sizes: Mapping[int, int]
    """The size of each now, by sequence number."""
    most: Mapping[int, int]
    """The most that each may take."""
    level: int
    """The most that any of them takes of the room."""
    fixed_tokens: int = 0
    """The size of the rest of their block."""

    @classmethod
    def among(
        cls,
        blocks: Sequence[Block],
        room_tokens: int,
        short_sizes: Mapping[int, int],
        pinned: Collection[int],
    ) -> Waiting:
        """Returns those of the last of `blocks`, in a room for all; `pinned` ones stay whole."""
        rows = [
            row
            for row in blocks[-1]
            if row.message.is_tool_result and row.seq not in pinned and not is_own_answer(row)
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
        """The size of each within the room."""
        return {seq: min(most, self.level) for seq, most in self.most.items()}

    @property
    def short_sizes(self) -> dict[int, int]:
        """The sizes of those that are shortened."""
        return {seq: share for seq, share in self.shares.items() if share < self.sizes[seq]}

    @property
    def tokens(self) -> int:
        """The size of their whole block."""
        return self.fixed_tokens + sum(self.shares.values())

    def raised(self, left_tokens: int) -> Waiting:
        """Returns the same outputs with `left_tokens` more room."""
        room = sum(self.shares.values()) + left_tokens
        return replace(self, level=max(self.level, level_within(self.most.values(), room)))


def level_within(sizes: Collection[int], room_tokens: int) -> int:
    """Returns the highest limit for each of `sizes` with which all fit the room together."""
    left, count = max(0, room_tokens), len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return left // count
        left, count = left - size, count - 1
    return max(sizes, default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """A block to keep, with the pieces that stay of its long messages."""

    block: tuple[int, ...]
    """All messages of the block, by sequence number."""
    pieces: Mapping[int, Pieces]


@dataclass(slots=True)
class Keeping:
    """Collects the messages that stay, in exact sizes."""

    counter: TokenCounter
    rows: Mapping[int, Counted]
    """Every row that may stay, unchanged."""
    pieces: dict[int, Pieces] = field(default_factory=dict)
    """The pieces of rows that do not stay whole."""
    sizes: dict[int, int] = field(default_factory=dict)
    """The size of each row that stays."""
    begun: Collection[int] = frozenset()
    """Rows of which the first words stay where no piece does."""

    @classmethod
    def having(
        cls,
        rows: Iterable[Counted],
        kept: Collection[int],
        pieces: Mapping[int, Pieces],
        counter: TokenCounter,
    ) -> Keeping:
        """Returns a collection in which `kept` of `rows` stay, some of them in `pieces`."""
        made = cls(counter, {row.seq: row for row in rows})
        made.add(Addition(block=tuple(kept), pieces=pieces))
        return made

    @property
    def seqs(self) -> tuple[int, ...]:
        """The rows that stay, ascending."""
        return tuple(sorted(self.sizes))

    @property
    def tokens(self) -> int:
        """The size of all that stays."""
        return sum(self.sizes.values())

    def copy(self) -> Keeping:
        """The same messages, to try another with."""
        return replace(self, pieces=dict(self.pieces), sizes=dict(self.sizes))

    def text(self, seq: int) -> str:
        """The text of a row as it stays."""
        row, pieces = self.rows[seq], self.pieces.get(seq)
        if pieces is None:
            return row.message.text
        return text_of(row, pieces, begins=seq in self.begun)

    def add(self, addition: Addition, room_tokens: int | None = None) -> int | None:
        """Keeps a block beside the others; returns its size, or None if there is no room for it."""
        shown, more = list[tuple[int, int, Pieces | None]](), 0
        is_new = self.sizes.keys().isdisjoint(addition.block)
        for seq, size, pieces in self._shown(addition):
            shown.append((seq, size, pieces))
            more += size - self.sizes.get(seq, 0)
            if is_new and room_tokens is not None and more > room_tokens:
                return None  # most that are refused are far too large
        if room_tokens is not None and more > room_tokens:
            return None
        for seq, size, pieces in shown:
            self.sizes[seq] = size
            self.pieces.pop(seq, None)
            if pieces is not None:
                self.pieces[seq] = pieces
        return more

    def _shown(self, addition: Addition) -> Iterator[tuple[int, int, Pieces | None]]:
        """Yields each row's number and size as it would stay, and its pieces if not whole.

        Those that stay whole, whose sizes are known, come first.
        """
        for seq in sorted(addition.block, key=addition.pieces.__contains__):
            row, pieces = self.rows[seq], addition.pieces.get(seq)
            if pieces is not None and seq in self.sizes:
                before = self.pieces.get(seq)
                pieces = before and tuple(
                    old or new for old, new in zip(before, pieces, strict=True)
                )
                if pieces == before:  # of a long turn most messages stay as they are
                    yield seq, self.sizes[seq], before
                    continue
            if pieces:
                text = text_of(row, pieces, begins=row.seq in self.begun)
                tokens = with_short(row, text, self.counter).sent_tokens
                if tokens < row.sent_tokens:
                    yield seq, tokens, pieces
                    continue
            yield seq, row.sent_tokens, None


def keep_blocks(
    blocks: Sequence[Block],
    room_tokens: int,
    counter: TokenCounter,
    *,
    opened: Sequence[Block] = (),
    outdated: Outdated = NONE_OUTDATED,
    stated: Collection[int] = frozenset(),
    request: str = "",
    wishes: Wishes = NO_WISHES,
    spare_tokens: int = 0,
    is_talk: bool = False,
    is_meeting: bool = False,
) -> tuple[Keeping, list[Addition]]:
    """Returns what stays of `blocks`, oldest first, within `room_tokens`, and the next best blocks.

    What the `request` asks for, and what people have `wishes` for, scores higher. `outdated`
    sentences do not stay. The `opened` blocks, which are newer, stay in any case: of their long
    messages only the best pieces, but users' messages whole. Of the next best blocks, those within
    `spare_tokens` are chosen as if the ones before them stay. In mere talk (`is_talk`) paragraphs
    of long messages stay whole; where many speak (`is_meeting`), sentences compete by themselves.
    """
    load_all(row.message for row in chain.from_iterable(opened))
    covered = _groups(blocks, outdated, is_meeting=is_meeting, is_talk=is_talk)
    if is_meeting:
        pairs = zip(blocks, covered, strict=True)
        covered = (_sharing_frame(block, group, counter) for block, group in pairs)
    groups = [
        *covered,
        *(group_of(block, keeps_user=True) for block in opened),
    ]
    blocks = [*blocks, *opened]
    scores = _scores(groups, outdated, request, wishes, is_meeting)
    _raise(groups, scores, stated)
    ranking = Ranking(groups, scores, most_tokens=max(LEAST_OPENING, int(room_tokens * MOST_SHARE)))
    keeping = Keeping.having(chain.from_iterable(blocks), (), {}, counter)
    keeping.begun = {row.seq for block in opened for row in block}
    for at in range(len(blocks) - len(opened), len(blocks)):
        step = Step(group=at, loose=())
        keeping.add(_addition(blocks[at], groups[at], step, ranking))
        ranking.take(step)
    others: list[Addition] = []
    passes: list[tuple[Callable[[Unit], bool] | None, float]] = [(None, 1.0)]
    if not all(is_prose(unit) for group in groups for unit in group.units):
        passes.insert(0, (is_prose, PROSE_SHARE))
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
            spare_tokens -= sum(row.sent_tokens for row in blocks[step.group])
            if spare_tokens > 0:
                ranking.take(step)
            if len(others) >= MOST_OTHERS:
                break
    return keeping, others


def _groups(
    blocks: Sequence[Block],
    outdated: Outdated,
    *,
    is_meeting: bool = False,
    is_talk: bool = False,
) -> Iterator[Group]:
    """Yields the group of each block; of very many, the texts read for that are not kept.

    In a meeting no notes stand for texts: they lack words that say little.
    """
    if len(blocks) <= _MANY:
        unread = (block for block in blocks if is_meeting or not _is_noted(block, outdated))
        load_all(row.message for row in chain.from_iterable(unread))
    for start in range(0, len(blocks), _STRETCH):
        part = blocks[start : start + _STRETCH]
        noted = [not is_meeting and _is_noted(block, outdated) for block in part]
        unread = (block for block, is_noted in zip(part, noted, strict=True) if not is_noted)
        with loaded(row.message for row in chain.from_iterable(unread)):
            for block, is_noted in zip(part, noted, strict=True):
                if is_noted:
                    yield _noted_group(block[0])
                else:
                    yield group_of(block, outdated, is_meeting=is_meeting, is_talk=is_talk)


def _sharing_frame(block: Block, group: Group, counter: TokenCounter) -> Group:
    """Returns the group of a turn without what it loses beside another turn that stays.

    In a meeting nearly all turns stay beside others, and a short one is half frame.
    """
    if len(block) > 1 or group.loose or block[0].message.role != "user":
        return group
    shared = frame_shared(block[0].message, counter, behind="")
    return replace(group, tokens=max(1, group.tokens - shared))


def group_of(
    block: Block,
    outdated: Outdated = NONE_OUTDATED,
    *,
    keeps_user: bool = False,
    is_meeting: bool = False,
    is_talk: bool = False,
) -> Group:
    """Splits a block into units: calls and short messages stay with it, other units may stay.

    A message with an `outdated` sentence counts as long. With `keeps_user`, a user's message stays
    however long. Long turns of a meeting are split into sentences; of
    mere talk, paragraphs stay whole.
    """
    whole_tokens = TURN_TOKENS if is_meeting else WHOLE_TOKENS
    long = {
        row.seq
        for row in block
        if (row.sent_tokens > whole_tokens or row.seq in outdated)
        and not (keeps_user and row.message.role == "user")
    }
    units = [
        unit
        for row in block
        for unit in split_message(
            _competing(row),
            seq=row.seq,
            tokens=row.sent_tokens,
            is_whole=row.seq not in long,
            paragraph_tokens=whole_tokens if is_talk else None,
            prose_chars=SENTENCE_CHARS if is_meeting else PROSE_CHARS,
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


def _is_noted(block: Block, outdated: Outdated) -> bool:
    """Whether notes stand for all units of a block."""
    row = block[0]
    if not row.notes or len(block) > 1 or row.seq in outdated or row.is_shortened:
        return False
    return row.sent_tokens <= WHOLE_TOKENS or bool(noted_pieces(row.notes))


def _noted_group(row: Counted) -> Group:
    """The group of a message that its notes stand for."""
    seq, role, tokens = row.seq, row.message.role, row.sent_tokens
    if tokens <= WHOLE_TOKENS:
        unit = Unit(seq=seq, text="", role=role, tokens=max(1, tokens), note=row.notes)
        return Group(units=(unit,), tokens=tokens, gap_tokens=1)
    notes = noted_pieces(row.notes)
    shares = shares_of(tokens, [noted_text(note).size or 1 for note in notes])
    units = tuple(
        [
            Unit(seq=seq, place=place, text="", role=role, tokens=share, note=note)
            for place, (share, note) in enumerate(zip(shares, notes, strict=True))
        ]
    )
    left = tokens - sum(shares) + FRAME_TOKENS
    return Group(units=units, loose=frozenset(range(len(units))), tokens=left, gap_tokens=1)


def _competing(row: Counted) -> Message:
    """Returns the message whose units compete: its own text, and its calls as they are sent."""
    return row.message if row.short_calls is None else replace(row.message, calls=row.short_calls)


def _scores(
    groups: Sequence[Group], outdated: Outdated, request: str, wishes: Wishes, is_meeting: bool
) -> list[list[Salience]]:
    """Returns the scores of the units: 0 where they hold an outdated sentence."""
    scores = score_groups(groups, request=request, wishes=wishes, is_meeting=is_meeting)
    for group, scored in zip(groups, scores, strict=True) if outdated else ():
        for seq in {unit.seq for unit in group.units} & outdated.keys():
            places = [at for at, unit in enumerate(group.units) if unit.seq == seq]
            gone = outdated_units([group.units[at] for at in places], outdated[seq])
            for place in gone:
                scored[places[place]] = Salience(talk=0.0)
    return scores


def _raise(
    groups: Sequence[Group], scores: Sequence[list[Salience]], stated: Collection[int]
) -> None:
    """Raises the scores of messages with a setting that holds."""
    for group, scored in zip(groups, scores, strict=True) if stated else ():
        for at, unit in enumerate(group.units):
            if unit.seq in stated:
                scored[at] = replace(scored[at], talk=scored[at].talk * STATED_WORTH)


def text_of(row: Counted, pieces: Pieces, *, begins: bool) -> str:
    """Returns the text of a message that stays in pieces; with `begins`, its first words if no
    piece stays.
    """
    if any(pieces) or not begins:
        return join_pieces(pieces)
    text = row.message.text
    first = next((at for at, char in enumerate(text) if char.isalnum()), len(text))
    return join_pieces((text[first : first + _BEGUN_CHARS], None))


def join_pieces(pieces: Pieces) -> str:
    """Returns the pieces of a message as a text, with a mark for each gap.

    Where a paragraph ends it ends there too, so that the next compaction finds the same ones.
    """
    text = ""
    for is_gap, stretch in groupby(pieces, lambda piece: piece is None):
        run = "" if is_gap else "".join(filter(None, stretch))
        if is_gap and not text.endswith(f"{GAP} "):
            text += f"{GAP} "
        elif run.strip():
            text += run.strip() + (_BREAK if run.endswith(_BREAK) else " ")
    return text.strip()


def _addition(block: Block, group: Group, step: Step, ranking: Ranking) -> Addition:
    """Returns the block with the pieces kept already and those that the step adds."""
    shown = {*step.loose, *(ranking.chosen[step.group] or ())}
    pieces: dict[int, list[str | None]] = {}
    units = group.units
    if group.loose and units[0].note:  # its text is needed, but none of its neighbours'
        load_all([block[0].message])
        units = group_of(block).units
    for at in sorted(group.loose):
        unit = units[at]
        pieces.setdefault(unit.seq, []).append(unit.text if at in shown else None)
    return Addition(
        block=tuple(row.seq for row in block),
        pieces={seq: tuple(found) for seq, found in pieces.items() if None in found},
    )
