"""What is no shape that is read: how to know it, and what makes it one.

One row a kind, the first that fits is told. Nothing here imports the libraries it names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ctxcore.messages.guarding import shown

_Object = Mapping[str, object]

EXPECTED: Final = (
    "expected a message of OpenAI's chat or Responses API, Anthropic's or Gemini's, or a Message"
)
_DUMP: Final = "call its .model_dump(exclude_none=True) first"
_LANGCHAIN: Final = "pass it through langchain_core.messages.convert_to_openai_messages first"
_LANGCHAIN_TYPES: Final = ("human", "ai", "system", "tool", "function", "chat", "generic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Objects of one library, by the module their class is from, and what reads them."""

    module: str
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Dictionaries of one form, and what reads them."""

    looks_like: str
    when: Callable[[_Object], bool]
    way_out: str


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
    Library(module="langchain_core", way_out=_LANGCHAIN),
    Library(module="langchain", way_out=_LANGCHAIN),
    Library(module="langgraph", way_out=_LANGCHAIN),
    Library(module="openai", way_out=_DUMP),
    Library(module="anthropic", way_out=_DUMP),
    Library(module="litellm", way_out=_DUMP),
    Library(module="google.genai", way_out=_DUMP),
    Library(
        module="pydantic_ai",
        way_out='write its parts as {"role": …, "content": …} dictionaries first',
    ),
    Library(module="haystack", way_out="call its .to_openai_dict_format() first"),
    Library(
        module="llama_index",
        way_out="pass it through llama_index.llms.openai.utils.to_openai_message_dicts first",
    ),
    Library(module="semantic_kernel", way_out="call its .to_dict() first"),
)

MESSAGES: Final = (
    Form(
        looks_like="an object that LangChain serialized",
        when=_has("lc"),
        way_out=f"load it with langchain_core.load.load, then {_LANGCHAIN}",
    ),
    Form(
        looks_like="a message that LangChain dumped",
        when=lambda value: (
            "role" not in value
            and _typed(*_LANGCHAIN_TYPES)(value)
            and ("data" in value or "content" in value)
        ),
        way_out=f"read it with langchain_core.messages.messages_from_dict, then {_LANGCHAIN}",
    ),
    Form(
        looks_like="a ShareGPT message",
        when=_has("from", "value"),
        way_out='write {"role": …, "content": …}: human is user, gpt is assistant',
    ),
    Form(
        looks_like="a Pydantic AI message",
        when=_has("kind", "parts"),
        way_out='write its parts as {"role": …, "content": …} dictionaries first',
    ),
    Form(
        looks_like="a UI message of the Vercel AI SDK",
        when=lambda value: any(
            isinstance(p.get("type"), str) for p in _objects(value.get("parts"))
        ),
        way_out="pass the list through convertToModelMessages and write its text parts as content",
    ),
    Form(
        looks_like="a record of a Claude Code session",
        when=lambda value: (
            (_has("uuid")(value) or _typed("user", "assistant")(value))
            and isinstance(value.get("message"), Mapping)
        ),
        way_out='read its file with ctxcore.read_transcripts, or pass its ["message"]',
    ),
    Form(
        looks_like="a record of Gemini CLI",
        when=lambda value: "role" not in value and _typed("gemini", "user", "info")(value),
        way_out='write {"role": "user" or "model", "parts": …}',
    ),
    Form(
        looks_like="an event of Google's ADK",
        when=lambda value: (
            isinstance(value.get("content"), Mapping)
            and "role" not in value
            and isinstance(value.get("author"), str)
        ),
        way_out='pass its ["content"]',
    ),
    Form(
        looks_like="an item of an agent's run",
        when=lambda value: isinstance(value.get("raw_item"), Mapping),
        way_out='pass its ["raw_item"]',
    ),
    Form(
        looks_like="a content of Gemini's whose parts are no list",
        when=lambda value: (
            "content" not in value and isinstance(value.get("parts"), (str, Mapping))
        ),
        way_out='write {"role": …, "parts": [part]}',
    ),
    Form(
        looks_like="a message with Gemini's parts under the key 'content'",
        when=_any_part("content", "functionCall", "functionResponse", "inlineData", "fileData"),
        way_out="name the key 'parts'",
    ),
    Form(
        looks_like="a Bedrock Converse message",
        when=_any_part(
            "content",
            *("text", "toolUse", "toolResult", "image", "document", "video", "json"),
            *("reasoningContent", "cachePoint", "guardContent"),
        ),
        way_out='give each block a type, as Anthropic does: {"type": "text", "text": …}',
    ),
    Form(
        looks_like="a node of a ChatGPT export",
        when=lambda value: isinstance(value.get("author"), Mapping) or _has("mapping")(value),
        way_out='write {"role": …, "content": …}: its role is author.role, its words content.parts',
    ),
    Form(
        looks_like="a model's whole answer",
        when=_has("choices"),
        way_out='pass its ["choices"][0]["message"]',
    ),
    Form(
        looks_like="a model's whole answer",
        when=_has("candidates"),
        way_out='pass its ["candidates"][0]["content"]',
    ),
    Form(
        looks_like="a record of a Codex rollout",
        when=_has("type", "payload"),
        way_out='pass the ["payload"] of each record of the type response_item',
    ),
    Form(
        looks_like="a whole conversation",
        when=lambda value: "role" not in value and isinstance(value.get("messages"), list),
        way_out='pass its ["messages"]',
    ),
    Form(
        looks_like="a whole conversation of ShareGPT's",
        when=lambda value: isinstance(value.get("conversations"), list),
        way_out='write its turns as {"role": …, "content": …}: human is user, gpt is assistant',
    ),
    Form(
        looks_like="one tool call or definition",
        when=lambda value: "role" not in value and _typed("function", "tool_call")(value),
        way_out='put calls under the "tool_calls" of a message, and pass definitions as tools',
    ),
    Form(
        looks_like="a choice of a model's answer",
        when=lambda value: "role" not in value and isinstance(value.get("message"), Mapping),
        way_out='pass its ["message"]',
    ),
    Form(
        looks_like="a Cohere message",
        when=lambda value: isinstance(value.get("message"), str) and "content" not in value,
        way_out="name the key 'content', and the roles user and assistant",
    ),
    Form(
        looks_like="a part of Gemini's",
        when=lambda value: (
            value.keys() in ({"text"}, {"functionCall"}, {"functionResponse"}, {"inlineData"})
        ),
        way_out='put it into a message: {"role": "user" or "model", "parts": [part]}',
    ),
    Form(
        looks_like="one content part",
        when=lambda value: (
            "role" not in value
            and _typed(
                *("text", "image_url", "image", "tool_use", "tool_result", "thinking", "document"),
                *("input_text", "output_text", "input_image", "input_file", "input_audio", "file"),
            )(value)
        ),
        way_out='put it into a message: {"role": …, "content": [part]}',
    ),
)

LISTS: Final = (
    Form(looks_like="a request body", when=_has("messages"), way_out='pass its ["messages"]'),
    Form(looks_like="a request body", when=_has("contents"), way_out='pass its ["contents"]'),
    Form(looks_like="a request body", when=_has("input"), way_out='pass its ["input"]'),
    Form(looks_like="one message", when=_has("role"), way_out="put it into a list"),
    *MESSAGES,
)


def refused_object(value: object) -> str:
    """Why something that is no dictionary is no message, and what makes it one."""
    if isinstance(value, str):
        return 'is text; write {"role": "user", "content": …}'
    if value is None or isinstance(value, (bool, int, float, bytes, bytearray)):
        return f"is {shown(value)}; {EXPECTED}"
    kind = type(value)
    module = str(getattr(kind, "__module__", "") or "")
    found = next((one for one in LIBRARIES if f"{module}.".startswith(f"{one.module}.")), None)
    home = found.module if found else module.partition(".")[0]
    named = f"is a {kind.__name__}" + ("" if home == "builtins" else f" of {home}")
    if found is not None:
        return f"{named}; {found.way_out}"
    if callable(getattr(kind, "model_dump", None)):
        return f"{named}; {_DUMP}"
    if dataclasses.is_dataclass(kind):
        return f"{named}; pass it through dataclasses.asdict first, if its fields are a message's"
    return f"{named}; {EXPECTED}"


def refused_form(value: _Object) -> str | None:
    """What a dictionary looks like that is no message, and what makes it one; None: unknown."""
    return _told(value, MESSAGES)


def refused_list(value: object) -> str | None:
    """Why `value` is no list of messages; None if it may be one."""
    if isinstance(value, Mapping):
        told = _told(value, LISTS)
        return told or f"is an object with the keys {listed_keys(value)}; pass a list of messages"
    if isinstance(value, str):
        return 'is text; pass a list, [{"role": "user", "content": …}]'
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "is bytes; decode them, and pass a list of messages"
    if not isinstance(value, Iterable):
        if value is None or isinstance(value, (int, float)):
            return f"is {shown(value)}; pass a list of messages"
        return f"{refused_object(value).partition(';')[0]}; pass a list of messages"
    if callable(getattr(type(value), "model_dump", None)):  # pydantic's objects can be iterated
        return f"{refused_object(value)}, and put it into a list"
    return None


def refused_part(part: object) -> str:
    """Why something in a list of content parts is none, and what makes it one."""
    if not isinstance(part, Mapping):
        plain = part is None or isinstance(part, (bool, int, float, bytes, list, tuple, set))
        name = type(part).__name__
        return f"expected an object, got {name}" if plain else refused_object(part)
    for form in MESSAGES:
        if form.when({"content": [part]}):
            return f"looks like a part of {form.looks_like.removeprefix('a ')}; {form.way_out}"
    return f"has no type but the keys {listed_keys(part)}; name its 'type'"


def listed_keys(value: _Object) -> str:
    """The first keys of an object, quoted."""
    keys = [shown(key) for key in list(value)[:6]]
    return ", ".join(keys) + (", …" if len(value) > len(keys) else "") if keys else "none"


def _told(value: _Object, forms: Iterable[Form]) -> str | None:
    found = next((form for form in forms if form.when(value)), None)
    return None if found is None else f"looks like {found.looks_like}; {found.way_out}"
