"""Owns the account of a transcript: where its tokens went, by who spoke, by tool and by file.

Counted tokens are ours, with one counter, each message once; what a provider reported stands
beside them and is never mixed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ctxcore.formats.tool_uses import FileUse, ToolUse, Use, file_uses, find_uses, tool_uses
from ctxcore.formats.values import RecordedUsage, Transcript
from ctxcore.messages.values import Message, text_message
from ctxcore.tokens.count import count_each, count_message, count_reasoning
from ctxcore.tokens.counter import TokenCounter

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
