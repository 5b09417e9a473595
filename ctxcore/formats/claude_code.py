"""Reads Claude Code session files: the active branch of each conversation.

An edited or retried prompt leaves the old branch in the file. The active branch consists of the
ancestors of the last message, the other lines of the same answers, the results of their parallel
calls, and the notes of hooks on those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxcore.formats.claude_assembly import assemble
from ctxcore.formats.claude_entries import Entry, Log, is_message, parse_log
from ctxcore.formats.fields import file_stem, is_prompt, title_of
from ctxcore.formats.file_messages import planned_messages
from ctxcore.formats.records import Problem, Record, Records
from ctxcore.formats.values import Format, Transcript
from ctxcore.reasons.storage_problems import FormatCode

_MESSAGE_KINDS = ("user", "assistant", "summary")


def _active_branch(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of the active branch, in file order."""
    parents = _parent_places(entries)
    places = range(len(entries) - 1, -1, -1)
    at = next((at for at in places if entries[at].kind in _MESSAGE_KINDS), None)
    chain = set()
    while at is not None:  # a parent stands before its children, so this ends
        chain.add(at)
        at = parents[at]
    answers = {entries[at].message_id for at in chain} - {None}
    calls: set[str] = set()
    kept: set[int] = set()
    for at, entry in enumerate(entries):
        is_note = entry.kind == "link" or (entry.is_meta and parents[at] not in chain)
        if (
            at in chain
            or entry.message_id in answers
            or not calls.isdisjoint(entry.answered_ids)
            or (is_note and parents[at] in kept)
        ):
            kept.add(at)
            calls.update(entry.call_ids)
    return [entry for at, entry in enumerate(entries) if at in kept]


def _parent_places(entries: Sequence[Entry]) -> list[int | None]:
    """For each entry the place of the one before it in its branch; None begins a branch.

    Without a parent in the file, that is the record before. Only a prompt whose parent is null, in
    a file where most records have one, begins the session anew.
    """
    places: dict[str, int] = {}
    known: list[int | None] = []
    for at, entry in enumerate(entries):
        known.append(places.get(entry.parent) if entry.parent else None)
        if entry.uuid:
            places.setdefault(entry.uuid, at)
    is_linked = 2 * sum(place is not None for place in known) > len(entries)
    return [
        place if place is not None else _assumed_parent(entries[at], at, is_linked)
        for at, place in enumerate(known)
    ]


def _assumed_parent(entry: Entry, at: int, is_linked: bool) -> int | None:
    begins_anew = is_linked and entry.names_no_parent and entry.is_prompt
    return None if begins_anew or at == 0 else at - 1


_MAIN = ""


def _is_claude_code(records: Records) -> bool:
    return any(is_message(record.value) for record in _session_records(records.head))


def _read(records: Records) -> Iterator[Transcript | Problem]:
    log = parse_log(_session_records(records))
    yield from log.problems
    groups = _by_agent(log.entries)
    log = replace(log, entries=())  # of a long session they are most of what is held
    for agent in list(groups):
        transcript = _transcript(agent, groups.pop(agent), log, records)
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


def _by_agent(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries of the main conversation, then those of each sub-agent by its id.

    A sub-agent without an id, as in older sessions, is named after its first record.
    """
    groups: dict[str, list[Entry]] = {_MAIN: []}
    owners: list[str] = []
    parents = _parent_places(entries)
    for at, entry in enumerate(entries):
        owner = _MAIN
        if entry.agent_id is not None:
            owner = entry.agent_id or _inherited(owners, parents[at], entry, at)
        owners.append(owner)
        groups.setdefault(owner, []).append(entry)
    return groups


def _inherited(owners: Sequence[str], parent: int | None, entry: Entry, at: int) -> str:
    above = owners[parent] if parent is not None else _MAIN
    return above or entry.uuid or f"agent-{at}"


def _transcript(agent: str, entries: list[Entry], log: Log, records: Records) -> Transcript:
    """The conversation of an agent; takes its entries out of the list."""
    branch = _active_branch(entries)
    session_id = next((entry.session_id for entry in entries if entry.session_id), None)
    own_id = agent or session_id or file_stem(records.name)
    prompts = [entry.text for entry in branch if entry.kind == "user" and is_prompt(entry.text)]
    titles = (*(log.titles if not agent else ()), *prompts)
    ignored = _ignored(entries, branch, log) if not agent else ()
    entries.clear()
    assembly = assemble(_taken(branch))
    models = [usage.model for usage in assembly.usage if usage.model]
    return Transcript(
        id=own_id,
        title=title_of(titles, otherwise=own_id),
        format="claude-code",
        path=records.name,
        messages=planned_messages(assembly.plans, records),
        times=tuple(assembly.times),
        parent_id=session_id if agent else None,
        model=models[-1] if models else None,
        compactions=tuple(assembly.compactions),
        usage=tuple(assembly.usage),
        ignored=ignored,
    )


def _taken(entries: list[Entry]) -> Iterator[Entry]:
    """All entries, which the list then has no more."""
    yield from entries
    entries.clear()


def _ignored(
    entries: Sequence[Entry], branch: Sequence[Entry], log: Log
) -> tuple[tuple[str, int], ...]:
    left = Counter(entry.kind for entry in entries if entry.kind != "link")
    left.subtract(Counter(entry.kind for entry in branch if entry.kind != "link"))
    counts = log.ignored + Counter({"left branch": left.total()})
    return tuple(sorted(counts.items()))


CLAUDE_CODE = Format(
    name="claude-code",
    label=FormatCode.CLAUDE_CODE(),
    matches=_is_claude_code,
    read=_read,
)
