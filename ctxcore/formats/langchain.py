"""Reads LangChain messages: as LangChain dumps them, and in the states that LangGraph keeps.

A file with several states of a thread holds its messages several times; the longest state is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import count_at, id_at, object_at, objects_in, text_at, time_at
from ctxcore.formats.provider_usage import anthropic_usage, openai_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.openai import parse_message
from ctxcore.messages.shapes.anthropic import message_of_blocks
from ctxcore.messages.values import Message, Part, Reasoning, Role, ToolCall
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_ROLES: Final[Mapping[str, Role]] = {
    **{"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"},
    **{"system": "system", "developer": "developer", "tool": "tool", "function": "tool"},
}
_OTHER_KINDS: Final = ("chat", "generic", "remove")
_CALL_BLOCKS: Final = (
    *("tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "function_call"),
    *("invalid_tool_call", "server_tool_call"),
)
_CALL_KEYS: Final = ("tool_calls", "invalid_tool_calls")
_DEPTH: Final = 6  # chosen: a checkpoint keeps its messages four objects deep
_HOUR: Final = "ephemeral_1h_input_tokens"
_MINUTES: Final = "ephemeral_5m_input_tokens"
_SUMMARY: Final = "summarization"  # the `lc_source` of what SummarizationMiddleware writes


@dataclass(frozen=True, slots=True)
class _Said:
    """One message, unwrapped: its kind (`human`, `ai`, …) and its fields."""

    kind: str
    fields: JsonObject


def _is_langchain(records: Records) -> bool:
    lists = [one for value in records.values for one in _message_lists(value, _DEPTH)]
    return any(_is_own(value) for value in (*records.values, *(v for one in lists for v in one)))


def _is_own(value: JsonValue) -> bool:
    """Whether no other product writes messages like this one."""
    if not isinstance(value, dict) or (said := _unwrapped(value)) is None:
        return False
    return "lc" in value or said.kind in ("human", "ai")


def _unwrapped(value: object) -> _Said | None:
    """A message in one of LangChain's three forms; None if it is none."""
    if not isinstance(value, dict):
        return None
    kind, path, inner = value.get("type"), value.get("id"), value.get("kwargs")
    if kind == "constructor" and "lc" in value and isinstance(path, list) and path:
        name = str(path[-1])
        is_message = name.removesuffix("Chunk").endswith("Message")
        return _Said(_kind_of(name), inner) if is_message and isinstance(inner, dict) else None
    if not isinstance(kind, str) or _kind_of(kind) not in (*_ROLES, *_OTHER_KINDS):
        return None
    data = value.get("data")
    if isinstance(data, dict) and "content" in data:
        return _Said(_kind_of(kind), data)
    is_flat = "content" in value and "role" not in value
    return _Said(_kind_of(kind), value) if is_flat or kind == "remove" else None


def _kind_of(name: str) -> str:
    """`AIMessageChunk` and `ai` alike as `ai`."""
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _message_lists(value: JsonValue, depth: int) -> list[list[JsonValue]]:
    """The lists of messages inside a value, in order."""
    if depth == 0 or not isinstance(value, (list, dict)):
        return []
    if isinstance(value, list) and any(map(_unwrapped, value)):
        return [value]
    inner = value if isinstance(value, list) else value.values()
    return [found for one in inner for found in _message_lists(one, depth - 1)]


@dataclass(slots=True, kw_only=True)
class _State:
    """The messages of a thread with their lines, the longest of its states so far."""

    thread_id: str | None = None
    title: str | None = None
    messages: list[JsonValue] = field(default_factory=list)
    line: int | None = None
    others: int = 0
    """The number of its other states."""

    def absorb(self, other: _State) -> bool:
        """Takes in another state of the same thread; False if it is of another one."""
        if self.thread_id != other.thread_id or not (self.thread_id or self._overlaps(other)):
            return False
        self.others += other.others + 1
        if len(other.messages) > len(self.messages):
            self.messages, self.line, self.title = other.messages, other.line, other.title
        return True

    def _overlaps(self, other: _State) -> bool:
        return all(a == b for a, b in zip(self.messages, other.messages, strict=False))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    """A conversation for each thread, and one of the messages that stand alone."""
    is_list = records.layout == "list" and any(map(_unwrapped, records.values))
    loose: list[tuple[JsonValue, int | None]] = []
    last: _State | None = None
    for record in records:
        if is_list or _unwrapped(record.value):
            loose.append((record.value, record.line))
            continue
        state = _state(record.value, record.line)
        if state is None:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
        elif last is None or not last.absorb(state):
            if last is not None:
                yield from _of_state(last, records.name)
            last = state
    if last is not None:
        yield from _of_state(last, records.name)
    if loose:
        yield from _conversation(loose, _State(), records.name)


