"""Reports where the tokens of a transcript went: by role, by tool, and by file.

The file of a call is taken from its arguments, so a shell command that prints a file counts for its
tool only.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ctxcore.formats.stays import Stays
from ctxcore.formats.values import RecordedUsage, Transcript
from ctxcore.messages.blocks import block_starts, pair_results
from ctxcore.messages.values import Message, Role, ToolCall, text_message
from ctxcore.tokens.count import count_each, count_message, count_reasoning
from ctxcore.tokens.families import TokenCounter

_PATH_KEYS = ("file_path", "notebook_path", "path", "filename", "file")
_WORD = re.compile("[A-Z]?[a-z]+")  # of a name in snake_case or camelCase
_READS = frozenset({"read", "view", "open", "cat"})
_VIEW_COMMANDS = ("view", "read")  # the `command` argument of tools that both read and write


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One tool call with its tokens, and those of its result; 0 where there is none."""

    tool: str
    path: str | None
    is_read: bool
    call_tokens: int
    result_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """The tokens of one tool's calls and results."""

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
    """The tokens of reading one file, and of all other calls that name it (edits, searches)."""

    path: str
    reads: int
    read_tokens: int
    reread_tokens: int
    """The part of `read_tokens` that is from later reads of the same file."""
    other_calls: int
    other_tokens: int

    @property
    def rereads(self) -> int:
        """The number of reads after the first."""
        return max(self.reads - 1, 0)

    @property
    def total_tokens(self) -> int:
        """Reads and all other calls together."""
        return self.read_tokens + self.other_tokens


def _find_calls(
    messages: Sequence[Message],
    counts: Sequence[int],
    counter: TokenCounter,
    times: Sequence[float],
) -> Iterator[_Call]:
    """Every tool call in order; `counts` are the tokens of each message, sent so many `times`."""
    blocks: dict[int, list[int]] = defaultdict(list)
    for at, start in enumerate(block_starts(messages)):
        blocks[start].append(at)
    for head, *places in blocks.values():
        calls = messages[head].calls
        answered_by, _ = pair_results(calls, [messages[at] for at in places])
        for call, place in zip(calls, answered_by, strict=True):
            result = None if place is None else places[place]
            result_tokens = 0 if result is None else round(counts[result] * times[result])
            yield _measured(call, result_tokens, counter, times[head])


def _measured(
    call: ToolCall, result_tokens: int, counter: TokenCounter, call_times: float
) -> _Call:
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = None  # free text, or cut off
    arguments = value if isinstance(value, dict) else {}
    paths = (arguments.get(key) for key in _PATH_KEYS)
    names_a_read = any(word.lower() in _READS for word in _WORD.findall(call.name))
    return _Call(
        tool=call.name,
        path=next((path for path in paths if isinstance(path, str) and path), None),
        is_read=names_a_read or arguments.get("command") in _VIEW_COMMANDS,
        call_tokens=round(
            count_message(Message(role="assistant", calls=(call,)), counter) * call_times
        ),
        result_tokens=result_tokens,
    )


def _tool_uses(calls: Iterable[_Call]) -> tuple[ToolUse, ...]:
    """The uses of each tool, most tokens first."""
    grouped: dict[str, list[_Call]] = defaultdict(list)
    for call in calls:
        grouped[call.tool].append(call)
    tools = (
        ToolUse(
            name=name,
            calls=len(group),
            call_tokens=sum(call.call_tokens for call in group),
            result_tokens=sum(call.result_tokens for call in group),
        )
        for name, group in grouped.items()
    )
    return tuple(sorted(tools, key=lambda tool: (-tool.total_tokens, tool.name)))


def _file_uses(calls: Iterable[_Call]) -> tuple[FileUse, ...]:
    """The uses of each file, most tokens first."""
    grouped: dict[str, list[_Call]] = defaultdict(list)
    for call in calls:
        if call.path is not None:
            grouped[call.path].append(call)
    files = (_file_use(path, group) for path, group in grouped.items())
    return tuple(sorted(files, key=lambda file: (-file.total_tokens, file.path)))


