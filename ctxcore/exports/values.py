"""What an export is made of, and what defines a form of export.

A form takes values and returns text or bytes, so that what a session holds may be changed before it
is written, e.g. to leave secrets out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ctxcore.assembly.prompts import Prompts
from ctxcore.errors import ContextError
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.values import Reason, as_reason
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    ImportedCompaction,
    Mark,
    MessageInfo,
    RuleEditInfo,
    SessionInfo,
    SignalInfo,
)
from ctxcore.tokens.costs import Cost


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionContent:
    """All that is exported of a session."""

    session: SessionInfo
    messages: Sequence[MessageInfo]
    marks: Sequence[Mark]
    compactions: Sequence[CompactionInfo]
    calls: Sequence[CallInfo]
    imported: Sequence[ImportedCompaction]
    settings: JsonObject
    texts: Mapping[str, str] = field(default_factory=dict)
    """What the calls' recipes name by address."""
    signals: Sequence[SignalInfo] = ()
    rule_edits: Sequence[RuleEditInfo] = ()
    """What people say of the rules, as far as it is in force."""
    cost: Cost | None = None
    """What the calls cost by the prices known at the export; not part of the digest."""
    call_costs: Mapping[str, float] = field(default_factory=dict)
    """What each call cost in US dollars, by its id, as far as it is known; as `cost`."""
    damage: tuple[Reason, ...] = ()
    """What of the stored session cannot be read, and is not in the export."""


def applying(content: SessionContent) -> Iterator[MessageInfo]:
    """The messages without system prompts out of force, which would all apply elsewhere."""
    system = [info.seq for info in content.messages if info.message.is_system]
    changes = content.session.system_changes
    replaced = {*Prompts.of(system, changes, len(content.messages), ()).replaced}
    return (info for info in content.messages if info.seq not in replaced)


Written: TypeAlias = str | bytes


class ExportError(ContextError):
    """A session cannot be exported as it was asked for."""

    def __init__(self, *, problem: Reason | str) -> None:
        self.problem = as_reason(problem)
        super().__init__(self.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportForm:
    """A form in which sessions are written."""

    name: str
    suffix: str
    """How the names of its files end, e.g. `.jsonl`."""
    media_type: str
    write: Callable[[Iterable[SessionContent]], Iterator[Written]]
    """The files of sessions: one for each in their order, or one for all."""
    is_joined: bool = False
    """Whether all sessions are in one file."""
    is_readable: bool = True
    """Whether the files can be imported."""


def one_file_each(
    write: Callable[[SessionContent], Written],
) -> Callable[[Iterable[SessionContent]], Iterator[Written]]:
    """What writes a file for each session by `write`."""
    return lambda contents: map(write, contents)
