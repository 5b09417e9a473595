"""Writes canonical JSON, computes digests of messages, and checks values of foreign JSON.

In canonical JSON the same value gives the same bytes. Lone surrogates and NUL are escaped, since
databases and UTF-8 refuse them raw; a surrogate pair becomes its character.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final, cast

from ctxcore.errors import MessageError
from ctxcore.messages.values import JsonValue, Media, Message, Opaque, Text, ToolCall
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.message_problems import MessageProblem
from ctxcore.reasons.places import Place

_UNSTORABLE = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\x00\ud800-\udfff]")
SURROGATE = re.compile("[\ud800-\udfff]")
_to_ordered_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_to_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def to_canonical(value: JsonValue) -> str:
    """`value` as compact JSON with sorted keys, in characters that any database stores."""
    return _storable_text(_to_json(value))


def to_ordered(value: JsonValue) -> str:
    """`to_canonical` with keys as they stand: models write arguments in the order of a schema."""
    return _storable_text(_to_ordered_json(value))


def _storable_text(text: str) -> str:
    return text if text.isascii() else _UNSTORABLE.sub(_storable, text)  # JSON escapes NUL itself


def _storable(found: re.Match[str]) -> str:
    """A surrogate pair as its character, else the escape of a single character."""
    if len(found[0]) == 2:
        return found[0].encode("utf-16", "surrogatepass").decode("utf-16")
    return f"\\u{ord(found[0]):04x}"


def parse_canonical(text: str) -> JsonValue:
    """The value that `to_canonical` or `to_ordered` wrote."""
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
    if text.isascii() or not SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


DIGEST_CHARS = 16  # 64 bits: no two messages of a conversation share one by chance
_BATCH_MESSAGES = 1_000  # chosen: few calls of the hash, and no copy of a whole long history


def digest_of(message: Message) -> str:
    """A digest of role, name, content and calls, as 16 hexadecimal characters."""
    return digest_of_texts([_digest_text(message)])


def digest_of_all(messages: Iterable[Message]) -> str:
    """One digest of several messages in order; half the work of a digest of each."""
    digest, left = blake2b(digest_size=DIGEST_CHARS // 2), iter(messages)
    while batch := [*islice(left, _BATCH_MESSAGES)]:
        digest.update(_to_bytes("\x1e".join(map(_digest_text, batch)) + "\x1e"))
    return digest.hexdigest()


def digest_of_texts(texts: Sequence[str]) -> str:
    """One digest of several texts in order."""
    return blake2b(_to_bytes("\x1e".join(texts)), digest_size=DIGEST_CHARS // 2).hexdigest()


def digest_of_words(messages: Sequence[Message]) -> str:
    """A digest of neighbours of one role by text and calls, however they are joined or split."""
    calls = (call for message in messages for call in message.calls)
    called = [text for call in calls for text in (call.name, _canonical_arguments(call))]
    text = " ".join(" ".join(message.text.split()) for message in messages if message.text)
    return digest_of_texts([messages[0].role, text, *called])


def _canonical_arguments(call: ToolCall) -> str:
    try:
        return to_canonical(parse_canonical(call.arguments))
    except (ValueError, RecursionError):
        return call.arguments


def _digest_text(message: Message) -> str:
    content = message.content
    if len(content) == 1 and not message.calls and isinstance(content[0], Text):
        return f"{message.role}\x00{message.name or ''}\x00{content[0].text}"  # most messages
    calls = (f"\x00call\x00{call.name}\x00{call.arguments}" for call in message.calls)
    parts = (f"\x00part\x00{part.raw}" for part in content if isinstance(part, (Media, Opaque)))
    return "".join([f"{message.role}\x00{message.name or ''}\x00{message.text}", *calls, *parts])


def _to_bytes(text: str) -> bytes:
    """`text` as it is sent to a provider: lone surrogates as U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return printable(text).encode()


MAX_DEPTH: Final = 200  # chosen: recursive walks stay far below Python's limit of 1,000 calls


def canonical_at(value: object, place: Place, *path: str | int) -> str:
    """`value`, which stands at `path` below `place`, as canonical JSON.

    Raises:
        MessageError: it is not JSON, or nested more than `MAX_DEPTH` deep.
    """
    return _text_at(to_canonical, value, place, *path)


def ordered_at(value: object, place: Place) -> str:
    """`value`, which stands at `place`, as JSON with keys as they stand.

    Raises:
        MessageError: it is not JSON, or nested more than `MAX_DEPTH` deep.
    """
    return _text_at(to_ordered, value, place)


def _text_at(
    write: Callable[[JsonValue], str], value: object, place: Place, *path: str | int
) -> str:
    try:
        text = write(cast("JsonValue", value))
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
    """The `type` of a part; empty if it has none."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def is_too_deep(value: object, text: str) -> bool:
    """Whether `value`, whose JSON is `text`, is nested more than `MAX_DEPTH` deep."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else []
