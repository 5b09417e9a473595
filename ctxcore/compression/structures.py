"""Owns the structure of an output: JSON, and what is almost JSON.

Tools print `str(result)`, write one record a line, put a sentence or a fence around their JSON, or
stop in the middle at a limit of their own. All of that is read into the value it stands for.
Nothing is guessed: what holds anything else than literals has no value.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ctxcore.compression.json_text import TooDeepError, parse_json
from ctxcore.compression.literals import after_blanks, parse_literal
from ctxcore.messages.values import JsonValue

LEAST_INNER_CHARS: Final = 40  # taking less apart saves nothing
MOST_WORDS: Final = 200  # characters around the JSON that they announce; more is a text of its own
WORDS_SHARE: Final = 0.3  # of a text at most
MOST_TRIES: Final = 8

_ANNOUNCED: Final = re.compile(r"(?:^|[:=>]) *[\[{]", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Structure:
    """The value that an output stands for."""

    value: JsonValue
    is_json: bool = False
    """Whether the output is JSON as it is."""
    tail: str | None = None
    """What follows where the value was cut off; None if it is whole."""
    before: str = ""
    """What is said before the value, and after it."""
    after: str = ""


def read_structure(text: str) -> Structure:
    """The value that `text` stands for, as much of it as there is.

    Raises:
        ValueError: it stands for none; TooDeepError: it is nested too deeply.
    """
    try:
        return Structure(parse_json(text), is_json=True)
    except TooDeepError:
        raise
    except ValueError:
        return _read_loosely(text)


def parse_inner(text: str) -> JsonValue:
    """The list or object that a text inside the output stands for; None if it is none."""
    stripped = text.strip()
    if len(stripped) < LEAST_INNER_CHARS or stripped[0] not in "[{" or stripped[-1] not in "]}":
        return None
    try:
        found = read_structure(stripped)
    except ValueError:
        return None
    is_all = found.tail is None and not found.before and not found.after
    return found.value if is_all else None


def _read_loosely(text: str) -> Structure:
    structure = _values_in_a_row(text) or _announced(text)
    if structure is not None:
        return structure
    literal = parse_literal(text)
    return Structure(literal.value, tail=literal.tail)


def _announced(text: str) -> Structure | None:
    """The JSON list or object that makes up most of a text, in a fence or behind a few words."""
    most = min(MOST_WORDS, int(len(text) * WORDS_SHARE))
    for found in islice(_ANNOUNCED.finditer(text, 0, most + 1), MOST_TRIES):
        start = found.end() - 1
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if len(text) - (end - start) <= most:
            value = parse_json(text[start:end])
            return Structure(value, before=text[:start], after=text[end:])
    return None


def _values_in_a_row(text: str) -> Structure | None:
    """The JSON objects or lists that follow each other with nothing but blanks between them."""
    at, rows = after_blanks(text, 0), list[str]()
    while text[at : at + 1] in ("{", "["):
        try:
            _, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        rows.append(text[at:end])
        at = after_blanks(text, end)
    if not rows or (at == len(text) and len(rows) == 1):
        return None
    values = parse_json(f"[{','.join(rows)}]")
    assert isinstance(values, list)
    if at == len(text):
        return Structure(values)
    try:
        last = parse_literal(text[at:])
    except ValueError:
        return None
    return Structure([*values, last.value], tail=last.tail)
