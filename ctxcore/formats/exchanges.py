"""Reads conversations with the API of a provider: bodies of requests and responses, and messages.

Logs and batch files wrap bodies in records of their own; a response is joined to the request that
it stands beside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ctxcore.errors import MessageError
from ctxcore.formats.fields import (
    count_at,
    file_stem,
    id_at,
    object_at,
    prompt_texts,
    text_at,
    time_at,
    title_of,
)
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.tools import parsed, raw_tools
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.shapes.reading import codec_of
from ctxcore.messages.shapes.values import Conversation, Refuse, Shape
from ctxcore.messages.values import Message
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import FileProblem

_REQUEST_KEYS = ("body", "params", "request", "request_body", "kwargs")
_RESPONSE_KEYS = ("response", "response_body", "result", "completion")
_BODY_KEYS = ("body", "json", "message", "content")  # what wraps a body within those
_TIME_KEYS = ("timestamp", "created_at", "createTime", "create_time")


class Api(ABC):
    """What the bodies and messages of one API look like."""

    name: str
    """The name of its format."""
    shape: Shape

    @abstractmethod
    def is_message(self, raw: JsonObject) -> bool:
        """Whether an object that stands alone is a message of this API."""

    def owns(self, raws: Sequence[JsonObject]) -> bool:
        """Whether messages are of this API."""
        return any(map(self.is_message, raws))

    @abstractmethod
    def asks(self, body: JsonObject) -> bool:
        """Whether `body` is that of a request."""

    @abstractmethod
    def answers(self, body: JsonObject) -> bool:
        """Whether `body` is that of a response."""

    @abstractmethod
    def asked(self, request: JsonObject) -> Sequence[JsonValue]:
        """The messages of a request."""

    @abstractmethod
    def answered(self, response: JsonObject) -> Sequence[JsonValue]:
        """The messages of a response."""

    @abstractmethod
    def usage(self, response: JsonObject) -> RecordedUsage | None:
        """What the provider counted; its place is filled in."""

    def front(self, body: JsonObject) -> Sequence[Message]:
        """The system prompt that a request holds beside its messages.

        Raises:
            MessageError: it cannot be read.
        """
        return ()

    def left_out(self, body: JsonObject) -> Counter[str]:
        """What of a body belongs to no message of the conversation."""
        return Counter()

    def read(self, entries: Sequence[tuple[int, JsonValue]], refuse: Refuse) -> Conversation:
        """The messages as values, each with its place; what cannot be read goes to `refuse`."""
        return codec_of(self.shape).to(entries, refuse)

    def summary_in(self, raw: JsonValue) -> str | None:
        """The summary with which a compaction of the API begins this message; None without one."""
        return None

    def without_summary(self, raw: JsonObject) -> JsonObject | None:
        """`raw` without that summary; None if nothing is left."""
        return raw


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A conversation to be read; `about` is the record that holds it."""

    api: Api
    line: int | None
    request: JsonObject = field(default_factory=dict)
    response: JsonObject = field(default_factory=dict)
    about: JsonObject = field(default_factory=dict)
    loose: tuple[JsonValue, ...] = ()
    """Messages that stand by themselves."""
    lines: tuple[int | None, ...] = ()
    """The lines of those."""
    left_out: Counter[str] = field(default_factory=Counter)


Unwrap = Callable[[JsonObject], tuple[JsonObject, Counter[str]] | None]
"""Makes a body of a record of another layout, and counts what it leaves out; None if it is none."""


def reader(
    apis: Sequence[Api], unwrap: Unwrap = lambda _: None
) -> Callable[[Records], Iterator[Transcript | Problem]]:
    """Reads what one of `apis` knows, the first first; `unwrap` is asked for other records."""

    def read(records: Records) -> Iterator[Transcript | Problem]:
        for found in _conversations(records, apis, unwrap):
            if isinstance(found, Problem):
                yield found
                continue
            transcript = _transcript(found, records.name)
            if transcript.messages:
                yield transcript
            elif transcript.problems:
                yield from transcript.problems
            else:
                yield Problem(line=found.line, reason=FileProblem.NO_CONTENT(kind="response"))

    return read


def api_of(records: Records, apis: Sequence[Api], unwrap: Unwrap = lambda _: None) -> Api | None:
    """The API that the first records belong to; None: to none of `apis`."""
    if messages := [value for value in records.values if _is_message(value, apis)]:
        is_most = 2 * len(messages) >= len(records.values)  # a few may be alike in any log
        return _api_of(messages, apis) if is_most else None
    found = (one for value in records.values for one in conversations_in(value, None, apis, unwrap))
    return next((one.api for one in found), None)


