"""Owns counting messages: what a model is billed for each of them, their calls and their frame.

Counts add up: a conversation takes `PRIMING_TOKENS`, its tools, and each message by itself, in
any order of adding. Thinking is counted apart, since it is sent only inside an open tool turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ctxcore.messages.beside import checked_tools
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import Media, Message, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from ctxcore.tokens.counter import TokenCounter
from ctxcore.tokens.counting import RuleCounter
from ctxcore.tokens.definitions import count_tools
from ctxcore.tokens.estimate import FAMILIES, EstimatedCounter
from ctxcore.tokens.exact import VOCABULARIES, ExactCounter
from ctxcore.tokens.families import counter_id_of
from ctxcore.tokens.media import count_media, media_is_estimated

__all__ = [
    "PRIMING_TOKENS",
    "TOOLS_WITH_SYSTEM_TOKENS",
    "count_each",
    "count_message",
    "count_messages",
    "count_reasoning",
    "count_tokens",
    "count_tools",
    "counter_by_id",
    "counter_for",
    "media_is_estimated",
]

# OpenAI's cookbook, "How to count tokens with tiktoken": 3 a message and its role, a name with
# one more, 3 for the reply. Calls and results as openai-harmony 0.0.8 renders them, measured.
PRIMING_TOKENS = 3
_MESSAGE_TOKENS = 3 + 1  # each role is one token in both vocabularies
_NAME_TOKENS = 1
_CALL_TOKENS = 13
_RESULT_TOKENS = 10

TOOLS_WITH_SYSTEM_TOKENS = -4  # definitions share the frame of a system message, if there is one

# What is no text is not read as text: a generated image is one of unknown size (see `media`);
# encrypted items are the provider's own, and what they take is not published.
_BLOB = re.compile(r"[A-Za-z0-9+/_=-]{128,}")
_BLOB_TOKENS: Mapping[str, int] = {"image_generation_call": 765}
_OTHER_BLOB_TOKENS = 100


def count_tokens(text: str, model: str | None = None) -> int:
    """Tokens of `text` for `model`; without one, in o200k_base."""
    return counter_for(model).count(text)


def count_messages(
    messages: Iterable[Mapping[str, object] | Message],
    *,
    model: str | None = None,
    tools: Sequence[Mapping[str, object]] | None = None,
) -> int:
    """Tokens that `model` is sent for `messages` and `tools`: calls, results and frame included.

    Args:
        messages: in any shape that is read, with `Message` values among them or alone.
        model: whose vocabulary counts; o200k_base without one.
        tools: the tool definitions sent along.

    Raises:
        MessageError: one is no message, or of another shape than those before it.
    """
    counter, parsed, tools = counter_for(model), parse_messages(messages), checked_tools(tools)
    total = PRIMING_TOKENS + sum(count_each(parsed, counter))
    if not tools:
        return total
    shared = any(message.is_system for message in parsed)
    return total + count_tools(tools, counter) + (TOOLS_WITH_SYSTEM_TOKENS if shared else 0)


def counter_for(model: str | None = None) -> TokenCounter:
    """The counter for `model`: exact for OpenAI's vocabularies, else an estimate that says so."""
    return counter_by_id(counter_id_of(model))


def counter_by_id(counter_id: str) -> TokenCounter:
    """The counter that counts were stored under.

    Raises:
        ValueError: no counter has this id.
    """
    for vocabulary in VOCABULARIES:
        if counter_id == vocabulary:
            return ExactCounter(vocabulary)
    for family in FAMILIES:
        if counter_id == f"estimate:{family}":
            return EstimatedCounter(family)
    raise ValueError(f"no token counter has the id {counter_id!r}")


def count_each(messages: Iterable[Message], counter: TokenCounter) -> list[int]:
    """Tokens of every message; a result's function name is found in the call it answers."""
    tracker, counts = BlockTracker(), []
    for at, message in enumerate(messages):
        tracker = tracker.next(message, at)
        name = tracker.function_name(message) if message.is_tool_result else ""
        counts.append(count_message(message, counter, function_name=name))
    return counts


def count_message(message: Message, counter: TokenCounter, *, function_name: str = "") -> int:
    """Tokens of one message with its frame, calls included and thinking left out.

    `function_name` is the function whose output a tool result is, where it has no name itself.
    """
    content = sum(_count_part(part, counter) for part in message.content)
    if isinstance(counter, RuleCounter):
        said = (text for call in message.calls for text in (call.name, call.arguments))
        return counter.frame_tokens + content + sum(map(counter.count, said))
    if message.is_tool_result:
        return content + counter.count(message.name or function_name) + _RESULT_TOKENS
    name = _NAME_TOKENS + counter.count(message.name) if message.name else 0
    calls = sum(_count_call(call, counter) for call in message.calls)
    frame = _MESSAGE_TOKENS if content or not message.calls else 0
    return frame + content + name + calls


def count_priming(counter: TokenCounter, *, has_tools: bool, has_system: bool) -> int:
    """What a request takes beside its messages and the words of its tool definitions."""
    if isinstance(counter, RuleCounter):
        return 0  # no document counts any
    return PRIMING_TOKENS + (TOOLS_WITH_SYSTEM_TOKENS if has_tools and has_system else 0)


def count_reasoning(message: Message, counter: TokenCounter) -> int:
    """Tokens of the thinking in `message`, as it is sent back inside an open tool turn.

    Its words count, or the provider's block where the words are withheld; signatures do not.
    """
    return sum(
        counter.count(part.text or part.raw or "")
        for part in message.content
        if isinstance(part, Reasoning)
    )


def _count_part(part: Part, counter: TokenCounter) -> int:
    match part:
        case Text(text=text) | Refusal(text=text):
            return counter.count(text)
        case Media():
            return count_media(part, counter)
        case Opaque(raw=raw, provider=provider):
            words, blobs = _BLOB.subn("[data]", raw)
            return counter.count(words) + blobs * _BLOB_TOKENS.get(provider, _OTHER_BLOB_TOKENS)
        case Reasoning():
            return 0


def _count_call(call: ToolCall, counter: TokenCounter) -> int:
    return counter.count(call.name) + counter.count(call.arguments) + _CALL_TOKENS
