"""Reads transcript files in any registered format: finds the format by content, then its reader.

A line that is no JSON is reported; the lines around it are still read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Final, TypeVar

from ctxcore.errors import FormatError, MessageError
from ctxcore.formats.fields import HugeCountError
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.spool import SpoolError
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonValue
from ctxcore.reasons.foreign import reason_of
from ctxcore.reasons.storage_problems import FileProblem, FormatCode
from ctxcore.reasons.values import Reason
from ctxcore.registries import At, Registry

T = TypeVar("T")

FORMATS: Registry[Format] = Registry(
    "transcript format",
    {
        "markdown": At("ctxcore.formats.markdown:MARKDOWN"),
        "cursor": At("ctxcore.formats.cursor:CURSOR"),  # its runs look like Claude Code's
        "claude-code": At("ctxcore.formats.claude_code:CLAUDE_CODE"),
        "chatgpt": At("ctxcore.formats.chatgpt:CHATGPT"),
        "claude-ai": At("ctxcore.formats.claude_ai:CLAUDE_AI"),
        "langchain": At("ctxcore.formats.langchain:LANGCHAIN"),
        "ai-sdk": At("ctxcore.formats.ai_sdk:AI_SDK"),
        "openai-agents": At("ctxcore.formats.openai_agents:OPENAI_AGENTS"),
        "google-adk": At("ctxcore.formats.google_adk:GOOGLE_ADK"),
        "openhands": At("ctxcore.formats.openhands:OPENHANDS"),
        "openhands-sdk": At("ctxcore.formats.openhands_sdk:OPENHANDS_SDK"),
        "openhands-log": At("ctxcore.formats.openhands_log:OPENHANDS_LOG"),
        "swe-agent": At("ctxcore.formats.swe_agent:SWE_AGENT"),
        "mini-swe-agent": At("ctxcore.formats.mini_swe_agent:MINI_SWE_AGENT"),
        "codex": At("ctxcore.formats.codex:CODEX"),
        "droid": At("ctxcore.formats.droid:DROID"),  # pi's entries look like its messages
        "pi": At("ctxcore.formats.pi:PI"),
        "gemini-cli": At("ctxcore.formats.gemini_cli:GEMINI_CLI"),
        "qwen": At("ctxcore.formats.qwen:QWEN"),
        "copilot": At("ctxcore.formats.copilot:COPILOT"),
        "grok": At("ctxcore.formats.grok:GROK"),
        "opencode": At("ctxcore.formats.opencode:OPENCODE"),
        "kimi": At("ctxcore.formats.kimi:KIMI"),
        "hermes": At("ctxcore.formats.hermes:HERMES"),
        "antigravity": At("ctxcore.formats.antigravity:ANTIGRAVITY"),
        "tau-bench": At("ctxcore.formats.tau_bench:TAU_BENCH"),
        "bfcl": At("ctxcore.formats.bfcl:BFCL"),
        "toolbench": At("ctxcore.formats.toolbench:TOOLBENCH"),
        "fastchat": At("ctxcore.formats.fastchat:FASTCHAT"),
        "sharegpt": At("ctxcore.formats.sharegpt:SHAREGPT"),
        "tagged-calls": At("ctxcore.formats.sharegpt:TAGGED_CALLS"),
        "glaive": At("ctxcore.formats.instructions:GLAIVE"),
        "alpaca": At("ctxcore.formats.instructions:ALPACA"),
        "ultrachat": At("ctxcore.formats.instructions:ULTRACHAT"),
        "anthropic": At("ctxcore.formats.provider_bodies:ANTHROPIC"),
        "openai-responses": At("ctxcore.formats.provider_bodies:OPENAI_RESPONSES"),
        "gemini": At("ctxcore.formats.provider_bodies:GEMINI"),
        "openai": At("ctxcore.formats.provider_bodies:OPENAI_CHAT"),  # last: it asks for least
    },
)


_NAMED: Final = ("openai", "claude-code")
"""The formats that errors name; `ctxcore formats` lists the others."""


def register_format(fmt: Format, *, before: str = "openai") -> None:
    """Adds a format, tried before the one named `before`; OpenAI's, the last, asks for least.

    Raises:
        NameTakenError: there is a format of this name.
        KeyError: there is none named `before`.
    """
    FORMATS.register(fmt.name, fmt, before=before)


def expected(problem: Reason) -> Reason:
    """`problem` of a file, with the best known formats and the number of the others."""
    openai, claude_code = (FORMATS[name].label for name in _NAMED)
    others = len(FORMATS) - len(_NAMED)
    formats = FormatCode.KNOWN(first=openai, second=claude_code, others=others)
    return FileProblem.EXPECTED(problem=problem, formats=formats)


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
    except HugeCountError as error:
        raise FormatError(
            path=records.name, line=_line_of(records, error), problem=error.reason
        ) from error
    except SpoolError as error:
        raise FormatError(path=records.name, problem=error.reason) from error
    except (MessageError, RecursionError) as error:  # JSON just shallow enough to be parsed
        problem = FileProblem.UNREADABLE(reason=reason_of(error))
        raise FormatError(path=records.name, problem=problem) from error
    yield from records.problems


def _line_of(records: Records, error: HugeCountError) -> int | None:
    """The first line with that number in that field; None in a document."""
    lines = (record.line for record in records if _holds(record.value, error.field, error.value))
    return next(lines, None)


def _holds(value: JsonValue, field: str, number: int) -> bool:
    match value:
        case dict():
            return value.get(field) == number or any(
                _holds(inner, field, number) for inner in value.values()
            )
        case list():
            return any(_holds(inner, field, number) for inner in value)
        case _:
            return False


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
