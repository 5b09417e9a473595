"""Explains why a value is no message: text under an unexpected key, or a form of another library.

Only dictionaries that a codec of `shapes` reads are messages. For all others the error names what
the value looks like and how the caller converts it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple

from ctxcore.errors import MessageError
from ctxcore.messages.values import Role
from ctxcore.reasons.message_problems import FormCode, MessageProblem, WayOutCode, WhatCode
from ctxcore.reasons.places import Place
from ctxcore.reasons.values import Reason, quoted, quoted_keys

_Object = Mapping[str, object]

_SILENT_KEYS: Final = frozenset(
    {
        *("id", "object", "type", "status", "index", "model", "provider", "usage", "metadata"),
        *("timestamp", "created", "created_at", "updated_at", "date", "uuid", "parent_id"),
        *("finish_reason", "stop_reason", "cache_control", "audio", "annotations", "logprobs"),
        *("session_id", "message_id", "request_id", "user_id", "conversation_id", "is_error"),
    }
)
"""Keys that never hold the text of a message: ids, times, marks and counts."""
_THOUGHT_KEYS: Final = frozenset(
    {"reasoning", "reasoning_details", "thought", "thinking", "provider_specific_fields"}
)
_TEXT_KEYS: Final = frozenset(
    {
        *("text", "message", "parts", "content", "contents", "output", "result", "response"),
        *("value", "body", "words", "answer", "completion", "input", "arguments", "args"),
    }
)


def refuse_unknown_keys(raw: _Object, expected: str, known: Collection[str], place: Place) -> None:
    """Refuses an object without the key `expected` that holds a value under an unknown key."""
    if raw.get(expected) is not None:
        return
    found = [key for key in raw if key not in known and key not in _SILENT_KEYS]
    _refuse_keys(raw, [key for key in found if _is_filled(raw[key])], expected, place)


def refuse_text_beside(raw: _Object, key: str, known: Collection[str], place: Place) -> None:
    """Refuses a message whose content, under `key`, is empty while another key holds text.

    Text of a single word under a key that no provider uses is taken for a mark of the caller.
    """
    if raw.get(key):
        return
    found = [name for name in raw if name not in known and _holds_text(name, raw[name])]
    if found and (problem := form_problem(raw)):
        raise MessageError(place=place, problem=problem)
    _refuse_keys(raw, found, key, place)


def checked_object(raw: object, place: Place) -> _Object:
    """A message, which must be a dictionary.

    Raises:
        MessageError: it is something else.
    """
    if not isinstance(raw, Mapping):
        raise MessageError(place=place, problem=object_problem(raw))
    return raw


def checked_role(raw: _Object, roles: Mapping[str, Role], place: Place) -> Role:
    """What `roles` calls the role of a message.

    Raises:
        MessageError: the role is none of `roles`.
    """
    role = raw.get("role")
    if not isinstance(role, str) or role not in roles:
        unknown = MessageProblem.ROLE(value=quoted(role), names=tuple(roles))
        raise MessageError(place=place.within("role"), problem=form_problem(raw) or unknown)
    return roles[role]


def has_gemini_parts(raw: _Object) -> bool:
    """Whether a message has parts as Gemini's are: objects that do not name their type."""
    parts = raw.get("parts")
    if not isinstance(parts, (list, tuple)):
        return False
    return any(isinstance(part, Mapping) and part and "type" not in part for part in parts)


def _holds_text(key: str, value: object) -> bool:
    if key in _SILENT_KEYS or key in _THOUGHT_KEYS:
        return False
    if key in _TEXT_KEYS:
        return _is_filled(value)
    return isinstance(value, str) and len(value.split(maxsplit=1)) > 1


def _is_filled(value: object) -> bool:
    return isinstance(value, (str, list, tuple, Mapping)) and bool(value)


