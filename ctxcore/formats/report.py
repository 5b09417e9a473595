"""Owns what tools cost: the tokens of calls and results, by tool and by the file they name.

Which file a call is about is read from its arguments, so a shell command that prints a file
counts for its tool alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ctxcore.formats.values import RecordedUsage, Transcript
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import Message, ToolCall, text_message
from ctxcore.tokens.count import count_each, count_message, count_reasoning
from ctxcore.tokens.families import TokenCounter

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


SpokenKind: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTotals:
    """Sums of what a provider reported, each call once."""

    calls: int
    input_tokens: int
    """Input that neither came from nor went into a cache."""
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    largest_context_tokens: int
    """The whole input of the call that had most of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReport:
    """Where the tokens of one transcript went; `tools` and `files` come largest first."""

    counter_id: str
    is_exact: bool
    system_tokens: int
    user_tokens: int
    assistant_tokens: int
    """What the model said, without its calls and its thinking."""
    thinking_tokens: int
    summary_tokens: int
    """The summaries of compactions that the file records."""
    orphan_tokens: int
    """Tool results whose call is not in the file."""
    tools: tuple[ToolUse, ...]
    files: tuple[FileUse, ...]
    """The same tokens as under `tools`, for calls that name a file."""
    provider: ProviderTotals | None
    unattributed_tokens: int | None
    """What the provider counted in its first call beyond the messages before it: a system prompt
    and tool definitions that the file does not show. None without usage."""

    @property
    def call_tokens(self) -> int:
        """All tool calls."""
        return sum(tool.call_tokens for tool in self.tools)

    @property
    def result_tokens(self) -> int:
        """All tool results that answer a call."""
        return sum(tool.result_tokens for tool in self.tools)

    @property
    def total_tokens(self) -> int:
        """Everything the file shows, each message once."""
        spoken = self.system_tokens + self.user_tokens + self.assistant_tokens
        rest = self.thinking_tokens + self.summary_tokens + self.orphan_tokens
        return spoken + rest + self.call_tokens + self.result_tokens


def usage_report(
    transcript: Transcript, counter: TokenCounter, *, counts: Sequence[int] | None = None
) -> TokenReport:
    """Where the tokens of `transcript` went, counted with `counter`.

    `counts` are the sizes of its messages where `counter` has counted them before.
    """
    messages = transcript.messages
    if counts is None:
        counts = count_each(messages, counter)
    uses = find_uses(messages, counts, counter)
    spoken = _spoken_tokens(messages, counts, uses)
    summaries = [_summary_tokens(one.summary, counter) for one in transcript.compactions]
    return TokenReport(
        counter_id=counter.id,
        is_exact=counter.is_exact,
        system_tokens=spoken["system"],
        user_tokens=spoken["user"],
        assistant_tokens=spoken["assistant"],
        thinking_tokens=sum(count_reasoning(message, counter) for message in messages),
        summary_tokens=sum(summaries),
        orphan_tokens=spoken["tool"],
        tools=tool_uses(uses),
        files=file_uses(uses),
        provider=_provider_totals(transcript.usage),
        unattributed_tokens=_unattributed(transcript, counts, counter),
    )


def _spoken_tokens(
    messages: Sequence[Message], counts: Sequence[int], uses: Iterable[Use]
) -> Counter[SpokenKind]:
    """Tokens by who spoke, less what belongs to tools: calls, and results with a call."""
    spoken: Counter[SpokenKind] = Counter()
    for message, tokens in zip(messages, counts, strict=True):
        spoken[_kind(message)] += tokens
    for use in uses:
        spoken["assistant"] -= use.call_tokens
        spoken["tool"] -= use.result_tokens
    return spoken


def _kind(message: Message) -> SpokenKind:
    return "system" if message.role == "developer" else message.role


def _summary_tokens(summary: str, counter: TokenCounter) -> int:
    return count_message(text_message("user", summary), counter) if summary else 0


def _provider_totals(usage: Sequence[RecordedUsage]) -> ProviderTotals | None:
    if not usage:
        return None
    return ProviderTotals(
        calls=len(usage),
        input_tokens=sum(one.input_tokens for one in usage),
        cache_read_tokens=sum(one.cache_read_tokens for one in usage),
        cache_write_tokens=sum(one.cache_write_tokens for one in usage),
        output_tokens=sum(one.output_tokens for one in usage),
        largest_context_tokens=max(one.total_input_tokens for one in usage),
    )


def _unattributed(
    transcript: Transcript, counts: Sequence[int], counter: TokenCounter
) -> int | None:
    """The first call's input beyond what the file shows; there our own error weighs least."""
    first = next((one for one in transcript.usage if one.total_input_tokens), None)
    if first is None:
        return None
    last = next((c for c in reversed(transcript.compactions) if c.at <= first.after), None)
    start, summary = (last.at, last.summary) if last else (0, "")
    shown = sum(counts[start : first.after]) + _summary_tokens(summary, counter)
    return max(first.total_input_tokens - shown, 0)
