"""Owns telling the records of a Claude Code session apart: what was said, what only links.

Every record with a `uuid` stays an entry, since the chain of parents runs through all of them;
records that say nothing to the model are counted by kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.values import Problem
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.reasons.file_problems import FileProblem
from ctxcore.reasons.values import Reason

EntryKind: TypeAlias = Literal["user", "assistant", "boundary", "summary", "link"]

_TITLE_FIELDS = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_SYNTHETIC = "<synthetic>"  # the model name of messages the program wrote itself, e.g. API errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record in its place; `content` is what a user or assistant record says."""

    line: int | None
    kind: EntryKind
    record: JsonObject
    content: JsonValue = None

    @property
    def uuid(self) -> str | None:
        """The record's own id."""
        return text_at(self.record, "uuid")

    @property
    def message_id(self) -> str | None:
        """The provider's id of an answer; the lines of one answer share it."""
        return text_at(object_at(self.record, "message"), "id")

    @property
    def is_meta(self) -> bool:
        """Whether a program wrote this for the user; the model saw it all the same."""
        return self.record.get("isMeta") is True

    @property
    def is_prompt(self) -> bool:
        """Whether this may begin a branch: a person's words, not the output of a tool."""
        return self.kind == "user" and not self.is_meta and not self.answered_ids

    @property
    def answered_ids(self) -> list[str]:
        """The ids of the calls whose results are in here; empty text for a missing id."""
        return [text_at(block, "tool_use_id") or "" for block in self.blocks("tool_result")]

    @property
    def call_ids(self) -> list[str]:
        """The ids of the calls made in here."""
        return [call_id for block in self.blocks("tool_use") if (call_id := text_at(block, "id"))]

    @property
    def recorded_at(self) -> datetime | None:
        """When the record was written."""
        return time_at(self.record, "timestamp")

    def blocks(self, kind: str) -> list[JsonObject]:
        """The content blocks of one type."""
        blocks = self.content if isinstance(self.content, list) else []
        return [b for b in blocks if isinstance(b, dict) and b.get("type") == kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A session file sorted out; `titles` come best first."""

    entries: tuple[Entry, ...]
    titles: tuple[str, ...]
    problems: tuple[Problem, ...]
    ignored: Counter[str] = field(default_factory=Counter)


def parse_log(records: Iterable[tuple[int | None, JsonValue]]) -> Log:
    """The entries of a session, each `uuid` once, with titles, problems and counts beside them."""
    entries, problems, ignored = [], [], Counter[str]()
    titles: list[JsonObject] = []
    seen: set[str] = set()
    for line, record in records:
        if not isinstance(record, dict):
            problems.append(Problem(line=line, reason=FileProblem.NO_RECORD()))
            continue
        titles += [record] if text_at(record, "type") in _TITLE_FIELDS else []
        entry, reason = _parse_entry(line, record)
        if reason is not None:
            problems.append(Problem(line=line, reason=reason))
        elif entry.uuid in seen:
            ignored["duplicate"] += 1
        else:
            entries.append(entry)
            seen |= {entry.uuid} if entry.uuid else set()
            ignored.update([_label(record)] if entry.kind == "link" else [])
    return Log(
        entries=tuple(entries),
        titles=_ranked_titles(titles, seen),
        problems=tuple(problems),
        ignored=ignored,
    )


def is_said(record: object) -> bool:
    """Whether `record` is a Claude Code user or assistant record."""
    return (
        isinstance(record, dict)
        and record.get("type") in ("user", "assistant")
        and isinstance(record.get("message"), dict)
        and "content" in record["message"]
    )


def _ranked_titles(records: Iterable[JsonObject], uuids: Collection[str]) -> tuple[str, ...]:
    """The latest title of each kind; summaries of other sessions, listed here too, left out."""
    titles: dict[str, str] = {}
    for record in records:
        kind, leaf = text_at(record, "type") or "", text_at(record, "leafUuid")
        title = text_at(record, _TITLE_FIELDS.get(kind, ""))
        if title and (leaf is None or leaf in uuids):
            titles[kind] = title
    return tuple(titles[kind] for kind in _TITLE_FIELDS if kind in titles)


def _parse_entry(line: int | None, record: JsonObject) -> tuple[Entry, Reason | None]:
    """The entry a record is; the reason if it should say something and does not."""
    kind, content = _kind_and_content(record)
    reason = None
    if kind in ("user", "assistant", "summary") and not isinstance(content, (str, list)):
        reason = FileProblem.NO_CONTENT(kind=text_at(record, "type"))
    return Entry(line=line, kind=kind, record=record, content=content), reason


def _kind_and_content(record: JsonObject) -> tuple[EntryKind, JsonValue]:
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
    """Whether the program wrote this itself, so that it was never sent to the model."""
    by_program = object_at(record, "message").get("model") == _SYNTHETIC
    return by_program or record.get("isApiErrorMessage") is True


def _user_kind(record: JsonObject) -> EntryKind:
    if record.get("isCompactSummary") is True:
        return "summary"
    return "link" if record.get("isVisibleInTranscriptOnly") is True else "user"


def _system_kind(record: JsonObject) -> EntryKind:
    """A local command and its output are sent on as the user's words; the rest is for the page."""
    if record.get("subtype") == "compact_boundary":
        return "boundary"
    is_command = record.get("subtype") == "local_command" and bool(record.get("content"))
    return "user" if is_command else "link"


def _queued_prompt(record: JsonObject) -> tuple[EntryKind, JsonValue]:
    """What a person typed while the model worked reaches it as an attachment."""
    attachment = object_at(record, "attachment")
    prompt = attachment.get("prompt")
    if attachment.get("type") == "queued_command" and isinstance(prompt, (str, list)) and prompt:
        return "user", prompt
    return "link", None


def _label(record: Mapping[str, object]) -> str:
    """What kind of record is ignored, e.g. `system/turn_duration`."""
    detail = text_at(record, "subtype") or text_at(object_at(record, "attachment"), "type")
    if record.get("type") == "assistant":
        detail = "synthetic"
    kind = text_at(record, "type") or "untyped"
    return f"{kind}/{detail}" if detail else kind
