"""Says in a few characters what a message says, so that a change of it is seen later.

Digests are bound to what people and models said: words, media, calls. Ids, metadata, cache marks
and thinking do not count, since callers and providers change them without changing a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import islice

from ctxcore.messages.canonical import parse_canonical, printable, to_canonical
from ctxcore.messages.values import Media, Message, Opaque, Text

DIGEST_CHARS = 16
_BYTES = DIGEST_CHARS // 2  # 2 ** 64: no two messages of a conversation are taken for each other
_AT_ONCE = 1_000  # messages; one text of a million would be a copy of them all


def digest_of(message: Message) -> str:
    """What `message` says, as 16 hexadecimal characters."""
    return blake2b(_bytes(_said(message)), digest_size=_BYTES).hexdigest()


def digest_of_all(messages: Iterable[Message]) -> str:
    """What several messages say, one after another; half the work of a digest of each."""
    digest, left = blake2b(digest_size=_BYTES), iter(messages)
    while some := [*islice(left, _AT_ONCE)]:
        digest.update(_bytes("\x1e".join([_said(message) for message in some]) + "\x1e"))
    return digest.hexdigest()


def digest_of_texts(texts: Sequence[str]) -> str:
    """What several texts say together, in the same form."""
    return blake2b(_bytes("\x1e".join(texts)), digest_size=_BYTES).hexdigest()


def digest_of_words(messages: Sequence[Message]) -> str:
    """What neighbours of one role say, however they are joined and split: words and calls alone."""
    calls = (call for message in messages for call in message.calls)
    told = [text for call in calls for text in (call.name, _plain(call.arguments))]
    words = " ".join(" ".join(message.text.split()) for message in messages if message.text)
    return digest_of_texts([messages[0].role, words, *told])


def _plain(arguments: str) -> str:
    """The arguments of a call in one form, where they are JSON."""
    try:
        return to_canonical(parse_canonical(arguments))
    except (ValueError, RecursionError):
        return arguments


def _said(message: Message) -> str:
    """All that counts, in one text."""
    content = message.content
    if len(content) == 1 and not message.calls and isinstance(content[0], Text):
        return f"{message.role}\x00{message.name or ''}\x00{content[0].text}"  # nearly every one
    calls = (f"\x00call\x00{call.name}\x00{call.arguments}" for call in message.calls)
    parts = (f"\x00part\x00{part.raw}" for part in content if isinstance(part, (Media, Opaque)))
    return "".join([f"{message.role}\x00{message.name or ''}\x00{message.text}", *calls, *parts])


def _bytes(text: str) -> bytes:
    """`text` as a provider is sent it: a lone surrogate says the same as what stands for it."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return printable(text).encode()