def exchange_of(record: JsonObject, apis: Sequence[Api]) -> tuple[Api, JsonObject, JsonObject]:
    """The API of a record, with the bodies of a request and of a response, if there are any.

    Raises:
        LookupError: it holds none.
    """
    for api in apis:
        is_request, is_response = api.asks(record), api.answers(record)
        if is_request or is_response:
            response = record if is_response else _body(record, _RESPONSE_KEYS, api.answers)
            return api, record if is_request else {}, response
    for api in apis:
        response = _body(record, _RESPONSE_KEYS, api.answers)
        # A response says whose the request beside it is, however little that holds.
        request = _body(record, _REQUEST_KEYS, api.asked if response else api.asks)
        if request or response:
            return api, request, response
    raise LookupError


def _body(
    record: JsonObject, keys: Iterable[str], is_wanted: Callable[[JsonObject], object]
) -> JsonObject:
    """The first body under one of `keys`, or wrapped once more; empty without any."""
    for key in keys:
        value = _object(record.get(key))
        for body in (value, *(_object(value.get(inner)) for inner in _BODY_KEYS)):
            if body and is_wanted(body):
                return body
    return {}


def _object(value: JsonValue) -> JsonObject:
    """An object, or the one that a text holds; else an empty one."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = parsed(value)
    return value if isinstance(value, dict) else {}


def _conversations(
    records: Records, apis: Sequence[Api], unwrap: Unwrap
) -> Iterator[_Found | Problem]:
    """Conversations in file order; messages that stand alone are one, the last."""
    is_one = records.layout == "list" and any(_is_message(one, apis) for one in records.values)
    loose: list[JsonValue] = []
    lines: list[int | None] = []
    for record in records:
        value, line = record.value, record.line
        if is_one or _is_message(value, apis):
            loose.append(value)
            lines.append(line)
        elif inside := list(conversations_in(value, line, apis, unwrap)):
            yield from inside
        else:
            yield Problem(line=line, reason=FileProblem.NEITHER())
    if loose:
        yield _Found(api=_api_of(loose, apis), line=None, loose=tuple(loose), lines=tuple(lines))


def conversations_in(
    value: JsonValue, line: int | None, apis: Sequence[Api], unwrap: Unwrap
) -> Iterator[_Found]:
    """A body, a record with bodies, a list of messages, or a list of any of these."""
    if isinstance(value, dict):
        body, left_out = unwrap(value) or (value, Counter[str]())
        try:
            api, request, response = exchange_of(body, apis)
        except LookupError:
            listed = value.get("data")  # what APIs list stored bodies under
            if isinstance(listed, list):
                yield from conversations_in(listed, line, apis, unwrap)
            return
        yield _Found(
            api=api,
            line=line,
            request=request,
            response=response,
            about=body,
            left_out=left_out + api.left_out(response),
        )
    elif isinstance(value, list) and any(_is_message(one, apis) for one in value):
        yield _Found(api=_api_of(value, apis), line=line, loose=tuple(value))
    elif isinstance(value, list):
        for inner in value:
            yield from conversations_in(inner, line, apis, unwrap)


def _is_message(value: JsonValue, apis: Sequence[Api]) -> bool:
    """Whether a value is a message, and no response, which may have the keys of one."""
    if not isinstance(value, dict):
        return False
    if not any(api.is_message(value) for api in reversed(apis)):  # the last is told fastest
        return False
    return not any(api.answers(value) for api in apis)


def _api_of(raws: Sequence[JsonValue], apis: Sequence[Api]) -> Api:
    """The API of messages that stand alone."""
    objects = [raw for raw in raws if isinstance(raw, dict)]
    return next(api for api in apis if api.owns(objects))


@dataclass(slots=True)
class _Reading:
    """What is read of one conversation."""

    messages: list[Message] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """For each message the place among the raw ones that it came from; -1: the system prompt."""
    problems: list[Problem] = field(default_factory=list)
    compactions: list[RecordedCompaction] = field(default_factory=list)

    def at(self, place: int) -> int:
        """Where the messages from `place` on begin."""
        ahead = (at for at, own in enumerate(self.places) if own >= place)
        return next(ahead, len(self.messages))


def _transcript(found: _Found, name: str) -> Transcript:
    api, about = found.api, found.about
    asked = list(found.loose or (api.asked(found.request) if found.request else ()))
    answered = list(api.answered(found.response)) if found.response else []
    reading = _read(found, [*asked, *answered])
    times = _times(reading, [*asked, *answered])
    usage = api.usage(found.response) if found.response else None
    model = text_at({**found.request, **found.response}, "model", "modelVersion", "model_version")
    if usage is not None:
        answer = min(reading.at(len(asked)), max(len(reading.messages) - 1, 0))
        usage = replace(usage, after=answer, model=usage.model or model)
    own_id = _id(found) or file_stem(name)
    made = Transcript(
        id=own_id,
        title=title_of(
            [text_at(about, "title"), *prompt_texts(reading.messages)], otherwise=own_id
        ),
        format=api.name,
        path=name,
        messages=tuple(reading.messages),
        times=tuple(times),
        model=model or text_at(about, "model"),
        raw_tools=raw_tools(
            *(found.request.get(key) or about.get(key) for key in ("tools", "functions"))
        ),
        compactions=tuple(reading.compactions),
        usage=() if usage is None or not reading.messages else (usage,),
        problems=tuple(reading.problems),
        ignored=tuple(sorted(found.left_out.items())),
    )
    return _without_summaries(made, about)


def _id(found: _Found) -> str | None:
    keys = ("custom_id", "id", "session_id", "conversation_id", "key", "responseId")
    return id_at(found.about, *keys) or id_at(found.response, *keys)


def _read(found: _Found, raws: Sequence[JsonValue]) -> _Reading:
    api, reading = found.api, _Reading()
    try:
        reading.messages += api.front(found.request or found.response)
    except MessageError as error:
        reading.problems.append(Problem(line=found.line, reason=error.reason))
    reading.places += [-1] * len(reading.messages)

    def refuse(at: int, error: MessageError) -> None:
        line = found.lines[at] if found.lines else found.line
        if found.lines and line is not None:  # the line says which message it is
            own = error.place._replace(base=PlaceCode.THE_MESSAGE, fact=None)
            error = MessageError(place=own, problem=error.problem)
        reading.problems.append(Problem(line=line, reason=error.reason))

    summaries = {
        at: told for at, raw in enumerate(raws) if (told := api.summary_in(raw)) is not None
    }
    entries = [(at, _rest(api, raw) if at in summaries else raw) for at, raw in enumerate(raws)]
    read = api.read([(at, raw) for at, raw in entries if raw is not None], refuse)
    reading.messages += read.messages
    reading.places += [own[0] for own in read.places or ()]
    reading.compactions += [
        RecordedCompaction(at=reading.at(at), summary=told) for at, told in summaries.items()
    ]
    return reading


def _rest(api: Api, raw: JsonValue) -> JsonValue:
    return api.without_summary(raw) if isinstance(raw, dict) else raw


def raise_error(at: int, error: MessageError) -> None:
    """Refuses what cannot be read by an error.

    Raises:
        MessageError: `error`.
    """
    raise error


def _times(reading: _Reading, raws: Sequence[JsonValue]) -> list[datetime | None]:
    found = (raws[at] if at >= 0 else None for at in reading.places)
    return [time_at(raw, *_TIME_KEYS) if isinstance(raw, dict) else None for raw in found]


def _without_summaries(made: Transcript, about: Mapping[str, JsonValue]) -> Transcript:
    """`made` without the summaries of compactions that a program listed beside the messages.

    They are listed under `compactions`, with the place as `summary_index`.
    """
    listed = about.get("compactions") or object_at(about, "meta").get("compactions")
    raws = [raw for raw in listed if isinstance(raw, dict)] if isinstance(listed, list) else []
    places = {place: raw for raw in raws if (place := count_at(raw, "summary_index")) is not None}
    if not places or made.problems:  # a message that could not be read shifts the places
        return made
    places = {at: places[at] for at in sorted(places) if at < len(made.messages)}
    compactions = tuple(
        RecordedCompaction(
            at=at - nth,
            summary=made.messages[at].text,
            before_tokens=count_at(raw, "pre_tokens"),
            trigger=text_at(raw, "trigger"),
            recorded_at=made.times[at],
        )
        for nth, (at, raw) in enumerate(places.items())
    )
    left = [at for at in range(len(made.messages)) if at not in places]
    return replace(
        made,
        messages=tuple(made.messages[at] for at in left),
        times=tuple(made.times[at] for at in left),
        compactions=compactions,
    )
