"""Reads Claude Code session files: the active branch of each conversation.

An edited or retried prompt leaves the old branch in the file. The active branch consists of the
ancestors of the last message, the other lines of the same answers, the results of their parallel
calls, and the notes of hooks on those.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Final

from ctxcore.formats.claude_assembly import assemble
from ctxcore.formats.claude_entries import Entry, Log, is_message, parse_log
from ctxcore.formats.fields import file_stem, is_prompt, title_of
from ctxcore.formats.file_messages import planned_messages
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.reasons.storage_problems import FormatCode

_MESSAGE_KINDS = ("user", "assistant", "summary")
_NONE: Final = -1  # no place


def _active_branch(log: Log, places: Sequence[int]) -> list[int]:
    """The places of the active branch among those of one conversation, in file order."""
    parents = _parent_places(log, places)
    backwards = (place for place in reversed(places) if log.entries[place].kind in _MESSAGE_KINDS)
    ancestors, kept = bytearray(len(log.entries)), bytearray(len(log.entries))
    at = next(backwards, _NONE)
    while at != _NONE:  # a parent stands before its children, so this ends
        ancestors[at] = True
        at = parents[at]
    answers = {log.entries[place].message_id for place in places if ancestors[place]} - {None}
    calls: set[str] = set()
    for place in places:
        entry, parent = log.entries[place], parents[place]
        is_note = entry.kind == "link" or (entry.is_meta and not _is_in(ancestors, parent))
        if (
            ancestors[place]
            or entry.message_id in answers
            or not calls.isdisjoint(entry.answered_ids)
            or (is_note and _is_in(kept, parent))
        ):
            kept[place] = True
            calls.update(entry.call_ids)
    return [place for place in places if kept[place]]


def _is_in(marked: bytearray, place: int) -> bool:
    return place != _NONE and bool(marked[place])


def _parent_places(log: Log, places: Sequence[int]) -> Sequence[int]:
    """By place, the place of the entry before each of `places` in its branch; none begins one.

    Without a parent in the conversation, that is the entry before. Only a prompt whose parent is
    null, in a conversation where most entries have one, begins it anew.
    """
    own = bytearray(len(log.entries))
    parents = array("q", [_NONE]) * len(log.entries)
    for place in places:
        own[place] = True
        parent = log.parents[place]
        parents[place] = parent if _is_in(own, parent) else _NONE
    is_linked = 2 * sum(parents[place] != _NONE for place in places) > len(places)
    for before, place in pairwise(places):
        if parents[place] == _NONE and not (is_linked and _begins_anew(log.entries[place])):
            parents[place] = before
    return parents


def _begins_anew(entry: Entry) -> bool:
    return entry.names_no_parent and entry.is_prompt


_MAIN = ""


def _is_claude_code(records: Records) -> bool:
    return any(is_message(record.value) for record in _session_records(records.head))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    log = parse_log(_session_records(records))
    yield from log.problems
    for agent, places in _by_agent(log).items():
        transcript = _transcript(agent, places, log, records)
        if len(transcript.messages):
            yield transcript


def _session_records(records: Iterable[Record]) -> Iterator[Record]:
    """The records; web sessions have them under `loglines` of one object."""
    for record in records:
        value = record.value
        if isinstance(value, dict) and isinstance(lines := value.get("loglines"), list):
            yield from (Record(value=line) for line in lines)
        else:
            yield record


def _by_agent(log: Log) -> Mapping[str, Sequence[int]]:
    """The places of the main conversation, then those of each sub-agent by its id.

    A sub-agent without an id, as in older sessions, is named after its first record.
    """
    groups: dict[str, array[int]] = {_MAIN: array("q")}
    owners: list[str] = []
    names: dict[str, str] = {}  # each under itself, so that all entries share one text
    parents = _parent_places(log, range(len(log.entries)))
    for place, entry in enumerate(log.entries):
        owner = _MAIN
        if entry.agent_id is not None:
            owner = entry.agent_id or _inherited(owners, parents[place], entry, place)
            owner = names.setdefault(owner, owner)
        owners.append(owner)
        groups.setdefault(owner, array("q")).append(place)
    return groups


def _inherited(owners: Sequence[str], parent: int, entry: Entry, place: int) -> str:
    above = owners[parent] if parent != _NONE else _MAIN
    return above or entry.uuid or f"agent-{place}"


def _transcript(agent: str, places: Sequence[int], log: Log, records: Records) -> Transcript:
    """The conversation of an agent, whose entries are at `places`."""
    branch = _active_branch(log, places)
    entries = (log.entries[place] for place in places)
    session_id = next((entry.session_id for entry in entries if entry.session_id), None)
    own_id = agent or session_id or file_stem(records.name)
    said = (log.entries[place] for place in branch)
    prompts = (one.text for one in said if one.kind == "user" and is_prompt(one.text))
    assembly = assemble(log.entries, branch)
    return Transcript(
        id=own_id,
        title=title_of(chain(() if agent else log.titles, prompts), otherwise=own_id),
        format="claude-code",
        path=records.name,
        messages=planned_messages(assembly.plans, records),
        times=tuple(assembly.times),
        parent_id=session_id if agent else None,
        model=assembly.model,
        compactions=tuple(assembly.compactions),
        usage=assembly.usage.values,
        ignored=() if agent else _ignored(log, places, branch),
    )


def _ignored(log: Log, places: Sequence[int], branch: Sequence[int]) -> tuple[tuple[str, int], ...]:
    kept = set(branch)
    left = sum(place not in kept and log.entries[place].kind != "link" for place in places)
    counts = log.ignored + Counter({"left branch": left})
    return tuple(sorted(counts.items()))


CLAUDE_CODE = Format(
    name="claude-code",
    label=FormatCode.CLAUDE_CODE(),
    matches=_is_claude_code,
    read=_read,
)
