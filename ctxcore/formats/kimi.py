"""Reads sessions of Kimi's command line tools; a file beside one names it (`state.json`).

Kimi Code writes a wire log for each of its agents; Kimi CLI, its forerunner, a wire log with its
sub-agents inside, and beside it the context as the model got it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from ctxcore.formats.beside import object_beside
from ctxcore.formats.fields import file_stem, object_at, text_at
from ctxcore.formats.kimi_cli import is_cli_record, is_context_record, read_context, read_events
from ctxcore.formats.kimi_wire import is_wire_record, read_wire
from ctxcore.formats.records import Problem, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.json_types import JsonObject
from ctxcore.reasons.storage_problems import FileProblem, FormatCode

_WIRE: Final = "wire.jsonl"
_STATE: Final = "state.json"
_MAIN: Final = "main"


def _is_kimi(records: Records) -> bool:
    values = [value for value in records.values if isinstance(value, dict)]
    checks = (_is_state, is_wire_record, is_cli_record, is_context_record)
    return records.layout != "list" and any(check(value) for value in values for check in checks)


def _is_state(value: JsonObject) -> bool:
    agents = object_at(value, "agents").values()
    return any(isinstance(agent, dict) and "homedir" in agent for agent in agents)


def _read(records: Records) -> Iterator[Transcript | Problem]:
    values = [value for value in records.values if isinstance(value, dict)]
    if any(map(_is_state, values)):
        yield Problem(line=None, reason=FileProblem.PART_OF(file=_WIRE))
        return
    state = _state(records.path)
    own_id, parent_id = _ids(records.name, state)
    titles = [text_at(state, "title", "custom_title", "customTitle")]
    if any(map(is_context_record, values)):
        found = read_context(records, own_id=own_id, titles=titles)
    elif any(map(is_cli_record, values)):
        found = read_events(records, own_id=own_id, titles=titles)
    else:
        is_main = parent_id is None
        found = iter([read_wire(records, own_id=own_id, titles=titles if is_main else [])])
    for transcript in found:
        if transcript.messages:
            yield replace(transcript, parent_id=transcript.parent_id or parent_id)
        else:
            yield from transcript.problems


def _ids(name: str, state: Mapping[str, object]) -> tuple[str | None, str | None]:
    """The id of the session or its sub-agent, and of what started it, as the folders say."""
    path = PurePath(name)
    if not path.name.startswith(("wire", "context")):
        home = text_at(object_at(object_at(state, "agents"), _MAIN), "homedir")
        return (PurePath(home).parent.parent.name if home else file_stem(name)), None
    folder = path.parent
    if folder.parent.name == "agents":
        session, agent = folder.parent.parent.name, folder.name
        return (session or None, None) if agent == _MAIN else (f"{session}/{agent}", session)
    if folder.parent.name == "subagents":
        return folder.name, folder.parent.parent.name
    return folder.name or None, None


def _state(path: Path | None) -> Mapping[str, object]:
    """What the file beside a log says about its session; nothing if there is none to read."""
    places = [] if path is None else [path.with_suffix(f".{_STATE}")]
    if path is not None and path.name.startswith(("wire", "context")):
        places += [path.with_name(_STATE), *(one / _STATE for one in path.parents[2:3])]
    return object_beside(next((place for place in places if place.is_file()), None))


def _is_part(path: Path) -> bool:
    if path.name.startswith("context") and path.suffix == ".jsonl":
        return path.with_name(_WIRE).is_file()
    if path.name == _STATE and path.with_name(_WIRE).is_file():  # of Kimi CLI
        return True
    return path.name.endswith(_STATE) and _is_state(object_beside(path))


KIMI = Format(
    name="kimi",
    label=FormatCode.KIMI(),
    matches=_is_kimi,
    read=_read,
    is_part=_is_part,
)
