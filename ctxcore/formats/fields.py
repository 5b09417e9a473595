"""Reads single fields of foreign records, titles and ids; a value of a wrong type is ignored."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Final

from ctxcore.errors import UnreadableError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.values import Message
from ctxcore.reasons.storage_problems import FileProblem


def text_at(record: Mapping[str, object], *keys: str) -> str | None:
    """The first of these fields that holds text that is not blank."""
    values = (record.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def id_at(record: Mapping[str, object], *keys: str) -> str | None:
    """The first of these fields that holds an id: text that is not blank, or a whole number."""
    numbers = {key: str(n) for key in keys if type(n := record.get(key)) is int}
    return text_at({**record, **numbers}, *keys)


MOST_COUNT: Final = 2**53 - 1  # what all readers of JSON agree on; sums of a few fit a database


class HugeCountError(UnreadableError):
    """A count beyond `MOST_COUNT`; the reader of the file adds its line."""

    def __init__(self, field: str, value: int) -> None:
        super().__init__(FileProblem.HUGE(field=field))
        self.field, self.value = field, value


def count_at(record: Mapping[str, object], key: str) -> int | None:
    """The whole number in a field, if it is not negative.

    Raises:
        HugeCountError: it is larger than any count of tokens can be.
    """
    value = record.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    if value > MOST_COUNT:
        raise HugeCountError(key, value)
    return value


def object_at(record: Mapping[str, object], key: str) -> Mapping[str, object]:
    """The object in a field; an empty one if there is none."""
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def objects_in(value: JsonValue) -> list[JsonObject]:
    """The objects in a list; none if it is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def time_at(record: Mapping[str, object], *keys: str) -> datetime | None:
    """The first of these fields that holds a time: ISO 8601 text, or (milli)seconds since 1970.

    A time without a zone is taken as UTC. A number too large for the seconds of any record is
    taken as milliseconds.
    """
    return next((time for key in keys if (time := _parse_time(record.get(key)))), None)


_MOST_SECONDS = 100_000_000_000  # chosen: the year 5138; as milliseconds the year 1973


def _parse_time(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / (1000 if value > _MOST_SECONDS else 1), UTC)
    except (ValueError, OverflowError, OSError):
        pass  # outside the calendar
    return None


_TITLE_CHARS = 80  # chosen: fits one line of a session list
# Beginnings of user messages that Claude Code and Codex write themselves.
_NOT_A_PROMPT = ("<", "Caveat:", "# AGENTS.md instructions")


def file_stem(name: str) -> str:
    """A file's name without folders and suffix."""
    return PurePath(name).stem or name


def prompt_texts(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of user messages, without those that a program wrote."""
    texts = (message.text.strip() for message in messages if message.role == "user")
    return filter(is_prompt, texts)


def is_prompt(text: str) -> bool:
    """Whether a person wrote this text of a user message, rather than a program."""
    text = text.strip()
    return bool(text) and not text.startswith(_NOT_A_PROMPT)


def title_of(texts: Iterable[str | None], *, otherwise: str) -> str:
    """The first line among `texts` that is not blank, cut to the length of a title."""
    for text in texts:
        for line in (text or "").split("\n"):
            if title := " ".join(line.split()):
                return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 1]}…"
    return otherwise
