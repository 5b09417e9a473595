"""Reads the JSON values of a file one after the other: lines, the elements of a list, or an object.

A file is read anew each time its records are asked for, so that none of them has to be kept. Lines
end at line feeds only, since JSON text may hold other line separators unescaped.
"""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Literal, TypeAlias, cast

from ctxcore.errors import FormatError
from ctxcore.json_types import JsonValue
from ctxcore.plain import Plain
from ctxcore.reasons.foreign import JsonProblem, column_reason, reason_of, system_reason
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason

Layout: TypeAlias = Literal["lines", "list", "object", "text"]
"""JSON lines; a document whose outermost value is a list; any other document; text with markup,
which is one value."""

# Chosen: enough to tell every known format by, little beside one conversation.
_HEAD_RECORDS: Final = 64
_HEAD_BYTES: Final = 1_000_000
_CHUNK_CHARS: Final = 65_536
_PIECE_BYTES: Final = 1_000_000
_VALUE_BYTES: Final = 3  # of memory for a byte of JSON; measured: 2 to 5, the more the shorter
_NEAR_END: Final = 16  # an error this close to the end may be one of text not yet read
_MARKUP: Final = b"<!--"  # how text with markup begins that says what it is
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(Plain):
    """A line or message that could not be read and was left out."""

    line: int | None
    reason: Reason

    @property
    def placed(self) -> Reason:
        """The reason, with its line where it has one."""
        if not self.line:
            return self.reason
        return PlaceCode.AT(place=PlaceCode.LINE(line=self.line), problem=self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Where a line stands in its file, in bytes."""

    start: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One JSON value of a file; `line` and `span` are those of its line, None in a document.

    Of several values in one line, none has a span.
    """

    value: JsonValue
    line: int | None = None
    span: Span | None = None
    size: int = 0
    """About how many bytes of memory it takes; 0: it is part of one that is held already."""


@dataclass(slots=True, kw_only=True, eq=False)
class Records:
    """The JSON values of a file: its lines, the elements of its list, or its one object."""

    name: str
    """The path of the file, or what stands for it."""
    path: Path | None
    """None for text that is no file, e.g. an upload."""
    layout: Layout
    head: tuple[Record, ...]
    """The first records, at least one where there is any: enough to tell the format."""
    _open: Callable[[], BinaryIO]
    _problems: dict[int, Problem] = field(default_factory=dict)

    @classmethod
    def of_file(cls, path: Path) -> Records:
        """The records of a file.

        Raises:
            FormatError: it cannot be read, is empty, or a document is damaged.
        """

        def opened() -> BinaryIO:
            try:
                return path.open("rb")
            except OSError as error:
                problem = FileProblem.UNREADABLE(reason=system_reason(error))
                raise FormatError(path=str(path), problem=problem) from error

        return cls._of(opened, str(path), path)

    @classmethod
    def of_bytes(cls, data: bytes, *, name: str) -> Records:
        """The records of the content of a file; `name` is used as its path.

        Raises:
            FormatError: as `of_file`.
        """
        return cls._of(lambda: io.BytesIO(data), name, None)

    @classmethod
    def of_text(cls, text: str, *, name: str) -> Records:
        """The records of a text; `name` is used as its path.

        Raises:
            FormatError: as `of_file`.
        """
        return cls.of_bytes(text.encode("utf-8", "surrogatepass"), name=name)

    @classmethod
    def _of(cls, opened: Callable[[], BinaryIO], name: str, path: Path | None) -> Records:
        opened = _in_utf8(opened)
        try:
            layout, head = _look_at(opened, name)
        except OSError as error:  # a folder, or a disk that fails
            problem = FileProblem.UNREADABLE(reason=system_reason(error))
            raise FormatError(path=name, problem=problem) from error
        return cls(name=name, path=path, layout=layout, head=head, _open=opened)

    @property
    def values(self) -> Sequence[JsonValue]:
        """The values of the first records."""
        return [record.value for record in self.head]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The lines that are no JSON, of those read so far: all, once all records were read."""
        return tuple(self._problems[line] for line in sorted(self._problems))

    def __iter__(self) -> Iterator[Record]:
        """All records from the beginning.

        Raises:
            FormatError: the rest of a document is damaged.
        """
        if self.layout == "lines":
            return self._lines()
        return _elements(self._open, self.name) if self.layout == "list" else iter(self.head)

    def read(self, spans: Sequence[Span]) -> Iterator[JsonValue]:
        """The values of some lines again."""
        with self._open() as file:
            for span in spans:
                file.seek(span.start)
                yield json.loads(_decoded(file.read(span.length)))

    def _lines(self) -> Iterator[Record]:
        with self._open() as file:
            for line, start, raw in _numbered(file):
                length, raw = len(raw), raw.rstrip(b"\r\n")
                try:
                    text = raw.decode("utf-8-sig" if line == 1 else "utf-8")
                except UnicodeDecodeError:
                    text = _decoded(raw)
                    self._problems[line] = Problem(line=line, reason=FileProblem.BROKEN_UTF8())
                try:
                    values = _values_in(text)
                except (ValueError, RecursionError) as error:
                    reason = FileProblem.NOT_JSON(reason=_reason(error))
                    self._problems[line] = Problem(line=line, reason=reason)
                    continue
                if len(values) == 1:
                    span = Span(start=start, length=length)
                    size = length * _VALUE_BYTES
                    yield Record(line=line, value=values[0], span=span, size=size)
                else:
                    each = length * _VALUE_BYTES // len(values)
                    yield from (Record(line=line, value=value, size=each) for value in values)


def _values_in(text: str) -> list[JsonValue]:
    """The value of a line; several objects, where a program lost a line break between them.

    Raises:
        ValueError: it is neither.
        RecursionError: it is nested too deeply.
    """
    try:
        return [json.loads(text)]
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise
        values, at = list[JsonValue](), 0
        while at < len(text):
            value, end = json.JSONDecoder().raw_decode(text, at)
            if not isinstance(value, dict):
                raise
            values.append(value)
            at = end + len(text[end:]) - len(text[end:].lstrip())
        return values


def decode_text(data: bytes) -> str:
    """The text of a file: UTF-16 with a byte order mark, else UTF-8; bad bytes become U+FFFD."""
    return "".join(decoded_pieces(io.BytesIO(data)))


def decoded_pieces(file: BinaryIO) -> Iterator[str]:
    """The same text, piece by piece."""
    data = file.read(_PIECE_BYTES)
    encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    while data:
        yield decoder.decode(data)
        data = file.read(_PIECE_BYTES)
    yield decoder.decode(b"", final=True)


def _in_utf8(opened: Callable[[], BinaryIO]) -> Callable[[], BinaryIO]:
    """The same content in UTF-8; UTF-16, which is rare, is held in memory."""
    with opened() as file:
        if not file.read(2).startswith(_UTF16):
            return opened
    with opened() as file:
        data = decode_text(file.read()).encode("utf-8", "surrogatepass")
    return lambda: io.BytesIO(data)


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8-sig", errors="replace")


def _numbered(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """The lines that are not blank, each with its number and where it starts."""
    start = 0
    for line, raw in enumerate(file, 1):
        if raw.strip(b" \t\r\n\xef\xbb\xbf"):
            yield line, start, raw
        start += len(raw)


def _look_at(opened: Callable[[], BinaryIO], name: str) -> tuple[Layout, tuple[Record, ...]]:
    """The layout of a file, and its first records."""
    if _is_markup(opened):
        with opened() as file:
            return "text", (Record(value=_decoded(file.read()), line=1),)
    if _is_long_list(opened):
        return "list", _first(_elements(opened, name))
    sample = list(_sample(opened))
    if not sample:
        raise FormatError(path=name, problem=FileProblem.EMPTY())
    records = [Record(line=line, value=value) for line, is_json, value in sample if is_json]
    is_first_json = sample[0][1]
    if len(sample) > 1 and (is_first_json or 2 * len(records) >= len(sample)):
        return "lines", tuple(records)
    if is_first_json and not isinstance(records[0].value, list):
        return "object", (Record(value=records[0].value),)
    with opened() as file:
        text = _decoded(file.read())
    if text.lstrip().startswith("["):
        return "list", _first(_elements(opened, name))
    try:
        return "object", (Record(value=json.loads(text)),)
    except (ValueError, RecursionError) as error:
        raise damaged(name, error) from error


def _is_markup(opened: Callable[[], BinaryIO]) -> bool:
    with opened() as file:
        return file.read(_NEAR_END).lstrip(b"\xef\xbb\xbf").startswith(_MARKUP)


def _is_long_list(opened: Callable[[], BinaryIO]) -> bool:
    """Whether a list begins the file, and its first line is too long for one of JSON lines."""
    with opened() as file:
        beginning = file.read(_HEAD_BYTES)
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n")
    return len(beginning) == _HEAD_BYTES and text.startswith(b"[") and b"\n" not in text


def _sample(opened: Callable[[], BinaryIO]) -> Iterator[tuple[int, bool, JsonValue]]:
    """The first lines that are not blank: number, whether it is JSON, and the value."""
    with opened() as file:
        for nth, (line, start, raw) in enumerate(_numbered(file), 1):
            try:
                for value in _values_in(_decoded(raw)):
                    yield line, True, value
            except (ValueError, RecursionError):
                yield line, False, None
            if nth == _HEAD_RECORDS or (nth > 1 and start > _HEAD_BYTES):
                return


def _first(records: Iterator[Record]) -> tuple[Record, ...]:
    return tuple(record for record, _ in zip(records, range(_HEAD_RECORDS), strict=False))


def _elements(opened: Callable[[], BinaryIO], name: str) -> Iterator[Record]:
    """The elements of the list that a document is."""
    with opened() as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        try:
            for value, size in _ListScanner(text).scan():
                yield Record(value=value, size=size * _VALUE_BYTES)
        except (ValueError, RecursionError) as error:
            raise damaged(name, error) from error


class _ListScanner:
    """Decodes the elements of a JSON list, holding little more than the text of one."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0
        self._is_whole = False
        self._lines, self._column = 0, 0  # before the buffer
        self._decode = json.JSONDecoder().raw_decode

    def scan(self) -> Iterator[tuple[JsonValue, int]]:
        """The elements in order, each with the number of its characters.

        Raises:
            json.JSONDecodeError: the text is damaged; with its place in the whole text.
            RecursionError: an element is nested too deeply.
        """
        self._take("[")
        if self._peek() != "]":
            yield self._element()
            while self._peek() == ",":
                self._take(",")
                yield self._element()
        self._take("]")
        if self._peek():
            raise self._error("Extra data", self._at)

    def _element(self) -> tuple[JsonValue, int]:
        self._peek()
        while True:
            try:
                value, end = self._decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                is_early = error.pos < len(self._buffer) - _NEAR_END
                if self._is_whole or (is_early and not error.msg.startswith("Unterminated")):
                    raise self._error(error.msg, error.pos) from error
            else:
                if end < len(self._buffer) or self._is_whole:  # else a number may go on
                    size, self._at = end - self._at, end
                    return cast("JsonValue", value), size
            self._fill()

    def _peek(self) -> str:
        """The next character that is no white space; none at the end."""
        while True:
            rest = self._buffer[self._at : self._at + _NEAR_END].lstrip(" \t\r\n")
            if rest:
                while self._buffer[self._at] in " \t\r\n":
                    self._at += 1
                return rest[0]
            self._at = min(self._at + _NEAR_END, len(self._buffer))
            if self._at == len(self._buffer):
                if self._is_whole:
                    return ""
                self._fill()

    def _take(self, char: str) -> None:
        if self._peek() != char:
            raise self._error(f"Expecting '{char}' delimiter", self._at)
        self._at += 1

    def _fill(self) -> None:
        """Reads on: as much again as is held, so that a long element is decoded few times."""
        passed = self._buffer[: self._at]
        self._lines += passed.count("\n")
        after_line = len(passed) - passed.rfind("\n") - 1
        self._column = after_line if "\n" in passed else self._column + len(passed)
        self._buffer, self._at = self._buffer[self._at :], 0
        more = self._text.read(max(_CHUNK_CHARS, len(self._buffer)))
        self._is_whole = not more
        self._buffer += more

    def _error(self, message: str, at: int) -> json.JSONDecodeError:
        error = json.JSONDecodeError(message, self._buffer, at)
        if error.lineno == 1:
            error.colno += self._column
        error.lineno += self._lines
        return error


def damaged(name: str, error: Exception) -> FormatError:
    """The refusal of a document that `error` says is no JSON."""
    at = error.lineno if isinstance(error, json.JSONDecodeError) else None
    return FormatError(path=name, line=at, problem=FileProblem.DAMAGED(reason=_reason(error)))


def _reason(error: Exception) -> Reason:
    if isinstance(error, json.JSONDecodeError):
        return column_reason(error)
    return JsonProblem.DEEP() if isinstance(error, RecursionError) else reason_of(error)
