"""Owns what a store promises beside histories: compactions, marks, turns, calls, policies, events.

Records are added and pointed at, never changed; times and ids come from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ctxcore.assembly.records import Compaction
from ctxcore.assembly.verdicts import Run
from ctxcore.messages.values import JsonObject, JsonValue, Message
from ctxcore.reasons.values import Reason
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    Event,
    ImportedCompaction,
    Mark,
    MarkKind,
    PolicyVersion,
    Scope,
    TurnInfo,
    TurnState,
)
from ctxcore.tokens.counter import TokenCounter


class RecordStore(Protocol):
    """What is recorded beside the histories of sessions."""

    # compactions and marks

    def record_compaction(
        self,
        session_id: str,
        compaction_id: str,
        compaction: Compaction,
        *,
        parent_id: str | None,
        at: datetime,
        policy_version_id: int | None = None,
        details: JsonObject | None = None,
        activates: bool = True,
    ) -> CompactionInfo:
        """Adds a compaction behind `parent_id` and makes it the active one.

        Without `activates` it is only kept, as an import does with those that were undone.

        Raises:
            StaleCompactionError: another one than `parent_id` is active.
        """
        ...

    def activate(
        self, session_id: str, compaction_id: str | None, *, expected: str | None, at: datetime
    ) -> None:
        """Moves the session to another of its compactions, or to none: undo and redo.

        Raises:
            StaleCompactionError: another one than `expected` is active.
        """
        ...

    def active_compaction(self, session_id: str) -> CompactionInfo | None:
        """The compaction that the session's contexts are built with."""
        ...

    def undone_compaction(self, session_id: str) -> CompactionInfo | None:
        """The newest compaction made from the active one: it can only have been undone."""
        ...

    def compaction(self, session_id: str, compaction_id: str) -> CompactionInfo:
        """One compaction of the session."""
        ...

    def compactions(self, session_id: str) -> list[CompactionInfo]:
        """All compactions of the session in the order they were made, undone ones among them."""
        ...

    def record_imported_compactions(
        self, session_id: str, compactions: Sequence[ImportedCompaction]
    ) -> None:
        """Keeps what the program that recorded the conversation compacted itself."""
        ...

    def imported_compactions(self, session_id: str) -> list[ImportedCompaction]:
        """The compactions that came with an imported conversation, in its order."""
        ...

    def add_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> Mark:
        """Pins or excludes a message; a mark that is set already stays as it is."""
        ...

    def clear_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> bool:
        """Takes a mark away; False if there was none."""
        ...

    def marks(self, session_id: str, *, with_cleared: bool = False) -> list[Mark]:
        """The session's marks by message; those taken away only if asked for."""
        ...

    # turns and calls

    def begin_turn(
        self,
        session_id: str,
        turn_id: str,
        messages: Sequence[Message],
        *,
        counter: TokenCounter,
        at: datetime,
        lease_until: datetime,
        model: str | None = None,
        oversize_tokens: int | None = None,
    ) -> TurnInfo:
        """Stores what the user said and starts its turn, in one write.

        Raises:
            LeaseTakenError: a turn is running in this session.
        """
        ...

    def resume_turn(self, turn_id: str, *, at: datetime, lease_until: datetime) -> TurnInfo:
        """Lets a turn that waited, or was interrupted, run on.

        Raises:
            LeaseTakenError: a turn is running in this session, this one or another.
        """
        ...

    def save_partial(self, turn_id: str, text: str, *, lease_until: datetime) -> bool:
        """Keeps the answer so far and holds on to the turn; False if it is no longer running."""
        ...

    def end_turn(
        self, turn_id: str, state: TurnState, *, at: datetime, error: Reason | None = None
    ) -> TurnInfo:
        """Lets go of a running turn: it has ended, or waits for tools or a person."""
        ...

    def interrupt_stale_turns(self, *, at: datetime) -> list[TurnInfo]:
        """Marks the turns that ran in a process which is gone; their partial answers stay."""
        ...

    def turn(self, turn_id: str) -> TurnInfo:
        """The turn with this id."""
        ...

    def last_turn(self, session_id: str) -> TurnInfo | None:
        """The session's newest turn; None if nobody said anything yet."""
        ...

    def turns(self, session_id: str) -> list[TurnInfo]:
        """The session's turns, oldest first."""
        ...

    def record_calls(self, calls: Sequence[CallInfo]) -> None:
        """Keeps what was sent to models and what they reported, all or none."""
        ...

    def calls(
        self, session_id: str, *, turn_id: str | None = None, with_runs: bool = True
    ) -> list[CallInfo]:
        """The session's calls, or those of one of its turns, oldest first.

        Their runs are most of what is stored; without `with_runs` they are left there.
        """
        ...

    def count_calls(self, session_id: str) -> int:
        """How many calls `calls()` has; they are only ever added."""
        ...

    def runs(self, session_id: str, call_ids: Sequence[str]) -> dict[str, tuple[Run, ...]]:
        """What became of each message in the contexts of these calls, by the id of the call."""
        ...

    # policies

    def save_policy(
        self, scope: Scope, overrides: JsonObject, *, by: str, at: datetime
    ) -> PolicyVersion:
        """Saves what `scope` changes from now on; empty `overrides` change nothing any more."""
        ...

    def save_policies(
        self, scopes: Sequence[Scope], overrides: JsonObject, *, by: str, at: datetime
    ) -> list[PolicyVersion]:
        """Saves the same for each of `scopes`, for all or for none."""
        ...

    def policy(self, scope: Scope) -> PolicyVersion | None:
        """What `scope` changes now; None if it never changed anything."""
        ...

    def policies(self, scopes: Sequence[Scope]) -> list[PolicyVersion | None]:
        """What each of `scopes` changes now, read in one moment."""
        ...

    def all_policies(self) -> list[PolicyVersion]:
        """What every scope changes now, by kind and owner, read in one moment."""
        ...

    def policy_versions(self, scope: Scope) -> list[PolicyVersion]:
        """All that `scope` ever saved, newest first."""
        ...

    def policy_version(self, version_id: int) -> PolicyVersion:
        """The version with this id, e.g. the one a call was made under."""
        ...

    # settings, events and leases

    def setting(self, name: str) -> JsonValue:
        """What is kept under this name; None if nothing is."""
        ...

    def save_setting(self, name: str, value: JsonValue) -> None:
        """Keeps `value` under this name in place of what was there; None takes it away."""
        ...

    def record_event(
        self, kind: str, body: JsonObject, *, at: datetime, session_id: str | None = None
    ) -> Event:
        """Keeps that something happened, in a session or to the whole."""
        ...

    def events(
        self,
        session_id: str | None = None,
        *,
        kind: str | None = None,
        after_id: int = 0,
        limit: int = 1_000,
    ) -> list[Event]:
        """Events of a session, or of all, oldest first; `after_id` pages on."""
        ...

    def last_events(
        self, session_id: str, kinds: Sequence[str], *, limit: int = 100
    ) -> list[Event]:
        """The newest events of these kinds in a session, newest first."""
        ...

    def acquire_lease(self, name: str, owner: str, *, expires_at: datetime, at: datetime) -> bool:
        """Takes or prolongs a lease; False if someone else holds it."""
        ...

    def lease(self, name: str) -> tuple[str, datetime] | None:
        """Who holds a lease, and until when; it may have expired. None if nobody does."""
        ...

    def release_lease(self, name: str, owner: str) -> bool:
        """Gives a lease back; False if `owner` did not hold it."""
        ...
