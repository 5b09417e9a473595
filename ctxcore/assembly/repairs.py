"""Owns making a context legal for every provider; the history itself is never touched.

A call without a result gets one that says so, a result without a call becomes a user text, ids are
made unique, neighbours of one role merge, and an assistant never speaks first. Each is listed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise

from ctxcore.assembly.items import Item, total
from ctxcore.assembly.texts import EMPTY, NO_RESULT, START, orphan_text
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import (
    Media,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    ToolCall,
    text_message,
    tool_result,
)
from ctxcore.reasons.codes import RepairCode
from ctxcore.reasons.values import Reason
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

_PLAIN_NAME = re.compile(r"[^\s<|\\/>]{1,64}")  # the pattern in OpenAI's own refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One thing made legal: what, and at which place of the history (from 0; None: our own)."""

    reason: Reason
    at: int | None

    @property
    def kind(self) -> str:
        """What was repaired, in one word, e.g. `missing_result`."""
        named = self.reason.code == RepairCode.NAMED_CALL
        code = RepairCode.RENAMED_CALL if named else self.reason.code
        return code.rpartition(".")[2]

    @property
    def detail(self) -> str:
        """What was repaired, in English."""
        return str(self.reason)


@dataclass(frozen=True, slots=True)
class Merged:
    """The items that became one message of the request."""

    message: Message
    items: tuple[Item, ...]
    has_reasoning: bool = False

    def with_reasoning(self, tokens: int) -> Merged:
        """This message with its thinking sent along, which takes `tokens` more."""
        first = replace(self.items[0], tokens=self.items[0].tokens + tokens)
        return Merged(self.message, (first, *self.items[1:]), has_reasoning=True)


