"""Owns what a store of conversations promises: users, sessions, their messages, and search.

Every write happens as a whole or not at all; times and ids come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import WorkingState
from ctxcore.messages.values import JsonObject, Message, Role
from ctxcore.store.values import Listed, MessageInfo, SearchHit, SessionInfo, UserInfo
from ctxcore.tokens.counter import TokenCounter


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
