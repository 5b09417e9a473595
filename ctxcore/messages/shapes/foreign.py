"""Finds words where no shape has any: beside an empty content, or under another key of a call.

What is known to be no words (ids, times, marks, thinking) may stand anywhere.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.reasons.message_problems import FormCode, MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place
from ctxcore.reasons.values import Reason, quoted, quoted_keys

SILENT_KEYS: Final = frozenset(
    {
        *("id", "object", "type", "status", "index", "model", "provider", "usage", "metadata"),
        *("timestamp", "created", "created_at", "updated_at", "date", "uuid", "parent_id"),
        *("finish_reason", "stop_reason", "cache_control", "audio", "annotations", "logprobs"),
        *("session_id", "message_id", "request_id", "user_id", "conversation_id", "is_error"),
    }
)
_THOUGHT_KEYS: Final = frozenset(
    {"reasoning", "reasoning_details", "thought", "thinking", "provider_specific_fields"}
)
_WORD_KEYS: Final = frozenset(
    {
        *("text", "message", "parts", "content", "contents", "output", "result", "response"),
        *("value", "body", "words", "answer", "completion", "input", "arguments", "args"),
    }
)


def refuse_words_elsewhere(
    raw: Mapping[str, object], expected: str, known: Collection[str], place: Place
) -> None:
    """Refuses an object that has nothing under the key `expected`, and words under another."""
    found = {
        key: value
        for key, value in raw.items()
        if key not in known and key not in SILENT_KEYS and _holds_something(value)
    }
    if raw.get(expected) is None and found:
        raise _error(found, expected, place)


def refuse_words_beside(
    raw: Mapping[str, object], key: str, known: Collection[str], place: Place
) -> None:
    """Refuses a message whose content, under `key`, is empty while words stand beside it.

    Such a message may be right, and carry marks of somebody's own: those are short.
    """
    if raw.get(key):
        return
    unknown = {other: value for other, value in raw.items() if other not in known}
    found = {other: value for other, value in unknown.items() if _says(other, value)}
    if found:
        told = refused_form(raw)
        raise MessageError(place=place, problem=told) if told else _error(found, key, place)


def has_gemini_parts(raw: Mapping[str, object]) -> bool:
    """Whether a message has parts as Gemini's are: objects that do not name their type."""
    parts = raw.get("parts")
    if not isinstance(parts, (list, tuple)):
        return False
    return any(isinstance(part, Mapping) and part and "type" not in part for part in parts)


def _says(key: str, value: object) -> bool:
    if key in SILENT_KEYS or key in _THOUGHT_KEYS:
        return False
    if key in _WORD_KEYS:
        return _holds_something(value)
    return isinstance(value, str) and len(value.split(maxsplit=1)) > 1


def _holds_something(value: object) -> bool:
    return isinstance(value, (str, list, tuple, Mapping)) and bool(value)


def _error(found: Mapping[str, object], expected: str, place: Place) -> MessageError:
    told = MessageProblem.WORDS_ELSEWHERE(key=expected, keys=quoted_keys(found))
    return MessageError(place=place, problem=told)


_Object = Mapping[str, object]

