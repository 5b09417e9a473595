"""Owns reading Claude Code sessions: one record a line, written as the session goes.

The main conversation comes first; the conversations of sub-agents in the same file (`isSidechain`)
follow as transcripts of their own. Only the active branch of each is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxcore.formats.claude_answers import assemble
from ctxcore.formats.claude_branch import active_branch, parent_places
from ctxcore.formats.claude_entries import Entry, Log, is_said, parse_log
from ctxcore.formats.fields import text_at
from ctxcore.formats.naming import file_stem, prompt_texts, title_of
from ctxcore.formats.values import Format, Problem, Records, Transcript
from ctxcore.messages.values import JsonValue
from ctxcore.reasons.file_problems import FormatCode

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
