"""Reads sessions of Gemini CLI: one object, or lines that add to it, change it and take back.

Contents that were saved by hand (`/chat save`) are read as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import Final

from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import count_at, object_at, text_at, time_at
from ctxcore.formats.gemini_contents import Content, Step, parts_of, read_steps, text_of
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import Format, RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FileProblem, FormatCode, RepairCode

_HEAD_KEYS: Final = ("sessionId", "projectHash")
_MODEL: Final = ("gemini", "qwen", "model", "assistant")  # forks name it otherwise
_NOTES: Final = ("info", "error", "warning")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A message record, or a compaction in its place."""

    place: int
    """Where its content is kept; 0 for a compaction, which has none."""
    line: int | None
    compaction: RecordedCompaction | None = None


@dataclass(slots=True, kw_only=True)
class _Session:
    """What the records of a session leave: the latest version of each message, in order."""

    builder: TranscriptBuilder
    about: JsonObject = field(default_factory=dict)
    entries: dict[str, _Entry] = field(default_factory=dict)
    kept: Spool[JsonObject] = field(default_factory=Spool[JsonObject])
    """All versions of all messages."""
    _size: int = 0
    """Of the record that is read."""

    def add(self, value: JsonValue, line: int | None, size: int) -> None:
        """Reads the next record."""
        self._size = size
        if not isinstance(value, dict):
            self.builder.problem(FileProblem.NO_RECORD(), line=line)
        elif isinstance(changed := value.get("$set"), dict):
            self._change(changed, line)
        elif isinstance(back := value.get("$rewindTo"), str):
            self._rewind(back)
        elif "type" in value and "id" in value:
            self._put(value, line)
        elif any(key in value for key in (*_HEAD_KEYS, "messages")):
            self.about |= {key: inner for key, inner in value.items() if key != "messages"}
            self._put_all(value.get("messages"), line)
        elif isinstance(value.get("history"), list):
            self.about |= {key: inner for key, inner in value.items() if key != "history"}
            self._put_all(value["history"], line)
        elif "parts" in value:
            self._put(value, line)
        else:
            self.builder.problem(FileProblem.NO_RECORD(), line=line)

    def _put_all(self, values: JsonValue, line: int | None) -> None:
        for value in values if isinstance(values, list) else []:
            if isinstance(value, dict):
                self._put(value, line)
            else:
                self.builder.problem(FileProblem.NO_RECORD(), line=line)

    def _put(self, value: JsonObject, line: int | None) -> None:
        """A record of a known id is a newer version of that message."""
        own_id = text_at(value, "id") or f"#{len(self.entries)}"
        place = self.kept.append(value, size=self._size)
        self.entries[own_id] = _Entry(place=place, line=line)

    def _rewind(self, own_id: str) -> None:
        """Takes back the message of this id and all after it; everything, if there is none."""
        ids = list(self.entries)
        for taken in ids[ids.index(own_id) if own_id in self.entries else 0 :]:
            del self.entries[taken]
            self.builder.ignore("left branch")

    def _change(self, changed: JsonObject, line: int | None) -> None:
        messages = changed.get("messages")
        self.about |= {key: inner for key, inner in changed.items() if key != "messages"}
        if isinstance(messages, list):
            self._replace([value for value in messages if isinstance(value, dict)], line)

    def _replace(self, values: list[JsonObject], line: int | None) -> None:
        """A new list of messages: the same ones changed, or a summary in place of the first.

        Messages that it lacks are kept before the summary.
        """
        kept = {text_at(value, "id") for value in values} & set(self.entries)
        gone = [own_id for own_id in self.entries if own_id not in kept]
        new: list[JsonObject] = []
        while values and text_at(values[0], "id") not in self.entries:
            new.append(values.pop(0))
        if gone and new:
            self._compact(gone, new, line)
        else:
            self._put_all([*new], line)
            for own_id in gone:
                del self.entries[own_id]
                self.builder.ignore("left branch")
        self._put_all([*values], line)

    def _compact(self, gone: list[str], new: list[JsonObject], line: int | None) -> None:
        user = (value for value in new if value.get("type") == "user")
        summary = "\n".join(text_of(_parts(value)) for value in user)
        time = time_at(new[0], "timestamp")
        compaction = RecordedCompaction(at=0, summary=summary, recorded_at=time)
        for _ in new:
            self.builder.ignore("summary")
        before = {own_id: self.entries.pop(own_id) for own_id in gone}
        mark = _Entry(place=0, line=line, compaction=compaction)
        self.entries = {**before, f"compaction {line}": mark, **self.entries}


