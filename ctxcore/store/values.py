"""The values that a store takes and returns; none of them is a database row.

Times are aware and in UTC; `seq` numbers the messages of a session from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from ctxcore.assembly.effects import CompactionEffect, load_effect
from ctxcore.assembly.prompts import PromptChange
from ctxcore.assembly.records import EMPTY_WORKING_STATE, Compaction, Recalls, WorkingState
from ctxcore.assembly.verdicts import INPUT_SEGMENTS, Run, VerdictKind
from ctxcore.facts.rule_edits import RuleEdit, RuleEditKind
from ctxcore.messages.values import JsonObject, Message
from ctxcore.plain import Plain
from ctxcore.policy.changes import FieldChange, changed_fields
from ctxcore.reasons.codes import BreakCode, OutcomeCode
from ctxcore.reasons.values import Reason
from ctxcore.signals.values import SignalKind, tells_of_forgetting
from ctxcore.tokens.factors import CountFactor

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
IMPORTED: Final = "imported:"
"""How the names of settings begin that note imported files; a hash and a user follow.

The value has, for each conversation of the file, an object with its `session`.
"""
JobState = Literal["running", "done", "cancelled", "failed", "interrupted"]
BRANCH = "branch"
"""The origin of a session that `ContextEngine.branch` made."""
PROXY = "proxy"
"""The origin of a session whose requests another program sent through a proxy."""
AGENTS_SDK = "agents-sdk"
"""The origin of a session that the OpenAI Agents SDK keeps here; files of it have another."""

SessionFilter = Literal["present", "unbranched", "deleted", "all"]
"""`unbranched`: those present that are no branch of a session that is present too; a list says of
each when it or a branch of it was last changed."""
OWN_ORIGINS = ("chat", "fork", BRANCH, PROXY, AGENTS_SDK)
"""The origins of sessions that were made here; all others came from a file."""
ScopeKind = Literal["default", "group", "user", "user_model", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInfo(Plain):
    """An owner of sessions, with the roles that were given."""

    id: str
    name: str
    group: str
    is_operator: bool
    """Sees the figures of all users, and sets what holds for all."""
    created_at: datetime
    is_auditor: bool = False
    """Whether an operator may also read what others said."""

    @property
    def reads_others(self) -> bool:
        """Whether what others said may be read."""
        return self.is_operator and self.is_auditor


AuditAction = Literal[
    "open",
    "list",
    "export",
    "recall",
    "replay",
    "change",
    "delete",
    "assign",
    "backup",
    "restore",
    "roles",
    "login_roles",
]
"""`open`: read on a page or by a program; `list`: its title in a list; `recall`: searched;
`replay`: sent again or replayed; `change`: something was added or set, or a deletion taken back;
`delete`: hidden or erased; `backup`, `restore`: a copy of everything, and one put in its place;
`roles`, `login_roles`: roles were set by a person or followed from a login."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry(Plain):
    """Who read or changed what another said, or set roles; never what was said."""

    created_at: datetime
    user_id: str
    """Who did it."""
    action: AuditAction
    owner_id: str | None = None
    """Whose session, or whose roles; None: everybody's."""
    session_id: str | None = None
    is_operator: bool | None = None
    """The roles that were set; None where it is not about roles."""
    is_auditor: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord(AuditEntry):
    """An entry as it is kept; none is ever changed."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionConditions(Plain):
    """What listed sessions have in common; the defaults let all through."""

    model: str = ""
    """A part of the model's name, in any case."""
    changed_from: datetime | None = None
    changed_before: datetime | None = None
    is_compacted: bool | None = None
    """Whether there is a compaction, made here or recorded by another program."""
    is_imported: bool | None = None
    """Whether it came from a file."""
    least_messages: int = 0


