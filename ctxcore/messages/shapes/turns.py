"""Groups messages into turns, for the shapes whose messages are a role and a list of blocks.

Reading joins the tool calls of one answer, which a list may hold in several assistant messages, and
puts their results right behind them. Writing joins neighbours of one role, and keeps the caller's
own blocks wherever they still hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.shapes.values import (
    Conversation,
    PassedMessages,
    Refuse,
    Sent,
    SentGroup,
    is_thought_alone,
)
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
class _Placed:
    """A message, and the places in the list that it came from."""

    message: Message
    places: tuple[int, ...]
    is_value: bool = False
    """Whether it was passed as a `Message`; such a message is not joined with others."""


def read_turns(
    entries: Iterable[tuple[int, object]],
    read: Callable[[object, int], list[Message]],
    refuse: Refuse,
) -> Conversation:
    """What `read` makes of each entry and its place, calls joined and results behind them."""
    placed: list[_Placed] = []
    for at, raw in entries:
        try:
            placed += [_Placed(message, (at,), message is raw) for message in read(raw, at)]
        except MessageError as error:
            refuse(at, error)
    placed = _results_first(_joined(placed))
    return Conversation(
        messages=tuple(entry.message for entry in placed),
        places=tuple(entry.places for entry in placed),
    )


def _joined(read: Sequence[_Placed]) -> list[_Placed]:
    out: list[_Placed] = []
    for at, entry in enumerate(read):
        following = read[at + 1].message if at + 1 < len(read) else None
        if out and _continues(out[-1], entry, following):
            out[-1] = _join(out[-1], entry)
        else:
            out.append(entry)
    return out


def _continues(last: _Placed, entry: _Placed, following: Message | None) -> bool:
    """Whether `entry` belongs to the answer whose calls are in `last`."""
    message, is_value = entry.message, entry.is_value or last.is_value
    if message.role != "assistant" or not last.message.calls or is_value:
        return False
    return bool(message.calls) or (following is not None and following.is_tool_result)


def _join(entry: _Placed, other: _Placed) -> _Placed:
    message = replace(
        entry.message,
        content=(*entry.message.content, *other.message.content),
        calls=(*entry.message.calls, *other.message.calls),
    )
    return _Placed(message, (*entry.places, *other.places))


def _results_first(read: Sequence[_Placed]) -> list[_Placed]:
    """`read` with each result of open calls before the user messages that came in between."""
    out: list[_Placed] = []
    waiting: set[str] = set()
    behind = 0  # the place after the last result of the open calls
    for entry in read:
        message = entry.message
        if message.is_tool_result and message.answers in waiting:
            waiting.discard(message.answers or "")
            out.insert(behind, entry)
            behind += 1
            continue
        out.append(entry)
        if message.role != "user":
            waiting = {call.id for call in message.calls if call.id}
            behind = len(out)
        elif behind == len(out) - 1 and not out[behind - 1].message.is_tool_result:
            waiting = set()  # a user message before any result: the calls were given up
    return out


BASE_ROLES: Final[Mapping[str, str]] = {"user": "user", "tool": "user", "assistant": "assistant"}

Block = object
"""An element of a message's list, as it came: an object, or text that stands for one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The blocks of one raw message that are read as one `Message`: one result, or all else."""

    blocks: tuple[Block, ...]
    is_result: bool = False


@dataclass(slots=True)
class Turn:
    """A message as it is put together; `origins` are the caller's messages in it."""

    role: str
    blocks: list[Block] = field(default_factory=list)
    origins: dict[int, Mapping[str, object]] = field(default_factory=dict)


