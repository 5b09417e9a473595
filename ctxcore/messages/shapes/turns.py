"""Puts calls and results together that a list has in several messages of one role.

A streamed answer is kept call by call, and results come as they are ready; models answer to all of
them at once, so that parallel calls are one message and their results follow it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ctxcore.messages.shapes.values import Conversation, Passed, Sent, SentGroup, is_thought_alone
from ctxcore.messages.values import (
    JsonObject,
    JsonValue,
    Message,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A message, and the places in the list that it came from."""

    message: Message
    places: tuple[int, ...]
    is_value: bool = False
    """Whether it was passed as a `Message`, and so stays what it is."""


def together(read: Sequence[Placed]) -> list[Placed]:
    """`read` with neighbouring calls joined, and results before the words said among them."""
    return _results_first(_joined(read))


def conversation_of(read: Sequence[Placed]) -> Conversation:
    """What was read, with its places."""
    return Conversation(
        messages=tuple(one.message for one in read), places=tuple(one.places for one in read)
    )


def _joined(read: Sequence[Placed]) -> list[Placed]:
    out: list[Placed] = []
    for at, one in enumerate(read):
        following = read[at + 1].message if at + 1 < len(read) else None
        if out and _continues(out[-1], one, following):
            out[-1] = _join(out[-1], one)
        else:
            out.append(one)
    return out


def _continues(last: Placed, one: Placed, following: Message | None) -> bool:
    """Whether `one` says more of the answer whose calls were in `last`."""
    if one.message.role != "assistant" or not last.message.calls or one.is_value or last.is_value:
        return False
    return bool(one.message.calls) or (following is not None and following.is_tool_result)


def _join(one: Placed, other: Placed) -> Placed:
    message = replace(
        one.message,
        content=(*one.message.content, *other.message.content),
        calls=(*one.message.calls, *other.message.calls),
    )
    return Placed(message, (*one.places, *other.places))


def _results_first(read: Sequence[Placed]) -> list[Placed]:
    """`read` with each result of open calls before the user's words that came while they ran."""
    out: list[Placed] = []
    waiting: set[str] = set()
    behind = 0  # where the last result of the open calls ends, and words behind them begin
    for one in read:
        message = one.message
        if message.is_tool_result and message.answers in waiting:
            waiting.discard(message.answers or "")
            out.insert(behind, one)
            behind += 1
            continue
        out.append(one)
        if message.role != "user":
            waiting = {call.id for call in message.calls if call.id}
            behind = len(out)
        elif behind == len(out) - 1 and not out[behind - 1].message.is_tool_result:
            waiting = set()  # words before any result: the calls were given up
    return out


TALK_ROLES: Final[Mapping[str, str]] = {"user": "user", "tool": "user", "assistant": "assistant"}

Block = object
"""An element of a message's list, as it came: an object, or text that stands for one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The blocks of one raw message that are one `Message`: one result, or all that was said."""

    blocks: tuple[Block, ...]
    is_result: bool = False


@dataclass(slots=True)
class Turn:
    """A message as it is put together; `origins` are the caller's messages in it."""

    role: str
    blocks: list[Block] = field(default_factory=list)
    origins: dict[int, Mapping[str, object]] = field(default_factory=dict)


