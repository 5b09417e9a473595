"""Reads transcript files: JSON documents or JSON lines, in any registered format.

A line that is no JSON is reported; the lines around it are still read. Lines end at line feeds
only, since JSON text may hold other line separators unescaped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.fields import with_unique_ids
from ctxcore.formats.values import Format, Problem, Record, Records, Transcript
from ctxcore.reasons.foreign import JsonProblem, column_reason, reason_of, system_reason
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason, any_of
from ctxcore.registries import At, Registry


def decode_text(data: bytes) -> str:
    """The text of a file: UTF-16 with a byte order mark, else UTF-8; bad bytes become U+FFFD."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def parse_records(text: str, *, name: str) -> Records:
    """The JSON values of `text`: one on each line, or a single document.

    Raises:
        FormatError: there is no JSON in it, or a document is damaged; the line is named.
    """
    text = text.removeprefix("\ufeff")
    lines = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise FormatError(path=name, problem=expected(FileProblem.EMPTY()))
    if len(lines) > 1 and (records := _parse_lines(lines)) is not None:
        return records
    try:
        document = Record(line=None, value=json.loads(text))
    except (ValueError, RecursionError) as error:
        at = error.lineno if isinstance(error, json.JSONDecodeError) else None
        problem = expected(FileProblem.DAMAGED(reason=_reason(error)))
        raise FormatError(path=name, line=at, problem=problem) from error
    return Records(is_document=True, records=(document,))


def _parse_lines(lines: Sequence[tuple[int, str]]) -> Records | None:
    """The values of JSON lines; None if neither the first line nor half of them are JSON."""
    records, problems = [], []
    for at, line in lines:
        try:
            records.append(Record(line=at, value=json.loads(line)))
        except (ValueError, RecursionError) as error:
            problems.append(Problem(line=at, reason=FileProblem.NOT_JSON(reason=_reason(error))))
    if len(records) < len(problems) and (not records or records[0].line != lines[0][0]):
        return None
    return Records(is_document=False, records=tuple(records), problems=tuple(problems))


def _reason(error: Exception) -> Reason:
    if isinstance(error, json.JSONDecodeError):
        return column_reason(error)
    return JsonProblem.DEEP() if isinstance(error, RecursionError) else reason_of(error)


FORMATS: Registry[Format] = Registry(
    "transcript format",
    {
        "claude-code": At("ctxcore.formats.claude_code:CLAUDE_CODE"),
        "openai": At("ctxcore.formats.openai_chat:OPENAI_CHAT"),  # last: it matches all records
    },
)


def register_format(fmt: Format, *, before: str = "openai") -> None:
    """Adds a format, tried before the one named `before`; OpenAI's, the last, matches any file.

    Raises:
        NameTakenError: there is a format of this name.
        KeyError: there is none named `before`.
    """
    FORMATS.register(fmt.name, fmt, before=before)


def expected(problem: Reason) -> Reason:
    """`problem` of a file, with the formats that can be read."""
    labels = [FORMATS[name].label for name in reversed(tuple(FORMATS))]
    return FileProblem.EXPECTED(problem=problem, formats=any_of(labels))


def readable_suffixes() -> tuple[str, ...]:
    """How names of files end that some registered format reads, e.g. `.jsonl`, sorted."""
    return tuple(sorted({suffix for fmt in FORMATS.values() for suffix in fmt.suffixes}))


def find_transcripts(path: str | Path) -> list[Path]:
    """The files to read at `path`: itself, or all below a folder with a known suffix, sorted.

    Raises:
        FormatError: there is nothing at `path`.
    """
    path = Path(path)
    if path.is_dir():
        suffixes = readable_suffixes()
        below = (found for found in path.rglob("*") if found.suffix.lower() in suffixes)
        return sorted(found for found in below if found.is_file())
    if path.is_file():
        return [path]
    raise FormatError(path=str(path), problem=FileProblem.MISSING())


def read_transcripts(path: str | Path) -> list[Transcript]:
    """Every conversation in the file at `path`.

    Raises:
        FormatError: the file cannot be read or holds no conversation.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        problem = FileProblem.UNREADABLE(reason=system_reason(error))
        raise FormatError(path=str(path), problem=problem) from error
    return parse_transcripts(decode_text(data), name=str(path))


def parse_transcripts(text: str, *, name: str) -> list[Transcript]:
    """Every conversation in `text`; `name` is used as its path.

    Problems outside of the conversations are listed with the first one.

    Raises:
        FormatError: it holds no conversation.
    """
    records = parse_records(text, name=name)
    formats = list(FORMATS.values())
    matching = next((format for format in formats if format.matches(records)), formats[-1])
    try:
        found, problems = matching.read(records, name)
    except (MessageError, RecursionError) as error:  # JSON just shallow enough to be parsed
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise FormatError(path=name, problem=problem) from error
    if not found and not problems:
        raise FormatError(path=name, problem=expected(FileProblem.NO_CONVERSATION()))
    if not found:
        because = FileProblem.NO_CONVERSATION_BECAUSE(problem=problems[0].reason)
        raise FormatError(path=name, line=problems[0].line, problem=expected(because))
    listed = sorted((*found[0].problems, *problems), key=lambda problem: problem.line or 0)
    return with_unique_ids([replace(found[0], problems=tuple(listed)), *found[1:]])
