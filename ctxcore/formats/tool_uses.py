"""Owns what tools cost: the tokens of calls and results, by tool and by the file they name.

Which file a call is about is read from its arguments, so a shell command that prints a file
counts for its tool alone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import Message, ToolCall
from ctxcore.tokens.count import count_message
from ctxcore.tokens.counter import TokenCounter

_PATH_KEYS = ("file_path", "notebook_path", "path", "filename", "file")
_WORD = re.compile("[A-Z]?[a-z]+")  # of a name in snake_case or camelCase
_READS = frozenset({"read", "view", "open", "cat"})
_VIEW_COMMANDS = ("view", "read")  # the `command` of editors that read and write with one tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One tool call with what its result took; 0 where there is none."""

    tool: str
    path: str | None
    is_read: bool
    call_tokens: int
    result_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """What one tool cost."""

    name: str
    calls: int
    call_tokens: int
    result_tokens: int

    @property
    def total_tokens(self) -> int:
        """Calls and results together."""
        return self.call_tokens + self.result_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class FileUse:
    """What one file cost: reading it, and all other calls that name it (edits, searches)."""

    path: str
    reads: int
    read_tokens: int
    reread_tokens: int
    """The part of `read_tokens` that later reads of the same file brought."""
    other_calls: int
    other_tokens: int

    @property
    def rereads(self) -> int:
        """How often it was read again."""
        return max(self.reads - 1, 0)

    @property
    def total_tokens(self) -> int:
        """Reads and all other calls together."""
        return self.read_tokens + self.other_tokens


def find_uses(
    messages: Sequence[Message], counts: Sequence[int], counter: TokenCounter
) -> list[Use]:
    """Every tool call in order; `counts` are the tokens of each message."""
    return [
        _use(call, 0 if at is None else counts[at], counter) for call, at in _answered(messages)
    ]


def tool_uses(uses: Iterable[Use]) -> tuple[ToolUse, ...]:
    """What each tool cost, the dearest first."""
    grouped: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        grouped[use.tool].append(use)
    tools = (
        ToolUse(
            name=name,
            calls=len(group),
            call_tokens=sum(use.call_tokens for use in group),
            result_tokens=sum(use.result_tokens for use in group),
        )
        for name, group in grouped.items()
    )
    return tuple(sorted(tools, key=lambda tool: (-tool.total_tokens, tool.name)))


def file_uses(uses: Iterable[Use]) -> tuple[FileUse, ...]:
    """What each file cost, the dearest first; only the result of a read counts as reading."""
    grouped: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        if use.path is not None:
            grouped[use.path].append(use)
    files = (_file_use(path, group) for path, group in grouped.items())
    return tuple(sorted(files, key=lambda file: (-file.total_tokens, file.path)))


def _answered(messages: Sequence[Message]) -> Iterator[tuple[ToolCall, int | None]]:
    """Every call with the place of the message that answers it."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for at, start in enumerate(block_starts(messages)):
        blocks[start].append(at)
    for head, *places in blocks.values():
        calls = messages[head].calls
        answered_by, _ = pair_results(calls, [messages[at] for at in places])
        for call, place in zip(calls, answered_by, strict=True):
            yield call, None if place is None else places[place]


def _use(call: ToolCall, result_tokens: int, counter: TokenCounter) -> Use:
    arguments = _arguments(call)
    return Use(
        tool=call.name,
        path=_path(arguments),
        is_read=_reads(call.name) or arguments.get("command") in _VIEW_COMMANDS,
        call_tokens=count_message(Message(role="assistant", calls=(call,)), counter),
        result_tokens=result_tokens,
    )


def _reads(name: str) -> bool:
    return not _READS.isdisjoint(word.lower() for word in _WORD.findall(name))


def _arguments(call: ToolCall) -> Mapping[str, object]:
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}  # free text, or cut off: no file is named
    return value if isinstance(value, dict) else {}


def _path(arguments: Mapping[str, object]) -> str | None:
    values = (arguments.get(key) for key in _PATH_KEYS)
    return next((value for value in values if isinstance(value, str) and value), None)


def _file_use(path: str, uses: Sequence[Use]) -> FileUse:
    reads = [use.result_tokens for use in uses if use.is_read]
    others = [use.call_tokens + use.result_tokens for use in uses if not use.is_read]
    return FileUse(
        path=path,
        reads=len(reads),
        read_tokens=sum(reads),
        reread_tokens=sum(reads[1:]),
        other_calls=len(others),
        other_tokens=sum(others),
    )