def _file_use(path: str, calls: Sequence[_Call]) -> FileUse:
    """The use of one file; of a read only the result counts."""
    reads = [call.result_tokens for call in calls if call.is_read]
    others = [call.call_tokens + call.result_tokens for call in calls if not call.is_read]
    return FileUse(
        path=path,
        reads=len(reads),
        read_tokens=sum(reads),
        reread_tokens=sum(reads[1:]),
        other_calls=len(others),
        other_tokens=sum(others),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTotals:
    """Sums of the usage that a provider reported."""

    calls: int
    input_tokens: int
    """Input that neither came from nor went into a cache."""
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    largest_context_tokens: int
    """The input of the call with the most input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReport:
    """The tokens of one transcript; `tools` and `files` come largest first."""

    counter_id: str
    is_exact: bool
    system_tokens: int
    user_tokens: int
    assistant_tokens: int
    """The model's text, without its calls and its thinking."""
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
    """The provider's count for its first call beyond the messages before it: a system prompt and
    tool definitions that are not in the file. None without usage."""

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
        """Everything in the file, each message once."""
        text = self.system_tokens + self.user_tokens + self.assistant_tokens
        rest = self.thinking_tokens + self.summary_tokens + self.orphan_tokens
        return text + rest + self.call_tokens + self.result_tokens


def usage_report(
    transcript: Transcript,
    counter: TokenCounter,
    *,
    counts: Sequence[int] | None = None,
    stays: Stays | None = None,
) -> TokenReport:
    """The tokens of `transcript` by role, tool and file, counted with `counter`.

    `counts` are the tokens of its messages by the same counter, if they are known already. With
    `stays` each message counts for every call that sent it, and thinking, which providers leave
    out again, does not count.
    """
    messages = transcript.messages
    if counts is None:
        counts = count_each(messages, counter)
    times = [1.0] * len(messages) if stays is None else stays.messages
    calls = list(_find_calls(messages, counts, counter, times))
    weighted = [round(count * by) for count, by in zip(counts, times, strict=True)]
    by_role = _tokens_by_role(messages, weighted, calls)
    thinking, summaries = 0, 0
    if stays is not None:
        summaries = stays.summary_tokens
    else:
        thinking = sum(count_reasoning(message, counter) for message in messages)
        summaries = sum(_summary_tokens(c.summary, counter) for c in transcript.compactions)
    return TokenReport(
        counter_id=counter.id,
        is_exact=counter.is_exact,
        system_tokens=by_role["system"] + by_role["developer"],
        user_tokens=by_role["user"],
        assistant_tokens=by_role["assistant"],
        thinking_tokens=thinking,
        summary_tokens=summaries,
        orphan_tokens=by_role["tool"],
        tools=_tool_uses(calls),
        files=_file_uses(calls),
        provider=_provider_totals(transcript.usage),
        unattributed_tokens=_unattributed(transcript, counts, counter),
    )


def _tokens_by_role(
    messages: Sequence[Message], counts: Sequence[int], calls: Iterable[_Call]
) -> Counter[Role]:
    """Tokens by role, without calls and the results that answer them."""
    tokens: Counter[Role] = Counter()
    for message, count in zip(messages, counts, strict=True):
        tokens[message.role] += count
    for call in calls:
        tokens["assistant"] -= call.call_tokens
        tokens["tool"] -= call.result_tokens
    return tokens


def _summary_tokens(summary: str, counter: TokenCounter) -> int:
    return count_message(text_message("user", summary), counter) if summary else 0


def _provider_totals(usage: Sequence[RecordedUsage]) -> ProviderTotals | None:
    if not usage:
        return None
    return ProviderTotals(
        calls=len(usage),
        input_tokens=sum(call.input_tokens for call in usage),
        cache_read_tokens=sum(call.cache_read_tokens for call in usage),
        cache_write_tokens=sum(call.cache_write_tokens for call in usage),
        output_tokens=sum(call.output_tokens for call in usage),
        largest_context_tokens=max(call.total_input_tokens for call in usage),
    )


def _unattributed(
    transcript: Transcript, counts: Sequence[int], counter: TokenCounter
) -> int | None:
    """The first call's input that is not in the file; the counter's error is smallest there."""
    first = next((call for call in transcript.usage if call.total_input_tokens), None)
    if first is None:
        return None
    last = next((c for c in reversed(transcript.compactions) if c.at <= first.after), None)
    start, summary = (last.at, last.summary) if last else (0, "")
    shown = sum(counts[start : first.after]) + _summary_tokens(summary, counter)
    return max(first.total_input_tokens - shown, 0)
