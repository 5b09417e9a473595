"""Owns reading a literal: a list or an object as JSON or Python writes it, to where it was cut off.

Read token by token into JSON, which a parser then checks; no code runs and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxcore.compression.json_text import join_surrogates, parse_json, render_json
from ctxcore.messages.values import JsonValue

MOST_CHARS: Final = 1_000_000  # Python reads the tokens one by one; a longer text stays text
MOST_TAIL: Final = 80  # characters after a cut, e.g. "... [output truncated]"

_TOKEN: Final = re.compile(
    r"""[bu]?(?P<text>'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+")"""
    r"""|(?P<mark>[\[\]{}(),:])"""
    r"""|(?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.])"""
    r"""|(?P<word>None|True|False|null|true|false)\b"""
    r"""|(?P<other>[A-Za-z_][\w.]*+\((?:[^()'"\\]|'[^'\\]*'|"[^"\\]*")*+\)"""
    r"""|<[\w.]+ [^<>]*+>|-?inf\b|nan\b)"""
    r"""|(?P<open>[bu]?['"].*+)\Z""",
    re.DOTALL,
)
_BLANK: Final = re.compile(r"\s*")
_WORDS: Final = {"None": "null", "True": "true", "False": "false"}
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.)|\Z)", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"} | {
    char: char for char in "\\'\"/\n"
}


@dataclass(frozen=True, slots=True)
class ParsedLiteral:
    """The value of a literal, and what follows where it was cut off; None if it is whole."""

    value: JsonValue
    tail: str | None = None


def parse_literal(text: str) -> ParsedLiteral:
    """The list or object that `text` is a literal of, as much of it as there is.

    Raises:
        ValueError: it is none; TooDeepError: it is nested too deeply.
    """
    if len(text) > MOST_CHARS or text.lstrip()[:1] not in ("[", "{", "("):
        raise ValueError("no literal of a list or an object starts like this")
    reader = _Reader(text)
    value = parse_json(reader.to_json())
    if not isinstance(value, list | dict):
        raise ValueError("neither a list nor an object")
    return ParsedLiteral(value, reader.tail)


def after_blanks(text: str, at: int) -> int:
    """The place of the first character from `at` on that is no blank."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


class _Reader:
    """Writes a literal as JSON, token by token, and closes what a cut left open."""

    def __init__(self, text: str) -> None:
        self.tail: str | None = None
        """What follows where the value was cut off; None if it is whole."""
        self._text = text
        self._parts: list[str] = []
        self._open: list[str] = []
        self._has_values = False
        self._is_key = False
        """Whether the last part is the name of a member that has no value yet."""

    def to_json(self) -> str:
        """JSON of the same value; ValueError where there is something else than a literal."""
        end = 0
        for found in self._tokens():
            end = found.end()
            self._take(found)
            if not self._open:
                break
        if self._open:
            self._close(end)
        elif self._text[end:].strip():
            raise ValueError("there is more behind the value")
        return "".join(self._parts)

    def _tokens(self) -> Iterator[re.Match[str]]:
        at, text = after_blanks(self._text, 0), self._text
        while found := _TOKEN.match(text, at):
            yield found
            at = after_blanks(text, found.end())

    def _take(self, found: re.Match[str]) -> None:
        kind, token = found.lastgroup, found.group()
        if kind == "mark":
            self._take_mark(token)
        elif kind == "text":
            self._add(render_json(_unquoted(found.group("text"))))
        elif kind == "number":
            if found.end() < len(self._text):  # else nobody knows how it goes on
                self._add(token if token[-1] != "." else f"{token}0")
        elif kind == "word":
            self._add(_WORDS.get(token, token))
        elif kind == "open":
            self._take_open(token)
        else:
            self._add(render_json(token))  # a date, an object: as it is printed

    def _take_mark(self, mark: str) -> None:
        parts = self._parts
        if mark in _CLOSING:
            self._open.append(mark)
            self._add("{" if mark == "{" else "[", is_value=False)
        elif mark in "]})":
            if not self._open or _CLOSING[self._open.pop()] != mark:
                raise ValueError("brackets do not match")
            if parts[-1] == ",":  # Python writes one after a single item
                parts.pop()
            self._add(mark.replace(")", "]"), is_value=False)
        else:
            self._add(mark, is_value=False)

    def _add(self, part: str, *, is_value: bool = True) -> None:
        before = self._parts[-1] if self._parts else ""
        self._is_key = is_value and self._open[-1:] == ["{"] and before in ("{", ",")
        if self._is_key and part[0] != '"':
            part = render_json(part)  # a number, which is a name in JSON
        self._has_values = self._has_values or is_value
        self._parts.append(part)

    def _take_open(self, token: str) -> None:
        """A text that never ends: what there is of it."""
        if self._open[-1:] == ["{"] and self._parts[-1] != ":":
            if len(token) > MOST_TAIL:
                raise ValueError("a name that long is none")
            return  # a part of a name says nothing
        said = _unescaped(token.lstrip("bu")[1:])
        try:
            self._add(render_json(parse_literal(said).value))
        except ValueError:
            self._add(render_json(said))

    def _close(self, end: int) -> None:
        self.tail = self._text[end:].strip()
        if not self._has_values or len(self.tail) > min(MOST_TAIL, len(self._text) // 4):
            raise ValueError("something else than literals")
        parts = self._parts
        if parts[-1] == ":":
            del parts[-2:]
        elif self._is_key:
            parts.pop()
        if parts[-1] == ",":
            parts.pop()
        parts += ["}" if bracket == "{" else "]" for bracket in reversed(self._open)]


def _unquoted(literal: str) -> str:
    return _unescaped(literal[1:-1])


def _unescaped(text: str) -> str:
    """`text` with the escapes of JSON and Python read; one that is cut off is dropped."""
    if "\\" not in text:
        return text
    return join_surrogates(_ESCAPE.sub(_char, text))


def _char(found: re.Match[str]) -> str:
    digits, other = next(filter(None, found.groups()[:3]), None), found.group(4)
    if digits is not None:
        return chr(min(int(digits, 16), 0x10FFFF))
    return _ESCAPED.get(other, f"\\{other}") if other is not None else ""