def _is_gemini_cli(records: Records) -> bool:
    values = records.values
    if any(isinstance(v, dict) and _is_head(v) for v in values):
        return True
    if records.layout == "list":
        return bool(values) and all(_is_content(value) for value in values[:2])
    saved = values[0].get("history") if values and isinstance(values[0], dict) else None
    return isinstance(saved, list) and any(map(_is_content, saved))


def _is_head(value: JsonObject) -> bool:
    """Whether this begins a session, or is a whole one."""
    if all(isinstance(value.get(key), str) for key in _HEAD_KEYS):
        return True
    messages = value.get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    if not isinstance(first, dict) or not isinstance(value.get("sessionId"), str):
        return False
    return first.get("type") in ("user", *_MODEL, *_NOTES) and "role" not in first


def _is_content(value: JsonValue) -> bool:
    return (
        isinstance(value, dict)
        and value.get("role") in ("user", *_MODEL)
        and isinstance(value.get("parts"), list)
    )


def _read(records: Records) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="gemini-cli", path=records.name)
    session = _Session(builder=builder)
    for record in records:
        session.add(record.value, record.line, record.size)
    builder.model = text_at(object_at(session.about, "meta"), "model")
    read_steps(builder, _steps(session))
    transcript = builder.build(
        id=text_at(session.about, "sessionId"),
        titles=[text_at(session.about, "summary")],
        parent_id=_parent_id(session.about, records.name),
    )
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _parent_id(about: JsonObject, name: str) -> str | None:
    """The session that started a sub-agent: its file stands in a folder of that name."""
    folder = PurePath(name).parent.name
    is_agent = about.get("kind") == "subagent" and folder != "chats"
    return folder or None if is_agent else None


def _steps(session: _Session) -> Iterator[Step]:
    builder, answered = session.builder, set[str]()
    for nth, entry in enumerate(session.entries.values()):
        if entry.compaction is not None:
            yield entry.compaction
            continue
        raw = session.kept[entry.place]
        kind, role = text_at(raw, "type", "role") or "", raw.get("role")
        if kind == role and kind in _MODEL and kind != "model":
            builder.repair(RepairCode.ROLE(role=kind, meant="model"), line=entry.line)
        if kind in _NOTES:
            builder.ignore(kind)
        elif kind == "user":
            yield from _user(builder, raw, entry.line, answered)
        elif kind in _MODEL:
            yield from _answer(raw, entry.line, nth, answered)
        elif kind == "system":
            yield _content(raw, entry.line, "system", _parts(raw))
        else:
            builder.problem(FileProblem.NO_CONTENT(kind=kind), line=entry.line)


def _user(
    builder: TranscriptBuilder, raw: JsonObject, line: int | None, answered: set[str]
) -> Iterator[Step]:
    """A user's content without the results that its call holds already."""
    parts = _parts(raw)
    left = [part for part in parts if _answered_id(part) not in answered]
    for _ in range(len(parts) - len(left)):
        builder.ignore("duplicate")
    if left:
        yield _content(raw, line, "user", left)
    elif not parts:
        builder.ignore("blank user")