class BlockWriter(ABC):
    """Writes messages of blocks; a subclass defines the blocks of its shape."""

    key: str
    """The key of a message under which its blocks are."""
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
        """Whether `block` is a tool result."""

    @abstractmethod
    def is_call(self, block: Block) -> bool:
        """Whether `block` is a tool call."""

    @abstractmethod
    def part_of(self, block: Block) -> Part | None:
        """`block` as a part of a message; None for calls, results and empty blocks."""

    @abstractmethod
    def text_block(self, text: str) -> JsonObject:
        """Text as a block."""

    @abstractmethod
    def written_part(self, part: Part) -> JsonObject | None:
        """A part other than text as a block; None if this shape has no block for it."""

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
        """`block` with the cache marks or signatures of the blocks `gone` that it replaces."""

    @abstractmethod
    def note(self, message: Message, blocks: Sequence[Block]) -> None:
        """Takes notice of the blocks that `message` was written as; called in order."""

    def pieces(self, raw: Mapping[str, object]) -> list[Piece]:
        """`raw` as the messages it is read as: each result, then all else."""
        blocks = self.blocks_of(raw)
        results = [Piece((block,), is_result=True) for block in blocks if self.is_result(block)]
        others = tuple(block for block in blocks if not self.is_result(block))
        is_result_only = results and all(_is_blank(self.part_of(block)) for block in others)
        return results if is_result_only else [*results, Piece(others)]

    def turns(self, groups: Sequence[SentGroup], passed: PassedMessages | None) -> list[Turn]:
        """`groups` as turns, neighbours of one role joined."""
        nth = _nth_of_its_place(passed) if passed else []
        turns: list[Turn] = []
        for sent in (sent for group in groups for sent in group.sent):
            message = sent.message
            own = self._own_turns(sent, nth, passed) if passed else None
            added = own or [Turn(self._role(message, None, passed), self.written(message))]
            self.note(message, [block for turn in added for block in turn.blocks])
            if turns and turns[-1].role == added[0].role:
                turns[-1].blocks += added[0].blocks
                turns[-1].origins.update(added.pop(0).origins)
            turns += added
        return turns

    def message(self, turn: Turn) -> JsonObject:
        """A turn as it is sent; the caller's own object where it is that and no more."""
        origins = list(turn.origins.values())
        if len(origins) == 1 and _are_same(turn.blocks, self.blocks_of(origins[0])):
            return cast("JsonObject", origins[0])
        others = [block for block in turn.blocks if not self.is_result(block)]
        ordered = [*filter(self.is_result, turn.blocks), *others]
        blocks = [
            self.text_block(block) if isinstance(block, str) else cast("JsonObject", block)
            for block in ordered
        ]
        role = turn.role
        if len(origins) == 1 and not others and isinstance(origins[0].get("role"), str):
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

    def _own_turns(
        self, sent: Sent, nth: Sequence[int], passed: PassedMessages
    ) -> list[Turn] | None:
        """`sent` in the caller's own blocks; None if it was not passed as objects of this shape."""
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
        return [Turn(role, list(self._sent_blocks(piece, old, sent)), dict(origins))]

    def _role(
        self, message: Message, raw: Mapping[str, object] | None, passed: PassedMessages | None
    ) -> str:
        if not message.is_system:
            return self.roles[message.role]
        if raw is not None:
            return "system"
        is_user = passed is not None and not passed.has_system
        return self.roles["user" if is_user else "system"]

    def _sent_blocks(self, piece: Piece, old: Message, sent: Sent) -> Sequence[Block]:
        new = sent.message
        if sent.is_untouched:
            return piece.blocks
        if new.role != old.role:
            return self.written(new)
        if piece.is_result:
            return [self.changed_result(cast("JsonObject", piece.blocks[0]), old, new)]
        return self._rewritten(piece.blocks, old, new)

    def _rewritten(self, blocks: Sequence[Block], old: Message, new: Message) -> Sequence[Block]:
        """`blocks` changed to the content of `new`: those that still hold stay where they are.

        Thinking stays, since its signature covers the blocks behind it. New parts come in place of
        the first block that they replace, else before the calls.
        """
        parts: list[Part] = [part for part in new.content if not isinstance(part, Reasoning)]
        is_kept = [self._is_kept(block, parts) for block in blocks]
        gone = [block for block, kept in zip(blocks, is_kept, strict=True) if not kept]
        if gone:
            at = is_kept.index(False)
        else:
            at = next((at for at, block in enumerate(blocks) if self.is_call(block)), len(blocks))
        calls = self._sent_calls(blocks, old.calls, new.calls)
        out: list[Block] = []
        for place, (block, kept) in enumerate(zip(blocks, is_kept, strict=True)):
            if place == at:
                out += self._new_blocks(parts, new, gone)
            if self.is_call(block):
                out += calls.pop(0) if calls else []
            elif kept:
                out.append(block)
        if at == len(blocks):
            out += self._new_blocks(parts, new, gone)
        return [*out, *(call for group in calls for call in group)]

    def _is_kept(self, block: Block, parts: list[Part]) -> bool:
        """Whether `block` is a call, thinking, or one of `parts`, which is then taken out."""
        if self.is_call(block):
            return True
        old = self.part_of(block)
        if isinstance(old, Reasoning):
            return True
        at = next((at for at, part in enumerate(parts) if _is_equal(old, part)), None)
        if at is not None:
            parts.pop(at)
        return at is not None

    def _new_blocks(
        self, parts: Sequence[Part], new: Message, gone: Sequence[Block]
    ) -> list[Block]:
        """`parts` as blocks; the last has the marks of the blocks that they replace."""
        written = self.written(Message(role=new.role, content=tuple(parts)))
        if written and isinstance(written[-1], dict):
            marks = [block for block in gone if isinstance(block, dict)]
            written[-1] = self.marked(written[-1], marks)
        return written

    def _sent_calls(
        self, blocks: Sequence[Block], old: Sequence[ToolCall], new: Sequence[ToolCall]
    ) -> list[list[Block]]:
        """The blocks at the place of each call; all at the first, if their number changed."""
        calls = [cast("JsonObject", block) for block in blocks if self.is_call(block)]
        if not len(calls) == len(old) == len(new):
            return [[self.written_call(call) for call in new]] if new else []
        return [
            [block if before == after else self.changed_call(block, before, after)]
            for block, before, after in zip(calls, old, new, strict=True)
        ]


def text_only(message: Message) -> str | None:
    """The text of a message whose parts are text and refusals; None if there are others."""
    texts = [part.text for part in message.content if isinstance(part, (Text, Refusal))]
    return "\n".join(texts) if len(texts) == len(message.content) else None


def _nth_of_its_place(passed: PassedMessages) -> list[int]:
    """For each message how many before it came from the same place."""
    seen: dict[int, int] = {}
    nth: list[int] = []
    for at in range(len(passed.messages)):
        place = passed.places_of(at)[0]
        nth.append(seen.get(place, 0))
        seen[place] = nth[-1] + 1
    return nth


def _are_same(blocks: Iterable[Block], others: Iterable[Block]) -> bool:
    """Whether these are the same objects, in whatever order."""
    return sorted(map(id, blocks)) == sorted(map(id, others))


def _is_equal(old: Part | None, new: Part) -> bool:
    if isinstance(old, Refusal) and isinstance(new, Text):
        return old.text == new.text  # these shapes write a refusal as text
    return old == new


def _is_blank(part: Part | None) -> bool:
    return part is None or (isinstance(part, Text) and not part.text.strip())