def _refuse_keys(raw: _Object, found: Collection[str], expected: str, place: Place) -> None:
    if found:
        keys = quoted_keys({key: raw[key] for key in found})
        raise MessageError(
            place=place, problem=MessageProblem.WORDS_ELSEWHERE(key=expected, keys=keys)
        )


_LIBRARIES: Final[Mapping[str, WayOutCode]] = {
    "langchain_core": WayOutCode.LANGCHAIN,
    "langchain": WayOutCode.LANGCHAIN,
    "langgraph": WayOutCode.LANGCHAIN,
    "openai": WayOutCode.DUMP,
    "anthropic": WayOutCode.DUMP,
    "litellm": WayOutCode.DUMP,
    "google.genai": WayOutCode.DUMP,
    "pydantic_ai": WayOutCode.PARTS_AS_MESSAGES,
    "haystack": WayOutCode.HAYSTACK,
    "llama_index": WayOutCode.LLAMA_INDEX,
    "semantic_kernel": WayOutCode.TO_DICT,
}
"""What converts the objects of a library, by the package their class is from."""


class _Form(NamedTuple):
    """Dictionaries of one form, and what converts them to messages."""

    looks_like: FormCode
    matches: Callable[[_Object], bool]
    way_out: Reason
    part: FormCode | None = None
    """The name of one of its content parts, where those can be recognized alone."""


def _has(*keys: str) -> Callable[[_Object], bool]:
    return lambda value: all(key in value for key in keys)


def _is_typed(value: _Object, *types: str) -> bool:
    """Whether a dictionary without a role names one of `types` as its own."""
    kind = value.get("type")
    return "role" not in value and isinstance(kind, str) and kind in types


def _has_untyped_part(value: _Object, *names: str) -> bool:
    """Whether the content lists an object that has no type, but a key of `names`."""
    parts = (part for part in _objects(value.get("content")) if "type" not in part)
    return any(name in part for part in parts for name in names)


def _objects(value: object) -> Iterable[_Object]:
    return (part for part in value if isinstance(part, Mapping)) if isinstance(value, list) else ()


def _is_langchain(value: _Object) -> bool:
    types = ("human", "ai", "system", "tool", "function", "chat", "generic")
    return _is_typed(value, *types) and ("data" in value or "content" in value)


def _is_vercel(value: _Object) -> bool:
    return any(isinstance(part.get("type"), str) for part in _objects(value.get("parts")))


def _is_claude_code(value: _Object) -> bool:
    is_record = "uuid" in value or value.get("type") in ("user", "assistant")
    return is_record and isinstance(value.get("message"), Mapping)


def _is_adk(value: _Object) -> bool:
    is_event = isinstance(value.get("content"), Mapping) and isinstance(value.get("author"), str)
    return is_event and "role" not in value


def _is_gemini_without_list(value: _Object) -> bool:
    return "content" not in value and isinstance(value.get("parts"), (str, Mapping))


def _has_gemini_content(value: _Object) -> bool:
    return _has_untyped_part(value, "functionCall", "functionResponse", "inlineData", "fileData")


def _is_bedrock(value: _Object) -> bool:
    return _has_untyped_part(
        value,
        *("text", "toolUse", "toolResult", "image", "document", "video", "json"),
        *("reasoningContent", "cachePoint", "guardContent"),
    )


def _is_chatgpt(value: _Object) -> bool:
    return isinstance(value.get("author"), Mapping) or "mapping" in value


def _is_conversation(value: _Object) -> bool:
    return "role" not in value and isinstance(value.get("messages"), list)


def _is_choice(value: _Object) -> bool:
    return "role" not in value and isinstance(value.get("message"), Mapping)


def _is_cohere(value: _Object) -> bool:
    return isinstance(value.get("message"), str) and "content" not in value


def _is_gemini_part(value: _Object) -> bool:
    return value.keys() in ({"text"}, {"functionCall"}, {"functionResponse"}, {"inlineData"})


