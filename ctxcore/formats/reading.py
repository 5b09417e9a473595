"""Reads transcript files in any registered format: finds the format by content, then its reader.

A line that is no JSON is reported; the lines around it are still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TypeVar

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import FileProblem
from ctxcore.reasons.values import Reason, any_of
from ctxcore.registries import At, Registry

T = TypeVar("T")

FORMATS: Registry[Format] = Registry(
    "transcript format",
    {
        "claude-code": At("ctxcore.formats.claude_code:CLAUDE_CODE"),
        "codex": At("ctxcore.formats.codex:CODEX"),
        "pi": At("ctxcore.formats.pi:PI"),
        "gemini-cli": At("ctxcore.formats.gemini_cli:GEMINI_CLI"),
        "qwen": At("ctxcore.formats.qwen:QWEN"),
        "copilot": At("ctxcore.formats.copilot:COPILOT"),
        "grok": At("ctxcore.formats.grok:GROK"),
        "openai": At("ctxcore.formats.openai_chat:OPENAI_CHAT"),  # last: it asks for least
    },
)


def register_format(fmt: Format, *, before: str = "openai") -> None:
    """Adds a format, tried before the one named `before`; OpenAI's, the last, asks for least.

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

    Files that only complete others are left out of a folder.

    Raises:
        FormatError: there is nothing at `path`.
    """
    path = Path(path)
    if path.is_dir():
        suffixes, formats = readable_suffixes(), list(FORMATS.values())
        below = (found for found in path.rglob("*") if found.suffix.lower() in suffixes)
        files = (found for found in below if found.is_file())
        return sorted(file for file in files if not any(fmt.is_part(file) for fmt in formats))
    if path.is_file():
        return [path]
    raise FormatError(path=str(path), problem=FileProblem.MISSING())


def read_transcripts(path: str | Path) -> list[Transcript]:
    """Every conversation in the file at `path`.

    Problems outside of the conversations are listed with the first one.

    Raises:
        FormatError: the file cannot be read or holds no conversation.
    """
    path = Path(path)
    return collect_transcripts(lambda: Records.of_file(path), name=str(path))


def parse_transcripts(text: str, *, name: str) -> list[Transcript]:
    """Every conversation in `text`, as `read_transcripts`; `name` is used as its path.

    Raises:
        FormatError: it holds no conversation.
    """
    return collect_transcripts(lambda: Records.of_text(text, name=name), name=name)


def stream_transcripts(records: Records) -> Iterator[Transcript | Problem]:
    """The conversations of a file one after the other, each id once, and problems between them.

    Raises:
        FormatError: the file is damaged, or of a known format but cannot be read.
    """
    matching = format_of(records)
    if matching is None:
        return
    taken: set[str] = set()
    try:
        for found in matching.read(records):
            yield _with_own_id(found, taken) if isinstance(found, Transcript) else found
    except (MessageError, RecursionError) as error:  # JSON just shallow enough to be parsed
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise FormatError(path=records.name, problem=problem) from error
    yield from records.problems


def format_of(records: Records) -> Format | None:
    """The format of a file, told from its first records; None: it is of no known one."""
    return next((fmt for fmt in FORMATS.values() if fmt.matches(records)), None)


def collect_transcripts(opened: Callable[[], Records], *, name: str) -> list[Transcript]:
    """Every conversation in the records that `opened` opens, as `read_transcripts`.

    Raises:
        FormatError: they cannot be read or hold no conversation.
    """
    (first, *others), problems = visit_transcripts(opened, lambda found: found, name=name)
    return [replace(first, problems=in_order((*first.problems, *problems))), *others]


def visit_transcripts(
    opened: Callable[[], Records], visit: Callable[[Transcript], T], *, name: str
) -> tuple[list[T], tuple[Problem, ...]]:
    """What `visit` makes of each conversation, and the problems outside of them.

    The file is read to its end; one conversation is held at a time.

    Raises:
        FormatError: the records cannot be read or hold no conversation.
    """
    made, outside = list[T](), list[Problem]()
    try:
        records = opened()
        for found in stream_transcripts(records):
            if isinstance(found, Transcript):
                made.append(visit(found))
            else:
                outside.append(found)
    except FormatError as error:
        raise FormatError(path=name, line=error.line, problem=expected(error.problem)) from error
    problems = in_order(outside)
    if not made:
        raise _no_conversation(records, problems)
    return made, problems


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """`problems` by their lines."""
    return tuple(sorted(problems, key=lambda one: one.line or 0))


def _no_conversation(records: Records, problems: Sequence[Problem]) -> FormatError:
    """Names the product a file looks like, and the first line that says why it cannot be read."""
    matching = format_of(records)
    first = next(iter(problems), None)
    line, problem = None, FileProblem.NO_CONVERSATION()
    if first is not None:
        line, problem = first.line, FileProblem.NO_CONVERSATION_BECAUSE(problem=first.reason)
    if matching is None or matching.name == next(reversed(tuple(FORMATS))):
        return FormatError(path=records.name, line=line, problem=expected(problem))
    looks = FileProblem.LOOKS_LIKE(format=matching.label, problem=problem)
    return FormatError(path=records.name, line=line, problem=looks)


def _with_own_id(transcript: Transcript, taken: set[str]) -> Transcript:
    """`transcript` with `#2`, `#3`, … appended to an id that another one of the file has."""
    candidates = (f"{transcript.id}#{n}" if n > 1 else transcript.id for n in count(1))
    own = next(candidate for candidate in candidates if candidate not in taken)
    taken.add(own)
    return replace(transcript, id=own)
