"""The interface of a session store: users, sessions, messages, compactions, turns, policies.

Every write is atomic. Verbs on a session raise `SessionNotFoundError` where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.prompts import PromptChange
from ctxcore.assembly.records import Compaction, Recalls, WorkingState
from ctxcore.assembly.verdicts import Run
from ctxcore.facts.rule_edits import RuleEdit
from ctxcore.messages.values import JsonObject, JsonValue, Message, Role
from ctxcore.reasons.values import Reason
from ctxcore.store.errors import RecordKind
from ctxcore.store.values import (
    EVERY_SESSION,
    NO_CLAIM,
    Alert,
    AuditEntry,
    AuditRecord,
    BilledCalls,
    CallInfo,
    CallTally,
    Claim,
    CompactionInfo,
    CompactionTally,
    CountedModel,
    DatabaseInfo,
    Event,
    Finding,
    ImportedCompaction,
    JobInfo,
    JobState,
    LeaseInfo,
    LeaseWaiter,
    Mark,
    MarkKind,
    MessageInfo,
    PolicyChange,
    PolicyVersion,
    RuleEditInfo,
    Scope,
    SearchHit,
    SessionConditions,
    SessionFactor,
    SessionFilter,
    SessionInfo,
    SessionStamp,
    SignalCounts,
    SignalInfo,
    Staging,
    TurnInfo,
    TurnState,
    UserInfo,
)
from ctxcore.tokens.families import TokenCounter


class SessionStore(Protocol):
    """Stores sessions with all their records; safe to share between threads.

    Times and ids come from the caller. After an error nothing was changed.
    """

    # users and sessions

    def create_user(
        self,
        user_id: str,
        *,
        at: datetime,
        name: str = "",
        group: str = "",
        is_operator: bool = False,
        is_auditor: bool = False,
        first_has_roles: bool = False,
    ) -> UserInfo:
        """Creates a user; one that exists already is returned unchanged.

        With `first_has_roles` the user has all roles if the store had no user, and of several that
        come at once only one has.
        """

    def update_user(
        self,
        user_id: str,
        *,
        name: str | None = None,
        group: str | None = None,
        is_operator: bool | None = None,
        is_auditor: bool | None = None,
    ) -> UserInfo:
        """Changes the given attributes of a user, without a record; see `set_roles`."""

    def set_roles(self, entry: AuditEntry, *, keeps_operator: bool = True) -> UserInfo:
        """Gives the user `entry.owner_id` the roles of an entry, and records it, in one write.

        Roles that the user has already are neither written nor recorded.

        Raises:
            LastOperatorError: no operator would be left; never without `keeps_operator`.
        """

    def record_audit(self, entries: Sequence[AuditEntry]) -> None:
        """Adds records of who read what another said; none is ever changed."""

    def audit_records(
        self, *, concerning: str | None = None, limit: int = 200, before_id: int | None = None
    ) -> list[AuditRecord]:
        """The newest records, newest first, before the one with `before_id`.

        With `concerning` those of what this user owns, and of copies of everything.
        """

    def purge_audit(self, *, before: datetime) -> int:
        """Erases records made before a time; returns how many."""

    def user(self, user_id: str) -> UserInfo:
        """The user with this id."""

    def list_users(self) -> list[UserInfo]:
        """All users by name."""

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
        messages: Sequence[Message] = (),
        counter: TokenCounter | None = None,
        staging: Staging | None = None,
    ) -> SessionInfo:
        """A new session with its first `messages`, which `counter` counts, in one write.

        A staged one is in no list, count or search until it is published; who stages it renews
        the lease that keeps it.
        """

    def publish(
        self, staging_id: str, session_ids: Collection[str], *, settings: Mapping[str, JsonValue]
    ) -> None:
        """Puts the sessions that were staged together into the lists and saves settings, at once.

        Raises:
            SessionNotFoundError: one of `session_ids` is no longer staged; nothing is published.
        """

    def purge_staged(self, *, at: datetime, staging_id: str | None = None) -> list[str]:
        """Erases staged sessions; returns their ids.

        Those staged under `staging_id`, or, without one, those whose lease has ended.
        """

    def session(self, session_id: str) -> SessionInfo:
        """The session with this id, deleted or not."""

    def session_stamp(self, session_id: str) -> SessionStamp:
        """What changes with the session, its last turn and its marks; one small statement."""

    def list_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
        limit: int = 100,
        offset: int = 0,
    ) -> list[SessionInfo]:
        """The sessions of one user or of all, the one last changed first."""

    def session_ids(self, user_id: str | None = None, *, beginning: str = "") -> list[str]:
        """The ids that start with `beginning`, of one user or of all, deleted sessions included."""

    def count_sessions(
        self,
        user_id: str | None = None,
        *,
        listed: SessionFilter = "present",
        title: str = "",
        where: SessionConditions = EVERY_SESSION,
    ) -> int:
        """The number of sessions on all pages of `list_sessions`."""

    def rename(self, session_id: str, title: str, *, at: datetime) -> None:
        """Changes the title of a session."""

    def set_model(self, session_id: str, model: str | None, *, at: datetime) -> None:
        """Changes the model of a session; its token counts wait for a `recount()`."""

    def set_goal(self, session_id: str, seq: int | None) -> None:
        """Sets the message that states what the user wants."""

    def set_working_state(self, session_id: str, working: WorkingState) -> None:
        """Replaces the working state that the application provides."""

    def set_tools(self, session_id: str, tools: Sequence[JsonObject], *, at: datetime) -> None:
        """Replaces the tool definitions of a session."""

    def set_count_factor(self, session_id: str, in_force: SessionFactor) -> None:
        """Replaces the count factor that the session's budgets are divided by."""

    def set_recalls(self, session_id: str, recalls: Recalls) -> None:
        """Replaces what contexts recalled for requests; another active compaction empties it."""

    def assign(self, session_id: str, user_id: str) -> None:
        """Changes the owner of a session."""

    def delete(self, session_id: str, *, at: datetime) -> None:
        """Hides a session until it is restored or purged."""

    def restore(self, session_id: str, *, at: datetime | None = None) -> None:
        """Restores a deleted session; `at` counts as the time of its last change."""

    def purge(self, session_id: str) -> None:
        """Erases a session and all its records."""

    def purge_deleted(self, *, before: datetime) -> list[str]:
        """Erases the sessions that were deleted before that time; returns their ids."""

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
        expected_length: int | None = None,
    ) -> list[int]:
        """Appends `messages`, all or none; returns their sequence numbers.

        `shorts`: replacement texts of over-long outputs, where they are known already.

        Raises:
            StaleHistoryError: the history has not the length `expected_length`, where that is
                given: another writer was faster.
            StaleTurnError: the turn `turn_id` does not run any more.
        """

    def set_system(
        self, session_id: str, text: str | None, *, counter: TokenCounter, at: datetime
    ) -> int | None:
        """Appends a system prompt that takes all before it out of force; returns its number.

        None for `text` only takes them out of force.
        """

    def restore_system(self, session_id: str, changes: Sequence[PromptChange]) -> None:
        """Replaces the changes of the system prompt, as an import knows them."""

    def messages(
        self,
        session_id: str,
        first: int = 1,
        last: int | None = None,
        *,
        role: Role | None = None,
    ) -> list[MessageInfo]:
        """The messages `first` … `last` (default: to the end), only those of `role` if given."""

    def record_counts(self, session_id: str) -> Mapping[RecordKind, int]:
        """How many calls, signals and edits of rules in force are stored, damaged ones too."""

    def view(self, session_id: str, counter_id: str | None = None) -> HistoryView:
        """The history at this moment, with sizes by that counter (default: the session's own)."""

    def estimated_view(self, session_id: str, counter: TokenCounter) -> HistoryView:
        """The history with sizes estimated for `counter`, for use until a recount is done."""

    def has_counts(self, session_id: str, counter_id: str) -> bool:
        """Whether every message is counted by this counter."""

    def recount(
        self,
        session_id: str,
        counter: TokenCounter,
        *,
        batch_messages: int = 500,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Counts the messages that `counter` has not counted, then makes it the session's counter.

        It can be interrupted and resumed. Until it is complete, `view` raises
        `CountsMissingError` for this counter.
        """

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
        origin: str = "fork",
    ) -> SessionInfo:
        """Copies a session up to the end of the block of message `at_seq`, or nothing of its
        messages for 0, into a new one.

        Marks, the session's policy and the compactions of that range are copied too; `new_id`
        makes the ids of the compactions.
        """

    def relatives(self, session_id: str) -> list[SessionInfo]:
        """All sessions that forks connect with this one, deleted ones too, the oldest first."""

    # search

    def search(
        self,
        user_id: str,
        query: str,
        *,
        limit: int = 20,
        least_rarity: float = 0.0,
        without: str | None = None,
    ) -> list[SearchHit]:
        """Messages of the user's sessions with any word of `query`, the best match first.

        A word is found in all its forms, one that no message has as the beginning of others; words
        that say little weigh nothing. Of a word that very many messages have, the newest count.
        What a message shares with the query is at least so rare (see `recalling.ranking.Found`);
        the session `without` is left out.
        """

    def index_pending(self, session_id: str, *, limit: int = 500) -> int:
        """Adds the next messages to the search index; returns how many are still missing."""

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
        has_failed: bool | None = None,
    ) -> CompactionInfo:
        """Stores a compaction made from `parent_id`; it becomes the active one if `activates`.

        `has_failed`: whether its summarizer failed.

        Raises:
            StaleCompactionError: another one than `parent_id` is active.
        """

    def activate(
        self, session_id: str, compaction_id: str | None, *, expected: str | None, at: datetime
    ) -> None:
        """Makes another compaction of the session, or none, the active one (undo and redo).

        Raises:
            StaleCompactionError: another one than `expected` is active.
        """

    def active_compaction(self, session_id: str) -> CompactionInfo | None:
        """The compaction that contexts are built with."""

    def undone_compaction(self, session_id: str) -> CompactionInfo | None:
        """The newest compaction made from the active one, i.e. the one that was undone last."""

    def compaction(self, session_id: str, compaction_id: str) -> CompactionInfo:
        """One compaction of the session."""

    def compactions(self, session_id: str) -> list[CompactionInfo]:
        """All compactions of the session, oldest first, including undone ones."""

    def record_imported_compactions(
        self, session_id: str, compactions: Sequence[ImportedCompaction]
    ) -> None:
        """Stores the compactions that the program which recorded the conversation made itself."""

    def imported_compactions(self, session_id: str) -> list[ImportedCompaction]:
        """The compactions that came with an imported conversation, in message order."""

    def add_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> Mark:
        """Pins or excludes a message; a mark that is set already is returned unchanged."""

    def clear_mark(self, session_id: str, seq: int, kind: MarkKind, *, at: datetime) -> bool:
        """Removes a mark; False if there was none."""

    def marks(self, session_id: str, *, with_cleared: bool = False) -> list[Mark]:
        """The session's marks by message, with `with_cleared` also the removed ones."""

    # what people say of rules

    def add_rule_edit(
        self, session_id: str, edit: RuleEdit, *, by: str, at: datetime
    ) -> RuleEditInfo:
        """Records that words of a message are a rule, or none; one in force is returned as it is.

        Raises:
            RecordNotFoundError: the session has no such message.
        """

    def clear_rule_edit(self, session_id: str, edit_id: int, *, by: str, at: datetime) -> bool:
        """Takes an edit back; False if it was taken back before.

        Raises:
            RecordNotFoundError: the session has no such edit.
        """

    def rule_edits(self, session_id: str, *, with_cleared: bool = False) -> list[RuleEditInfo]:
        """The session's edits by message, with `with_cleared` also those taken back."""

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
        system: str | None = None,
        claim: Claim = NO_CLAIM,
    ) -> TurnInfo:
        """Stores the user's messages and starts their turn, in one write.

        Raises:
            LeaseTakenError: a turn is running in this session, or others wait before the claim.
        """

    def resume_turn(
        self,
        session_id: str,
        turn_id: str,
        *,
        at: datetime,
        lease_until: datetime,
        system: str | None = None,
        claim: Claim = NO_CLAIM,
    ) -> TurnInfo:
        """Continues a turn that was waiting or interrupted, with another `system` if given.

        Raises:
            LeaseTakenError: a turn is running in this session, this one or another, or others
                wait before the claim.
        """

    def save_partial(
        self, session_id: str, turn_id: str, text: str, *, lease_until: datetime
    ) -> bool:
        """Stores the answer so far and renews the turn's lease; False if the turn lost it."""

    def end_turn(
        self,
        session_id: str,
        turn_id: str,
        state: TurnState,
        *,
        at: datetime,
        error: Reason | None = None,
    ) -> TurnInfo:
        """Ends a running turn, or lets it wait for tools or a person; releases its lease.

        Raises:
            StaleTurnError: it does not run any more.
        """

    def interrupt_stale_turns(
        self, *, at: datetime, ended: Collection[LeaseInfo] = ()
    ) -> list[TurnInfo]:
        """Marks running turns without a valid lease as interrupted; partial answers stay.

        `ended`: leases that count as expired, since their processes have ended.
        """

    def interrupt_turn(self, session_id: str, *, at: datetime) -> TurnInfo | None:
        """Marks the session's running turn as interrupted, whoever holds its lease.

        None if no turn is running. Who ran it loses it at the next write.
        """

    def turn(self, session_id: str, turn_id: str) -> TurnInfo:
        """The turn of the session with this id."""

    def last_turn(self, session_id: str) -> TurnInfo | None:
        """The session's newest turn; None if there is none."""

    def turns(self, session_id: str) -> list[TurnInfo]:
        """The session's turns, oldest first."""

    def record_calls(
        self, calls: Sequence[CallInfo], *, texts: Mapping[str, str] | None = None
    ) -> None:
        """Stores model calls of one session, all or none, with `texts` that their recipes name.

        A text is stored once a session, under its address.
        """

    def call(self, session_id: str, call_id: str) -> CallInfo:
        """One call of the session, with runs and recipe."""

    def sent_texts(
        self, session_id: str, addresses: Collection[str] | None = None
    ) -> dict[str, str]:
        """Texts by the addresses that recipes name; without `addresses` all of the session."""

    def calls(
        self, session_id: str, *, turn_id: str | None = None, with_runs: bool = True
    ) -> list[CallInfo]:
        """The session's calls, or those of one turn, oldest first.

        Runs and recipes are the largest part of a call; `with_runs=False` reads neither.
        """

    def last_call(self, session_id: str, purpose: str) -> CallInfo | None:
        """The newest call of this purpose, without its runs; None if there is none."""

    def counted_calls(self, model: str, counter_id: str, *, limit: int) -> list[CallInfo]:
        """The newest calls to `model` in all sessions that were counted by this counter and whose
        input the provider counted too, newest first, without runs.
        """

    def count_calls(self, session_id: str) -> int:
        """The number of the session's calls."""

    def billed_calls(self, session_ids: Sequence[str]) -> list[BilledCalls]:
        """The usage of these sessions' calls, summed by session and model."""

    def runs(self, session_id: str, call_ids: Sequence[str]) -> dict[str, tuple[Run, ...]]:
        """The verdicts on the messages of these calls' contexts, by call id."""

    # forgetting signals

    def record_signals(self, signals: Sequence[SignalInfo]) -> None:
        """Stores signals, all or none; of a kind that a message has already, none."""

    def signals(self, session_id: str) -> list[SignalInfo]:
        """The session's signals, by message."""

    def judge_signal(
        self, session_id: str, signal_id: int, *, is_right: bool | None, at: datetime
    ) -> SignalInfo:
        """Records whether a person finds a signal right; None takes that back."""

    def signal_counts(self, scope: Scope) -> list[SignalCounts]:
        """The signals and turns in the present sessions of a scope, by version of the policy."""

    # reports over many sessions

    def call_tallies(self, scope: Scope) -> list[CallTally]:
        """The calls made in the sessions of a scope, summed, with each user, version and month."""

    def compaction_tallies(self, scope: Scope) -> list[CompactionTally]:
        """The compactions made in the sessions of a scope, counted in the same way."""

    def events_of(self, kind: str, scope: Scope, *, limit: int) -> list[tuple[str, Event]]:
        """The newest events of a kind in the sessions of a scope, newest first, by user."""

    def spend(
        self, user_id: str, dollars: float, periods: Sequence[str], *, at: datetime
    ) -> dict[str, float]:
        """Adds what a call that is recorded already cost to each of the user's `periods`, which are
        the day and the month of `at`; returns what they cost with it.

        The first time the calls of the period are summed; from then on the work is constant.
        """

    def forget_spending(self) -> None:
        """Has all periods summed from the calls again when they are next added to."""

    def raise_alert(
        self, session_id: str, cause: str, reason: Reason, *, user_id: str, at: datetime
    ) -> Alert | None:
        """Stores an alert because of a session; None if there was one of the same cause."""

    def alerts(self, *, unseen: bool = False, limit: int = 200) -> list[Alert]:
        """The newest alerts, newest first; with `unseen` those that nobody has seen."""

    def count_unseen_alerts(self) -> int:
        """The number of alerts that nobody has seen."""

    def see_alerts(self, alert_ids: Collection[int], *, by: str, at: datetime) -> int:
        """Marks alerts as seen; returns how many were not yet."""

    # policies

    def save_policy(
        self, scope: Scope, overrides: JsonObject, *, by: str, at: datetime
    ) -> PolicyVersion:
        """Saves a new version of a scope's overrides; empty `overrides` reset them."""

    def save_policies(
        self, overrides: Mapping[Scope, JsonObject], *, by: str, at: datetime
    ) -> list[PolicyVersion]:
        """Saves the overrides of each scope, all or none; the versions in the same order."""

    def policy(self, scope: Scope) -> PolicyVersion | None:
        """The newest version of a scope; None if it was never saved."""

    def policies(self, scopes: Sequence[Scope]) -> list[PolicyVersion | None]:
        """The newest version of each of `scopes`, read in one query."""

    def all_policies(self) -> list[PolicyVersion]:
        """The newest version of every scope, by kind and owner, read in one query."""

    def policy_versions(self, scope: Scope) -> list[PolicyVersion]:
        """All versions of a scope, newest first."""

    def policy_version(self, version_id: int) -> PolicyVersion:
        """The version with this id."""

    def policy_changes(
        self,
        scopes: Sequence[Scope] | None = None,
        *,
        by: str | None = None,
        limit: int = 100,
    ) -> list[PolicyChange]:
        """The newest versions of all scopes, newest first, each beside the version before it.

        Only those of `scopes`, and saved `by` this user, if given; a scope without an owner stands
        for all scopes of its kind.
        """

    def policy_authors(self) -> list[str]:
        """The users who saved any version."""

    # jobs

    def begin_job(
        self,
        job_id: str,
        *,
        user_id: str,
        kind: str,
        spec: JsonObject,
        digest: str,
        session_ids: Collection[str],
        at: datetime,
        lease_until: datetime,
        reuses: bool = True,
    ) -> JobInfo:
        """Stores a running job, or returns the user's own one with this digest that still runs.

        With `reuses` one that is done is returned too. Purging one of `session_ids` erases the job.
        """

    def save_job_progress(self, job_id: str, done: int, total: int) -> bool:
        """Stores how far a job is; False if it is not running any more."""

    def renew_jobs(self, job_ids: Collection[str], *, lease_until: datetime) -> set[str]:
        """Renews the leases of jobs; returns those of them that are still running."""

    def end_job(
        self,
        job_id: str,
        state: JobState,
        *,
        at: datetime,
        result: JsonObject | None = None,
        error: Reason | None = None,
    ) -> bool:
        """Ends a running job; False, and nothing is changed, if it has ended or is erased."""

    def job(self, job_id: str) -> JobInfo:
        """The job with this id."""

    def jobs(self, user_id: str, *, kind: str | None = None, limit: int = 50) -> list[JobInfo]:
        """The user's jobs, the newest first, without their results."""

    def delete_job(self, job_id: str) -> None:
        """Erases a job with its result."""

    def interrupt_stale_jobs(self, *, at: datetime) -> list[str]:
        """Marks running jobs whose lease has expired as interrupted; returns their ids."""

    def delete_jobs(self, *, before: datetime) -> list[str]:
        """Erases the jobs that ended before that time; returns their ids."""

    # requests made outside

    def request_prefixes(self, user_id: str, digests: Collection[str]) -> dict[str, str]:
        """The ids of the user's sessions whose requests began with messages of these digests."""

    def save_request_prefix(self, session_id: str, digest: str, *, user_id: str) -> None:
        """Stores how a request of a session began; the same beginning now leads to this session."""

    # settings, events and leases

    def setting(self, name: str) -> JsonValue:
        """The value stored under this name; None if there is none."""

    def settings(self, names: Collection[str]) -> dict[str, JsonValue]:
        """The values stored under these names; without those that have none."""

    def save_setting(self, name: str, value: JsonValue) -> None:
        """Replaces the value stored under this name; None deletes it."""

    def record_event(
        self, session_id: str | None, kind: str, body: JsonObject, *, at: datetime
    ) -> Event:
        """Stores an event, of a session or of the whole store."""

    def events(
        self,
        session_id: str | None = None,
        *,
        kind: str | None = None,
        after_id: int = 0,
        limit: int = 1_000,
    ) -> list[Event]:
        """Events of one session or of all, oldest first; `after_id` is for paging."""

    def last_events(
        self, session_id: str, kinds: Sequence[str], *, limit: int = 100
    ) -> list[Event]:
        """The newest events of these kinds, newest first."""

    def acquire_lease(
        self, name: str, owner: str, *, expires_at: datetime, at: datetime, claim: Claim = NO_CLAIM
    ) -> bool:
        """Acquires or renews a lease; False if another owner holds it, or waits before the claim.

        The lease of `claim.over` is taken though it has not expired, if it is still the same.
        """

    def lease(self, name: str) -> LeaseInfo | None:
        """The lease of this name, which may have expired; None if nobody holds it."""

    def leases(self) -> list[LeaseInfo]:
        """All leases by name, expired ones too."""

    def renew_leases(
        self, owners: Collection[str], *, holder: str, expires_at: datetime
    ) -> set[str]:
        """Renews what these owners hold in the process `holder`; returns those who still do."""

    def join_queue(self, name: str, *, holder: str, expires_at: datetime, at: datetime) -> int:
        """Waits for a lease behind all who wait already; returns the ticket.

        The place is kept until `expires_at`, unless `stay_in_queue` renews it.
        """

    def waiters(self, name: str, *, at: datetime) -> list[LeaseWaiter]:
        """Who waits for a lease, the first one first."""

    def stay_in_queue(self, ticket: int, *, expires_at: datetime) -> bool:
        """Keeps a place in the queue; False if it is gone."""

    def leave_queue(self, tickets: Collection[int]) -> None:
        """Gives places in queues up; those that are gone already do not matter."""

    def release_lease(self, name: str, owner: str) -> bool:
        """Releases a lease; False if `owner` did not hold it."""

    # the database as a whole

    def database_info(self) -> DatabaseInfo:
        """Kind, address without a password, size and revision."""

    def change_count(self) -> int:
        """A number that is another one after every change of the database, by any process.

        No statement is run for it on PostgreSQL, and a tiny one on SQLite. It may miss a change
        that a process made right before it was killed.
        """

    def check_database(self) -> list[str] | None:
        """What is wrong in the database, as it says itself; None where it cannot be asked."""

    def check_all(
        self,
        *,
        at: datetime,
        repairs: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[Finding]:
        """All that is wrong in the database, session by session; `repairs` what can be.

        `on_progress` is told the sessions that are done, and how many there are.
        """

    def back_up(self, path: Path, *, overwrite: bool = False) -> None:
        """Copies the database into a file while it is in use; the file appears whole or not.

        Raises:
            DatabaseError: it is no SQLite file, or the file is there or cannot be written.
        """

    def running_turns(self) -> list[TurnInfo]:
        """The turns that run in any session, the oldest first."""

    def failed_calls(self, *, limit: int = 20) -> list[CallInfo]:
        """The newest calls of all sessions with an error, newest first, without runs."""

    def counted_models(self) -> list[CountedModel]:
        """The models whose input providers counted too, by counter."""

    def models_in_use(self) -> list[str]:
        """The models that sessions name."""

    def close(self) -> None:
        """Closes all connections."""