def _is_part(value: _Object) -> bool:
    return _is_typed(
        value,
        *("text", "image_url", "image", "tool_use", "tool_result", "thinking", "document"),
        *("input_text", "output_text", "input_image", "input_file", "input_audio", "file"),
    )


# The first that matches names the form.
_MESSAGES: Final = (
    _Form(FormCode.LANGCHAIN_SERIALIZED, _has("lc"), WayOutCode.LANGCHAIN_LOAD()),
    _Form(FormCode.LANGCHAIN_DUMPED, _is_langchain, WayOutCode.LANGCHAIN_READ()),
    _Form(FormCode.SHAREGPT, _has("from", "value"), WayOutCode.SHAREGPT()),
    _Form(FormCode.PYDANTIC_AI, _has("kind", "parts"), WayOutCode.PARTS_AS_MESSAGES()),
    _Form(FormCode.VERCEL, _is_vercel, WayOutCode.VERCEL()),
    _Form(FormCode.CLAUDE_CODE, _is_claude_code, WayOutCode.CLAUDE_CODE()),
    _Form(
        FormCode.GEMINI_CLI,
        lambda value: _is_typed(value, "gemini", "user", "info"),
        WayOutCode.GEMINI_CLI(),
    ),
    _Form(FormCode.ADK, _is_adk, WayOutCode.PASS_KEY(key="content")),
    _Form(
        FormCode.AGENT_ITEM,
        lambda value: isinstance(value.get("raw_item"), Mapping),
        WayOutCode.PASS_KEY(key="raw_item"),
    ),
    _Form(FormCode.GEMINI_NO_LIST, _is_gemini_without_list, WayOutCode.GEMINI_LIST()),
    _Form(
        FormCode.GEMINI_IN_CONTENT,
        _has_gemini_content,
        WayOutCode.NAME_PARTS(),
        part=FormCode.GEMINI_PART_IN_CONTENT,
    ),
    _Form(FormCode.BEDROCK, _is_bedrock, WayOutCode.BEDROCK(), part=FormCode.BEDROCK_PART),
    _Form(FormCode.CHATGPT, _is_chatgpt, WayOutCode.CHATGPT()),
    _Form(FormCode.ANSWER, _has("choices"), WayOutCode.PASS_ANSWER()),
    _Form(FormCode.ANSWER, _has("candidates"), WayOutCode.PASS_CANDIDATE()),
    _Form(FormCode.CODEX, _has("type", "payload"), WayOutCode.CODEX()),
    _Form(FormCode.CONVERSATION, _is_conversation, WayOutCode.PASS_KEY(key="messages")),
    _Form(
        FormCode.SHAREGPT_CONVERSATION,
        lambda value: isinstance(value.get("conversations"), list),
        WayOutCode.SHAREGPT_TURNS(),
    ),
    _Form(
        FormCode.TOOL, lambda value: _is_typed(value, "function", "tool_call"), WayOutCode.TOOL()
    ),
    _Form(FormCode.CHOICE, _is_choice, WayOutCode.PASS_KEY(key="message")),
    _Form(FormCode.COHERE, _is_cohere, WayOutCode.NAME_CONTENT()),
    _Form(FormCode.GEMINI_PART, _is_gemini_part, WayOutCode.GEMINI_PART()),
    _Form(FormCode.PART, _is_part, WayOutCode.PART()),
)
_LISTS: Final = (
    _Form(FormCode.REQUEST, _has("messages"), WayOutCode.PASS_KEY(key="messages")),
    _Form(FormCode.REQUEST, _has("contents"), WayOutCode.PASS_KEY(key="contents")),
    _Form(FormCode.REQUEST, _has("input"), WayOutCode.PASS_KEY(key="input")),
    _Form(FormCode.MESSAGE, _has("role"), WayOutCode.INTO_LIST()),
    *_MESSAGES,
)