_LANGCHAIN_TYPES: Final = ("human", "ai", "system", "tool", "function", "chat", "generic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Objects of one library, by the module their class is from, and what reads them."""

    module: str
    way_out: WayOutCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Dictionaries of one form, and what reads them."""

    looks_like: FormCode
    when: Callable[[_Object], bool]
    way_out: Reason
    part: FormCode | None = None
    """What its content parts are parts of, where they are known by themselves."""


def _has(*keys: str) -> Callable[[_Object], bool]:
    return lambda value: all(key in value for key in keys)


def _typed(*types: str) -> Callable[[_Object], bool]:
    return lambda value: isinstance(value.get("type"), str) and value["type"] in types


def _any_part(key: str, *names: str) -> Callable[[_Object], bool]:
    """Whether a list under `key` holds an object without a type that has one of `names`."""
    return lambda value: any(
        "type" not in part and any(name in part for name in names)
        for part in _objects(value.get(key))
    )


def _objects(value: object) -> Iterable[_Object]:
    return (part for part in value if isinstance(part, Mapping)) if isinstance(value, list) else ()


LIBRARIES: Final = (
    Library(module="langchain_core", way_out=WayOutCode.LANGCHAIN),
    Library(module="langchain", way_out=WayOutCode.LANGCHAIN),
    Library(module="langgraph", way_out=WayOutCode.LANGCHAIN),
    Library(module="openai", way_out=WayOutCode.DUMP),
    Library(module="anthropic", way_out=WayOutCode.DUMP),
    Library(module="litellm", way_out=WayOutCode.DUMP),
    Library(module="google.genai", way_out=WayOutCode.DUMP),
    Library(
        module="pydantic_ai",
        way_out=WayOutCode.PARTS_AS_MESSAGES,
    ),
    Library(module="haystack", way_out=WayOutCode.HAYSTACK),
    Library(
        module="llama_index",
        way_out=WayOutCode.LLAMA_INDEX,
    ),
    Library(module="semantic_kernel", way_out=WayOutCode.TO_DICT),
)

MESSAGES: Final = (
    Form(
        looks_like=FormCode.LANGCHAIN_SERIALIZED,
        when=_has("lc"),
        way_out=WayOutCode.LANGCHAIN_LOAD(),
    ),
    Form(
        looks_like=FormCode.LANGCHAIN_DUMPED,
        when=lambda value: (
            "role" not in value
            and _typed(*_LANGCHAIN_TYPES)(value)
            and ("data" in value or "content" in value)
        ),
        way_out=WayOutCode.LANGCHAIN_READ(),
    ),
    Form(
        looks_like=FormCode.SHAREGPT,
        when=_has("from", "value"),
        way_out=WayOutCode.SHAREGPT(),
    ),
    Form(
        looks_like=FormCode.PYDANTIC_AI,
        when=_has("kind", "parts"),
        way_out=WayOutCode.PARTS_AS_MESSAGES(),
    ),
    Form(
        looks_like=FormCode.VERCEL,
        when=lambda value: any(
            isinstance(p.get("type"), str) for p in _objects(value.get("parts"))
        ),
        way_out=WayOutCode.VERCEL(),
    ),
    Form(
        looks_like=FormCode.CLAUDE_CODE,
        when=lambda value: (
            (_has("uuid")(value) or _typed("user", "assistant")(value))
            and isinstance(value.get("message"), Mapping)
        ),
        way_out=WayOutCode.CLAUDE_CODE(),
    ),
    Form(
        looks_like=FormCode.GEMINI_CLI,
        when=lambda value: "role" not in value and _typed("gemini", "user", "info")(value),
        way_out=WayOutCode.GEMINI_CLI(),
    ),
    Form(
        looks_like=FormCode.ADK,
        when=lambda value: (
            isinstance(value.get("content"), Mapping)
            and "role" not in value
            and isinstance(value.get("author"), str)
        ),
        way_out=WayOutCode.PASS_KEY(key="content"),
    ),
    Form(
        looks_like=FormCode.AGENT_ITEM,
        when=lambda value: isinstance(value.get("raw_item"), Mapping),
        way_out=WayOutCode.PASS_KEY(key="raw_item"),
    ),
    Form(
        looks_like=FormCode.GEMINI_NO_LIST,
        when=lambda value: (
            "content" not in value and isinstance(value.get("parts"), (str, Mapping))
        ),
        way_out=WayOutCode.GEMINI_LIST(),
    ),
    Form(
        looks_like=FormCode.GEMINI_IN_CONTENT,
        part=FormCode.GEMINI_PART_IN_CONTENT,
        when=_any_part("content", "functionCall", "functionResponse", "inlineData", "fileData"),
        way_out=WayOutCode.NAME_PARTS(),
    ),
    Form(
        looks_like=FormCode.BEDROCK,
        part=FormCode.BEDROCK_PART,
        when=_any_part(
            "content",
            *("text", "toolUse", "toolResult", "image", "document", "video", "json"),
            *("reasoningContent", "cachePoint", "guardContent"),
        ),
        way_out=WayOutCode.BEDROCK(),
    ),
    Form(
        looks_like=FormCode.CHATGPT,
        when=lambda value: isinstance(value.get("author"), Mapping) or _has("mapping")(value),
        way_out=WayOutCode.CHATGPT(),
    ),
    Form(
        looks_like=FormCode.ANSWER,
        when=_has("choices"),
        way_out=WayOutCode.PASS_ANSWER(),
    ),
    Form(
        looks_like=FormCode.ANSWER,
        when=_has("candidates"),
        way_out=WayOutCode.PASS_CANDIDATE(),
    ),
    Form(
        looks_like=FormCode.CODEX,
        when=_has("type", "payload"),
        way_out=WayOutCode.CODEX(),
    ),
    Form(
        looks_like=FormCode.CONVERSATION,
        when=lambda value: "role" not in value and isinstance(value.get("messages"), list),
        way_out=WayOutCode.PASS_KEY(key="messages"),
    ),
    Form(
        looks_like=FormCode.SHAREGPT_CONVERSATION,
        when=lambda value: isinstance(value.get("conversations"), list),
        way_out=WayOutCode.SHAREGPT_TURNS(),
    ),
    Form(
        looks_like=FormCode.TOOL,
        when=lambda value: "role" not in value and _typed("function", "tool_call")(value),
        way_out=WayOutCode.TOOL(),
    ),
    Form(
        looks_like=FormCode.CHOICE,
        when=lambda value: "role" not in value and isinstance(value.get("message"), Mapping),
        way_out=WayOutCode.PASS_KEY(key="message"),
    ),
    Form(
        looks_like=FormCode.COHERE,
        when=lambda value: isinstance(value.get("message"), str) and "content" not in value,
        way_out=WayOutCode.NAME_CONTENT(),
    ),
    Form(
        looks_like=FormCode.GEMINI_PART,
        when=lambda value: (
            value.keys() in ({"text"}, {"functionCall"}, {"functionResponse"}, {"inlineData"})
        ),
        way_out=WayOutCode.GEMINI_PART(),
    ),
    Form(
        looks_like=FormCode.PART,
        when=lambda value: (
            "role" not in value
            and _typed(
                *("text", "image_url", "image", "tool_use", "tool_result", "thinking", "document"),
                *("input_text", "output_text", "input_image", "input_file", "input_audio", "file"),
            )(value)
        ),
        way_out=WayOutCode.PART(),
    ),
)

LISTS: Final = (
    Form(
        looks_like=FormCode.REQUEST,
        when=_has("messages"),
        way_out=WayOutCode.PASS_KEY(key="messages"),
    ),
    Form(
        looks_like=FormCode.REQUEST,
        when=_has("contents"),
        way_out=WayOutCode.PASS_KEY(key="contents"),
    ),
    Form(looks_like=FormCode.REQUEST, when=_has("input"), way_out=WayOutCode.PASS_KEY(key="input")),
    Form(looks_like=FormCode.MESSAGE, when=_has("role"), way_out=WayOutCode.INTO_LIST()),
    *MESSAGES,
)


def with_way_out(what: Reason, way_out: WayOutCode) -> Reason:
    """What something is, and what makes a message of it."""
    return MessageProblem.WITH_WAY_OUT(what=what, way_out=way_out())


def refused_object(value: object) -> Reason:
    """Why something that is no dictionary is no message, and what makes it one."""
    return with_way_out(named_object(value), _way_out(value))


def named_object(value: object) -> Reason:
    """What something is that is no dictionary."""
    if isinstance(value, str):
        return WhatCode.TEXT()
    if _is_plain(value):
        return WhatCode.VALUE(value=quoted(value))
    kind, library = type(value), _library(value)
    home = library.module if library else _module(value).partition(".")[0]
    if home == "builtins":
        return WhatCode.INSTANCE(kind=kind.__name__)
    return WhatCode.INSTANCE_OF(kind=kind.__name__, library=home)


def refused_form(value: _Object) -> Reason | None:
    """What a dictionary looks like that is no message, and what makes it one; None: unknown."""
    return _told(value, MESSAGES)


def refused_list(value: object) -> Reason | None:
    """Why `value` is no list of messages; None if it may be one."""
    if isinstance(value, Mapping):
        keys = WhatCode.KEYS(keys=quoted_keys(value))
        return _told(value, LISTS) or with_way_out(keys, WayOutCode.PASS_LIST)
    if isinstance(value, str):
        return with_way_out(WhatCode.TEXT(), WayOutCode.WRITE_LIST)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return with_way_out(WhatCode.BYTES(), WayOutCode.DECODE)
    if not isinstance(value, Iterable):
        return with_way_out(named_object(value), WayOutCode.PASS_LIST)
    if callable(getattr(type(value), "model_dump", None)):  # pydantic's objects can be iterated
        return MessageProblem.IN_LIST(problem=refused_object(value))
    return None


def refused_content(content: object) -> Reason:
    """Why something is neither words nor a list of content parts."""
    if content is None:
        return MessageProblem.MISSING()
    return MessageProblem.TEXT_OR_LIST(value=quoted(content))


def refused_part(part: object) -> Reason:
    """Why something in a list of content parts is none, and what makes it one."""
    if not isinstance(part, Mapping):
        plain = part is None or isinstance(part, (bool, int, float, bytes, list, tuple, set))
        name = type(part).__name__
        return MessageProblem.OBJECT(kind=name) if plain else refused_object(part)
    for form in MESSAGES:
        if form.part is not None and form.when({"content": [part]}):
            what = WhatCode.LOOKS_LIKE_PART(form=form.part())
            return MessageProblem.WITH_WAY_OUT(what=what, way_out=form.way_out)
    return MessageProblem.NO_TYPE(keys=quoted_keys(part))


def _way_out(value: object) -> WayOutCode:
    if isinstance(value, str):
        return WayOutCode.WRITE_USER
    library = None if _is_plain(value) else _library(value)
    if library is not None:
        return library.way_out
    if callable(getattr(type(value), "model_dump", None)):
        return WayOutCode.DUMP
    return WayOutCode.ASDICT if dataclasses.is_dataclass(type(value)) else WayOutCode.EXPECTED


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, bytes, bytearray))


def _library(value: object) -> Library | None:
    module = f"{_module(value)}."
    return next((one for one in LIBRARIES if module.startswith(f"{one.module}.")), None)


def _module(value: object) -> str:
    return str(getattr(type(value), "__module__", "") or "")


def _told(value: _Object, forms: Iterable[Form]) -> Reason | None:
    found = next((form for form in forms if form.when(value)), None)
    if found is None:
        return None
    what = WhatCode.LOOKS_LIKE(form=found.looks_like())
    return MessageProblem.WITH_WAY_OUT(what=what, way_out=found.way_out)
