"""Reads the records of a Claude Code session: of each what its place in the session depends on.

The content of a record is read again when its message is asked for, so that a session of any length
takes little memory.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Literal, TypeAlias

from ctxcore.formats.claude_messages import answer_in, result_blocks, user_in
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.file_messages import Held, Source
from ctxcore.formats.provider_usage import anthropic_usage
from ctxcore.formats.records import Problem, Record
from ctxcore.formats.spool import Spool
from ctxcore.formats.values import RecordedUsage
from ctxcore.messages.provider_edits import read_cleared
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.storage_problems import FileProblem

EntryKind: TypeAlias = Literal["user", "assistant", "boundary", "summary", "link"]

_TITLE_FIELDS = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_SYNTHETIC = "<synthetic>"  # the model name of messages that the program wrote, e.g. API errors
_OPENING_CHARS = 400  # of a prompt, for a title
_ENTRY_SIZE = 700  # bytes, measured: of one without its content
_NOTHING = Held(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record without its content."""

    kind: EntryKind
    source: Source
    """Where its content is."""
    uuid: str | None
    """The record's own id."""
    names_no_parent: bool
    """Whether it says that there is none before it."""
    agent_id: str | None
    """The sub-agent it belongs to, empty if that has no id; None: to the session itself."""
    session_id: str | None
    recorded_at: datetime | None
    message_id: str | None = None
    """The provider's id of an answer, shared by all of its lines."""
    is_meta: bool = False
    """Whether a program wrote this user message; it was sent to the model too."""
    answered_ids: tuple[str, ...] = ()
    """The ids of the calls that this record answers; empty text for a missing id."""
    call_ids: tuple[str, ...] = ()
    """The ids of the calls in this record."""
    calls: int = 0
    """How many calls, those without an id too."""
    has_message: bool = False
    """Whether it says, thinks or calls anything, results aside."""
    text: str = ""
    """Of a summary all of it, of a prompt its beginning."""
    usage: RecordedUsage | None = None
    metadata: Mapping[str, object] | None = None
    """What a boundary says of its compaction."""

    @property
    def is_prompt(self) -> bool:
        """Whether a person wrote this, so that a branch may begin with it."""
        return self.kind == "user" and not self.is_meta and not self.answered_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The entries of a session file and all else that is in it; the best title comes first."""

    entries: Sequence[Entry]
    parents: Sequence[int]
    """For each entry the place of the one that it names as the one before; -1: none in the file."""
    titles: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: Counter[str] = field(default_factory=Counter)


def parse_log(records: Iterable[Record]) -> Log:
    """The entries of a session, each `uuid` once, with titles, problems and ignored records."""
    entries, parents = Spool[Entry](), array("q")
    problems, ignored = list[Problem](), Counter[str]()
    titles: list[JsonObject] = []
    seen: dict[str, int] = {}
    for found in records:
        line, record = found.line, found.value
        if not isinstance(record, dict):
            problems.append(Problem(line=line, reason=FileProblem.NO_RECORD()))
            continue
        if text_at(record, "type") in _TITLE_FIELDS:
            titles.append(record)
        kind, content = kind_and_content(record)
        uuid = text_at(record, "uuid")
        if kind not in ("boundary", "link") and not isinstance(content, (str, list)):
            reason = FileProblem.NO_CONTENT(kind=text_at(record, "type"))
            problems.append(Problem(line=line, reason=reason))
        elif uuid in seen:
            ignored["duplicate"] += 1
        else:
            parent = text_at(record, "parentUuid", "logicalParentUuid")
            parents.append(seen.get(parent, -1) if parent else -1)
            entry = _entry(kind, found, record, content, uuid=uuid)
            place = entries.append(entry, size=_ENTRY_SIZE)
            if uuid:
                seen[uuid] = place
            if kind == "link":
                ignored[_label(record)] += 1
    return Log(
        entries=entries,
        parents=parents,
        titles=_ranked_titles(titles, seen),
        problems=tuple(problems),
        ignored=ignored,
    )


def _entry(
    kind: EntryKind,
    found: Record,
    record: JsonObject,
    content: JsonValue,
    *,
    uuid: str | None,
) -> Entry:
    session_id = text_at(record, "sessionId")
    is_sidechain = record.get("isSidechain") is True
    message = object_at(record, "message")
    results = result_blocks(content) if kind == "user" else []
    calls = _blocks(content, "tool_use") if kind == "assistant" else []
    said = None
    if kind in ("user", "summary"):
        said = user_in(content)
    elif kind == "assistant":
        said = answer_in([content])
    recorded_at = None if kind == "link" else time_at(record, "timestamp")
    text = said.text if said is not None and kind in ("user", "summary") else ""
    return Entry(
        kind=kind,
        source=_NOTHING if kind in ("link", "boundary") else found.span or Held(record),
        uuid=uuid,
        names_no_parent="parentUuid" in record and record["parentUuid"] is None,
        agent_id=(text_at(record, "agentId") or "") if is_sidechain else None,
        session_id=intern(session_id) if session_id else None,
        recorded_at=recorded_at,
        message_id=text_at(message, "id"),
        is_meta=record.get("isMeta") is True,
        answered_ids=tuple(text_at(block, "tool_use_id") or "" for block in results),
        call_ids=tuple(call_id for block in calls if (call_id := text_at(block, "id"))),
        calls=len(calls),
        has_message=said is not None,
        text=text if kind == "summary" else text[:_OPENING_CHARS],
        usage=_usage(record, message, recorded_at) if kind == "assistant" else None,
        metadata=object_at(record, "compactMetadata") if kind == "boundary" else None,
    )


def _blocks(content: JsonValue, kind: str) -> list[JsonObject]:
    """The content blocks of one type."""
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _usage(
    record: JsonObject, message: Mapping[str, object], recorded_at: datetime | None
) -> RecordedUsage | None:
    reported = object_at(message, "usage")
    if not reported:
        return None
    model = text_at(message, "model")
    return anthropic_usage(
        reported,
        call_id=text_at(message, "id") or text_at(record, "requestId", "uuid") or "",
        after=0,
        model=intern(model) if model else None,
        recorded_at=recorded_at,
        cleared=read_cleared(message),
    )


def is_message(record: object) -> bool:
    """Whether `record` is a Claude Code user or assistant record."""
    return (
        isinstance(record, dict)
        and record.get("type") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "content" in record["message"]
    )


def _ranked_titles(records: Iterable[JsonObject], uuids: Collection[str]) -> tuple[str, ...]:
    """The latest title of each kind, without the summaries of other sessions in the file."""
    titles: dict[str, str] = {}
    for record in records:
        kind, leaf = text_at(record, "type") or "", text_at(record, "leafUuid")
        title = text_at(record, _TITLE_FIELDS.get(kind, ""))
        if title and (leaf is None or leaf in uuids):
            titles[kind] = title
    return tuple(titles[kind] for kind in _TITLE_FIELDS if kind in titles)


def kind_and_content(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    """What a record is, and what it says; None for what is no message."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    match record.get("type"):
        case "assistant":
            return ("link" if _is_synthetic(record) else "assistant"), content
        case "user":
            return _user_kind(record), content
        case "system":
            return _system_kind(record), record.get("content")
        case "attachment":
            return _queued_prompt(record)
    return "link", None