def with_way_out(what: Reason, way_out: WayOutCode) -> Reason:
    """The problem that a value is `what`, with the step that makes a message of it."""
    return MessageProblem.WITH_WAY_OUT(what=what, way_out=way_out())


def object_problem(value: object) -> Reason:
    """Why a value that is no dictionary is no message, and how to convert it."""
    return with_way_out(named_object(value), _way_out(value))


def named_object(value: object) -> Reason:
    """What a value that is no dictionary is: text, a plain value, or an instance of a class."""
    if isinstance(value, str):
        return WhatCode.TEXT()
    if _is_plain(value):
        return WhatCode.VALUE(value=quoted(value))
    home = _library(value) or _module(value).partition(".")[0]
    if home == "builtins":
        return WhatCode.INSTANCE(kind=type(value).__name__)
    return WhatCode.INSTANCE_OF(kind=type(value).__name__, library=home)


def form_problem(value: _Object) -> Reason | None:
    """Which form of message a dictionary looks like, and how to convert it; None if unknown."""
    return _form_problem(value, _MESSAGES)


def list_problem(value: object) -> Reason | None:
    """Why `value` is no list of messages; None if it may be one."""
    if isinstance(value, Mapping):
        keys = WhatCode.KEYS(keys=quoted_keys(value))
        return _form_problem(value, _LISTS) or with_way_out(keys, WayOutCode.PASS_LIST)
    if isinstance(value, str):
        return with_way_out(WhatCode.TEXT(), WayOutCode.WRITE_LIST)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return with_way_out(WhatCode.BYTES(), WayOutCode.DECODE)
    if not isinstance(value, Iterable):
        return with_way_out(named_object(value), WayOutCode.PASS_LIST)
    if _is_pydantic(value):  # its objects can be iterated
        return MessageProblem.IN_LIST(problem=object_problem(value))
    return None


def content_problem(content: object) -> Reason:
    """Why a content is neither text nor a list of parts."""
    if content is None:
        return MessageProblem.MISSING()
    return MessageProblem.TEXT_OR_LIST(value=quoted(content))


def part_problem(part: object) -> Reason:
    """Why an element of a list of content parts is none, and how to convert it."""
    if not isinstance(part, Mapping):
        is_plain = _is_plain(part) and not isinstance(part, bytearray)
        if is_plain or isinstance(part, (list, tuple, set)):
            return MessageProblem.OBJECT(kind=type(part).__name__)
        return object_problem(part)
    for form in _MESSAGES:
        if form.part is not None and form.matches({"content": [part]}):
            what = WhatCode.LOOKS_LIKE_PART(form=form.part())
            return MessageProblem.WITH_WAY_OUT(what=what, way_out=form.way_out)
    return MessageProblem.NO_TYPE(keys=quoted_keys(part))


def _form_problem(value: _Object, forms: Iterable[_Form]) -> Reason | None:
    form = next((form for form in forms if form.matches(value)), None)
    if form is None:
        return None
    what = WhatCode.LOOKS_LIKE(form=form.looks_like())
    return MessageProblem.WITH_WAY_OUT(what=what, way_out=form.way_out)


def _way_out(value: object) -> WayOutCode:
    if isinstance(value, str):
        return WayOutCode.WRITE_USER
    library = None if _is_plain(value) else _library(value)
    if library is not None:
        return _LIBRARIES[library]
    if _is_pydantic(value):
        return WayOutCode.DUMP
    return WayOutCode.ASDICT if dataclasses.is_dataclass(type(value)) else WayOutCode.EXPECTED


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, bytes, bytearray))


def _is_pydantic(value: object) -> bool:
    return callable(getattr(type(value), "model_dump", None))


def _library(value: object) -> str | None:
    module = f"{_module(value)}."
    return next((name for name in _LIBRARIES if module.startswith(f"{name}.")), None)


def _module(value: object) -> str:
    return str(getattr(type(value), "__module__", "") or "")
