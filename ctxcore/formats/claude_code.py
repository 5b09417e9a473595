"""Owns which records of a session are its active branch: what the model would see next.

An edited or retried prompt leaves the old branch in the file. The active branch are the ancestors
of the last record, and what hangs on them without being a new beginning: the other lines of the
same answer, the results of parallel calls, the notes hooks wrote on those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxcore.formats.claude_entries import Entry, Log, assemble, is_said, parse_log
from ctxcore.formats.fields import file_stem, prompt_texts, text_at, title_of
from ctxcore.formats.values import Format, Problem, Records, Transcript
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.storage_problems import FormatCode

_SAID = ("user", "assistant", "summary")


def active_branch(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of the active branch, in file order."""
    parents = parent_places(entries)
    chain = _ancestors(parents, _last_said(entries))
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


def parent_places(entries: Sequence[Entry]) -> list[int | None]:
    """For each entry the place of the one before it in its branch; None begins a branch.

    A parent that is not in the file is taken to be the record before. So is none at all, unless
    a prompt says so in a file whose records are linked: there it begins the session anew.
    """
    places: dict[str, int] = {}
    known: list[int | None] = []
    for at, entry in enumerate(entries):
        named = text_at(entry.record, "parentUuid", "logicalParentUuid")
        known.append(places.get(named) if named else None)
        if entry.uuid:
            places.setdefault(entry.uuid, at)
    is_linked = 2 * sum(place is not None for place in known) > len(entries)
    return [
        place if place is not None else _assumed_parent(entries[at], at, is_linked)
        for at, place in enumerate(known)
    ]


def _assumed_parent(entry: Entry, at: int, is_linked: bool) -> int | None:
    names_none = "parentUuid" in entry.record and entry.record["parentUuid"] is None
    begins_anew = is_linked and names_none and entry.is_prompt
    return None if begins_anew or at == 0 else at - 1


def _last_said(entries: Sequence[Entry]) -> int | None:
    said = (at for at in range(len(entries) - 1, -1, -1) if entries[at].kind in _SAID)
    return next(said, None)


def _ancestors(parents: Sequence[int | None], last: int | None) -> set[int]:
    """`last` and all before it in its branch; parents stand earlier, so this ends."""
    chain = set()
    while last is not None:
        chain.add(last)
        last = parents[last]
    return chain


_MAIN = ""


def is_claude_code(records: Records) -> bool:
    """Whether these are the records of a Claude Code session."""
    return any(is_said(record) for _, record in _session_records(records))


def read_claude_code(records: Records, name: str) -> tuple[list[Transcript], list[Problem]]:
    """The conversations in a session file, and the problems in it."""
    log = parse_log(_session_records(records))
    transcripts = [
        transcript
        for agent, entries in _by_agent(log.entries).items()
        if (transcript := _transcript(agent, entries, log, name)).messages
    ]
    return transcripts, [*records.problems, *log.problems]


def _session_records(records: Records) -> list[tuple[int | None, JsonValue]]:
    """The records; a document may hold them in a list, by itself or under `loglines` (the web)."""
    if not records.is_document:
        return [(record.line, record.value) for record in records.records]
    value = records.records[0].value
    if isinstance(value, dict) and "loglines" in value:
        value = value["loglines"]
    return [(None, one) for one in (value if isinstance(value, list) else [value])]


def _by_agent(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The entries of the main conversation, then those of each sub-agent by its id.

    Older sessions give sub-agents no id; then the first record of its chain names it.
    """
    groups: dict[str, list[Entry]] = {_MAIN: []}
    owners: list[str] = []
    parents = parent_places(entries)
    for at, entry in enumerate(entries):
        owner = _MAIN
        if entry.record.get("isSidechain") is True:
            owner = text_at(entry.record, "agentId") or _inherited(owners, parents[at], entry, at)
        owners.append(owner)
        groups.setdefault(owner, []).append(entry)
    return groups


def _inherited(owners: Sequence[str], parent: int | None, entry: Entry, at: int) -> str:
    above = owners[parent] if parent is not None else _MAIN
    return above or entry.uuid or f"agent-{at}"


def _transcript(agent: str, entries: Sequence[Entry], log: Log, name: str) -> Transcript:
    branch = active_branch(entries)
    made = assemble(branch)
    session_id = next((s for e in entries if (s := text_at(e.record, "sessionId"))), None)
    own_id = agent or session_id or file_stem(name)
    titles = (*(log.titles if not agent else ()), *prompt_texts(made.messages))
    models = [one.model for one in made.usage if one.model]
    return Transcript(
        id=own_id,
        title=title_of(titles, otherwise=own_id),
        format="claude-code",
        path=name,
        messages=tuple(made.messages),
        times=tuple(made.times),
        parent_id=session_id if agent else None,
        model=models[-1] if models else None,
        compactions=tuple(made.compactions),
        usage=tuple(made.usage),
        ignored=_ignored(entries, branch, log) if not agent else (),
    )


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
    matches=is_claude_code,
    read=read_claude_code,
)
