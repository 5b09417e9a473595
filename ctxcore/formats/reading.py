"""Owns the way from a file's text to its JSON records, each with the line it stands on.

A line that is no JSON is a problem of its own; the lines around it are still read. Lines end at
line feeds only: JSON text may hold other line separators unescaped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.fields import with_unique_ids
from ctxcore.formats.values import Format, Problem, Record, Records, Transcript
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.foreign import JsonProblem, column_reason, reason_of, system_reason
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason, any_of
from ctxcore.registries import At, Registry


def decode_text(data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 where a mark says so; broken bytes become U+FFFD."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def parse_records(text: str, *, name: str) -> Records:
    """The JSON values of `text`, which is one document or one value a line.

    Raises:
        FormatError: there is no JSON in it, or a document is damaged; the line is named.
    """
    lines = [(at, line) for at, line in enumerate(_bare(text).split("\n"), 1) if line.strip()]
    if not lines:
        raise FormatError(path=name, problem=expected(FileProblem.EMPTY()))
    if len(lines) > 1:
        by_line = _parse_lines(lines)
        if _is_json_lines(by_line, lines[0][0]):
            return by_line
    return Records(is_document=True, records=(_parse_document(_bare(text), name),))


def _bare(text: str) -> str:
    return text.removeprefix("\ufeff")


def _parse_lines(lines: Sequence[tuple[int, str]]) -> Records:
    records, problems = [], []
    for at, line in lines:
        try:
            records.append(Record(line=at, value=_parse_json(line)))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(line=at, reason=FileProblem.NOT_JSON(reason=_reason(error))))
    return Records(is_document=False, records=tuple(records), problems=tuple(problems))


def _is_json_lines(by_line: Records, first_line: int) -> bool:
    """Whether lines stand for themselves: the first one does, or half of them do."""
    starts_with_one = bool(by_line.records) and by_line.records[0].line == first_line
    return starts_with_one or len(by_line.records) >= len(by_line.problems)


def _parse_document(text: str, name: str) -> Record:
    try:
        return Record(line=None, value=_parse_json(text))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        problem = expected(FileProblem.DAMAGED(reason=_reason(error)))
        raise FormatError(path=name, line=line, problem=problem) from error


def _parse_json(text: str) -> JsonValue:
    return cast("JsonValue", json.loads(text))


def _reason(error: Exception) -> Reason:
    if isinstance(error, json.JSONDecodeError):
        return column_reason(error)
    return JsonProblem.DEEP() if isinstance(error, RecursionError) else reason_of(error)


FORMATS: Registry[Format] = Registry(
    "transcript format",
    {
        "claude-code": At("ctxcore.formats.claude_code:CLAUDE_CODE"),
        "openai": At("ctxcore.formats.openai_chat:OPENAI_CHAT"),  # the last one takes what is left
    },
)


def register_format(fmt: Format, *, before: str = "openai") -> None:
    """Adds a format, asked before the one named `before`; OpenAI's takes whatever is left.

    Raises:
        NameTakenError: there is a format of this name.
        KeyError: there is none named `before`.
    """
    FORMATS.register(fmt.name, fmt, before=before)


def expected(problem: Reason) -> Reason:
    """`problem` of a file, and which formats are read."""
    labels = [FORMATS[name].label for name in reversed(tuple(FORMATS))]
    return FileProblem.EXPECTED(problem=problem, formats=any_of(labels))


_SUFFIXES = (".json", ".jsonl")


def find_transcripts(path: Path) -> list[Path]:
    """The files to read at `path`: itself, or all JSON and JSONL files below a folder, sorted.

    Raises:
        FormatError: there is nothing at `path`.
    """
    if path.is_dir():
        below = (found for found in path.rglob("*") if found.suffix.lower() in _SUFFIXES)
        return sorted(found for found in below if found.is_file())
    if path.is_file():
        return [path]
    raise FormatError(path=str(path), problem=FileProblem.MISSING())


def read_transcripts(path: Path) -> list[Transcript]:
    """Every conversation in the file at `path`.

    Raises:
        FormatError: the file cannot be read or holds no conversation.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        problem = FileProblem.UNREADABLE(reason=system_reason(error))
        raise FormatError(path=str(path), problem=problem) from error
    return parse_transcripts(decode_text(data), name=str(path))


def parse_transcripts(text: str, *, name: str) -> list[Transcript]:
    """Every conversation in `text`; `name` stands for its path.

    Problems that belong to no conversation are listed with the first.

    Raises:
        FormatError: it holds no conversation.
    """
    records = parse_records(text, name=name)
    try:
        found, problems = _format_of(records).read(records, name)
    except (MessageError, RecursionError) as error:  # JSON just shallow enough to be read
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise FormatError(path=name, problem=problem) from error
    if not found:
        raise _nothing_found(name, problems)
    listed = sorted((*found[0].problems, *problems), key=lambda problem: problem.line or 0)
    return with_unique_ids([replace(found[0], problems=tuple(listed)), *found[1:]])


def _format_of(records: Records) -> Format:
    """The first format that takes `records`; the last where none does: it says what is wrong."""
    formats = list(FORMATS.values())
    return next((one for one in formats if one.matches(records)), formats[-1])


def _nothing_found(name: str, problems: list[Problem]) -> FormatError:
    if not problems:
        return FormatError(path=name, problem=expected(FileProblem.NO_CONVERSATION()))
    first = problems[0]
    because = FileProblem.NO_CONVERSATION_BECAUSE(problem=first.reason)
    return FormatError(path=name, line=first.line, problem=expected(because))
