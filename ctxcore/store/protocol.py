"""Owns what a store of conversations promises: users, sessions, their messages, and search.

Every write happens as a whole or not at all; times and ids come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction, WorkingState
from ctxcore.assembly.verdicts import Run
from ctxcore.messages.values import JsonObject, JsonValue, Message, Role
from ctxcore.reasons.values import Reason
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    Event,
    ImportedCompaction,
    Listed,
    Mark,
    MarkKind,
    MessageInfo,
    PolicyVersion,
    Scope,
    SearchHit,
    SessionInfo,
    TurnInfo,
    TurnState,
    UserInfo,
)
from ctxcore.tokens.families import TokenCounter


class HistoryStore(Protocol):
    """Users, sessions and their histories."""

    # users and sessions

    def create_user(
        self,
        user_id: str,
        *,
        at: datetime,
        name: str = "",
        group: str = "",
        is_operator: bool = False,
    ) -> UserInfo:
        """The user with this id, made if there was none; one that exists stays as it is."""
        ...

    def update_user(
        self,
        user_id: str,
        *,
        name: str | None = None,
        group: str | None = None,
        is_operator: bool | None = None,
    ) -> UserInfo:
        """Changes what is given of a user."""
        ...

    def user(self, user_id: str) -> UserInfo:
        """The user with this id."""
        ...

    def list_users(self) -> list[UserInfo]:
        """All users by name."""
        ...

    def create_session(
        self,
        session_id: str,
        *,
        user_id: str,
        at: datetime,
        title: str = "",
        model: str | None = None,
        origin: str = "chat",
        tools: Sequence[JsonObject] = (),
        parent_id: str | None = None,
        parent_seq: int | None = None,
    ) -> SessionInfo:
        """A new session without messages."""
        ...

    def session(self, session_id: str) -> SessionInfo:
        """The session with this id, deleted or not."""
        ...

    def list_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: Listed = "present",
        title: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[SessionInfo]:
        """A user's sessions, or everybody's, the one last changed first."""
        ...

    def session_ids(self, user_id: str | None = None, *, beginning: str = "") -> list[str]:
        """The ids of a user's sessions, or of everybody's, that begin so; deleted ones too."""
        ...

    def count_sessions(
        self, user_id: str | None = None, *, listed: Listed = "present", title: str = ""
    ) -> int:
        """How many sessions `list_sessions` has in all its pages."""
        ...

    def rename(self, session_id: str, title: str, *, at: datetime) -> None:
        """Gives the session another title."""
        ...

    def set_model(self, session_id: str, model: str | None, *, at: datetime) -> None:
        """Changes which model the session talks to; its counts wait for a `recount()`."""
        ...

    def set_goal(self, session_id: str, seq: int | None) -> None:
        """Says which message states what the user wants."""
        ...

    def set_working_state(self, session_id: str, working: WorkingState) -> None:
        """Keeps what the application says of its work, in place of what it said before."""
        ...

    def assign(self, session_id: str, user_id: str) -> None:
        """Gives the session to another user."""
        ...

    def delete(self, session_id: str, *, at: datetime) -> None:
        """Hides the session until it is restored or purged."""
        ...

    def restore(self, session_id: str) -> None:
        """Brings a deleted session back."""
        ...

    def purge(self, session_id: str) -> None:
        """Erases the session and everything recorded with it."""
        ...

    def purge_deleted(self, *, before: datetime) -> list[str]:
        """Erases every session that was deleted before that time; their ids."""
        ...

    # messages

    def append(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        counter: TokenCounter,
        at: datetime,
        times: Sequence[datetime | None] | None = None,
        oversize_tokens: int | None = None,
        turn_id: str | None = None,
        indexes: bool = True,
        shorts: Sequence[str | None] | None = None,
    ) -> list[int]:
        """Adds `messages` at the end, all or none; the places they got.

        `shorts` gives the texts that stand for over-long outputs, where they are known already.
        """
        ...

    def messages(
        self,
        session_id: str,
        first: int = 1,
        last: int | None = None,
        *,
        role: Role | None = None,
    ) -> list[MessageInfo]:
        """The messages first … last with all that is stored of them; to the end without `last`.

        With `role` only those of that role.
        """
        ...

    def view(self, session_id: str, counter_id: str | None = None) -> HistoryView:
        """The history as it is now, for building a context; sizes as the counter has them."""
        ...

    def estimated_view(self, session_id: str, counter: TokenCounter) -> HistoryView:
        """The history with sizes about as `counter` would count them, for use until a recount."""
        ...

    def has_counts(self, session_id: str, counter_id: str) -> bool:
        """Whether every message is counted by this counter."""
        ...

    def recount(
        self,
        session_id: str,
        counter: TokenCounter,
        *,
        batch_messages: int = 500,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Counts what `counter` has not counted yet, and makes it the session's own counter.

        It may be stopped at any time and goes on where it was; until it is through, a view under
        this counter is refused, so that nobody reads half of it.
        """
        ...

    def fork(
        self,
        session_id: str,
        at_seq: int,
        *,
        fork_id: str,
        new_id: Callable[[], str],
        at: datetime,
        title: str | None = None,
        user_id: str | None = None,
    ) -> SessionInfo:
        """A new session with the beginning of this one, to the end of the block of `at_seq`.

        Marks, the session's policy and the compactions that fit into it come along; `new_id` names
        the copies of those.
        """
        ...

    # search

    def search(
        self, user_id: str, query: str, *, session_id: str | None = None, limit: int = 20
    ) -> list[SearchHit]:
        """Messages that hold every word of `query`, the best first; none without a word."""
        ...

    def index_pending(self, session_id: str, *, limit: int = 500) -> int:
        """Makes the next messages of a session searchable; how many still wait."""
        ...


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


class SessionStore(HistoryStore, RecordStore, Protocol):
    """Keeps conversations whole, with all that was decided about them; safe between threads."""

    def close(self) -> None:
        """Lets go of everything the store holds open."""
        ...
