"""Messages whose content is read only when something asks for it.

A compaction of very many messages looks at the roles and sizes of all, but at few of their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol

from ctxcore.messages.values import Message, Part, Role

_BATCH: Final = 500  # chosen: texts read at once


class Contents(Protocol):
    """Reads the contents of the messages of one history."""

    def beside(self, seq: int) -> Sequence[LazyMessage]:
        """The message and those that are likely to be asked for next."""

    def contents(self, seqs: Sequence[int]) -> Sequence[tuple[Part, ...]]:
        """The content of each of these messages."""

    def texts(self, seqs: Sequence[int]) -> Sequence[str]:
        """The text of each of these messages."""


class LazyMessage(Message):
    """A message without calls and names, whose content is read when it is first used."""

    __slots__ = ("_contents", "_seq")
    _contents: Contents
    _seq: int

    @classmethod
    def at(cls, seq: int, role: Role, contents: Contents) -> LazyMessage:
        """Message `seq` of the history that `contents` reads."""
        made: LazyMessage = cls.__new__(cls)
        put = object.__setattr__
        put(made, "role", role)
        put(made, "calls", ())
        for name in ("answers", "name", "action", "extra"):
            put(made, name, None)
        put(made, "_contents", contents)
        put(made, "_seq", seq)
        return made

    @property
    def is_read(self) -> bool:
        """Whether its content is known."""
        return not hasattr(self, "_contents")

    def keep(self, content: tuple[Part, ...]) -> None:
        """Keeps the content that was read."""
        object.__setattr__(self, "content", content)
        object.__delattr__(self, "_contents")

    def drop(self, contents: Contents) -> None:
        """Lets go of the content, which `contents` reads again."""
        object.__delattr__(self, "content")
        object.__setattr__(self, "_contents", contents)

    def __getattr__(self, name: str) -> tuple[Part, ...]:
        """The content, which no slot holds yet."""
        if name != "content":
            raise AttributeError(name)
        load_all(self._contents.beside(self._seq))
        return self.content

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Message):
            return NotImplemented
        return _values(self) == _values(other)

    __hash__ = Message.__hash__


def load_all(messages: Iterable[Message]) -> None:
    """Reads the contents of those of `messages` that lack it, many at once."""
    for batch in _batches(_unread(messages)):
        for message, content in zip(batch, _contents_of(batch), strict=True):
            message.keep(content)


@contextmanager
def loaded(messages: Iterable[Message]) -> Iterator[None]:
    """Has the contents of `messages` read for a while; those that were not read before go again."""
    unread = _unread(messages)
    sources = [message._contents for message in unread]
    load_all(unread)
    yield
    for message, contents in zip(unread, sources, strict=True):
        message.drop(contents)


def texts_of(messages: Sequence[Message]) -> Iterator[str]:
    """The text of each message; what has to be read for that is not kept."""
    for start in range(0, len(messages), _BATCH):
        part = messages[start : start + _BATCH]
        unread = _unread(part)
        seqs = [message._seq for message in unread]
        read = iter(unread[0]._contents.texts(seqs) if unread else ())
        for message in part:
            is_unread = isinstance(message, LazyMessage) and not message.is_read
            yield next(read) if is_unread else message.text


def _unread(messages: Iterable[Message]) -> list[LazyMessage]:
    return [one for one in messages if isinstance(one, LazyMessage) and not one.is_read]


def _batches(messages: Sequence[LazyMessage]) -> Iterator[Sequence[LazyMessage]]:
    return (messages[at : at + _BATCH] for at in range(0, len(messages), _BATCH))


def _contents_of(messages: Sequence[LazyMessage]) -> Sequence[tuple[Part, ...]]:
    """Those of messages of one history."""
    return messages[0]._contents.contents([one._seq for one in messages]) if messages else ()


def _values(message: Message) -> tuple[object, ...]:
    return (
        message.role,
        message.content,
        message.calls,
        message.answers,
        message.name,
        message.action,
        message.extra,
    )