class BlockWriter(ABC):
    """Writes messages of blocks; what a block looks like is told by the shape."""

    key: str
    takes_neighbours: bool = False
    """Whether calls may stand in several messages of one role, as they came."""
    thinks_alone: bool = False
    """Whether a message may be thinking, or its signature, and nothing else."""
    roles: Mapping[str, str]
    """What the shape calls the roles of messages."""

    @abstractmethod
    def blocks_of(self, raw: Mapping[str, object]) -> list[Block]:
        """The blocks of a message that was read."""

    @abstractmethod
    def is_result(self, block: Block) -> bool:
        """Whether `block` is what a tool returned."""

    @abstractmethod
    def is_call(self, block: Block) -> bool:
        """Whether `block` is a tool call."""

    @abstractmethod
    def part_of(self, block: Block) -> Part | None:
        """What `block` says, where it is neither call nor result."""

    @abstractmethod
    def text_block(self, text: str) -> JsonObject:
        """Words as a block."""

    @abstractmethod
    def written_part(self, part: Part) -> JsonObject | None:
        """A part that is no words as a block; None if this shape cannot say it."""

    @abstractmethod
    def written_call(self, call: ToolCall) -> JsonObject:
        """A call as a block."""

    @abstractmethod
    def written_result(self, message: Message) -> JsonObject:
        """A tool message as a block."""

    @abstractmethod
    def changed_call(self, block: JsonObject, old: ToolCall, new: ToolCall) -> JsonObject:
        """A copy of `block` with what differs between `old` and `new`."""

    @abstractmethod
    def changed_result(self, block: JsonObject, old: Message, new: Message) -> JsonObject:
        """A copy of `block` with what differs between `old` and `new`."""

    @abstractmethod
    def marked(self, block: JsonObject, gone: Sequence[JsonObject]) -> JsonObject:
        """`block` with the marks of the blocks it stands for."""

    @abstractmethod
    def note(self, message: Message, blocks: Sequence[Block]) -> None:
        """Is told how each message was written, in order."""

    def pieces(self, raw: Mapping[str, object]) -> list[Piece]:
        """`raw` as the messages it is read as: each result, then all else."""
        blocks = self.blocks_of(raw)
        results = [Piece((block,), is_result=True) for block in blocks if self.is_result(block)]
        said = tuple(block for block in blocks if not self.is_result(block))
        says = not results or any(not _is_blank(self.part_of(b)) for b in said)
        return [*results, Piece(said)] if says else results

    def turns(self, groups: Sequence[SentGroup], passed: Passed | None) -> list[Turn]:
        """What `groups` say, neighbours of one role joined."""
        nth = _nth_of_its_place(passed) if passed else []
        turns: list[Turn] = []
        for sent in (one for group in groups for one in group.sent):
            own = self._own(sent, nth, passed) if passed else None
            told = own or [Turn(self._role(sent.message, None, passed), self.written(sent.message))]
            self.note(sent.message, [block for turn in told for block in turn.blocks])
            if turns and turns[-1].role == told[0].role:
                turns[-1].blocks += told[0].blocks
                turns[-1].origins.update(told.pop(0).origins)
            turns += told
        return turns

    def _own(self, sent: Sent, nth: Sequence[int], passed: Passed) -> list[Turn] | None:
        """What is sent in the caller's own blocks; None for what the caller did not pass."""
        raws = passed.raws(sent.source) if sent.source is not None else ()
        if sent.source is None or not raws:
            return None
        role = self._role(sent.message, raws[0], passed)
        first, *others = raws
        pieces = [self.pieces(first)[nth[sent.source]], *(self.pieces(raw)[-1] for raw in others)]
        origins = list(zip(passed.places_of(sent.source), raws, strict=True))
        old = passed.messages[sent.source]
        if self.thinks_alone and is_thought_alone(old) and sent.message.role == old.role:
            sent = replace(sent, is_untouched=True)
        if sent.is_untouched and self.takes_neighbours:
            parts = zip(pieces, origins, strict=True)
            return [Turn(role, list(piece.blocks), dict([origin])) for piece, origin in parts]
        blocks = tuple(block for piece in pieces for block in piece.blocks)
        piece = Piece(blocks, is_result=pieces[0].is_result)
        said = self._said(piece, old, sent)
        return [Turn(role, list(said), dict(origins))]

    def message(self, turn: Turn) -> JsonObject:
        """A turn as it is sent; the caller's own object where it is that and no more."""
        origins = list(turn.origins.values())
        if len(origins) == 1 and _are_same(turn.blocks, self.blocks_of(origins[0])):
            return cast("JsonObject", origins[0])
        results = [block for block in turn.blocks if self.is_result(block)]
        said = [block for block in turn.blocks if not self.is_result(block)]
        blocks = [self._as_block(block) for block in (*results, *said)]
        role = turn.role
        if len(origins) == 1 and not said and isinstance(origins[0].get("role"), str):
            role = str(origins[0]["role"])  # results alone may have a role of their own
        out: JsonObject = {"role": role, self.key: cast("JsonValue", blocks)}
        for raw in origins:
            own = cast("JsonObject", raw)
            out.update({key: own[key] for key in own if key not in ("role", self.key)})
        return out

    def written(self, message: Message) -> list[Block]:
        """The blocks of a message that was not read from this shape."""
        if message.is_tool_result:
            return [self.written_result(message)]
        blocks: list[Block] = []
        label = f"{message.name}: " if message.name else ""
        for part in message.content:
            if isinstance(part, (Text, Refusal)):
                blocks += [self.text_block(label + part.text)] if label + part.text else []
                label = ""
            elif (block := self.written_part(part)) is not None:
                blocks.append(block)
        return [*blocks, *(self.written_call(call) for call in message.calls)]

    def _role(
        self, message: Message, raw: Mapping[str, object] | None, passed: Passed | None
    ) -> str:
        role = "system" if message.is_system else message.role
        if role != "system":
            return self.roles[role]
        if raw is not None:
            return "system"
        is_words = passed is not None and not passed.has_system
        return self.roles["user" if is_words else "system"]

    def _said(self, piece: Piece, old: Message, sent: Sent) -> Sequence[Block]:
        new = sent.message
        if sent.is_untouched:
            return piece.blocks
        if new.role != old.role:
            return self.written(new)
        if piece.is_result:
            return [self.changed_result(cast("JsonObject", piece.blocks[0]), old, new)]
        return self._rewritten(piece.blocks, old, new)

    def _rewritten(self, blocks: Sequence[Block], old: Message, new: Message) -> Sequence[Block]:
        """The blocks that say what `new` does: those that hold stay where they are.

        Thinking stays, since it signs what comes behind it. New words come where the first block
        was that they stand for, else before the calls.
        """
        fresh: list[Part] = [part for part in new.content if not isinstance(part, Reasoning)]
        holds = [self._holds(block, fresh) for block in blocks]
        gone = [block for block, it_holds in zip(blocks, holds, strict=True) if not it_holds]
        at = next((at for at, it_holds in enumerate(holds) if not it_holds), None)
        if at is None:
            at = next((at for at, block in enumerate(blocks) if self.is_call(block)), len(blocks))
        calls = self._calls(blocks, old.calls, new.calls)
        out: list[Block] = []
        for place, (block, it_holds) in enumerate(zip(blocks, holds, strict=True)):
            if place == at:
                out += self._fresh(fresh, new, gone)
            if self.is_call(block):
                out += calls.pop(0) if calls else []
            elif it_holds:
                out.append(block)
        if at == len(blocks):
            out += self._fresh(fresh, new, gone)
        return [*out, *(call for some in calls for call in some)]

    def _holds(self, block: Block, parts: list[Part]) -> bool:
        """Whether `block` is a call, thinking, or says one of `parts`, which is taken out."""
        if self.is_call(block):
            return True
        said = self.part_of(block)
        if isinstance(said, Reasoning):
            return True
        at = next((at for at, part in enumerate(parts) if _says_same(said, part)), None)
        if at is None:
            return False
        parts.pop(at)
        return True

    def _fresh(self, parts: Sequence[Part], new: Message, gone: Sequence[Block]) -> list[Block]:
        """`parts` as blocks; the last has the marks of the blocks that they stand for."""
        written = self.written(Message(role=new.role, content=tuple(parts)))
        last = written[-1] if written else None
        if isinstance(last, dict):
            marks = [block for block in gone if isinstance(block, dict)]
            written[-1] = self.marked(last, marks)
        return written

    def _calls(
        self, blocks: Sequence[Block], old: Sequence[ToolCall], new: Sequence[ToolCall]
    ) -> list[list[Block]]:
        """What stands at the place of each call; all at the first, if their number changed."""
        calls = [cast("JsonObject", block) for block in blocks if self.is_call(block)]
        if not len(calls) == len(old) == len(new):
            return [[self.written_call(call) for call in new]] if new else []
        return [
            [block if before == after else self.changed_call(block, before, after)]
            for block, before, after in zip(calls, old, new, strict=True)
        ]

    def _as_block(self, block: Block) -> JsonObject:
        return self.text_block(block) if isinstance(block, str) else cast("JsonObject", block)


def words_of(message: Message) -> str | None:
    """What a message says where it says words alone; None if there is more to it."""
    texts = [part.text for part in message.content if isinstance(part, (Text, Refusal))]
    return "\n".join(texts) if len(texts) == len(message.content) else None


def _nth_of_its_place(passed: Passed) -> list[int]:
    """For each message how many before it came from the same place."""
    seen: dict[int, int] = {}
    nth: list[int] = []
    for at in range(len(passed.messages)):
        place = passed.places_of(at)[0]
        nth.append(seen.get(place, 0))
        seen[place] = nth[-1] + 1
    return nth


def _are_same(some: Iterable[Block], others: Iterable[Block]) -> bool:
    """Whether these are the same objects, in whatever order."""
    return sorted(map(id, some)) == sorted(map(id, others))


def _says_same(one: Part | None, other: Part) -> bool:
    if isinstance(one, Refusal) and isinstance(other, Text):
        return one.text == other.text  # put into words, which is what it is in this shape
    return one == other


def _is_blank(part: Part | None) -> bool:
    return part is None or (isinstance(part, Text) and not part.text.strip())