def _of_state(state: _State, name: str) -> Iterator[Transcript | Problem]:
    return _conversation([(value, state.line) for value in state.messages], state, name)


def _state(value: JsonValue, line: int | None) -> _State | None:
    """The messages in a state, a checkpoint, or a recorded call; None if there are none."""
    lists = _message_lists(value, _DEPTH)
    generated = _generated(value)
    if not lists and not generated:
        return None
    longest = max(lists, key=len, default=[])
    about = value if isinstance(value, dict) else {}
    metadata = object_at(about, "metadata")
    return _State(
        thread_id=_thread_id(about),
        title=text_at(about, "title") or text_at(metadata, "title"),
        messages=[*longest, *(one for one in generated if one not in longest)],
        line=line,
        others=max(len(lists) - 1, 0),
    )


def _generated(value: JsonValue) -> list[JsonValue]:
    """The answer of a recorded call of a model, the first where several were asked for."""
    outputs = object_at(value, "outputs") if isinstance(value, dict) else {}
    row = outputs.get("generations")
    while isinstance(row, list):
        row = row[0] if row else None
    message = row.get("message") if isinstance(row, dict) else None
    return [message] if _unwrapped(message) else []


def _thread_id(about: Mapping[str, object]) -> str | None:
    config = object_at(object_at(about, "config"), "configurable")
    places = (about, config, object_at(about, "metadata"))
    return next((found for place in places if (found := id_at(place, "thread_id"))), None)


def _conversation(
    values: Sequence[tuple[JsonValue, int | None]], state: _State, name: str
) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="langchain", path=name)
    for index, (value, line) in enumerate(values):
        try:
            _add(builder, value, line, index)
        except MessageError as error:
            builder.problem(error.reason, line=line)
    for _ in range(state.others):
        builder.ignore("other state")
    found = builder.build(id=state.thread_id, titles=[state.title])
    yield from or_problems(found, line=state.line)


def _add(builder: TranscriptBuilder, value: JsonValue, line: int | None, index: int) -> None:
    said = _unwrapped(value)
    if said is None or said.kind == "remove":
        if said is None:
            builder.problem(FileProblem.NEITHER(), line=line)
        else:
            builder.ignore("remove")
        return
    fields = said.fields
    kind = (text_at(fields, "role") or "user") if said.kind in _OTHER_KINDS else said.kind
    role = _ROLES.get(kind, "user")
    metadata = object_at(fields, "response_metadata")
    time = time_at(metadata, "timestamp", "created_at", "created")
    message = Message(
        role=role,
        content=_parts(role, fields),
        calls=_calls(fields) if role == "assistant" else (),
        answers=id_at(fields, "tool_call_id"),
        name=text_at(fields, "name") if role == "tool" else None,
    )
    if object_at(fields, "additional_kwargs").get("lc_source") == _SUMMARY:
        builder.compaction(RecordedCompaction(at=0, summary=message.text, recorded_at=time))
        return
    key = f"{index}"
    builder.add(message, key=key, time=time, line=line)
    if role == "assistant":
        _add_usage(builder, fields, key)


