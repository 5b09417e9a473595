"""Reads sessions of Google's Agent Development Kit, lists of their events, and its eval sets.

The events of an invocation that was rewound are left out, as its agents no longer see them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ctxcore.formats.building import TranscriptBuilder, or_problems
from ctxcore.formats.fields import id_at, object_at, text_at, time_at
from ctxcore.formats.gemini_contents import Content, Step, read_steps, text_of
from ctxcore.formats.provider_usage import gemini_usage
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import raw_tools
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FileProblem, FormatCode, RepairCode

_INVOCATION: Final = ("invocation_id", "invocationId")
_SESSION_KEYS: Final = (
    *("app_name", "appName", "user_id", "userId", "past_events", "last_update_time"),
    *("lastUpdateTime", "event_logs"),
)
_CASES: Final = ("eval_cases", "evalCases")


def _is_adk(records: Records) -> bool:
    return any(
        _is_event(value) or _is_session(value) or _at(value, *_CASES) is not None
        for value in records.values
    )


def _is_event(value: object) -> bool:
    is_event = isinstance(value, dict) and isinstance(value.get("author"), str)
    return is_event and _at(value, *_INVOCATION) is not None


def _is_session(value: object) -> bool:
    events = _at(value, "events")
    if not isinstance(value, dict) or not isinstance(events, list):
        return False
    return any(map(_is_event, events)) or any(key in value for key in _SESSION_KEYS)


def _at(value: object, *keys: str) -> JsonValue:
    """The first of these fields that is there, in Python's or JavaScript's spelling."""
    if not isinstance(value, dict):
        return None
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    loose: list[tuple[JsonValue, int | None]] = []
    is_list = records.layout == "list" and any(map(_is_event, records.values))
    for record in records:
        value = record.value
        if is_list or _is_event(value):
            loose.append((value, record.line))
        elif isinstance(value, dict) and _is_session(value):
            events = _at(value, "events")
            listed = events if isinstance(events, list) else []
            found = [(event, record.line) for event in listed]
            yield from _conversation(found, value, records.name)
        elif isinstance(cases := _at(value, *_CASES), list):
            for case in cases:
                yield from _eval_case(case, record.line, records.name)
        else:
            yield Problem(line=record.line, reason=FileProblem.NEITHER())
    if loose:
        yield from _conversation(loose, {}, records.name)


def _conversation(
    events: list[tuple[JsonValue, int | None]], about: JsonObject, name: str
) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="google-adk", path=name)
    steps: list[Step] = []
    invocations: list[str | None] = []
    for nth, (event, line) in enumerate(events):
        if not isinstance(event, dict):
            builder.problem(FileProblem.NO_RECORD(), line=line)
            continue
        actions = object_at(event, "actions")
        rewound = text_at(actions, "rewind_before_invocation_id", "rewindBeforeInvocationId")
        if rewound is not None and rewound in invocations:
            at = invocations.index(rewound)
            for _ in steps[at:]:
                builder.ignore("left branch")
            del steps[at:], invocations[at:]
        key = id_at(event, "id") or f"#{nth}"
        found = _steps(builder, event, key, line)
        steps += found
        invocations += [text_at(event, *_INVOCATION)] * len(found)
    read_steps(builder, steps)
    request = _last_request(about)
    builder.model = builder.model or text_at(request, "model")
    tools = object_at(request, "config").get("tools")
    found_tools = raw_tools(tools if isinstance(tools, list) else None)
    built = builder.build(id=id_at(about, "id"), raw_tools=found_tools)
    yield from or_problems(built)


def _last_request(about: JsonObject) -> Mapping[str, object]:
    """The last request to a model that early versions logged beside the events."""
    logs = about.get("event_logs")
    last = logs[-1] if isinstance(logs, list) and logs else None
    return object_at(last, "model_request") if isinstance(last, dict) else {}


def _steps(builder: TranscriptBuilder, event: JsonObject, key: str, line: int | None) -> list[Step]:
    """What an event says; events that only change the state say nothing."""
    if event.get("partial") is True:  # the whole answer follows
        builder.ignore("partial event")
        return []
    time = time_at(event, "timestamp")
    compaction = object_at(object_at(event, "actions"), "compaction")
    steps: list[Step] = []
    if summary := object_at(compaction, "compacted_content") or object_at(
        compaction, "compactedContent"
    ):
        parts = summary.get("parts")
        text = text_of(parts if isinstance(parts, list) else [])
        steps.append(RecordedCompaction(at=0, summary=text, recorded_at=time))
    if (raw := _content(event)) is not None:
        for call in _calls(raw):
            if not id_at(call, "id"):
                builder.repair(RepairCode.NO_ID(), line=line)
        steps.append(
            Content(
                raw=raw,
                line=line,
                time=time,
                key=key,
                model=text_at(event, "model_version", "modelVersion"),
                usage=_usage(event),
            )
        )
    if not steps:
        has_error = _at(event, "error_code", "errorCode") is not None
        builder.ignore("error" if has_error else "event without content")
    return steps


def _calls(content: JsonObject) -> Iterator[JsonObject]:
    parts = content.get("parts")
    for part in parts if isinstance(parts, list) else ():
        call = _at(part, "function_call", "functionCall")
        if isinstance(call, dict):
            yield call


def _content(event: JsonObject) -> JsonObject | None:
    """The content of an event; of a live one, what was heard or spoken."""
    role = "user" if event.get("author") == "user" else "model"
    content = event.get("content")
    if isinstance(content, dict) and content.get("parts"):
        return {**content, "role": content.get("role") or role}
    heard = object_at(event, "input_transcription") or object_at(event, "inputTranscription")
    spoken = object_at(event, "output_transcription") or object_at(event, "outputTranscription")
    said = heard or spoken
    text = text_at(said, "text")
    if text is None or said.get("finished") is False:
        return None
    return {"role": "user" if heard else "model", "parts": [{"text": text}]}


def _usage(event: JsonObject) -> RecordedUsage | None:
    reported = object_at(event, "usage_metadata") or object_at(event, "usageMetadata")
    usage = gemini_usage(
        reported,
        call_id=id_at(event, "id") or "",
        model=text_at(event, "model_version", "modelVersion"),
        recorded_at=time_at(event, "timestamp"),
    )
    return usage if usage.total_input_tokens or usage.output_tokens else None


def _eval_case(case: JsonValue, line: int | None, name: str) -> Iterator[Transcript | Problem]:
    """The conversation that is expected in a case of an eval set."""
    turns = _at(case, "conversation")
    if not isinstance(case, dict) or not isinstance(turns, list):
        yield Problem(line=line, reason=FileProblem.NEITHER())
        return
    events: list[tuple[JsonValue, int | None]] = []
    for nth, turn in enumerate(turns):
        events += [(event, line) for event in _turn_events(turn, nth)]
    eval_id = id_at(case, "eval_id", "evalId")
    yield from _conversation(events, {"id": eval_id} if eval_id else {}, name)


def _turn_events(turn: JsonValue, nth: int) -> list[JsonObject]:
    if not isinstance(turn, dict):
        return []
    data = _at(turn, "intermediate_data", "intermediateData")
    uses = _at(data, "tool_uses", "toolUses")
    answers = _at(data, "tool_responses", "toolResponses")
    events = _at(data, "invocation_events", "invocationEvents")
    time = _at(turn, "creation_timestamp", "creationTimestamp")
    called = [{"function_call": use} for use in uses] if isinstance(uses, list) else []
    answered = (
        [{"function_response": answer} for answer in answers] if isinstance(answers, list) else []
    )
    contents: list[JsonValue] = [
        _at(turn, "user_content", "userContent"),
        {"role": "model", "parts": [*called]},
        {"role": "user", "parts": [*answered]},
        *([_at(event, "content") for event in events] if isinstance(events, list) else []),
        _at(turn, "final_response", "finalResponse"),
    ]
    return [
        {"id": f"{nth}-{at}", "author": "user", "content": content, "timestamp": time}
        for at, content in enumerate(contents)
        if isinstance(content, dict) and content.get("parts")
    ]


GOOGLE_ADK = Format(
    name="google-adk",
    label=FormatCode.GOOGLE_ADK(),
    matches=_is_adk,
    read=_read,
)
