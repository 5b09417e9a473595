"""Reads sessions of OpenCode: its storage, a folder of small files, and what it exports.

In the storage a file describes a session; its messages, and their parts, are files beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final

from ctxcore.errors import FormatError
from ctxcore.formats.beside import read_document
from ctxcore.formats.building import TranscriptBuilder
from ctxcore.formats.fields import object_at, text_at, time_at
from ctxcore.formats.opencode_messages import Stored, read_messages
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import type_of
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.storage_problems import FileProblem, FormatCode
from ctxcore.reasons.values import Reason

_FOLDERS: Final = ("message", "part", "session_diff", "todo", "project")
_VERSION: Final = "migration"
_SESSIONS: Final = ("session", "info")  # `info` is of versions before 0.5


def _is_opencode(records: Records) -> bool:
    [value, *others] = records.values or [None]
    if others or records.layout == "list" or not isinstance(value, dict):
        return type(value) is int and PurePath(records.name).name == _VERSION
    return any(check(value) for check in (_is_session, _is_export, _is_message, _is_part))


def _is_session(value: Mapping[str, object]) -> bool:
    return (
        all(isinstance(value.get(key), str) for key in ("id", "title"))
        and "created" in object_at(value, "time")
        and any(isinstance(value.get(key), str) for key in ("projectID", "version"))
        and not any(key in value for key in ("role", "messages", "sessionID"))
    )


def _is_export(value: Mapping[str, object]) -> bool:
    return _is_session(object_at(value, "info")) and isinstance(value.get("messages"), list)


def _is_message(value: Mapping[str, object]) -> bool:
    session = value.get("sessionID") or object_at(value, "metadata").get("sessionID")
    is_said = value.get("role") in ("user", "assistant") and isinstance(value.get("id"), str)
    timed = object_at(value, "metadata") if "metadata" in value and "time" not in value else value
    return is_said and isinstance(session, str) and "created" in object_at(timed, "time")


def _is_part(value: Mapping[str, object]) -> bool:
    """Whether this is a part; some versions do not name its message."""
    if not isinstance(value.get("id"), str) or not type_of(value):
        return False
    is_named = isinstance(value.get("messageID"), str)
    return is_named or ("text" in value and "start" in object_at(value, "time"))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    [value, *_] = records.values
    if isinstance(value, dict) and _is_export(value):
        yield from _conversation(records.name, object_at(value, "info"), _exported(value))
    elif isinstance(value, dict) and _is_session(value):
        yield from _conversation(records.name, value, _stored(records.path, value))
    else:
        file = "storage/session/*/*.json"
        yield Problem(line=None, reason=FileProblem.PART_OF(file=file))


@dataclass(slots=True)
class _Found:
    """The messages of a session, and what could not be read of it."""

    messages: list[Stored] = field(default_factory=list)
    problems: list[Reason] = field(default_factory=list)

    def add(self, info: JsonValue, parts: Sequence[JsonValue]) -> None:
        """Adds a message with its parts."""
        if not isinstance(info, dict):
            self.problems.append(FileProblem.NO_RECORD())
            return
        known = [part for part in parts if isinstance(part, dict)]
        self.problems += [FileProblem.NO_RECORD()] * (len(parts) - len(known))
        self.messages.append(Stored(info=info, parts=known))


def _conversation(
    name: str, about: Mapping[str, object], found: _Found
) -> Iterator[Transcript | Problem]:
    builder = TranscriptBuilder(format="opencode", path=name)
    for reason in found.problems:
        builder.problem(reason)
    read_messages(builder, found.messages, object_at(about, "revert"))
    transcript = builder.build(
        id=text_at(about, "id"),
        titles=[text_at(about, "title")],
        parent_id=text_at(about, "parentID"),
    )
    if transcript.messages:
        yield transcript
    else:
        yield from transcript.problems


def _exported(value: JsonObject) -> _Found:
    found = _Found()
    messages = value.get("messages")
    for message in messages if isinstance(messages, list) else ():
        held = message if isinstance(message, dict) else {}
        parts = held.get("parts")
        found.add(held.get("info"), parts if isinstance(parts, list) else [])
    return found


def _stored(path: Path | None, about: JsonObject) -> _Found:
    """The messages in the files beside that of a session."""
    found = _Found()
    root, own_id = _root(path), text_at(about, "id") or ""
    folder = root / "message" / own_id if root and _is_name(own_id) else None
    if root is None or folder is None or not folder.is_dir():
        found.problems.append(FileProblem.NOT_BESIDE())
        return found
    loose = _loose_parts(root, found)
    for info in _values_in(folder, root, found):
        message_id = text_at(info, "id") or ""
        parts = list(loose.get(message_id, ()))
        if _is_name(message_id):
            for place in (root / "part" / message_id, root / "part" / own_id / message_id):
                parts += _values_in(place, root, found)
        inside = info.get("parts")
        found.add(info, [*parts, *(inside if isinstance(inside, list) else ())])
    found.messages.sort(key=_order)
    return found


def _root(path: Path | None) -> Path | None:
    """The folder that holds those of the sessions, the messages and the parts."""
    if path is None:
        return None
    parents = path.absolute().parents
    return next((one.parent for one in parents[:2] if one.name in _SESSIONS), None)


def _is_name(text: str) -> bool:
    """Whether an id can be the name of a file, rather than a path that leads elsewhere."""
    return bool(text) and PurePath(text).name == text


def _loose_parts(root: Path, found: _Found) -> dict[str, list[JsonObject]]:
    """The parts that are in no folder of their message, by its id."""
    loose: dict[str, list[JsonObject]] = {}
    for part in _values_in(root / "part", root, found):
        loose.setdefault(text_at(part, "messageID") or "", []).append(part)
    return loose


def _values_in(folder: Path, root: Path, found: _Found) -> Iterator[JsonObject]:
    """The objects in the files of a folder, by their names; ids begin with the time."""
    for file in sorted(folder.glob("*.json")):
        place = PlaceCode.FILE(path=file.relative_to(root).as_posix())
        try:
            value = read_document(file)
        except FormatError as error:
            found.problems.append(PlaceCode.AT(place=place, problem=error.problem))
            continue
        if isinstance(value, dict):
            yield value
        else:
            problem = FileProblem.NO_RECORD()
            found.problems.append(PlaceCode.AT(place=place, problem=problem))


def _order(message: Stored) -> tuple[float, str]:
    time = time_at(message.times, "created")
    return time.timestamp() if time else 0.0, text_at(message.info, "id") or ""


def _is_part_file(path: Path) -> bool:
    """Whether a file is of OpenCode's storage, but not one that describes a session."""
    for folder in path.parents[:3]:
        storage = folder.parent
        if folder.name in _FOLDERS and (storage / "message").is_dir():
            return any((storage / name).is_dir() for name in _SESSIONS)
    return False


OPENCODE = Format(
    name="opencode",
    label=FormatCode.OPENCODE(),
    matches=_is_opencode,
    read=_read,
    suffixes=(".json",),
    is_part=_is_part_file,
)
