"""Counts the tokens of messages, tool definitions and media.

Text is counted by a `TokenCounter`, frames by the model's chat template where it is known, else by
OpenAI's documented rules, media by the formulas that providers publish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import ceil

from ctxcore.messages.arguments import checked_tools
from ctxcore.messages.blocks import BlockTracker
from ctxcore.messages.shapes.reading import Given, parse_messages
from ctxcore.messages.values import Media, Message, Opaque, Part, Reasoning, Refusal, Text
from ctxcore.plain import Plain
from ctxcore.tokens.estimate import FAMILIES, EstimatedCounter
from ctxcore.tokens.exact import VOCABULARIES, ExactCounter
from ctxcore.tokens.families import TokenCounter, counter_id_of
from ctxcore.tokens.rules import RuleCounter
from ctxcore.tokens.templates import template_of

# OpenAI's cookbook, "How to count tokens with tiktoken": 3 a message and its role, a name with
# one more, 3 for the reply. Calls and results as openai-harmony 0.0.8 renders them, measured.
PRIMING_TOKENS = 3
_MESSAGE_TOKENS = 3 + 1  # each role is one token in both vocabularies
_NAME_TOKENS = 1
_CALL_TOKENS = 13
_RESULT_TOKENS = 10

TOOLS_WITH_SYSTEM_TOKENS = -4  # definitions share the frame of a system message, if there is one

# Encoded data is not counted as text. A generated image counts as one of unknown size; the tokens
# of encrypted items are not published.
_BLOB = re.compile(r"[A-Za-z0-9+/_=-]{128,}")
_BLOB_TOKENS: Mapping[str, int] = {"image_generation_call": 765}
_OTHER_BLOB_TOKENS = 100  # chosen: a placeholder for data of unknown size


def count_tokens(text: str, model: str | None = None) -> int:
    """Tokens of `text` for `model`; without one, in o200k_base."""
    return counter_for(model).count(text)


def count_messages(
    messages: Given,
    *,
    model: str | None = None,
    tools: Sequence[Mapping[str, object]] | None = None,
) -> int:
    """Tokens of a request with `messages` and `tools` to `model`, calls and frames included.

    Args:
        messages: in any shape that is read, `Message` values, or both.
        model: counts in its vocabulary; in o200k_base without one.
        tools: the tool definitions sent along.

    Raises:
        MessageError: an element is no message, or of another shape than those before it.
    """
    counter, parsed, tools = counter_for(model), parse_messages(messages), checked_tools(tools)
    leading = parsed[:1] if template_of(counter) else parsed  # a template looks at the first alone
    has_system = any(message.is_system for message in leading)
    priming = count_priming(counter, has_tools=bool(tools), has_system=has_system)
    return priming + sum(count_each(parsed, counter)) + count_tools(tools or (), counter)


def counter_for(model: str | None = None) -> TokenCounter:
    """The counter for `model`: exact for OpenAI's and the built-in one, else an estimate."""
    return counter_by_id(counter_id_of(model))


def counter_by_id(counter_id: str) -> TokenCounter:
    """The counter with the id `counter_id`, which counts were stored under.

    Raises:
        ValueError: no counter has this id.
    """
    if counter_id not in _COUNTERS:
        raise ValueError(f"no token counter has the id {counter_id!r}")
    return _COUNTERS[counter_id]


