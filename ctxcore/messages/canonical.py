"""Owns canonical JSON text: the same value gives the same bytes, and every string survives it.

A lone surrogate and NUL are written as escapes, since databases and UTF-8 refuse them raw; the two
halves of a character become the character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.values import JsonValue, Media, Message, Opaque, Text
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x00\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def to_canonical(value: JsonValue) -> str:
    """`value` as compact JSON with sorted keys, in characters that any database stores."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _UNSTORABLE.sub(lambda found: _storable(found.group()), text)


def _storable(found: str) -> str:
    """A split pair as the character it is, else the escape of a single character."""
    if len(found) == 2:
        return found.encode("utf-16", "surrogatepass").decode("utf-16")
    return f"\\u{ord(found):04x}"


def parse_canonical(text: str) -> JsonValue:
    """The value that `to_canonical` wrote."""
    return cast("JsonValue", json.loads(text))


def printable_json(value: JsonValue) -> JsonValue:
    """`value` with every text in it printable."""
    match value:
        case str():
            return printable(value)
        case list():
            return [printable_json(inner) for inner in value]
        case dict():
            return {printable(key): printable_json(inner) for key, inner in value.items()}
        case _:
            return value


def printable(text: str) -> str:
    """`text` as tokenizers, indexes, pages and providers accept it: lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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


MAX_DEPTH: Final = 200  # walking deeper would end at Python's own limit, 1,000 calls


def canonical_at(value: object, place: Place, *path: str | int) -> str:
    """`value`, which stands at `path` below `place`, as canonical JSON.

    Raises:
        MessageError: it is not JSON, or nested more than `MAX_DEPTH` deep.
    """
    try:
        text = to_canonical(cast("JsonValue", value))
    except RecursionError as error:
        raise MessageError(place=place.within(*path), problem=MessageProblem.DEEP()) from error
    except (TypeError, ValueError) as error:
        problem = MessageProblem.NOT_JSON(reason=reason_of(error))
        raise MessageError(place=place.within(*path), problem=problem) from error
    if is_too_deep(value, text):
        raise MessageError(place=place.within(*path), problem=MessageProblem.DEEP())
    return text


def text_or_none(value: object, place: Place, *path: str | int) -> str | None:
    """`value`, which stands at `path` below `place` and is text or null.

    Raises:
        MessageError: it is something else.
    """
    if value is None or isinstance(value, str):
        return value
    problem = MessageProblem.TEXT(kind=type(value).__name__)
    raise MessageError(place=place.within(*path), problem=problem)


def object_of(value: object, place: Place, *path: str | int) -> Mapping[str, object]:
    """`value`, which stands at `path` below `place` and is an object.

    Raises:
        MessageError: it is something else.
    """
    if isinstance(value, Mapping):
        return value
    problem = MessageProblem.OBJECT(kind=type(value).__name__)
    raise MessageError(place=place.within(*path), problem=problem)


def type_of(part: object) -> str:
    """What a part says it is; empty if it does not say."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def is_too_deep(value: object, text: str) -> bool:
    """Whether `value`, whose JSON is `text`, is nested more than `MAX_DEPTH` deep."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []
