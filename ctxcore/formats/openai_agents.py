"""Reads run states of the OpenAI Agents SDK, in Python's form and in JavaScript's.

The input and the items that the run added to it are items of the Responses API. A state has no
times; its usage is that of the responses it lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from ctxcore.errors import MessageError
from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import count_at, object_at, text_at
from ctxcore.formats.provider_usage import openai_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_ordered, type_of
from ctxcore.messages.shapes.responses import Responses
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_VERSION: Final = "$schemaVersion"
_NO_ITEMS: Final = ("tool_approval_item", "mcp_list_tools_item")  # calls are items of their own


def _is_run_state(records: Records) -> bool:
    return any(map(_is_state, records.values))


def _is_state(value: object) -> bool:
    """Whether this is a state, of a version that is not known yet too."""
    return isinstance(value, dict) and isinstance(value.get(_VERSION), str)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    for record in records:
        state = record.value
        if not isinstance(state, dict) or not _is_state(state):
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
            continue
        found = _conversation(_in_snake_case(state), records.name)
        yield from or_problems(found, line=record.line)


def _in_snake_case(state: JsonObject) -> JsonObject:
    """The keys of JavaScript's states as Python writes them, one level deep."""
    return {_snake(key): value for key, value in state.items()}


def _snake(key: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in key)


@dataclass(slots=True)
class _Items:
    """The items of a run in order, and what was left out of them."""

    values: list[JsonValue] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def _conversation(state: JsonObject, name: str) -> Transcript:
    builder = TranscriptBuilder(format="openai-agents", path=name)
    items = _items(state)
    for kind in items.left_out.elements():
        builder.ignore(kind)

    def refuse(at: int, error: MessageError) -> None:
        builder.problem(error.reason)

    read = Responses().to(enumerate(items.values), refuse)
    keys: dict[int, str] = {}
    for nth, (message, places) in enumerate(zip(read.messages, read.places or (), strict=True)):
        builder.add(message, key=str(nth))
        keys.update(dict.fromkeys(places, str(nth)))
    _add_usage(builder, state, items, keys)
    tools = list({to_ordered(tool): tool for tool in _called_tools(state)}.values())
    conversation_id = text_at(state, "conversation_id", "group_id")
    return builder.build(id=conversation_id, raw_tools=raw_tools(*tools))


def _items(state: JsonObject) -> _Items:
    """The input, then what the run added: the whole session, and what only the last turns have."""
    items = _Items(values=_inputs(state.get("original_input")))
    session = _added(items, state.get("session_items"))
    nested = _nested(state) if session else set()
    items.values += [item for at, item in enumerate(session) if at not in nested]
    items.left_out["nested history"] += len(nested)
    left_out = Counter[str]() if session else items.left_out
    known = Counter(map(to_ordered, session))
    for item in _added(_Items(left_out=left_out), state.get("generated_items")):
        text = to_ordered(item)
        if known[text]:
            known[text] -= 1
        else:
            items.values.append(item)
    items.values += _inputs(state.get("pending_input"))
    return items


def _inputs(given: JsonValue) -> list[JsonValue]:
    if isinstance(given, str) and given.strip():
        return [{"role": "user", "content": given}]
    return [_as_item(value) for value in given] if isinstance(given, list) else []


def _added(items: _Items, listed: JsonValue) -> list[JsonValue]:
    """The items of the Responses API that run items wrap; those of other kinds are counted."""
    found: list[JsonValue] = []
    for run_item in listed if isinstance(listed, list) else ():
        kind = type_of(run_item)
        raw = (
            run_item.get("raw_item", run_item.get("rawItem"))
            if isinstance(run_item, dict)
            else None
        )
        if kind in _NO_ITEMS:
            items.left_out[kind] += 1
        else:
            found.append(run_item if raw is None else _as_item(raw))
    return found


def _nested(state: JsonObject) -> set[int]:
    """The places of session items that a hand-off moved into the input."""
    refs = state.get("nested_history_owned_session_item_refs")
    found = [ref for ref in refs if isinstance(ref, dict)] if isinstance(refs, list) else []
    places = (count_at(ref, "index") for ref in found if "input_index" in ref)
    return {at for at in places if at is not None}


def _as_item(raw: JsonValue) -> JsonValue:
    """An item as the Responses API has it; JavaScript's SDK has names of its own."""
    if not isinstance(raw, dict):
        return raw
    item: JsonObject = {("call_id" if key == "callId" else key): raw[key] for key in raw}
    output = item.get("output")
    match type_of(item):
        case "function_call_result":
            item = {**item, "type": "function_call_output"}
            if isinstance(output, dict) and isinstance(output.get("text"), str):
                item["output"] = output["text"]
            return item
        case "reasoning" if "summary" not in item:
            return {**item, "summary": item.get("content")}
    return item


def _add_usage(
    builder: TranscriptBuilder, state: JsonObject, items: _Items, keys: Mapping[int, str]
) -> None:
    """The usage of each response, at the answer with its last item; each item belongs to one."""
    places: dict[str, list[int]] = {}
    for at, item in enumerate(items.values):
        places.setdefault(to_ordered(item), []).append(at)
    listed = state.get("model_responses")
    for response in listed if isinstance(listed, list) else ():
        if not isinstance(response, dict):
            continue
        outputs = response.get("output")
        answered: str | None = None
        for output in outputs if isinstance(outputs, list) else ():
            if found := places.get(to_ordered(_as_item(output))):
                answered = keys.get(found.pop(0), answered)
        reported = _counts(object_at(response, "usage"))
        call_id = text_at(response, "response_id", "responseId") or ""
        usage = openai_usage(reported, call_id=call_id)
        if answered is not None and (usage.total_input_tokens or usage.output_tokens):
            builder.usage(usage, key=answered)


def _counts(reported: Mapping[str, object]) -> Mapping[str, object]:
    """Usage with OpenAI's names; its details are a list of one."""
    counts = {_snake(key): value for key, value in reported.items()}
    details = counts.get("input_tokens_details")
    return {**counts, "input_tokens_details": details[0]} if _is_filled(details) else counts


def _is_filled(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and bool(value)


def _called_tools(state: JsonObject) -> Iterator[JsonObject]:
    """The definitions of the functions that the last response called; others are not recorded."""
    processed = object_at(state, "last_processed_response")
    functions = processed.get("functions")
    for function in functions if isinstance(functions, list) else ():
        tool = object_at(function, "tool") if isinstance(function, dict) else {}
        schema = tool.get("paramsJsonSchema", tool.get("parameters"))
        if (name := text_at(tool, "name")) is not None and isinstance(schema, dict):
            described = text_at(tool, "description")
            about: JsonObject = {"description": described} if described else {}
            definition: JsonObject = {"name": name, **about, "parameters": schema}
            yield {"type": "function", "function": definition}


OPENAI_AGENTS = Format(
    name="openai-agents",
    label=FormatCode.OPENAI_AGENTS(),
    matches=_is_run_state,
    read=_read,
)