EVERY_SESSION = SessionConditions()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFactor(Plain):
    """The count factor that a session has in force, for the model and counter it is of."""

    model: str
    counter_id: str
    factor: CountFactor

    def holds_for(self, model: str | None, counter_id: str) -> bool:
        """Whether it is of this model and counter."""
        return (self.model, self.counter_id) == (model, counter_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo(Plain):
    """A session without its messages."""

    id: str
    user_id: str
    title: str
    model: str | None
    origin: str
    """How it was created, e.g. `chat`, `import`, `fork`, `branch`."""
    tools: tuple[JsonObject, ...]
    """Tool definitions that came with an imported conversation, in OpenAI's form."""
    parent_id: str | None
    parent_seq: int | None
    """The message of the parent up to which a fork copied."""
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    length: int
    """The number of messages."""
    goal_seq: int | None
    last_user_seq: int | None
    counter_id: str | None
    """The counter whose counts reach to the end; None while there are no messages."""
    active_compaction_id: str | None
    indexed_until: int
    """The last message that search finds; later ones wait for `index_pending()`."""
    working: WorkingState = EMPTY_WORKING_STATE
    """The working state that the application provides."""
    system_changes: tuple[PromptChange, ...] = ()
    """The changes of its system prompt, oldest first."""
    count_factor: SessionFactor | None = None
    """The count factor in force; None before the first turn."""
    recalls: Recalls = ()
    """What contexts recalled for requests under the active compaction."""
    damage: tuple[Reason, ...] = ()
    """The parts of its record that cannot be read; they are empty here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staging(Plain):
    """What sessions are staged as: all of them are seen at once, or erased at once."""

    id: str
    lease_until: datetime
    """Until then nobody else erases them."""
    holder: str | None = None
    """The process that stages them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStamp(Plain):
    """What changes with everything that a reader of a session would see; little enough to poll."""

    user_id: str
    updated_at: datetime
    deleted_at: datetime | None
    length: int
    active_compaction_id: str | None
    turn_state: str | None
    """The state of the last turn; None before the first one."""
    marks_set: int
    marks_cleared: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageInfo(Plain):
    """A message with its place in the history."""

    seq: int
    message: Message
    block: int
    function_name: str
    short: str | None
    turn_id: str | None
    created_at: datetime
    damage: Reason | None = None
    """Why it cannot be read: `message` only says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionInfo(Plain):
    """A compaction in the tree of a session's compactions; undone ones stay in it."""

    id: str
    session_id: str
    number: int
    parent_id: str | None
    compaction: Compaction
    policy_version_id: int | None
    details: JsonObject
    """Further figures, e.g. the steps that were tried."""
    created_at: datetime
    damage: Reason | None = None
    """Why its record cannot be read: `compaction` covers nothing then."""

    @property
    def effect(self) -> CompactionEffect | None:
        """What it changed in the next call; None where that was not recorded."""
        return load_effect(self.details.get("effect"))

    @property
    def is_quoted(self) -> bool:
        """Whether it quotes in place of a summary that was refused."""
        reason = self.compaction.reason
        return reason is not None and reason.mentions(OutcomeCode.QUOTED_INSTEAD)

    @property
    def doubts(self) -> dict[str, str]:
        """The sentences that the source does not support, each with the code of why."""
        found = self.checked("sentences")
        return {str(one.get("text", "")): str(one.get("problem", "")) for one in found}

    def checked(self, name: str) -> list[JsonObject]:
        """A list in the recorded check of its summary; empty of a refused one."""
        check = self.details.get("check")
        found = check.get(name) if isinstance(check, dict) else None
        if self.is_quoted or not isinstance(found, list):
            return []
        return [one for one in found if isinstance(one, dict)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCompaction(Plain):
    """A compaction made by the recording program, just before message `before_seq`."""

    before_seq: int
    summary: str
    before_tokens: int | None = None
    trigger: str | None = None
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark(Plain):
    """A pin or exclusion of a message, in force until it is cleared."""

    id: int
    session_id: str
    seq: int
    kind: MarkKind
    set_at: datetime
    cleared_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEditInfo(Plain):
    """What a person says of a rule, in force until it is cleared."""

    id: int
    session_id: str
    seq: int
    kind: RuleEditKind
    text: str
    set_by: str
    set_at: datetime
    cleared_by: str | None = None
    cleared_at: datetime | None = None

    @property
    def edit(self) -> RuleEdit:
        """The edit itself."""
        return RuleEdit(kind=self.kind, seq=self.seq, text=self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope(Plain):
    """Whom a policy applies to: all, a group, a user, a user with one model, a session."""

    kind: ScopeKind = "default"
    owner: str = ""
    """The group's name, or the id of the user or session; empty for everybody."""
    model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion(Plain):
    """One saved version of a scope's policy overrides; the newest one applies."""

    id: int
    scope: Scope
    version: int
    overrides: JsonObject
    created_by: str
    created_at: datetime
    removed: tuple[str, ...] = ()
    """Stored fields that policies no longer have; they are not among `overrides`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseInfo(Plain):
    """Who holds a lease, and until when."""

    name: str
    owner: str
    """What it is held for, e.g. the id of a turn."""
    expires_at: datetime
    """May be past: then anybody may take it."""
    holder: str | None = None
    """The process, as `holder_text` wrote it; None: not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseWaiter(Plain):
    """Who waits for a lease."""

    ticket: int
    """The place: a smaller one comes earlier."""
    holder: str
    """The process, as in `LeaseInfo`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Plain):
    """How a lease is asked for: by which process, in whose turn, and from whom."""

    holder: str | None = None
    """The process that asks."""
    ticket: int | None = None
    """Its place among those who wait; None: behind all of them."""
    over: LeaseInfo | None = None
    """A lease to take though it has not expired, since its process has ended."""

    def takes_over(self, held: LeaseInfo) -> bool:
        """Whether `held` is the lease to take, still in the same hands."""
        over = self.over
        return over is not None and (over.owner, over.holder) == (held.owner, held.holder)


NO_CLAIM = Claim()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInfo(Plain):
    """A user message and all that follows until the next one."""

    id: str
    session_id: str
    number: int
    state: TurnState
    model: str | None
    partial: str
    """The answer so far, also after the turn was stopped or interrupted."""
    error: Reason | None
    first_seq: int
    last_seq: int
    history_messages: int
    """The length of the whole history when the turn last added messages."""
    history_tokens: int
    """The size of the whole history then, by the session's counter."""
    started_at: datetime
    ended_at: datetime | None
    system: str | None = None
    """The system prompt of this turn alone; None where the session's is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInfo(Plain):
    """One request to a model: our estimate of its input, and what the provider reported.

    `input_tokens` is the whole input, cached tokens included. None stands for not reported.
    """

    id: str
    session_id: str
    created_at: datetime
    purpose: str
    """E.g. `answer` or `summary`."""
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
    """The verdicts on the messages of the context that was sent."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_hour_tokens: int | None = None
    """The part of `cache_write_tokens` that the provider keeps for an hour."""
    reasoning_tokens: int | None = None
    cleared_parts: int | None = None
    """Uses of tools and turns with thinking that the provider left out of what it was sent."""
    cleared_tokens: int | None = None
    """Their tokens by its count, which `input_tokens` does not hold; None: no edit was reported."""
    cost: float | None = None
    latency_seconds: float | None = None
    error: Reason | None = None
    system_digest: str | None = None
    """The hash of the system prompt that was sent; None where it is not known."""
    tools_digest: str | None = None
    """The hash of the tool definitions that were sent; None where they are not known."""
    cache_break: Reason | None = None
    """What changed since the call before so that the prompt cache was lost; None: nothing known."""
    digest: str | None = None
    """SHA-256 of what was sent; None where that was not stored."""
    counter_id: str | None = None
    """What the estimate was counted by."""
    count_factor: float | None = None
    """What the budget was scaled by to match the provider's counts."""
    is_comparable: bool | None = None
    """Whether `input_tokens` may be compared with the estimate: a whole answer to texts alone."""
    recipe: JsonObject | None = None
    """What each message sent is made of; see `ctxcore.assembly.recipes`."""
    without_tokens: int | None = None
    """What would have been sent without any compaction, by our count; None: not known."""

    @property
    def sent_tokens(self) -> int | None:
        """What was sent by our count; None where it was not counted."""
        if not self.estimate:
            return None
        return sum(size for name, size in self.estimate.items() if name in INPUT_SEGMENTS)

    @property
    def rewritten_tokens(self) -> int | None:
        """The input that was not in the cache because a compaction, or the undo of one, had changed
        its beginning; None where there was none, or the provider did not report it.
        """
        cause = None if self.cache_break is None else self.cache_break.code
        if cause not in (BreakCode.COMPACTION, BreakCode.UNDO) or self.input_tokens is None:
            return None
        return None if self.cached_tokens is None else self.input_tokens - self.cached_tokens

    @property
    def error_code(self) -> str | None:
        """The code of its error, if it has one."""
        return None if self.error is None else str(self.error.code)


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledCalls(Plain):
    """Calls of one session to one model, summed; None where the calls have no such number.

    Calls with a recorded cost are apart from those without, and so are calls without usage.
    """

    session_id: str
    model: str | None
    is_imported: bool
    calls: int
    cost: float | None
    """US dollars, as recorded."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    cache_hour_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTally(Plain):
    """Calls of one user, policy version, month, model and purpose, summed; imported ones are none.

    Calls with a recorded cost are apart from those without, and so are calls without usage.
    """

    user_id: str
    policy_version_id: int | None
    month: str
    """In UTC, e.g. `2026-03`."""
    model: str | None
    purpose: str
    calls: int
    cost: float | None
    """US dollars, as recorded."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    cache_hour_tokens: int | None
    input_calls: int = 0
    """The calls whose input the provider counted."""
    cache_told_tokens: int = 0
    """The input of the calls of which the provider told what came from its cache."""
    compared_calls: int = 0
    """The calls of which both sizes below are known."""
    sent_tokens: int = 0
    """What these sent, by our count."""
    without_tokens: int = 0
    """What they would have sent without any compaction."""
    rewritten_tokens: int = 0
    """What providers read anew because a compaction had changed the beginning."""
    refused: int = 0
    """Calls that were refused as too long."""
    is_imported: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionTally(Plain):
    """Compactions of one user, policy version and month, counted."""

    user_id: str
    policy_version_id: int | None
    month: str
    compactions: int
    failed: int
    """Those whose summarizer failed, so that messages were left out or quoted instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyChange(Plain):
    """A saved version of a scope's policy beside the version before it."""

    version: PolicyVersion
    before: JsonObject
    """The overrides of the version before; empty for the first one."""

    @property
    def fields(self) -> list[FieldChange]:
        """The fields that it changed."""
        return changed_fields(self.before, self.version.overrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert(Plain):
    """Something that an operator asked to be told."""

    id: int
    cause: str
    """What happened, in a form that tells it once."""
    reason: Reason
    user_id: str
    session_id: str | None
    created_at: datetime
    seen_by: str | None = None
    """Who has seen it; None: nobody yet."""
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalInfo(Plain):
    """A forgetting signal: a message that repeats, asks again or says so."""

    id: int = 0
    """Its number in the store; 0 before it is stored."""
    session_id: str
    seq: int
    """The message that repeats, asks or says so."""
    kind: SignalKind
    earlier: tuple[int, ...] = ()
    """The messages that said it before; empty where none was found."""
    verdict: VerdictKind | None = None
    """What the context made of them; `kept`: it showed them. None where none was found."""
    compaction_id: str | None = None
    """The compaction that covers them, if one does."""
    policy_version_id: int | None = None
    created_at: datetime
    is_right: bool | None = None
    """What a person says of it; None: nobody looked at it."""
    judged_at: datetime | None = None

    @property
    def is_forgetting(self) -> bool:
        """Whether the context did not show what was said before."""
        return tells_of_forgetting(self.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalCounts(Plain):
    """The forgetting signals of a user's sessions under one version of a policy."""

    policy_version_id: int | None
    turns: int
    """The turns that called a model."""
    forgotten: int = 0
    """Signals of what the context did not show."""
    overlooked: int = 0
    """Signals of what it showed."""
    unplaced: int = 0
    """Signals of which it is not known what they mean."""
    forgetful_turns: int = 0
    """Turns with a signal of what the context did not show that nobody dismissed."""
    right: int = 0
    wrong: int = 0
    """Those that a person dismissed."""

    @property
    def precision(self) -> float | None:
        """The share that is right of those a person looked at; None where nobody did."""
        judged = self.right + self.wrong
        return self.right / judged if judged else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobInfo(Plain):
    """Long work that a person started, such as a trial of policies; only that person sees it."""

    id: str
    user_id: str
    kind: str
    """A code for what it does."""
    spec: JsonObject
    """What was asked for."""
    digest: str
    """The hash of the spec and of the data that it reads."""
    state: JobState
    done: int
    """How many of the `total` units of work are finished."""
    total: int
    """0 as long as it is not known."""
    result: JsonObject | None = None
    """None before it is done, and where lists leave results out."""
    error: Reason | None = None
    """Why it failed."""
    created_at: datetime
    lease_until: datetime
    """When a running job counts as interrupted unless it was renewed before."""
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Plain):
    """Something that happened, e.g. a rejected compaction or a break of the prompt cache."""

    id: int
    session_id: str | None
    kind: str
    body: JsonObject
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Plain):
    """Something that a check of a database found."""

    reason: Reason
    session_id: str | None = None
    """The session that it is in; None: the database as a whole."""
    is_repairable: bool = False
    """Whether it can be made again from what is sound."""
    is_repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseInfo(Plain):
    """A database as a whole."""

    kind: str
    """`sqlite` or `postgresql`."""
    url: str
    """Its address without the password."""
    size_bytes: int
    revision: str | None
    """The revision of its schema."""
    sessions: int
    """All of them, deleted ones too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedModel(Plain):
    """A model whose input was counted by us and by the provider, and in how many calls."""

    model: str
    counter_id: str
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Plain):
    """A message that a query found."""

    session_id: str
    title: str
    seq: int
    role: str
    excerpt: str
    created_at: datetime