def _parts(role: Role, fields: JsonObject) -> tuple[Part, ...]:
    """The content of a message without its calls; thinking that stands beside it first."""
    content = fields.get("content")
    blocks = content if isinstance(content, list) else [content]
    others = (*_CALL_BLOCKS, "reasoning")
    said = [_as_provider(block) for block in blocks if type_of(block) not in others]
    thoughts = [block for block in blocks if type_of(block) == "reasoning"]
    texts = [text for block in thoughts if isinstance(block, dict) and (text := _thought(block))]
    beside = text_at(object_at(fields, "additional_kwargs"), "reasoning_content")
    if beside is not None and beside not in texts:
        texts.append(beside)
    thinking = [Reasoning(text=text) for text in texts] if role == "assistant" else []
    return (*thinking, *message_of_blocks(role, said).content)


def _as_provider(block: JsonValue) -> JsonValue:
    """A block of LangChain's own form, an image or a file, as providers have it."""
    if not isinstance(block, dict) or type_of(block) not in ("image", "file"):
        return block
    data, url = text_at(block, "base64", "data"), text_at(block, "url")
    if data is not None:
        url = f"data:{text_at(block, 'mime_type') or ''};base64,{data}"
    if url is None:
        return block
    if type_of(block) == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    name = text_at(block, "filename", "name") or "file"
    return {"type": "file", "file": {"file_data": url, "filename": name}}


def _thought(block: JsonObject) -> str | None:
    """The text of thinking in LangChain's own form, or with OpenAI's summaries."""
    summary = block.get("summary")
    parts = objects_in(summary)
    summaries = [text for part in parts if (text := text_at(part, "text"))]
    return text_at(block, "reasoning", "text") or "\n".join(summaries) or None


def _calls(fields: JsonObject) -> tuple[ToolCall, ...]:
    """The calls that LangChain parsed, with those it could not; else as the provider wrote them."""
    listed = [one for key in _CALL_KEYS for one in objects_in(fields.get(key))]
    if listed:
        return tuple(_call(one) for one in listed)
    blocks = objects_in(fields.get("content"))
    calls = [_call(block) for block in blocks if type_of(block) in ("tool_call", "function_call")]
    if found := (*message_of_blocks("assistant", blocks).calls, *calls):
        return found
    extra = object_at(fields, "additional_kwargs")
    keys = ("tool_calls", "function_call")
    raw = {key: extra[key] for key in keys if extra.get(key) is not None}
    return parse_message({"role": "assistant", **raw}).calls


def _call(raw: JsonObject) -> ToolCall:
    arguments = raw.get("args", raw.get("arguments"))
    return ToolCall(
        id=id_at(raw, "call_id", "id") or "",
        name=text_at(raw, "name") or "unknown",
        arguments=arguments if isinstance(arguments, str) else to_ordered(arguments or {}),
    )


def _add_usage(builder: TranscriptBuilder, fields: JsonObject, key: str) -> None:
    metadata = object_at(fields, "response_metadata")
    model = text_at(metadata, "model_name", "model", "model_id")
    builder.model = model or builder.model
    call_id = id_at(metadata, "id") or id_at(fields, "id") or ""
    usage = _usage(fields, metadata, call_id)
    if usage.total_input_tokens or usage.output_tokens:
        builder.usage(replace(usage, model=model), key=key)


def _usage(fields: JsonObject, metadata: Mapping[str, object], call_id: str) -> RecordedUsage:
    """What LangChain counted, whose input holds all that was cached; else what a provider did."""
    counted = object_at(fields, "usage_metadata")
    details = object_at(counted, "input_token_details")
    if not counted:
        if reported := object_at(metadata, "token_usage"):
            return openai_usage(reported, call_id=call_id)
        return anthropic_usage(object_at(metadata, "usage"), call_id=call_id)
    read, hour = count_at(details, "cache_read") or 0, count_at(details, _HOUR) or 0
    apart = hour + (count_at(details, _MINUTES) or 0)  # then `cache_creation` is 0
    written = count_at(details, "cache_creation") or apart
    total = count_at(counted, "input_tokens") or 0
    return RecordedUsage(
        call_id=call_id,
        after=0,
        input_tokens=max(total - read - written, 0),
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_hour_tokens=min(hour, written),
        output_tokens=count_at(counted, "output_tokens") or 0,
    )


LANGCHAIN = Format(
    name="langchain",
    label=FormatCode.LANGCHAIN(),
    matches=_is_langchain,
    read=_read,
)
