"""Detects the kind of a tool output, and parses the value of JSON and of almost-JSON.

Literals of Python, and JSON that was cut off, are translated to JSON token by token; a parser then
checks the result. No code runs and nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from ctxcore.compression.json_text import TooDeepError, join_surrogates, parse_json, render_json
from ctxcore.messages.values import JsonValue

Kind = Literal["json", "table", "log", "diff", "code", "html", "text", "binary"]

SAMPLE_CHARS: Final = (
    8_000  # chosen: about 150 lines: enough for shares, flat in the size of the output
)
LEAST_INNER_CHARS: Final = 40  # chosen: parsing shorter strings saves nothing
MOST_PROSE: Final = 200  # chosen: characters around JSON; with more it is a text of its own
PROSE_SHARE: Final = 0.3  # chosen: of a text, for the prose around JSON
MOST_TRIES: Final = 8  # chosen: places where the JSON may begin
MOST_CHARS: Final = 1_000_000  # read in about a second: docs/adr/0026-almost-json.md
MOST_TAIL: Final = 80  # chosen: characters after a cut, e.g. "... [output truncated]"

_CONTROL: Final = re.compile(r"[\r\x1b\x08]+")
_BASE64: Final = re.compile(r"(?:data:[\w/+.-]*;base64,)?[A-Za-z0-9+/_-]{160,}={0,2}")
_DIFF: Final = re.compile(r"^(?:diff --git |--- .*\n\+\+\+ |@@ -\d+)", re.MULTILINE)
_HTML: Final = re.compile(r"\s*(?:<!doctype html|<html|<\?xml|<[a-z][\w-]*[^<>]*>)", re.IGNORECASE)
_STAMP: Final = re.compile(
    r"^\W{0,3}(?:\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:)"
    r"|^\{\"(?:ts|time|timestamp|level|severity|msg|message)\""
    r"|\b(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|PASS(?:ED)?|FAIL(?:ED)?)\b"
)
_CODE: Final = re.compile(
    r"\s*(?:(?:async |export |pub |static |public |private )*(?:def|class|function|fn|func|struct|"
    r"interface|enum|impl|module|defmodule|defp|namespace)\b|(?:import|from|use|#include|require|"
    r"alias|package|return|const|let|var|if|for|while|end|else|try|except)\b|[)\]}]+,?$|@\w|"
    r"\w+ = |.*+(?:(?<=[{};])|(?<=\):)|(?<=\) :)|(?<=\bdo)))"
)
_NUMBERED: Final = re.compile(r" *\d+(?:→|: |\t| *\|)")
_RULE: Final = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$", re.MULTILINE)
_GAP: Final = re.compile(r"\S {2,}(?=\S)")
_ANNOUNCED: Final = re.compile(r"(?:^|[:=>]) *[\[{]", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()
_TOKEN: Final = re.compile(
    r"""\s*+(?:[bu]?(?P<text>'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+")"""
    r"""|(?P<mark>[\[\]{}(),:])"""
    r"""|(?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.])"""
    r"""|(?P<word>None|True|False|null|true|false)\b"""
    r"""|(?P<other>[A-Za-z_][\w.]*+\((?:[^()'"\\]|'[^'\\]*'|"[^"\\]*")*+\)"""
    r"""|<[\w.]+ [^<>]*+>|-?inf\b|nan\b)"""
    r"""|(?P<open>[bu]?['"].*+)\Z)""",
    re.DOTALL,
)
_BLANK: Final = re.compile(r"\s*")
_KEYWORDS: Final = {"None": "null", "True": "true", "False": "false"}
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.)|\Z)", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0"} | {
    char: char for char in "\\'\"/\n"
}


@dataclass(frozen=True, slots=True)
class Source:
    """A tool output, what kind of text it is, and its structure if it has one."""

    text: str
    kind: Kind
    structure: Structure | None = None
    """Its value; almost-JSON has one too."""
    is_too_deep: bool = False
    """Whether it has a structure that is nested too deeply to be parsed."""


def read_source(output: str) -> Source:
    """`output` with its kind and its structure."""
    try:
        structure = read_structure(output)
    except TooDeepError:
        return Source(output, "json", is_too_deep=True)
    except ValueError:
        return Source(output, detect_text_kind(output))
    kind = "json" if structure.is_json else detect_text_kind(output)
    return Source(output, kind, structure)


def detect_text_kind(output: str) -> Kind:
    """The kind of an output that is not JSON."""
    sample = output[:SAMPLE_CHARS]
    lines = [line for line in sample.splitlines() if line.strip()]
    if _is_binary(sample):
        return "binary"
    if _DIFF.search(sample):
        return "diff"
    if _HTML.match(sample) and sample.count("</") + sample.count("/>") >= 2:
        return "html"
    if _share(_STAMP.search, lines) >= 0.3:
        return "log"
    if _is_table(sample, lines[:20]):
        return "table"
    if _share(_NUMBERED.match, lines) >= 0.7 or _share(_CODE.match, lines) >= 0.35:
        return "code"
    return "text"


def _is_binary(sample: str) -> bool:
    plain = sample.replace("\n", "").replace("\t", "")
    odd = 0
    if not plain.isprintable():  # much faster than to look at each character
        odd = sum(not char.isprintable() for char in _CONTROL.sub("", plain))
    if "\x00" in sample or odd * 10 > len(sample):
        return True
    head = "".join(sample[:400].split("\n")).strip()
    return bool(_BASE64.fullmatch(head)) and any(c.isdigit() for c in head) and not head.isdigit()


