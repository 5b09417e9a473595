"""Shortens the arguments of tool calls: the same JSON with its long texts cut in their middle.

Keys, numbers and short texts stay, so that a model sees what it did and where. Source: ADR 0042.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ctxcore.assembly.records import ShortArguments
from ctxcore.assembly.texts import ELIDED, elide, elide_within
from ctxcore.compression.json_text import TooDeepError, parse_json, render_json
from ctxcore.compression.markers import reference
from ctxcore.compression.own_tools import is_own_tool
from ctxcore.messages.values import JsonValue, Message, ToolCall
from ctxcore.policy.values import Policy
from ctxcore.tokens.count import count_message
from ctxcore.tokens.families import TokenCounter

_CHARS_PER_TOKEN: Final = 8  # chosen: prose and code have about four; no longer cut is tried


def shorten_calls(message: Message, policy: Policy, counter: TokenCounter) -> ShortArguments | None:
    """What stands for the arguments of `message` under `policy`; None: nothing is shortened."""
    limit = policy.shorten_arguments_over_tokens
    if limit is None or not any(_may_be_long(call, limit) for call in message.calls):
        return None
    texts = tuple(
        shorten_arguments(call.arguments, limit, counter) if _is_shortened(call, policy) else None
        for call in message.calls
    )
    return texts if any(texts) else None


def shorten_arguments(arguments: str, max_tokens: int, counter: TokenCounter) -> str | None:
    """JSON of the same shape as `arguments` within `max_tokens`, or as near as its texts allow.

    What is no JSON is one text, which a context sends within JSON. None where they fit, or have no
    text that is worth cutting, or are nested too deeply.
    """
    tokens = counter.count(arguments)
    if tokens <= max_tokens:
        return None
    try:
        value = parse_json(arguments)
    except TooDeepError:
        return None
    except ValueError:
        return elide(arguments, max_tokens, counter) or None
    low, high, cut = 0, max_tokens * _CHARS_PER_TOKEN, _cut(value, 0)
    if cut == value:
        return None
    best = render_json(cut)
    while low < high:
        middle = (low + high + 1) // 2
        text = render_json(_cut(value, middle))
        if counter.count(text) <= max_tokens:
            low, best = middle, text
        else:
            high = middle - 1
    return best if counter.count(best) < tokens else None


def _cut(value: JsonValue, chars: int) -> JsonValue:
    """`value` with each text in so many characters, where that makes it shorter."""
    if isinstance(value, str):
        shown = elide_within(value, chars)
        return shown if len(shown) < len(value) else value
    if isinstance(value, list):
        return [_cut(item, chars) for item in value]
    if isinstance(value, dict):
        return {key: _cut(item, chars) for key, item in value.items()}
    return value


def most_tokens(message: Message, policy: Policy, counter: TokenCounter) -> int | None:
    """What `message` takes at most if its arguments shrink to their limit; None: none are long.

    Long texts are not counted for it: a plan asks for every call of a history.
    """
    limit = policy.shorten_arguments_over_tokens
    long = [call for call in message.calls if limit is not None and _may_be_long(call, limit)]
    shortened = [call for call in long if _is_shortened(call, policy)]
    if limit is None or not shortened:
        return None
    calls = (replace(call, arguments="") if call in shortened else call for call in message.calls)
    return count_message(replace(message, calls=tuple(calls)), counter) + limit * len(shortened)


def _is_shortened(call: ToolCall, policy: Policy) -> bool:
    return call.name not in policy.protected_tools and not is_own_tool(call.name)


def _may_be_long(call: ToolCall, limit_tokens: int) -> bool:
    """Whether the arguments may take more than their limit; no text has more tokens than bytes."""
    return len(call.arguments.encode("utf-8", "replace")) > limit_tokens


def with_arguments(message: Message, texts: ShortArguments) -> Message:
    """`message` with `texts` in place of the arguments of its calls."""
    pairs = zip(message.calls, texts, strict=True)
    calls = (call if text is None else replace(call, arguments=text) for call, text in pairs)
    return replace(message, calls=tuple(calls))


def with_call_references(
    calls: Sequence[ToolCall], own: Sequence[ToolCall], seq: int
) -> tuple[ToolCall, ...]:
    """Shortened `calls` with a reference to their message in each marker; `own` are the originals.

    The reference stands within a text: a key of its own would be taken for one of the tool's.
    """
    marked = rf"[… \1 characters left out, whole: {reference(seq)} …]"
    return tuple(
        call if call == before else replace(call, arguments=ELIDED.sub(marked, call.arguments))
        for call, before in zip(calls, own, strict=True)
    )


def told(message: Message) -> str:
    """The text of a message and the arguments of its calls, as they are."""
    calls = [call.arguments for call in message.calls]
    if len(message.calls) > 1:
        calls = [render_json([_as_json(call) for call in message.calls])]
    return "\n".join(filter(None, (message.text, *calls)))


def _as_json(call: ToolCall) -> JsonValue:
    try:
        arguments = parse_json(call.arguments)
    except ValueError:
        arguments = call.arguments
    return {"name": call.name, "arguments": arguments}