def _answer(raw: JsonObject, line: int | None, nth: int, answered: set[str]) -> Iterator[Step]:
    """An answer as contents: thoughts, text and calls, then the results of the calls."""
    calls = raw.get("toolCalls")
    called = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    thoughts = raw.get("thoughts")
    thought = map(_thought, thoughts if isinstance(thoughts, list) else [])
    own = _parts(raw)
    in_parts = {_called_id(part) for part in own} - {None}
    parts = [
        *(part for part in thought if part),
        *own,
        *(_call(call) for call in called if text_at(call, "id") not in in_parts),
    ]
    usage = _usage(raw)
    yield Content(
        raw={"role": "model", "parts": parts},
        line=line,
        time=time_at(raw, "timestamp", "ts"),
        key=f"{nth} {text_at(raw, 'id')}",
        model=text_at(raw, "model"),
        usage=usage if usage.total_input_tokens or usage.output_tokens else None,
    )
    results = [part for call in called for part in _results(call)]
    answered.update(filter(None, map(_answered_id, results)))
    if results:
        yield Content(raw={"role": "user", "parts": results}, line=line, time=_ended(called))


def _content(raw: JsonObject, line: int | None, role: str, parts: list[JsonValue]) -> Content:
    time = time_at(raw, "timestamp", "ts")
    return Content(raw={"role": role, "parts": parts}, line=line, time=time)


def _parts(raw: JsonObject) -> list[JsonValue]:
    content = raw.get("content")
    return parts_of(content if content else raw.get("parts"))


def _thought(thought: JsonValue) -> JsonValue:
    if not isinstance(thought, dict):
        return None
    text = "\n".join(filter(None, (text_at(thought, "subject"), text_at(thought, "description"))))
    return {"text": text, "thought": True} if text else None


def _call(call: JsonObject) -> JsonObject:
    named = {key: call[key] for key in ("id", "name") if call.get(key)}
    return {"functionCall": {**named, "args": call.get("args") or {}}}


def _results(call: JsonObject) -> Iterator[JsonValue]:
    """What a call was answered with: responses as they were sent, else what was shown."""
    result = call.get("result")
    named = {key: call[key] for key in ("id", "name") if call.get(key)}
    if isinstance(result, list) and any(map(_is_response, result)):
        for part in result:
            is_own = _answered_id(part) in (call.get("id"), None)
            if is_own or not _is_response(part):
                yield part
        return
    shown = text_at(call, "resultDisplay") if result in (None, "", []) else None
    if shown is None and result in (None, "", []):
        return
    text = shown or text_of(parts_of(result))
    yield {"functionResponse": {**named, "response": {"output": text}}}


def _is_response(part: JsonValue) -> bool:
    return isinstance(part, dict) and isinstance(part.get("functionResponse"), dict)


def _answered_id(part: JsonValue) -> str | None:
    return text_at(object_at(part, "functionResponse"), "id") if isinstance(part, dict) else None


def _called_id(part: JsonValue) -> str | None:
    return text_at(object_at(part, "functionCall"), "id") if isinstance(part, dict) else None


def _ended(calls: list[JsonObject]) -> datetime | None:
    return time_at(calls[-1], "timestamp")


def _usage(raw: Mapping[str, object]) -> RecordedUsage:
    """The tokens of an answer; `input` counts what came from a cache as well."""
    tokens = object_at(raw, "tokens")
    cached = count_at(tokens, "cached") or 0
    given = (count_at(tokens, "input") or 0) + (count_at(tokens, "tool") or 0)
    return RecordedUsage(
        call_id=text_at(raw, "id") or "",
        after=0,
        input_tokens=max(given - cached, 0),
        cache_read_tokens=cached,
        output_tokens=(count_at(tokens, "output") or 0) + (count_at(tokens, "thoughts") or 0),
        model=text_at(raw, "model"),
        recorded_at=time_at(raw, "timestamp"),
    )


def _is_part(path: Path) -> bool:
    """Whether this lists the prompts of the sessions in the folder beside it."""
    return path.name == "logs.json" and path.with_name("chats").is_dir()


GEMINI_CLI = Format(
    name="gemini-cli",
    label=FormatCode.GEMINI_CLI(),
    matches=_is_gemini_cli,
    read=_read,
    is_part=_is_part,
)
