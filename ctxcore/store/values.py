"""Owns what a store gives out and takes in: frozen values, never rows.

Times are aware and in UTC; places in a history are sequence numbers from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ctxcore.assembly.records import NOTHING_SAID, Compaction, WorkingState
from ctxcore.assembly.verdicts import Run
from ctxcore.messages.values import JsonObject, Message
from ctxcore.reasons.values import Reason

TurnState = Literal[
    "running",
    "awaiting_tools",
    "awaiting_confirmation",
    "done",
    "stopped",
    "failed",
    "interrupted",
]
MarkKind = Literal["pin", "exclude"]
Listed = Literal["present", "deleted", "all"]
ScopeKind = Literal["default", "group", "user", "user_model", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo:
    """Someone who owns sessions; an operator may look after those of others."""

    id: str
    name: str
    group: str
    is_operator: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """A conversation without its messages."""

    id: str
    user_id: str
    title: str
    model: str | None
    origin: str
    """How it came to be, e.g. `chat`, `import`, `fork`."""
    tools: tuple[JsonObject, ...]
    """Tool definitions that came with an imported conversation, in OpenAI's form."""
    parent_id: str | None
    parent_seq: int | None
    """The message of the parent up to which a fork copied."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    length: int
    """How many messages it has."""
    goal_seq: int | None
    last_user_seq: int | None
    counter_id: str | None
    """The counter whose counts reach to the end; None while there are no messages."""
    active_compaction_id: str | None
    indexed_until: int
    """So many messages are found by a search; the others wait for `index_pending()`."""
    working: WorkingState = NOTHING_SAID
    """What the application says of its work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageInfo:
    """A message as it lies in its history."""

    seq: int
    message: Message
    block: int
    function_name: str
    short: str | None
    turn_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionInfo:
    """A compaction in the tree of a session's compactions; undone ones stay in it."""

    id: str
    session_id: str
    number: int
    parent_id: str | None
    compaction: Compaction
    policy_version_id: int | None
    details: JsonObject
    """What else is told of it, e.g. the steps that were tried."""
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCompaction:
    """A compaction that the recording program did itself, just before the message `before_seq`."""

    before_seq: int
    summary: str
    before_tokens: int | None = None
    trigger: str | None = None
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A person's pin or exclusion of a message; it counts until it is cleared."""

    id: int
    session_id: str
    seq: int
    kind: MarkKind
    set_at: datetime
    cleared_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whom a policy is for: everybody, a group, a user, a user's use of a model, a session."""

    kind: ScopeKind = "default"
    owner: str = ""
    """The group's name, or the id of the user or session; empty for everybody."""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """What a scope changed about its policy at one save; the newest version counts."""

    id: int
    scope: Scope
    version: int
    overrides: JsonObject
    created_by: str
    created_at: datetime
    removed: tuple[str, ...] = ()
    """The fields that it names and policies no longer have; they are not among `overrides`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo:
    """A user message and all that follows until the next one."""

    id: str
    session_id: str
    number: int
    state: TurnState
    model: str | None
    partial: str
    """The answer so far while it runs; what had come when it was stopped or interrupted."""
    error: Reason | None
    first_seq: int
    last_seq: int
    history_messages: int
    """How long the whole history was when the turn last changed its state."""
    history_tokens: int
    """What the whole history then took, by the counter of the session."""
    started_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInfo:
    """One request to a model: what was sent by our count, and what the provider reported.

    `input_tokens` is the whole input, cached tokens included. None stands for not reported.
    """

    id: str
    session_id: str
    created_at: datetime
    purpose: str
    """What for, e.g. `answer` or `summary`."""
    turn_id: str | None = None
    is_imported: bool = False
    model: str | None = None
    policy_version_id: int | None = None
    compaction_id: str | None = None
    seq: int | None = None
    """The message that answered, where there is one."""
    estimate: Mapping[str, int] = field(default_factory=dict)
    """Our count of each segment of the context."""
    runs: tuple[Run, ...] = ()
    """What became of each message in the context that was sent."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    latency_seconds: float | None = None
    error: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened, e.g. a rejected compaction or a break of the prompt cache."""

    id: int
    session_id: str | None
    kind: str
    body: JsonObject
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A message that holds all the words that were searched for."""

    session_id: str
    title: str
    seq: int
    role: str
    excerpt: str
    created_at: datetime