def _is_synthetic(record: JsonObject) -> bool:
    """Whether the program wrote this answer, which was then never sent to the model."""
    by_program = object_at(record, "message").get("model") == _SYNTHETIC
    return by_program or record.get("isApiErrorMessage") is True


def _user_kind(record: JsonObject) -> EntryKind:
    if record.get("isCompactSummary") is True:
        return "summary"
    return "link" if record.get("isVisibleInTranscriptOnly") is True else "user"


def _system_kind(record: JsonObject) -> EntryKind:
    """Local commands and their output are sent to the model as user messages; all else is not."""
    if record.get("subtype") == "compact_boundary":
        return "boundary"
    is_command = record.get("subtype") == "local_command" and bool(record.get("content"))
    return "user" if is_command else "link"


def _queued_prompt(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    """A prompt that was typed while the model worked is recorded as an attachment."""
    attachment = object_at(record, "attachment")
    prompt = attachment.get("prompt")
    if attachment.get("type") == "queued_command" and isinstance(prompt, (str, list)) and prompt:
        return "user", prompt
    return "link", None


def _label(record: Mapping[str, object]) -> str:
    """The kind of an ignored record, e.g. `system/turn_duration`."""
    detail = text_at(record, "subtype") or text_at(object_at(record, "attachment"), "type")
    if record.get("type") == "assistant":
        detail = "synthetic"
    kind = text_at(record, "type") or "untyped"
    return f"{kind}/{detail}" if detail else kind
