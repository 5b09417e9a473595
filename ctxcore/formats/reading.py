"""Owns the way in: which files hold conversations, and what is in one of them.

The format is told from a file's content, never from its name.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.naming import with_unique_ids
from ctxcore.formats.records import decode_text, parse_records
from ctxcore.formats.registry import FORMATS, expected
from ctxcore.formats.values import Format, Problem, Records, Transcript
from ctxcore.reasons.file_problems import FileProblem
from ctxcore.reasons.foreign import reason_of, system_reason

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