_COUNTERS: dict[str, TokenCounter] = {
    **{name: ExactCounter(name) for name in VOCABULARIES},
    **{f"estimate:{family}": EstimatedCounter(family) for family in FAMILIES},
}


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

    `function_name` is the function that a tool result without a name is the output of.
    """
    if (template := template_of(counter)) is not None:
        return template.count_message(message, counter)
    content = sum(_count_part(part, counter) for part in message.content)
    called = (text for call in message.calls for text in (call.name, call.arguments))
    calls = sum(map(counter.count, called))
    if isinstance(counter, RuleCounter):
        return counter.frame_tokens + content + calls
    if message.is_tool_result:
        return content + counter.count(message.name or function_name) + _RESULT_TOKENS
    name = _NAME_TOKENS + counter.count(message.name) if message.name else 0
    frame = _MESSAGE_TOKENS if content or not message.calls else 0
    return frame + content + name + calls + _CALL_TOKENS * len(message.calls)


def text_frame_tokens(counter: TokenCounter) -> int | None:
    """What a message of one text takes besides that text; None where it is not always the same."""
    if template_of(counter) is not None or isinstance(counter, RuleCounter):
        return None
    return _MESSAGE_TOKENS


def count_priming(counter: TokenCounter, *, has_tools: bool, has_system: bool) -> int:
    """Tokens of a request besides those of its messages and tool definitions."""
    if isinstance(counter, RuleCounter):
        return 0  # no source design counts any
    if (template := template_of(counter)) is not None:
        return template.count_priming(counter, has_system=has_system)
    return PRIMING_TOKENS + (TOOLS_WITH_SYSTEM_TOKENS if has_tools and has_system else 0)


def count_reasoning(message: Message, counter: TokenCounter) -> int:
    """Tokens of the thinking in `message`, as it is sent back inside an open tool turn.

    Visible text counts without its signature; where the text is withheld, the whole block counts.
    A model that takes only texts is sent none of it.
    """
    if template_of(counter) is not None:
        return 0
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
            text, blobs = _BLOB.subn("[data]", part.summary or raw)
            return counter.count(text) + blobs * _BLOB_TOKENS.get(provider, _OTHER_BLOB_TOKENS)
        case Reasoning():
            return 0


# On two functions with enums and nested objects the text plus 9 is 1 to 2 % from what
# openai-harmony renders; compact JSON is 40 % above.
_FRAME_TOKENS = 9
_MAX_DEPTH = 32  # chosen: deeper objects are rendered as `any`


def count_tools(tools: Sequence[Mapping[str, object]], counter: TokenCounter) -> int:
    """The tokens of tool definitions: OpenAI's form, Anthropic's or Gemini's; 0 for none.

    0 also for a model that takes only texts, which is sent none.
    """
    if not tools or template_of(counter) is not None:
        return 0
    try:
        as_json = json.dumps(tools, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # odd keys, a cycle, bottomless nesting
        return _FRAME_TOKENS + counter.count(render_tools(tools))
    if isinstance(counter, Hashable):
        return _count_cached(as_json, counter)
    return _count_json(as_json, counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTokens(Plain):
    """What one tool definition takes of every request that it is sent with."""

    name: str
    """Empty where the definition has none."""
    tokens: int


def tool_tokens(
    tools: Sequence[Mapping[str, object]], *, model: str | None = None
) -> list[ToolTokens]:
    """The tokens of each tool definition, in order; Gemini's lists give one for each function.

    The frame that all of them share is not among them: with it they are what `count_messages`
    counts for `tools`.

    Raises:
        MessageError: they are no list of objects.
    """
    functions = [function for tool in checked_tools(tools) for function in _functions(tool)]
    rendered = tuple(tuple(_render_lines(function)) for function in functions)
    sizes = _count_growing(rendered, model)
    return [
        ToolTokens(name=_name_of(function), tokens=after - before)
        for function, (before, after) in zip(functions, pairwise(sizes), strict=True)
    ]


@lru_cache(maxsize=64)  # a page asks again and again; a hundred long definitions take 2 s
def _count_growing(rendered: Sequence[Sequence[str]], model: str | None) -> Sequence[int]:
    """The tokens of none of the definitions, of the first, of the first two, and so on."""
    counter = counter_for(model)
    if template_of(counter) is not None:  # it is sent none
        return [0] * (len(rendered) + 1)
    return [counter.count(_namespace(rendered[:end])) for end in range(len(rendered) + 1)]


def _name_of(function: object) -> str:
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) else ""


def render_tools(tools: Sequence[Mapping[str, object]]) -> str:
    """The definitions as the TypeScript namespace that OpenAI renders for its models."""
    return _namespace([_render_lines(function) for tool in tools for function in _functions(tool)])


def _namespace(rendered: Iterable[Sequence[str]]) -> str:
    lines = [line for function in rendered for line in function]
    return "\n".join(["namespace functions {", "", *lines, "} // namespace functions"])


def _render_lines(function: object) -> Sequence[str]:
    rendered = _render_function(function) if isinstance(function, Mapping) else None
    return rendered or [_to_json(function), ""]


def _count_json(as_json: str, counter: TokenCounter) -> int:
    return _FRAME_TOKENS + counter.count(render_tools(json.loads(as_json)))


_count_cached = lru_cache(maxsize=64)(_count_json)  # a session sends the same tools with every call


def _functions(tool: object) -> list[object]:
    """The functions that `tool` defines: one, except that Gemini lists several in one tool."""
    if not isinstance(tool, Mapping):
        return [tool]
    if isinstance(tool.get("function"), Mapping):
        return [tool["function"]]
    declared = tool.get("function_declarations") or tool.get("functionDeclarations")
    return declared if isinstance(declared, list) else [tool]


def _render_function(function: Mapping[str, object]) -> list[str] | None:
    """The declaration of one function; None if it lacks a name or its schema is not one."""
    name = function.get("name")
    schema = function.get("parameters") or function.get("input_schema") or {}
    if not isinstance(name, str) or not name or not isinstance(schema, Mapping):
        return None
    comment = [f"// {function['description']}"] if function.get("description") else []
    properties = _render_properties(schema, depth=0)
    if not properties:
        return [*comment, f"type {name} = () => any;", ""]
    return [*comment, f"type {name} = (_: {{", *properties, "}) => any;", ""]


def _render_properties(schema: Mapping[str, object], depth: int) -> list[str]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return []
    names = required if isinstance(required, list) else []
    indent = "  " * depth
    lines = []
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and inner.get("description"):
            lines.append(f"{indent}// {inner['description']}")
        optional = "" if name in names else "?"
        lines.append(f"{indent}{name}{optional}: {_render_type(inner, depth)},")
    return lines


def _render_type(schema: object, depth: int) -> str:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return "any"
    if isinstance(values := schema.get("enum"), list) and values:
        return " | ".join(_to_json(value) for value in values)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        return " | ".join(_render_type(choice, depth + 1) for choice in choices)
    kind = schema.get("type")
    if isinstance(kind, str):
        kind = kind.lower()  # Gemini writes STRING
    if isinstance(kind, list):
        return " | ".join(_render_type({**schema, "type": name}, depth + 1) for name in kind)
    if kind == "array":
        return f"{_render_type(schema.get('items'), depth + 1)}[]"
    if kind == "object":
        inner = _render_properties(schema, depth + 1)
        return "\n".join(["{", *inner, "}"]) if inner else "object"
    if kind in ("integer", "number"):
        return "number"
    return str(kind) if kind in ("string", "boolean", "null") else "any"


def _to_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:  # nested deeper than anything that came from JSON
        return "any"
    except (TypeError, ValueError):
        return str(value)


_UNKNOWN_SIZE = (1024, 1024)  # 765 tokens for OpenAI, 1,399 for Claude

# OpenAI, "Calculating costs" of the vision guide, for gpt-4o, gpt-4.1 and gpt-4.5: fit into
# 2048 × 2048, then bring the shorter side down to 768, then count tiles of 512.
_LOW_DETAIL_TOKENS = 85
_TILE_TOKENS = 170
_TILE_PIXELS = 512
_OPENAI_LONG_PIXELS = 2048
_OPENAI_SHORT_PIXELS = 768

# Anthropic's vision guide: width × height / 750, after bringing the longer side down to 2,576
# pixels and the whole to 3.75 megapixels, 4,784 tokens (Claude 4.7 on; 1,568 and 1,600 before).
_CLAUDE_PIXELS_PER_TOKEN = 750
_CLAUDE_LONG_PIXELS = 2576
_CLAUDE_MAX_TOKENS = 4784

_BASE64_MARKS = (";base64,", '"type":"base64"', '"input_audio"')
_TEXT_MARKS = ("data:text/", '"media_type":"text/')
_AUDIO_BYTES_PER_TOKEN = 1_600  # ten tokens a second (OpenAI), 16 kB a second (128 kbit/s)
_TEXT_BYTES_PER_TOKEN = 4  # chosen: the usual ratio for English text
_PAGE_TOKENS = 2_000  # Anthropic: 1,500 to 3,000 tokens a page of a PDF
_PAGE_BYTES = 50_000  # chosen: a typical page of a PDF with text


def count_media(media: Media, counter: TokenCounter) -> int:
    """The tokens of `media`, by Anthropic's formula if `counter` is for Claude, else OpenAI's."""
    if media.kind == "image":
        return _count_image(media, for_claude=counter.id.startswith("estimate:claude"))
    data_bytes = len(media.raw) * 3 // 4 if any(m in media.raw for m in _BASE64_MARKS) else 0
    if media.kind == "audio":
        return max(1, data_bytes // _AUDIO_BYTES_PER_TOKEN)
    if data_bytes and any(mark in media.raw for mark in _TEXT_MARKS):
        return max(1, data_bytes // _TEXT_BYTES_PER_TOKEN)
    pages = max(1, ceil(data_bytes / _PAGE_BYTES))
    return max(pages * _PAGE_TOKENS, 0 if data_bytes else counter.count(media.raw))


def media_is_estimated(message: Message) -> bool:
    """Whether the message holds a sound, a file, or an image of unknown size."""
    return any(
        isinstance(part, Media) and not (part.kind == "image" and part.width and part.height)
        for part in message.content
    )


def _count_image(media: Media, *, for_claude: bool) -> int:
    width, height = _UNKNOWN_SIZE
    if media.width and media.height:
        width, height = media.width, media.height
    if for_claude:
        width, height = _shrunk(width, height, max(width, height), _CLAUDE_LONG_PIXELS)
        return min(_CLAUDE_MAX_TOKENS, ceil(width * height / _CLAUDE_PIXELS_PER_TOKEN))
    if media.detail == "low":
        return _LOW_DETAIL_TOKENS
    width, height = _shrunk(width, height, max(width, height), _OPENAI_LONG_PIXELS)
    width, height = _shrunk(width, height, min(width, height), _OPENAI_SHORT_PIXELS)
    tiles = ceil(width / _TILE_PIXELS) * ceil(height / _TILE_PIXELS)
    return _LOW_DETAIL_TOKENS + _TILE_TOKENS * tiles


def _shrunk(width: int, height: int, side: int, limit: int) -> tuple[int, int]:
    """The size scaled so that `side`, one of its two, is at most `limit`."""
    if side <= limit:
        return width, height
    return max(1, width * limit // side), max(1, height * limit // side)