def _is_table(sample: str, rows: list[str]) -> bool:
    if len(rows) < 3 or sum(row[0] in "{[" for row in rows) * 2 > len(rows):
        return False  # commas of JSON separate no cells
    if _RULE.search(sample) and sum("|" in row for row in rows) * 2 > len(rows):
        return True
    counts = [[row.count(mark) for row in rows] for mark in "\t,;|"]
    counts.append([len(_GAP.findall(row)) for row in rows])
    return any(
        first >= 2 and sum(count == first for count in (first, *others)) * 10 >= len(rows) * 9
        for first, *others in counts
    )


def _share(is_found: Callable[[str], object], lines: list[str]) -> float:
    return sum(map(bool, map(is_found, lines))) / max(1, len(lines))


@dataclass(frozen=True, slots=True)
class Structure:
    """The value of an output."""

    value: JsonValue
    is_json: bool = False
    """Whether the output is JSON as it is."""
    tail: str | None = None
    """What follows where the value was cut off; None if it is whole."""
    before: str = ""
    """The text before the value, and after it."""
    after: str = ""


def read_structure(text: str) -> Structure:
    """The value of JSON or almost-JSON, as much of it as there is.

    Raises:
        ValueError: `text` is neither; TooDeepError: it is nested too deeply.
    """
    try:
        return Structure(parse_json(text), is_json=True)
    except TooDeepError:
        raise
    except ValueError:
        return _values_in_a_row(text) or _literal_or_announced(text)


def _literal_or_announced(text: str) -> Structure:
    """The literal that `text` is, else the JSON in it: JSON within a literal is a part of that."""
    try:
        return parse_literal(text)
    except ValueError:
        announced = _announced(text)
        if announced is None:
            raise
        return announced


def parse_inner(text: str) -> JsonValue:
    """The list or object in a string inside the output; None if it has none."""
    stripped = text.strip()
    if len(stripped) < LEAST_INNER_CHARS or stripped[0] not in "[{" or stripped[-1] not in "]}":
        return None
    try:
        found = read_structure(stripped)
    except ValueError:
        return None
    is_all = found.tail is None and not found.before and not found.after
    return found.value if is_all else None


def _announced(text: str) -> Structure | None:
    """The JSON list or object that makes up most of a text, in a fence or after a few words."""
    most = min(MOST_PROSE, int(len(text) * PROSE_SHARE))
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
    at, rows = _after_blanks(text, 0), list[str]()
    while text[at : at + 1] in ("{", "["):
        try:
            _, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        rows.append(text[at:end])
        at = _after_blanks(text, end)
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


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def parse_literal(text: str) -> Structure:
    """The list or object that `text` is a literal of, as much of it as there is.

    Raises:
        ValueError: it is none; TooDeepError: it is nested too deeply.
    """
    if len(text) > MOST_CHARS or text.lstrip()[:1] not in ("[", "{", "("):
        raise ValueError("no literal of a list or an object starts like this")
    as_json, tail = _Reader(text).to_json()
    value = parse_json(as_json)
    if not isinstance(value, list | dict):
        raise ValueError("neither a list nor an object")
    return Structure(value, tail=tail)


class _Reader:
    """Translates a literal to JSON, token by token, and closes what a cut left open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._open: list[str] = []
        self._has_values = False
        self._is_key = False
        """Whether the last part is the name of a member that has no value yet."""

    def to_json(self) -> tuple[str, str | None]:
        """JSON of the same value, and what follows where it was cut off; None if it is whole.

        Raises:
            ValueError: there is something else than a literal.
        """
        end, tail = 0, None
        while found := _TOKEN.match(self._text, end):
            end = found.end()
            self._take(found)
            if not self._open:
                break
        if self._open:
            tail = self._text[end:].strip()
            self._close(tail)
        elif self._text[end:].strip():
            raise ValueError("there is more behind the value")
        return "".join(self._parts), tail

    def _take(self, found: re.Match[str]) -> None:
        kind = found.lastgroup or ""
        token = found[kind]
        match kind:
            case "mark":
                self._take_mark(token)
            case "text":
                self._add(render_json(_unescaped(token[1:-1])))
            case "number":
                if found.end() < len(self._text):  # else it may have been cut off
                    self._add(token if token[-1] != "." else f"{token}0")
            case "word":
                self._add(_KEYWORDS.get(token, token))
            case "open":
                self._take_open(token)
            case _:
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
        """Adds what there is of a text that never ends."""
        if self._open[-1:] == ["{"] and self._parts[-1] != ":":
            if len(token) > MOST_TAIL:
                raise ValueError("a name that long is none")
            return  # a part of a name is of no use
        text = _unescaped(token.lstrip("bu")[1:])
        try:
            self._add(render_json(parse_literal(text).value))
        except ValueError:
            self._add(render_json(text))

    def _close(self, tail: str) -> None:
        if not self._has_values or len(tail) > min(MOST_TAIL, len(self._text) // 4):
            raise ValueError("something else than literals")
        parts = self._parts
        if parts[-1] == ":":
            del parts[-2:]
        elif self._is_key:
            parts.pop()
        if parts[-1] == ",":
            parts.pop()
        parts += ["}" if bracket == "{" else "]" for bracket in reversed(self._open)]


def _unescaped(text: str) -> str:
    """`text` with the escapes of JSON and Python decoded; a cut-off one is dropped."""
    if "\\" not in text:
        return text
    return join_surrogates(_ESCAPE.sub(_char, text))


def _char(found: re.Match[str]) -> str:
    digits, other = next(filter(None, found.groups()[:3]), None), found.group(4)
    if digits is not None:
        return chr(min(int(digits, 16), 0x10FFFF))
    return _ESCAPED.get(other, f"\\{other}") if other is not None else ""
