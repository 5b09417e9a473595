"""The rules of roles: they alternate, and the user speaks first.

Neighbours of one role become one message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, islice, pairwise

from ctxcore.assembly.history import count_once
from ctxcore.assembly.items import Item, Merged, own_item, total
from ctxcore.assembly.rules.values import (
    STRICT,
    Bench,
    Conversation,
    Finding,
    Neighbours,
    Rule,
    WholeRequest,
)
from ctxcore.assembly.rules.words import speaker_label
from ctxcore.assembly.texts import START
from ctxcore.messages.values import Message, Part, Role, Text, text_message
from ctxcore.reasons.codes import LegalityCode, RepairCode
from ctxcore.tokens.families import Provider, TokenCounter


def _check_neighbours(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    others = [(at, message) for at, message in conversation.placed if not message.is_system]
    for (_at, before), (at, message) in pairwise(others):
        if message.role == before.role and message.role in ("user", "assistant"):
            yield at, LegalityCode.ALTERNATION(role=message.role)


def _repair_neighbours(items: Sequence[Item], bench: Bench) -> list[Merged]:
    groups: list[list[Item]] = []
    role: Role | None = None
    for item in items:
        is_same = item.message.role == role
        if is_same and are_mergeable(groups[-1][-1].message, item.message):
            if item.row is not None and groups[-1][-1].row is not None:
                bench.note(item, RepairCode.MERGED(role=item.message.role))
            groups[-1].append(item)
        else:
            groups.append([item])
            role = item.message.role
    return [
        group[0].alone if len(group) == 1 else _joined(group, bench.counter) for group in groups
    ]


def _joined(group: Sequence[Item], counter: TokenCounter) -> Merged:
    """`group` in its exact size: what merging changes is spread over its items by their sizes."""
    message = join_messages([item.message for item in group])
    exact, apart = count_once(message, counter), total(group)
    ends = [end * exact // apart for end in accumulate(item.tokens for item in group)]
    sizes = (end - start for start, end in pairwise([0, *ends]))
    return Merged(message, tuple(map(Item.sized, group, sizes)))


def are_mergeable(message: Message, following: Message) -> bool:
    """Whether two neighbours become one message, so that roles alternate."""
    if message.role != following.role:
        return False
    return message.role == "user" or (message.role == "assistant" and not message.calls)


def join_messages(messages: Sequence[Message]) -> Message:
    """Neighbours as one message: words joined by an empty line, other parts in order.

    Linear in their length: a meeting's transcript is hundreds of them in a row.
    """
    if len(messages) == 1:
        return messages[0]
    joined = _Joined(messages[0])
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
        """Adds the next message; speakers' names that differ go into the words."""
        content, label = message.content, ""
        if message.name != self._name:
            self._label_first()
            label = speaker_label(message)
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
        parts = tuple(
            Text(text="\n\n".join(part)) if isinstance(part, list) else part for part in self._parts
        )
        return replace(self._first, name=self._name, content=parts, calls=tuple(self._calls))

    def _take(self, content: Sequence[Part]) -> None:
        self._parts += [[_words(part)] if _is_plain(part) else part for part in content]

    def _label_first(self) -> None:
        if not self._name:
            return
        label, first = speaker_label(self._first), self._parts[0] if self._parts else None
        if isinstance(first, list):
            first[0] = label + first[0]
        elif label:
            self._parts.insert(0, [label])
        self._name = None


def _is_plain(part: Part | None) -> bool:
    return isinstance(part, Text) and part.extra is None


def _words(part: Part | None) -> str:
    return part.text if isinstance(part, Text) else ""


ALTERNATION = Rule(
    name="alternation",
    check=_check_neighbours,
    providers=STRICT,
    repair=Neighbours(_repair_neighbours),
    broken=[{"role": "user", "content": "one"}, {"role": "user", "content": "two"}],
)


def _check_first(conversation: Conversation, _: Provider) -> Iterator[Finding]:
    others = ((at, message) for at, message in conversation.placed if not message.is_system)
    for at, message in islice(others, 1):
        if message.role != "user":
            yield at, LegalityCode.FIRST_ROLE()


def _repair_first(items: list[Item], bench: Bench) -> list[Item]:
    at = next((at for at, item in enumerate(items) if not item.message.is_system), None)
    if at is None or items[at].message.role == "user":
        return items
    bench.note(items[at], RepairCode.LEADING_ASSISTANT())
    start = own_item(items[at].segment, text_message("user", START), bench.counter)
    return [*items[:at], replace(start, is_laid_out=False), *items[at:]]


FIRST_ROLE = Rule(
    name="first_role",
    check=_check_first,
    providers=STRICT,
    repair=WholeRequest(_repair_first),
    broken=[{"role": "assistant", "content": "welcome"}, {"role": "user", "content": "hi"}],
)
