"""Owns the way from a file's text to its JSON records, each with the line it stands on.

A line that is no JSON is a problem of its own; the lines around it are still read. Lines end at
line feeds only: JSON text may hold other line separators unescaped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from ctxcore.errors import FormatError
from ctxcore.formats.registry import expected
from ctxcore.formats.values import Problem, Record, Records
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.file_problems import FileProblem
from ctxcore.reasons.foreign import JsonProblem, column_reason, reason_of
from ctxcore.reasons.values import Reason


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