class Repairer:
    """Makes items legal; collects what it had to do."""

    def __init__(self, counter: TokenCounter, *, taken_ids: Collection[str] = ()) -> None:
        self._counter = counter
        self._taken_ids = taken_ids  # of calls before the first item
        self._used_ids: set[str] = set()
        self.repairs: list[Repair] = []

    def repair(self, items: Sequence[Item]) -> list[Merged]:
        """`items` as legal messages, in order; sizes of changed items are counted anew."""
        return self._recount(self._merge(self._start(self.repair_block(items))))

    def repair_block(self, block: Sequence[Item]) -> list[Item]:
        """The items of one block, legal by themselves."""
        return [self._fill(item) for group in _groups(block) for item in self._pair(group)]

    def _note(self, item: Item, reason: Reason) -> None:
        at = item.seq - 1 if item.row else None
        self.repairs.append(Repair(reason=reason, at=at))

    def _pair(self, group: Sequence[Item]) -> Iterator[Item]:
        if len(group) == 1 and not (group[0].message.calls or group[0].message.is_tool_result):
            yield group[0]  # most messages: nothing to pair
            return
        head = None if group[0].message.is_tool_result else group[0]
        results = group[1:] if head else group
        calls = head.message.calls if head else ()
        answered_by, orphans = pair_results(calls, [item.message for item in results])
        if head is not None:
            yield from self._with_calls(head, results, answered_by)
        for at in orphans:
            yield self._orphan(results[at])

    def _with_calls(
        self, head: Item, results: Sequence[Item], answered_by: Sequence[int | None]
    ) -> Iterator[Item]:
        sound = tuple(self._sound(call, head) for call in head.message.calls)
        if sound != head.message.calls:
            message = replace(head.message, calls=sound)
            head = replace(head, message=message, tokens=count_message(message, self._counter))
        calls = tuple(self._unique(call, head) for call in sound)
        yield replace(head, message=replace(head.message, calls=calls)) if calls != sound else head
        pairs = list(zip(calls, answered_by, strict=True))
        answered = {at: call for call, at in pairs if at is not None}
        for answer in sorted(answered):
            yield self._answering(results[answer], answered[answer])
        for call, at in pairs:
            if at is None:
                yield self._missing(call, head)

    def _answering(self, item: Item, call: ToolCall) -> Item:
        """The result `item` under its call's id; counted anew, as that names its function."""
        counted_as = item.message.name or (item.row.function_name if item.row else "")
        if item.message.answers == call.id and counted_as == (item.message.name or call.name):
            return item
        message = replace(item.message, answers=call.id)
        tokens = count_message(message, self._counter, function_name=call.name)
        return replace(item, message=message, tokens=tokens)

    def _sound(self, call: ToolCall, head: Item) -> ToolCall:
        """`call` with arguments that are a JSON object, as all providers but OpenAI need them."""
        if is_json_object(call.arguments):
            return call
        self._note(head, RepairCode.BROKEN_ARGUMENTS(id=call.id))
        raw = {"arguments": call.arguments} if call.arguments.strip() else {}
        return replace(call, arguments=json.dumps(raw, ensure_ascii=False))

    def _unique(self, call: ToolCall, head: Item) -> ToolCall:
        """`call` under an id that no other call of this context has."""
        call_id, again = call.id, 0
        while not call_id or call_id in self._used_ids or call_id in self._taken_ids:
            again += 1
            call_id = f"{call.id[:24] or 'call'}_{head.seq}_{again}"
        self._used_ids.add(call_id)
        if call_id == call.id:
            return call
        if call.id:
            self._note(head, RepairCode.RENAMED_CALL(id=call.id, new_id=call_id))
        else:
            self._note(head, RepairCode.NAMED_CALL(new_id=call_id))
        return replace(call, id=call_id)

    def _missing(self, call: ToolCall, head: Item) -> Item:
        self._note(head, RepairCode.MISSING_RESULT(id=call.id, tool=call.name))
        message = tool_result(call.id, NO_RESULT)
        tokens = count_message(message, self._counter, function_name=call.name)
        return Item(segment=head.segment, message=message, tokens=tokens, is_laid_out=False)

    def _orphan(self, item: Item) -> Item:
        self._note(item, RepairCode.ORPHAN_RESULT(id=item.message.answers))
        name = item.message.name or ""
        media = tuple(part for part in item.message.content if isinstance(part, Media))
        words = tuple(part for part in item.message.content if not isinstance(part, Media))
        said = Text(text=orphan_text(name, replace(item.message, content=words).text))
        message = Message(role="user", content=(said, *media))
        return replace(item, message=message, tokens=count_message(message, self._counter))

    def _fill(self, item: Item) -> Item:
        """`item` in words that every provider takes: none apart, none blank, never nothing."""
        message = item.message
        if is_sayable(message):
            return item
        if not is_plain_name(message.name):
            self._note(item, RepairCode.NAME_IN_WORDS(name=message.name))
            message = _name_in_words(message)
        if any(isinstance(part, Refusal) for part in message.content):
            self._note(item, RepairCode.REFUSAL_IN_WORDS())
            message = replace(message, content=tuple(map(_in_words, message.content)))
        said = tuple(part for part in message.content if not _is_blank(part))
        if not message.calls and not any(_is_visible(part) for part in said):
            self._note(item, RepairCode.EMPTY_MESSAGE(role=message.role))
            said = (*said, Text(text=EMPTY))
        elif len(said) < len(message.content):
            self._note(item, RepairCode.BLANK_TEXT())
        message = replace(message, content=said)
        return replace(item, message=message, tokens=count_message(message, self._counter))

    def _start(self, items: list[Item]) -> list[Item]:
        at = next((at for at, item in enumerate(items) if not item.message.is_system), None)
        if at is None or items[at].message.role == "user":
            return items
        self._note(items[at], RepairCode.LEADING_ASSISTANT())
        message = text_message("user", START)
        start = Item(
            segment=items[at].segment,
            message=message,
            tokens=count_message(message, self._counter),
            is_laid_out=False,
        )
        return [*items[:at], start, *items[at:]]

    def _merge(self, items: Sequence[Item]) -> list[Merged]:
        groups: list[list[Item]] = []
        for item in items:
            last = groups[-1][-1] if groups else None
            if last is not None and are_mergeable(last.message, item.message):
                groups[-1].append(item)
                if item.row is not None and last.row is not None:
                    self._note(item, RepairCode.MERGED(role=item.message.role))
            else:
                groups.append([item])
        return [Merged(_join([item.message for item in group]), tuple(group)) for group in groups]

    def _recount(self, merged: list[Merged]) -> list[Merged]:
        """Sizes of merged messages, exact: what merging changes is shared by their size."""
        return [self._exact(group) if len(group.items) > 1 else group for group in merged]

    def _exact(self, group: Merged) -> Merged:
        exact, apart = count_message(group.message, self._counter), total(group.items)
        ends = [end * exact // apart for end in accumulate(item.tokens for item in group.items)]
        sizes = (end - start for start, end in pairwise([0, *ends]))
        items = zip(group.items, sizes, strict=True)
        return Merged(group.message, tuple(item.sized(size) for item, size in items))


def is_sayable(message: Message) -> bool:
    """Whether every provider takes the words of `message` as they are; tool results any."""
    content = message.content
    if len(content) == 1 and isinstance(content[0], Text):
        text = content[0].text  # nearly every message: no look at the other rules is needed
        if text and not text.isspace() and (not message.name or is_plain_name(message.name)):
            return True
    if message.is_tool_result:
        return True
    if not is_plain_name(message.name):
        return False
    if message.is_system:
        return True
    if any(isinstance(part, Refusal) or _is_blank(part) for part in message.content):
        return False
    return bool(message.calls) or any(_is_visible(part) for part in message.content)


@lru_cache(maxsize=512)  # a speaker's name comes with each of the messages
def is_plain_name(name: str | None) -> bool:
    """Whether OpenAI takes `name` as a speaker's: no white space, none of `<|\\/>`."""
    return not name or bool(_PLAIN_NAME.fullmatch(name))


@lru_cache(maxsize=1024)  # the same calls are looked at in every context until they fold
def is_json_object(text: str) -> bool:
    """Whether `text` is the JSON text of an object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _groups(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Each message with the tool messages that directly follow it."""
    group: list[Item] = []
    for item in items:
        if group and not item.message.is_tool_result:
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _is_visible(part: Part) -> bool:
    return isinstance(part, (Media, Opaque)) or (isinstance(part, Text) and not _is_blank(part))


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and (not part.text or part.text.isspace())


def _in_words(part: Part) -> Part:
    return Text(text=part.text) if isinstance(part, Refusal) else part


def are_mergeable(one: Message, other: Message) -> bool:
    """Whether two neighbours become one message, so that roles alternate."""
    if one.role != other.role:
        return False
    return one.role == "user" or (one.role == "assistant" and not one.calls)


def _join(messages: Sequence[Message]) -> Message:
    """Neighbours as one message: words joined by an empty line, other parts in order.

    Linear in what they say: a meeting's transcript is hundreds of them in a row.
    """
    first = messages[0]
    if len(messages) == 1:
        return first
    joined = _Joined(first)
    for message in messages[1:]:
        joined.add(message)
    return joined.message()


class _Joined:
    """Collects the parts of messages that become one; words are joined at the end."""

    def __init__(self, first: Message) -> None:
        self._first = first
        self._name = first.name
        self._parts: list[list[str] | Part] = []
        self._calls = list(first.calls)
        self._take(first.content)

    def add(self, message: Message) -> None:
        """Takes the next message in; speakers' names that differ go into the words."""
        content, label = message.content, ""
        if message.name != self._name:
            self._label_first()
            label = f"{message.name}: " if message.name else ""
        last = self._parts[-1] if self._parts else None
        if label and not (content and _is_plain(content[0])):
            content = (Text(text=label), *content)
            label = ""
        if isinstance(last, list) and content and _is_plain(content[0]):
            last.append(label + _words(content[0]))
            content = content[1:]
        elif label:
            content = (Text(text=label + _words(content[0])), *content[1:])
        self._take(content)
        self._calls.extend(message.calls)

    def message(self) -> Message:
        """All of it."""
        parts = tuple(
            Text(text="\n\n".join(part)) if isinstance(part, list) else part for part in self._parts
        )
        return replace(self._first, name=self._name, content=parts, calls=tuple(self._calls))

    def _take(self, content: Sequence[Part]) -> None:
        self._parts += [[_words(part)] if _is_plain(part) else part for part in content]

    def _label_first(self) -> None:
        if not self._name:
            return
        label, first = f"{self._name}: ", self._parts[0] if self._parts else None
        if isinstance(first, list):
            first[0] = label + first[0]
        else:
            self._parts.insert(0, [label])
        self._name = None


def _name_in_words(message: Message) -> Message:
    """`message` with its speaker's name before the words, where a field can hold only one."""
    if not message.name:
        return message
    label = Text(text=f"{message.name}: ")
    first = message.content[0] if message.content else None
    if _is_plain(first):
        content = (Text(text=label.text + _words(first)), *message.content[1:])
    else:
        content = (label, *message.content)
    return replace(message, name=None, content=content)


def _is_plain(part: Part | None) -> bool:
    return isinstance(part, Text) and part.extra is None


def _words(part: Part | None) -> str:
    return part.text if isinstance(part, Text) else ""
