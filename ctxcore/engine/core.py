"""`ContextEngine`: stored sessions behind one object that is safe to share between threads.

Every method checks the owner of the session, then calls the store or one of the engine's parts.
"""

from __future__ import annotations

import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.recall_hits import RecalledMessage, RecallHit, find_hits
from ctxcore.assembly.records import EMPTY_WORKING_STATE, WorkingState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.generations import SentenceLife
from ctxcore.compaction.plans import ANSWERS, Answer, Confirm
from ctxcore.compression.extracting import extract_with
from ctxcore.compression.own_tools import EXPAND_ANSWER_TOKENS
from ctxcore.engine.alternatives import JOB_KIND as COMPARISON
from ctxcore.engine.alternatives import compared, work_of
from ctxcore.engine.asynchronous import async_iterator_twin, async_twin
from ctxcore.engine.auditing import KEPT_AUDIT, Audit
from ctxcore.engine.automatic import AutomaticCompactions
from ctxcore.engine.background import Recounts
from ctxcore.engine.branches import Branches, BranchPoint
from ctxcore.engine.compactions import (
    Compactions,
    LossReport,
    PresetLosses,
    ProposedLosses,
    SessionState,
    loss_report,
    losses_under,
    proposed_losses,
    session_state,
)
from ctxcore.engine.costs import cost_of_calls, with_cost
from ctxcore.engine.errors import PlaceError, TurnStateError
from ctxcore.engine.events import EventJournal, Listener, TurnEvent
from ctxcore.engine.exchange import Exchange, ImportPreview, Progress
from ctxcore.engine.foreseeing import Foreseen, foresee
from ctxcore.engine.generations import JOB_KIND as GENERATIONS
from ctxcore.engine.generations import (
    GenerationLosses,
    chain_of,
    lives_of,
    losses_by_generation,
    losses_work,
)
from ctxcore.engine.health import (
    Health,
    Restored,
    back_up,
    check_database,
    examine,
    health_of,
    last_backup,
    restore_backup,
)
from ctxcore.engine.imported import ImportedBefore
from ctxcore.engine.jobs import JobRunner, Jobs, collect
from ctxcore.engine.leases import WAIT_SECONDS, Leases
from ctxcore.engine.outside import OutsideCall, OutsideCalls
from ctxcore.engine.people import People, as_seen
from ctxcore.engine.policies import Deviation, EffectivePolicy, ModelCatalog, deviations
from ctxcore.engine.prompts import SystemPrompts, SystemVersion
from ctxcore.engine.proposals import Pending, Proposal
from ctxcore.engine.relaying import Relay, Relayed, RelayedRequest
from ctxcore.engine.reports import Reports
from ctxcore.engine.request_changes import RequestChanges, compare_requests
from ctxcore.engine.requests import RebuiltRequest, rebuilt_request
from ctxcore.engine.retention import DueSession, Limits, due_sessions, stored_limits
from ctxcore.engine.rules import RuleCorrections
from ctxcore.engine.services import CallTarget, EngineServices, RunTool, TurnRequest, to_definitions
from ctxcore.engine.sources import ImportSource
from ctxcore.engine.staging import erase_abandoned
from ctxcore.engine.stories import JOB_KIND as FATES
from ctxcore.engine.stories import MessageStory, fates_of, fates_work, said_about, story_of
from ctxcore.engine.tools import original_text
from ctxcore.engine.turns import Turns
from ctxcore.engine.watching import Watcher
from ctxcore.exports.files import ExportedFile
from ctxcore.gateway.values import Gateway, ModelReply
from ctxcore.messages.arguments import checked_system
from ctxcore.messages.shapes.reading import Given, parse_messages, parse_one
from ctxcore.messages.values import JsonObject, Message, text_message
from ctxcore.policy.layers import Layer, to_policy
from ctxcore.policy.values import Policy
from ctxcore.reasons.storage_problems import AccessCode, TurnProblem
from ctxcore.reasons.values import Reason
from ctxcore.redaction.shapes import SecretKind
from ctxcore.replay.alternatives import Alternative, Compared
from ctxcore.replay.message_fates import MessageFate
from ctxcore.store.leases import turn_lease
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import (
    AuditAction,
    BilledCalls,
    CallInfo,
    CompactionInfo,
    Finding,
    JobInfo,
    LeaseInfo,
    MarkKind,
    PolicyVersion,
    RuleEditInfo,
    Scope,
    SearchHit,
    SessionFilter,
    SessionInfo,
    SessionStamp,
    SignalCounts,
    SignalInfo,
    TurnInfo,
    UserInfo,
)
from ctxcore.summarizers.calling import SummarizerLike, to_summarizer
from ctxcore.tokens.costs import Cost
from ctxcore.tokens.count import counter_for

Content = str | Mapping[str, object] | Message

KEPT_AFTER_DELETE = timedelta(days=30)  # chosen: time to notice a mistake
_PATIENCE_SECONDS = 60.0  # for a background compaction; chosen: longer than a summary takes


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid.uuid4().hex


class ContextEngine:
    """Chats in stored sessions, compacts them, and undoes and explains compactions, for one user.

    Messages may have any shape that is read, or be `Message` values; places in a session count from
    0, sizes are in tokens of the session's model, times are aware and in UTC. Every method that
    takes a session raises `SessionNotFoundError` where there is none and `NotAllowedError` where
    it is another user's, unless this user is an operator and auditor: then the reading is recorded
    (see `people`). All errors are `ContextError`s.

    Args:
        store: the sessions, from `open_store()`.
        user_id: the user of this engine; the first user of a store has all roles.
        gateway: the connection to models; without one nothing can be sent.
        summarizer: writes summaries: a summarizer, or a function of the messages and the
            previous summary that returns a text; the extractive one by default.
        model: the model of sessions that name none.
        layers: the policy layers of environment and file, from `load_layers()`.
        confirm: asked before a compaction where the policy requires a person's confirmation;
            without it a turn ends as `awaiting_confirmation`, and `answer` resumes it.
        wait_seconds: how long a turn waits for others of its session, in the order in which they
            came; then, or at once with 0, it is refused with `LeaseTakenError`.
        job_runner: runs the long work of `jobs`; engines of one process share one, so that its
            threads do.
        clock: the current time, aware; for tests.
        new_id: makes ids; for tests.
    """

    def __init__(
        self,
        store: SessionStore,
        *,
        user_id: str = "local",
        gateway: Gateway | None = None,
        summarizer: SummarizerLike | None = None,
        model: str | None = None,
        layers: Sequence[Layer] = (),
        confirm: Confirm | None = None,
        wait_seconds: float = WAIT_SECONDS,
        job_runner: JobRunner | None = None,
        clock: Callable[[], datetime] = _now,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        self._store = store
        self._services = EngineServices(
            store=store,
            user_id=user_id,
            gateway=gateway,
            summarizer=None if summarizer is None else to_summarizer(summarizer),
            clock=clock,
            new_id=new_id,
            default_model=model,
            recounts=Recounts(store),
            leases=Leases(store, clock, wait_seconds),
            journal=EventJournal(store, clock),
            confirm=confirm,
            layers=tuple(layers),
            audit=Audit(store, user_id, clock),
        )
        self._compactions = Compactions(self._services)
        self._automatic = AutomaticCompactions(self._services, self._compactions)
        self._turns = Turns(self._services, self._automatic)
        self._outside = OutsideCalls(self._services, self._automatic)
        self._exchange = Exchange(self._services)
        self._prompts = SystemPrompts(self._services)
        self._branches = Branches(self._services)
        self._rules = RuleCorrections(self._services)
        self._jobs = Jobs(self._services, job_runner)
        self._relay = Relay(self._services, self._outside)

    @property
    def store(self) -> SessionStore:
        """The store of this engine; reading from it directly does not check owners."""
        return self._store

    @property
    def user_id(self) -> str:
        """The id of this engine's user."""
        return self._services.user_id

    @property
    def default_model(self) -> str | None:
        """The model of sessions that name none."""
        return self._services.default_model

    @property
    def gateway(self) -> Gateway | None:
        """The connection to models; None: nothing can be sent."""
        return self._services.gateway

    @property
    def reports(self) -> Reports:
        """Reports over many sessions, changes of policies, and alerts."""
        return Reports(self._services)

    @property
    def people(self) -> People:
        """The users with their roles, what operators see of all sessions, and who read what."""
        return People(self._services)

    @property
    def jobs(self) -> Jobs:
        """The long work that this user started, with its results."""
        return self._jobs

    # sessions

    def create_session(
        self,
        title: str = "",
        *,
        model: str | None = None,
        system: str | None = None,
        tools: Sequence[Mapping[str, object]] = (),
    ) -> SessionInfo:
        """Creates a session, with a system prompt if one is given.

        Raises:
            MessageError: the prompt is no text, or the tools are no list of JSON objects.
        """
        definitions, system = to_definitions(tools), checked_system(system)
        return self._services.create_session(
            title=title, model=model, system=system, tools=definitions
        )

    def session(self, session_id: str, *, action: AuditAction = "open") -> SessionInfo:
        """The session, if it is the user's; an auditor's reading is recorded as `action`."""
        return self._services.session(session_id, action)

    def change_count(self) -> int:
        """A number that is another one after every change of the database, by any process."""
        return self._services.store.change_count()

    def session_stamp(self, session_id: str) -> SessionStamp:
        """A value that differs once a reader of the session would see something new."""
        return self._services.session_stamp(session_id)

    def sessions(
        self,
        *,
        title: str = "",
        limit: int = 100,
        offset: int = 0,
        deleted: bool = False,
        branches: bool = True,
    ) -> list[SessionInfo]:
        """The user's sessions, the one last changed first.

        Without `branches` those of others are left out, and count for the session they are of.
        """
        present: SessionFilter = "present" if branches else "unbranched"
        return self._store.list_sessions(
            self._services.user_id,
            listed="deleted" if deleted else present,
            title=title,
            limit=limit,
            offset=offset,
        )

    def rename(self, session_id: str, title: str) -> None:
        """Changes the title of a session."""
        self._services.session(session_id, "change")
        self._store.rename(session_id, title, at=self._services.clock())

    def set_model(self, session_id: str, model: str | None) -> None:
        """Changes the model of a session."""
        self._services.session(session_id, "change")
        self._store.set_model(session_id, model, at=self._services.clock())

    def set_system(self, session_id: str, text: str | None) -> None:
        """Sets the system prompt of a session from now on; None: there is none.

        It is appended to the history, and all system messages before it are no longer in force:
        no context has them. The same text again changes nothing.

        Raises:
            MessageError: it is no text.
        """
        self._prompts.set_system(session_id, text)

    def system(self, session_id: str) -> str | None:
        """The system prompt in force, several messages joined; None if there is none."""
        self._services.session(session_id)
        return self._prompts.system(session_id)

    def system_versions(self, session_id: str) -> list[SystemVersion]:
        """All system messages of a session, oldest first."""
        self._services.session(session_id)
        return self._prompts.versions(session_id)

    def set_tools(self, session_id: str, tools: Sequence[Mapping[str, object]]) -> None:
        """Sets the tool definitions of a session from now on.

        Raises:
            MessageError: they are no list of JSON objects.
        """
        self._prompts.set_tools(session_id, tools)

    def set_goal(self, session_id: str, at: int) -> None:
        """Sets the message (its place, from 0) that states what the user wants.

        Raises:
            PlaceError: there is no such message.
        """
        self._store.set_goal(session_id, self._seq(session_id, at))

    def set_working_state(self, session_id: str, working: WorkingState | None) -> None:
        """Sets what later compactions of the session keep word for word beside a summary.

        It replaces the previous one. A field that is None is read from the history, as all fields
        are with None. Only policies with a `working_state_ratio` keep it.
        """
        self._services.session(session_id, "change")
        self._store.set_working_state(session_id, working or EMPTY_WORKING_STATE)

    def working_state(self, session_id: str) -> WorkingState:
        """The last value of `set_working_state`; fields that are None are read from the history."""
        return self._services.session(session_id).working

    def delete(self, session_id: str) -> None:
        """Hides a session; `restore` brings it back for 30 days."""
        self._services.session(session_id, "delete")
        self._store.delete(session_id, at=self._services.clock())

    def restore(self, session_id: str) -> None:
        """Restores a deleted session, as changed now, so that no policy deletes it soon."""
        self._services.session(session_id, "change")
        self._store.restore(session_id, at=self._services.clock())

    def purge(self, session_id: str) -> None:
        """Erases a session and all its records permanently."""
        self._services.session(session_id, "delete")
        self._store.purge(session_id)

    def purge_expired(self) -> list[str]:
        """Erases what was deleted more than 30 days ago, or was left by an import that was killed.

        Records of who read what are erased after a year. Returns the ids of the sessions.
        """
        self._store.purge_audit(before=self._services.clock() - KEPT_AUDIT)
        left = erase_abandoned(self._services)
        before = self._services.clock() - KEPT_AFTER_DELETE
        return [*left, *self._store.purge_deleted(before=before)]

    def due_sessions(
        self, *, everybody: bool = False, instead: tuple[Scope, int | None] | None = None
    ) -> list[DueSession]:
        """The sessions that `delete_after_days` has deleted next, of the user or of all.

        `instead` is a scope with the days that it would set, None for none of its own: what a
        change would do.

        Raises:
            NotAllowedError: all were asked for, and the user is no operator.
        """
        if everybody:
            self._services.require_operator(AccessCode.THRESHOLDS())
        limits = stored_limits(self._store)
        if instead is not None:
            limits.pop(instead[0], None)
            limits |= {} if instead[1] is None else {instead[0]: instead[1]}
        found = self._due(limits, None if everybody else self.user_id)
        seen = as_seen(self._services, [due.session for due in found])
        return [replace(due, session=one) for due, one in zip(found, seen, strict=True)]

    def delete_due(self) -> list[DueSession]:
        """Deletes the sessions of all users that are due; `restore` brings them back.

        Not for a user to ask for: whoever keeps the store calls it once a day.
        """
        found = self._due(stored_limits(self._store), None)
        for due in found:
            self._store.delete(due.session.id, at=self._services.clock())
        return found

    def _due(self, limits: Limits, user_id: str | None) -> list[DueSession]:
        return due_sessions(
            self._store,
            limits,
            self._services.layers,
            now=self._services.clock(),
            user_id=user_id,
            default_model=self._services.default_model,
        )

    def purge_all_deleted(self) -> list[str]:
        """Erases all deleted sessions of the user permanently; returns their ids."""
        erased: list[str] = []
        while page := self.sessions(deleted=True, limit=500):
            for session in page:
                self._store.purge(session.id)
                erased.append(session.id)
        return erased

    def fork(self, session_id: str, at: int, *, title: str | None = None) -> SessionInfo:
        """Copies a session up to the end of the block of message `at` into a new one.

        Raises:
            PlaceError: there is no such message.
        """
        return self._store.fork(
            session_id,
            self._seq(session_id, at, "export"),
            fork_id=self._services.new_id(),
            new_id=self._services.new_id,
            at=self._services.clock(),
            title=title,
            user_id=self._services.user_id,
        )

    def branch(self, session_id: str, at: int, *, title: str | None = None) -> SessionInfo:
        """Copies a session up to the message before `at` into a new one.

        To edit message `at` and send it again, or to have it answered anew: the original stays.

        Raises:
            PlaceError: there is no such message.
            SplitBlockError: a call before it would lose its results.
        """
        return self._branches.branch(session_id, at, title=title)

    def branches(self, session_id: str) -> list[BranchPoint]:
        """The places where forks and branches leave a session, with the sessions at each."""
        return self._branches.family(session_id)

    def search(self, query: str) -> list[SearchHit]:
        """Messages of all sessions of the user with any word of `query`, the best first.

        `recall` searches one session.
        """
        return self._store.search(self._services.user_id, query)

    # messages and marks

    def append(self, session_id: str, messages: Given) -> list[int]:
        """Appends messages, all or none; returns their places, from 0.

        They may have any shape that is read; some contain several messages, or parts of one.

        Raises:
            MessageError: one of them is not a message, or of another shape; nothing was added.
        """
        session = self._services.session(session_id, "change")
        seqs = self._services.append_to(session, parse_messages(messages))
        return [seq - 1 for seq in seqs]

    def pin(self, session_id: str, at: int) -> None:
        """Keeps message `at`, with its whole block, verbatim in every context.

        Raises:
            PlaceError: there is no such message.
        """
        self._mark(session_id, at, "pin")

    def unpin(self, session_id: str, at: int) -> bool:
        """Allows message `at` to be folded again; False if it was not pinned."""
        return self._clear_mark(session_id, at, "pin")

    def exclude(self, session_id: str, at: int) -> None:
        """Leaves message `at`, with its whole block, out of every context; it stays stored.

        A system message is not in force then.

        Raises:
            PlaceError: there is no such message.
        """
        self._mark(session_id, at, "exclude")

    def include(self, session_id: str, at: int) -> bool:
        """Removes an exclusion; False if there was none."""
        return self._clear_mark(session_id, at, "exclude")

    def add_rule(self, session_id: str, at: int, text: str) -> RuleEditInfo | None:
        """Counts words of message `at` as a standing instruction from now on.

        Contexts, compactions and losses then have it as a rule that was found. The edit is kept
        with its time and this user; None where the words count as a rule without one, since the
        finder has them and a dismissal, if there was one, is taken back.

        Raises:
            PlaceError: there is no such message.
            RuleError: the message does not say that.
        """
        return self._rules.add(session_id, self._seq(session_id, at), text)

    def dismiss_rule(self, session_id: str, at: int, text: str) -> RuleEditInfo | None:
        """Counts a rule that was found in message `at` no longer as one, as if it were not there.

        What it had taken back or replaced holds again. Later messages that say the same lay down
        nothing either. None where the rule had only been added: it is gone.

        Raises:
            PlaceError: there is no such message.
            RuleError: the message lays down no such rule.
        """
        return self._rules.dismiss(session_id, self._seq(session_id, at), text)

    def undo_rule_edit(self, session_id: str, edit_id: int) -> bool:
        """Takes back what `add_rule` or `dismiss_rule` recorded; False if that was done before.

        Raises:
            RecordNotFoundError: the session has no such edit.
        """
        self._services.session(session_id, "change")
        return self._rules.undo(session_id, edit_id)

    def rule_edits(self, session_id: str, *, with_undone: bool = False) -> list[RuleEditInfo]:
        """The rules that people added and dismissed, with who and when, by message."""
        self._services.session(session_id)
        return self._store.rule_edits(session_id, with_cleared=with_undone)

    def _mark(self, session_id: str, at: int, kind: MarkKind) -> None:
        seq = self._seq(session_id, at)
        self._store.add_mark(session_id, seq, kind, at=self._services.clock())

    def _clear_mark(self, session_id: str, at: int, kind: MarkKind) -> bool:
        self._services.session(session_id, "change")
        return self._store.clear_mark(session_id, at + 1, kind, at=self._services.clock())

    def _seq(self, session_id: str, at: int, action: AuditAction = "change") -> int:
        """The sequence number, from 1, of the message at a place, from 0."""
        length = self._services.session(session_id, action).length
        if not 0 <= at < length:
            raise PlaceError(place=at, length=length)
        return at + 1

    def expand(
        self,
        session_id: str,
        ref: str,
        *,
        path: str | None = None,
        rows: str | None = None,
        grep: str | None = None,
        max_tokens: int = EXPAND_ANSWER_TOKENS,
    ) -> str:
        """Exact parts of a stored message, even if contexts have it shortened or folded.

        Args:
            session_id: The session of the message.
            ref: The message as shortened outputs name it: `m1` is the first of the session. It
                is the same after a restart, in an export and in a fork.
            path: A value inside JSON, e.g. `items[3].name`.
            rows: Lines of text or items of a list, `a:b`, counted from 0.
            grep: A regular expression, or plain words; gives matches with their surroundings.
            max_tokens: The budget of the answer, in tokens of the session's model.

        Raises:
            PartNotFoundError: there is no such message or part; the error says what there is.
        """
        session = self._services.session(session_id)
        return extract_with(
            original_text(self._store, session, ref),
            path=path,
            rows=rows,
            grep=grep,
            max_tokens=max_tokens,
            counter=counter_for(session.model or self._services.default_model),
        )

    def recall(self, session_id: str, query: str, *, limit: int = 10) -> list[RecallHit]:
        """What was said in a session about `query`, the best first, with what stands around it.

        A message is found by any word, in any of its forms; words that say little weigh nothing.
        Excluded messages and system messages are never found, and none is shown twice.
        """
        session = self._services.session(session_id, "recall")
        counter = self._services.counter(session)
        view, _ = self._services.recounts.view(session, counter)
        return find_hits(view, query, counter, limit=limit)

    def story(self, session_id: str, seq: int) -> MessageStory:
        """What became of message `seq` (from 1): which calls showed it, and who used it later.

        This reads the verdicts of all calls behind it.

        Raises:
            PlaceError: the session has no such message.
        """
        self._check_seq(session_id, seq)
        return story_of(self._services, session_id, seq)

    def said_about(self, session_id: str, words: str, *, limit: int = 10) -> list[RecalledMessage]:
        """The messages of a session with a phrase, to ask for their stories: first those that say
        it word for word, oldest first, then those with most of its words.
        """
        return said_about(self._services, session_id, words, limit=limit)

    def fates(self, session_id: str, seq: int) -> list[MessageFate]:
        """What the policy in force, and every other preset, would have made of message `seq`.

        The whole session is walked under each, with summaries that quote: when the message would
        have been shortened and hidden, by which compaction, and how often the context would have
        held a fact of it when it was used. `start_fates` does it in the background.

        Raises:
            PlaceError: the session has no such message.
        """
        self._services.session(session_id)
        self._check_seq(session_id, seq)
        return collect(fates_of(self._services, session_id, seq))

    def start_fates(self, session_id: str, seq: int) -> JobInfo:
        """`fates` as a job, or the job that has done the same already.

        Its result has `fates`, each as `MessageFate.to_dict` gives it.
        """
        self._check_seq(session_id, seq)
        policy = self.policy(session_id).policy
        return self._jobs.start(
            FATES,
            {"session": session_id, "message": seq},
            fates_work(self._services, session_id, seq),
            session_ids=[session_id],
            reads=repr((policy, self.models())),
        )

    def _check_seq(self, session_id: str, seq: int) -> None:
        length = self._services.session(session_id).length
        if not 1 <= seq <= length:
            raise PlaceError(place=seq - 1, length=length)

    # contexts and turns

    def context(
        self,
        session_id: str,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        knowledge: Mapping[str, str] | None = None,
        system: str | None = None,
    ) -> Context:
        """The context of the next call, with other tools or another system prompt if given.

        Raises:
            BudgetError: what must be kept does not fit.
        """
        target = self._services.call_target(
            session_id, model=model, tools=tools, knowledge=knowledge, system=system
        )
        return target.told(build_context(target.view, target.call, target.record))

    def context_under(self, session_id: str, overrides: JsonObject) -> Context:
        """The context of the next call if the policy had these fields on top; nothing is saved.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
            BudgetError: what must be kept does not fit.
        """
        target = self._services.call_target(session_id, overrides=overrides)
        return target.told(build_context(target.view, target.call, target.record))

    def call_target(self, session_id: str, *, model: str | None = None) -> CallTarget:
        """The session with model, policy and history, as the next call sees it."""
        return self._services.call_target(session_id, model=model)

    def subject(self, session_id: str, *, model: str | None = None) -> CallTarget:
        """The former name of `call_target`, to be removed in the next release."""
        warnings.warn("use call_target()", DeprecationWarning, stacklevel=2)
        return self.call_target(session_id, model=model)

    def begin_relayed(self, request: RelayedRequest) -> Relayed:
        """Joins a request that another program sends itself to a session, and fits it.

        It joins the session whose messages it begins with, among those of the same name; a session
        that went on otherwise is forked there, and where none is known a new one begins. What is
        new is added to the session, which is compacted first where its policy says so before a
        call. Finding it takes statements for the new messages only. What fails once the request is
        in its session is `problem` of the result, which has no context then.

        Raises:
            StoreError: the request could not be added.
        """
        return self._relay.begin(request)

    def end_relayed(
        self, relayed: Relayed, reply: ModelReply | None, *, error: Reason | None = None
    ) -> None:
        """Stores the answer to such a request and records the call.

        The answer is left out where the next request was faster: it has the answer itself. Where
        the policy checks after answers or in the background, that begins now, in a thread.
        """
        self._relay.end(relayed, reply, error)

    def call_request(self, session_id: str, call_id: str) -> RebuiltRequest:
        """What a past call was sent, made again from the history and the texts stored with it.

        Its verdict says whether it is the same, byte for byte, and what is known where it is not.

        Raises:
            RecordNotFoundError: there is no such call.
        """
        return rebuilt_request(self._store, self._services.session(session_id), call_id)

    def call_changes(
        self, session_id: str, call_id: str, other_call_id: str
    ) -> RequestChanges | None:
        """What changed from the request of a call to that of another: how far both begin alike,
        why they part, and every message that differs.

        None where one of them cannot be made again; `call_request` says why.

        Raises:
            RecordNotFoundError: there is no such call.
        """
        before = self.call_request(session_id, call_id)
        return compare_requests(before, self.call_request(session_id, other_call_id))

    def chat(
        self,
        session_id: str,
        content: Content,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        run_tool: RunTool | None = None,
        knowledge: Mapping[str, str] | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        confirm: Confirm | None = None,
        system: str | None = None,
    ) -> Iterator[TurnEvent]:
        """Sends `content` to the model and yields events; the last one is `TurnEnded`.

        Nothing happens before the first `next()`. Closing the iterator cancels the
        provider's stream and saves the turn as stopped. Without `run_tool` a turn with calls ends
        as `awaiting_tools`: append the results, then `continue_turn`. `system` is the system prompt
        of this turn alone, however often it is continued; "" sends none.

        Raises (from the iterator):
            NoModelError: no model is set. LeaseTakenError: others of this session did not end in
                time.
        """
        request = TurnRequest(
            session_id=session_id,
            model=model,
            tools=tools,
            knowledge=knowledge or {},
            run_tool=run_tool,
            max_output_tokens=max_output_tokens,
            temperature=temperature,
            confirm=confirm,
            system=system,
        )
        return self._turns.start(request, _to_message(content))

    def continue_turn(
        self,
        session_id: str,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        run_tool: RunTool | None = None,
        knowledge: Mapping[str, str] | None = None,
        max_output_tokens: int | None = None,
        system: str | None = None,
    ) -> Iterator[TurnEvent]:
        """Resumes the last turn, after tool results, a failure or a stop.

        With `run_tool` calls without results are run first. The partial answer of a process that
        crashed becomes a message. The turn keeps the `system` it began with unless one is given.

        Raises (from the iterator):
            TurnStateError: no turn was begun, the last one is done, or calls wait for results.
            NoModelError: no model is set. LeaseTakenError: others of this session did not end in
                time.
        """
        request = TurnRequest(
            session_id=session_id,
            model=model,
            tools=tools,
            run_tool=run_tool,
            knowledge=knowledge or {},
            max_output_tokens=max_output_tokens,
            system=system,
        )
        return self._turns.resume(request)

    def answer(
        self,
        session_id: str,
        plan_id: str,
        answer: Answer,
        *,
        tools: Sequence[Mapping[str, object]] | None = None,
        run_tool: RunTool | None = None,
        knowledge: Mapping[str, str] | None = None,
        system: str | None = None,
    ) -> Iterator[TurnEvent]:
        """Resumes the turn that waits for a person's answer to `ConfirmationNeeded`.

        "compact" carries the plan out, "drop_oldest" leaves its messages out without a summary,
        "new_session" continues in a new one, and "refuse" ends the turn with an error that says how
        full the context is. The plan is made again, with the messages since.

        Raises (from the iterator):
            TurnStateError: nothing waits for this answer.
            StaleProposalError: the active compaction, a mark inside its range or the policy
                changed since; continue the turn to be asked again.
        """
        if answer not in ANSWERS:
            raise TurnStateError(problem=TurnProblem.NO_ANSWER(answer=answer, names=tuple(ANSWERS)))
        self._services.session(session_id, "change")
        pending = self._automatic.pending(session_id, plan_id)
        request = TurnRequest(
            session_id=session_id,
            model=pending.base.model,
            tools=tools,
            run_tool=run_tool,
            knowledge=knowledge or {},
            system=system,
        )
        return self._turns.answer(request, pending, answer)

    def begin_call(
        self,
        session_id: str,
        messages: Given,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        system: str | None = None,
    ) -> OutsideCall:
        """Appends new messages and chooses what to send, for a call that the caller makes itself.

        A compaction that is due before a call is carried out first; where the policy asks for it
        behind answers, `end_call` begins it in a thread. Where the policy asks a person, the call
        goes on without one. Send `call.context.messages`, then pass the answer to `end_call`.

        Raises:
            BudgetError: what must be kept does not fit.
            MessageError: one of `messages` is not a message; nothing was added.
        """
        added = parse_messages(messages)
        return self._outside.begin(session_id, added, model=model, tools=tools, system=system)

    def end_call(self, call: OutsideCall, reply: ModelReply) -> int:
        """Appends the answer to a call of `begin_call`, stores its usage; returns its place."""
        seq = self._outside.end(call, reply)
        assert seq is not None  # a reply is always appended
        return seq - 1

    @property
    def outside_calls(self) -> OutsideCalls:
        """Calls that others make, for programs that keep sessions of a framework."""
        return self._outside

    def pending(self, session_id: str) -> Pending | None:
        """The compaction that waits for a person's confirmation in a session."""
        self._services.session(session_id)
        return self._automatic.pending_of(session_id)

    def state(self, session_id: str) -> SessionState:
        """What is summarized of a session, with sizes and times."""
        self._services.session(session_id)
        return session_state(self._services, session_id)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` with every event of this engine's sessions from now on.

        It is called in the thread of the event; the returned function ends the subscription.
        """
        return self._services.journal.subscribe(listener)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tells `watcher` of every context, call and event of this engine from now on.

        It is called in the thread of what happens; the returned function ends this.
        """
        ends = (self._services.watchers.add(watcher), self.subscribe(watcher.on_event))

        def end() -> None:
            for one in ends:
                one()

        return end

    def wait(self, session_id: str | None = None, timeout_seconds: float | None = None) -> bool:
        """Waits for background compactions of a session, or of all; False if time ran out."""
        return self._services.queue.wait(session_id, timeout_seconds)

    def interrupt_stale_turns(self) -> list[TurnInfo]:
        """Marks turns of crashed processes as interrupted; call it at start-up.

        Those of this machine at once, those of others once their lease has expired.
        """
        ended = self._services.leases.ended()
        return self._store.interrupt_stale_turns(at=self._services.clock(), ended=ended)

    def turn_holder(self, session_id: str) -> LeaseInfo | None:
        """Who runs a turn in the session now; None if nobody does, or its process has ended."""
        self._services.session(session_id)
        return self._services.leases.holder_of(turn_lease(session_id))

    def take_over(self, session_id: str) -> TurnInfo | None:
        """Marks the session's running turn as interrupted, also one that another process runs.

        None if no turn is running. Its partial answer stays; the other process is refused its next
        write. Turns of processes that have ended need no call: the next turn takes their place.
        """
        self._services.session(session_id, "change")
        return self._store.interrupt_turn(session_id, at=self._services.clock())

    # compactions

    def propose(
        self,
        session_id: str,
        *,
        model: str | None = None,
        focus: str = "",
        way: Alternative | None = None,
    ) -> Proposal:
        """Computes a compaction; nothing is recorded until it is confirmed.

        Args:
            session_id: The session.
            model: Another model than the session's.
            focus: What it should keep, in a person's words, beside the policy's
                `summary_instructions`.
            way: A preset or a strategy to compact by in place of the policy, this once; sizes and
                losses are those of the session's next call, which goes on under its own policy.

        Raises:
            BudgetError: what must be kept does not fit.
        """
        self._services.session(session_id)
        self.wait(session_id, _PATIENCE_SECONDS)
        target = self._services.call_target(session_id, model=model)
        if way is not None and way.kind != "policy":
            return self._compactions.proposals.make_by(target, way, focus=focus)
        return self._compactions.proposals.make(target, focus=focus)

    def compare_compactions(
        self,
        session_id: str,
        *,
        model: str | None = None,
        overrides: JsonObject | None = None,
    ) -> list[Compared]:
        """What each preset and each strategy would make of the next call, at this moment.

        The policy in force comes first. Each row has the next call without and with it, what would
        be lost of what the end of the conversation uses, the cost, and after how many calls it has
        paid. Summaries are quotes, so that no model is called; nothing is recorded. This takes as
        long as that many compactions; `start_comparison` does it in the background.

        Args:
            session_id: The session.
            model: Another model for the next call.
            overrides: Policy fields to set for this comparison alone, as in `policy`.

        Raises:
            PolicyError: a field is not valid.
        """
        self._services.session(session_id)
        return compared(self._services, session_id, model=model, overrides=overrides)

    def start_comparison(self, session_id: str, *, model: str | None = None) -> JobInfo:
        """`compare_compactions` as a job, or the job that has done the same already.

        Its result has `rows`, each as `Compared.to_dict` gives it.
        """
        policy = self.policy(session_id, model=model).policy
        return self._jobs.start(
            COMPARISON,
            {"session": session_id, "model": model},
            work_of(self._services, session_id, model),
            session_ids=[session_id],
            reads=repr((policy, self.models())),
        )

    def confirm(self, proposal: Proposal, *, summary: str | None = None) -> CompactionInfo | None:
        """Records a proposal, with an edited summary if one is given.

        Raises:
            StaleProposalError: the session has changed since it was made.
        """
        self._services.session(proposal.session_id, "change")
        return self._compactions.confirm(proposal, summary=summary)

    def edit(self, proposal: Proposal, summary: str) -> Proposal:
        """The proposal with another summary: its sizes, facts and losses are measured again.

        Nothing is recorded; `proposal` is the one that `propose` made.
        """
        return self._compactions.edit(proposal, summary)

    def compact(
        self, session_id: str, *, model: str | None = None, focus: str = ""
    ) -> CompactionInfo | None:
        """Compacts now, whatever the size; None if nothing may be folded.

        `focus` is that of `propose`.
        """
        return self.confirm(self.propose(session_id, model=model, focus=focus))

    def undo(self, session_id: str) -> CompactionInfo | None:
        """Undoes the active compaction; None if there is none. Nothing is deleted.

        Afterwards nothing is compacted automatically until the input exceeds the usable window, or
        a person compacts or redoes.

        Raises:
            StaleCompactionError: another compaction or undo happened at the same time.
        """
        return self._compactions.undo(session_id)

    def redo(self, session_id: str) -> CompactionInfo | None:
        """Reverts the last undo; None if nothing was undone.

        Raises:
            StaleCompactionError: another compaction or undo happened at the same time.
        """
        return self._compactions.redo(session_id)

    def compactions(self, session_id: str) -> list[CompactionInfo]:
        """All compactions of a session, oldest first, including undone ones."""
        self._services.session(session_id)
        return self._store.compactions(session_id)

    def losses(self, session_id: str, compaction_id: str) -> LossReport:
        """The facts that a compaction lost, with kind, place, salience and later use.

        Reads the whole history. For a compaction of an imported file the report also compares what
        the session's policy would have kept, and lists what was read again.

        Raises:
            RecordNotFoundError: the session has no such compaction.
        """
        return loss_report(self._services, session_id, compaction_id)

    def generations(self, session_id: str) -> list[GenerationLosses]:
        """What each of the compactions in force lost, oldest first, by what matters.

        Reads the whole session for each; `start_generations` does it in the background.
        """
        self._services.session(session_id)
        return collect(losses_by_generation(self._services, session_id))

    def start_generations(self, session_id: str) -> JobInfo:
        """`generations` as a job, or the job that has done the same already.

        Its result has `generations`, each as `GenerationLosses.to_dict` gives it.
        """
        policy = self.policy(session_id).policy
        work = losses_work(self._services, session_id)
        return self._jobs.start(
            GENERATIONS,
            {"session": session_id},
            work,
            session_ids=[session_id],
            reads=repr(policy),
        )

    def sentence_lives(self, session_id: str) -> tuple[SentenceLife, ...]:
        """How long each sentence of the summaries in force lived: from which compaction to which.

        Sentences of a summary whose messages are not known, e.g. of another program's, are left
        out.
        """
        self._services.session(session_id)
        return lives_of(chain_of(self._services, session_id))

    def losses_under(
        self, session_id: str, compaction_id: str, presets: Sequence[str]
    ) -> tuple[PresetLosses, ...]:
        """What each of `presets` would have lost of what was needed later.

        Each compacts the messages that there were then, in as many tokens as the compaction led
        to. This reads the whole session, and takes as long as that many compactions.
        """
        return losses_under(self._services, session_id, compaction_id, presets)

    def proposed_losses(self, proposal: Proposal) -> ProposedLosses:
        """What a proposal would lose, by what matters, and what that comes to."""
        return proposed_losses(self._services, proposal)

    def signals(self, session_id: str) -> list[SignalInfo]:
        """The forgetting signals of a session, by message: turns that repeat what the context did
        not show, ask for it again or say so.
        """
        self._services.session(session_id)
        return self._store.signals(session_id)

    def judge_signal(self, session_id: str, signal_id: int, *, is_right: bool | None) -> SignalInfo:
        """Records whether a signal is right, as a person sees it; None takes that back.

        Raises:
            RecordNotFoundError: the session has no such signal.
        """
        self._services.session(session_id, "change")
        return self._store.judge_signal(
            session_id, signal_id, is_right=is_right, at=self._services.clock()
        )

    def signal_counts(self) -> list[SignalCounts]:
        """The forgetting signals in this user's sessions, by version of the policy."""
        return self._store.signal_counts(Scope(kind="user", owner=self._services.user_id))

    # async twins, each in a thread of its own

    # policies, users, models

    def policy(self, session_id: str, *, model: str | None = None) -> EffectivePolicy:
        """The policy of a session, with the layer of each value; operators see that of all."""
        session = self._services.figures(session_id)
        return self._services.effective_policy(
            session, model or session.model or self._services.default_model
        )

    def save_policy(self, scope: Scope, overrides: JsonObject) -> PolicyVersion:
        """Saves a new version of a scope's overrides, in force from its next turn on.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
            NotAllowedError: it is another user's, and this user is no operator.
        """
        (version,) = self.save_policies({scope: overrides})
        return version

    def save_policies(self, overrides: Mapping[Scope, JsonObject]) -> list[PolicyVersion]:
        """Saves the overrides of many scopes, all or none; they replace what each had.

        Returns their new versions in the same order.

        Raises:
            PolicyError: a field is unknown or a value is outside its range.
            NotAllowedError: one is another user's, and this user is no operator.
        """
        for scope, own in overrides.items():
            self._services.check_scope(scope)
            to_policy(own)
        return self._store.save_policies(
            overrides, by=self._services.user_id, at=self._services.clock()
        )

    def deviations(self) -> list[Deviation]:
        """The fields in which scopes differ from the default for everybody; for operators."""
        self._require_operator(AccessCode.THRESHOLDS())
        return deviations(self._store.all_policies(), outer=self._services.layers)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The policy layers of environment and file, widest first."""
        return self._services.layers

    def user(self) -> UserInfo:
        """This engine's user."""
        return self._services.user()

    def users(self) -> list[UserInfo]:
        """All users; for operators."""
        self._require_operator(AccessCode.USERS())
        return self._store.list_users()

    def create_user(self, user_id: str, *, name: str = "", group: str = "") -> UserInfo:
        """Adds a user; for operators."""
        self._require_operator(AccessCode.ADD_USERS())
        return self._store.create_user(
            user_id, at=self._services.clock(), name=name or user_id, group=group
        )

    def assign(self, session_id: str, user_id: str) -> None:
        """Changes the owner of a session; for operators, another's for auditors, recorded."""
        self._require_operator(AccessCode.ASSIGN())
        self._services.session(session_id, "assign")
        self._store.user(user_id)
        self._store.assign(session_id, user_id)

    def models(self) -> ModelCatalog:
        """This installation's connections, and its own windows and prices of models."""
        return ModelCatalog.load(self._store)

    def budget(
        self, session_id: str, policy: Policy, *, model: str | None = None
    ) -> TokenBudget | None:
        """The budget that `policy` would have in a session; None for an unknown window."""
        target = self.call_target(session_id, model=model)
        return self._services.budget(target, policy)

    def health(self) -> Health:
        """Versions, database, running turns, errors, models and counters, for operators.

        Raises:
            NotAllowedError: the user is no operator.
        """
        return health_of(self._services)

    def check_database(self) -> list[str] | None:
        """What is wrong in the database, for operators; None where it cannot be asked."""
        return check_database(self._services)

    def examine_database(
        self, *, repairs: bool = False, on_progress: Callable[[int, int], None] | None = None
    ) -> Iterator[Finding]:
        """All that is wrong in the database, session by session, for operators.

        Args:
            repairs: makes again what can be derived from what is sound.
            on_progress: is told how many sessions are done, and how many there are.

        Raises:
            NotAllowedError: the user is no operator.
        """
        return examine(self._services, repairs=repairs, on_progress=on_progress)

    def last_backup(self) -> datetime | None:
        """When the last backup was made by `back_up`, for operators; None if none was."""
        return last_backup(self._services)

    def back_up(self, path: Path, *, overwrite: bool = False) -> None:
        """Copies an SQLite database into a file while it is in use, for auditors, recorded.

        The file appears when it is complete; one that is there stays, unless `overwrite` is set.

        Raises:
            DatabaseError: it is no SQLite file, or the file is there or cannot be written.
        """
        back_up(self._services, path, overwrite=overwrite)

    def restore_backup(self, backup: Path) -> Restored:
        """Puts a backup in the place of the SQLite database while it is in use, for auditors.

        The backup is checked and repaired first, in a copy; the former database is kept beside it.

        Raises:
            StoreError: the file is no backup or from a newer version, or the database is no SQLite
                file.
        """
        return restore_backup(self._services, backup)

    def foresee(
        self, session_id: str, policy: Policy, *, model: str | None = None, plans: bool = True
    ) -> Foreseen:
        """What `policy` would make of a session before its next call; nothing is recorded.

        A compaction that is due is planned unless `plans` is false: with a long history that takes
        seconds.
        """
        self._services.session(session_id)
        return foresee(self._services, session_id, policy, model=model, plans=plans)

    def calls(self, session_id: str) -> list[CallInfo]:
        """The session's calls, oldest first, without their runs; each with what it cost.

        A cost is the recorded one; without, e.g. for an imported call, it follows from the usage
        that the provider reported and the price that is known today.
        """
        session = self._services.session(session_id)
        return with_cost(self._store.calls(session.id, with_runs=False), self.models())

    def costs(self, sessions: Sequence[SessionInfo]) -> dict[str, Cost]:
        """What the calls of each of these sessions cost together; one without calls is left out.

        The number of SQL statements does not grow with the sessions.
        """
        is_operator = self._services.user().is_operator
        seen = [one.id for one in sessions if is_operator or one.user_id == self._services.user_id]
        found: dict[str, list[BilledCalls]] = defaultdict(list)
        for group in with_cost(self._store.billed_calls(seen), self.models()):
            found[group.session_id].append(group)
        return {session_id: cost_of_calls(groups) for session_id, groups in found.items()}

    def _require_operator(self, what: Reason) -> None:
        self._services.require_operator(what)

    # files

    def export(self, session_id: str, form: str = "native", *, redacts: bool = False) -> str:
        """The session as a file's text; `native` is complete and can be imported again.

        Args:
            session_id: Whose messages, calls and compactions are written.
            form: One of `ctxcore.exports.registry.EXPORT_FORMS`.
            redacts: Puts a numbered mark in the place of each key, token and password.

        Raises:
            ExportError: there is no such form, or its files are no text: use `export_many`.
            RedactionUnavailableError: `redacts`, and the extra `redact` is not installed.
        """
        return self._exchange.export(session_id, form, redacts=redacts)

    def secrets_in(self, session_id: str) -> Mapping[SecretKind, int]:
        """How many different secrets of each kind an export of the session would hold.

        Raises:
            RedactionUnavailableError: the extra `redact` is not installed.
        """
        return self._exchange.secrets_in(session_id)

    def export_many(
        self, session_ids: Sequence[str], form: str, *, redacts: bool = False
    ) -> Iterator[ExportedFile]:
        """The files of sessions, each with a name of its own, read and written one at a time.

        Tables of usage have the calls of all sessions in one file; `redacts` as in `export`.

        Raises:
            ExportError: there is no such form, or a package is missing that it needs.
            RedactionUnavailableError: `redacts`, and the extra `redact` is not installed.
        """
        return self._exchange.export_many(session_ids, form, redacts=redacts)

    def damage(self, session_id: str) -> tuple[Reason, ...]:
        """What of a stored session cannot be read; empty where all of it can.

        Contexts and exports have the rest of it, with a sentence in the place of a message. Whole
        databases are checked by `ctxcore doctor`.
        """
        return self._exchange.damage(session_id)

    def preview_import(self, text: str, *, name: str) -> list[ImportPreview]:
        """The conversations of a text; nothing is written."""
        return self._exchange.preview(ImportSource.of_text(text, name=name))

    def preview_file(self, path: str | Path) -> list[ImportPreview]:
        """The conversations of a file of any length; nothing is written.

        Raises:
            FormatError, ImportRefusedError: as `import_file`.
        """
        return self._exchange.preview(ImportSource.of_file(Path(path)))

    def import_(
        self,
        text: str,
        *,
        name: str = "import",
        places: Sequence[int] | None = None,
        on_progress: Progress | None = None,
    ) -> list[SessionInfo]:
        """Imports the conversations of a text (or those at `places`) as sessions of the user.

        They are seen once all are complete, at once. `on_progress` is called with the messages
        written so far, and all, of each conversation.

        Raises:
            FormatError, ImportRefusedError: the text is damaged, or has no format this library
                reads. After any error nothing of it is kept.
        """
        source = ImportSource.of_text(text, name=name)
        return self._exchange.import_(source, places=places, on_progress=on_progress)

    def import_file(
        self,
        path: str | Path,
        *,
        places: Sequence[int] | None = None,
        on_progress: Progress | None = None,
    ) -> list[SessionInfo]:
        """Imports a file as `import_` imports a text, and holds one conversation at a time.

        Of a long Claude Code session only some messages are held at a time; an export of this
        library is held as a whole. The file is read to its end before anything is written, and
        then again: it must not change meanwhile.

        Raises:
            FormatError, ImportRefusedError: the file cannot be read, is damaged, or has no format
                this library reads. After any error nothing of it is kept.
        """
        source = ImportSource.of_file(Path(path))
        return self._exchange.import_(source, places=places, on_progress=on_progress)

    def imported_before(
        self, text: str, places: Sequence[int] | None = None
    ) -> dict[int, ImportedBefore]:
        """Which conversations of a text the user imported before, by place, as what and when.

        It does not matter whether a text or the file with it was imported.
        """
        return self._exchange.imported_before(ImportSource.of_text(text, name=""), places)

    def file_imported_before(
        self, path: str | Path, places: Sequence[int] | None = None
    ) -> dict[int, ImportedBefore]:
        """`imported_before` of a file.

        Raises:
            FormatError: it cannot be read.
        """
        return self._exchange.imported_before(ImportSource.of_file(Path(path)), places)

    def digest(self, session_id: str) -> str:
        """A hash of a session's content; equal after export and import."""
        return self._exchange.digest(session_id)

    # the same for an event loop, each verb in a thread of its own

    acreate_session = async_twin(create_session)
    asession = async_twin(session)
    asession_stamp = async_twin(session_stamp)
    achange_count = async_twin(change_count)
    asessions = async_twin(sessions)
    arename = async_twin(rename)
    aset_model = async_twin(set_model)
    aset_system = async_twin(set_system)
    asystem = async_twin(system)
    asystem_versions = async_twin(system_versions)
    aset_tools = async_twin(set_tools)
    aset_goal = async_twin(set_goal)
    aset_working_state = async_twin(set_working_state)
    aworking_state = async_twin(working_state)
    adelete = async_twin(delete)
    arestore = async_twin(restore)
    apurge = async_twin(purge)
    apurge_expired = async_twin(purge_expired)
    adue_sessions = async_twin(due_sessions)
    adelete_due = async_twin(delete_due)
    apurge_all_deleted = async_twin(purge_all_deleted)
    afork = async_twin(fork)
    abranch = async_twin(branch)
    abranches = async_twin(branches)
    asearch = async_twin(search)
    aappend = async_twin(append)
    apin = async_twin(pin)
    aunpin = async_twin(unpin)
    aexclude = async_twin(exclude)
    ainclude = async_twin(include)
    aadd_rule = async_twin(add_rule)
    adismiss_rule = async_twin(dismiss_rule)
    aundo_rule_edit = async_twin(undo_rule_edit)
    arule_edits = async_twin(rule_edits)
    aexpand = async_twin(expand)
    arecall = async_twin(recall)
    astory = async_twin(story)
    asaid_about = async_twin(said_about)
    afates = async_twin(fates)
    astart_fates = async_twin(start_fates)
    acontext = async_twin(context)
    acontext_under = async_twin(context_under)
    acall_target = async_twin(call_target)
    acall_request = async_twin(call_request)
    acall_changes = async_twin(call_changes)
    achat = async_iterator_twin(chat)
    acontinue_turn = async_iterator_twin(continue_turn)
    aanswer = async_iterator_twin(answer)
    abegin_call = async_twin(begin_call)
    aend_call = async_twin(end_call)
    abegin_relayed = async_twin(begin_relayed)
    aend_relayed = async_twin(end_relayed)
    apending = async_twin(pending)
    astate = async_twin(state)
    ainterrupt_stale_turns = async_twin(interrupt_stale_turns)
    aturn_holder = async_twin(turn_holder)
    atake_over = async_twin(take_over)
    apropose = async_twin(propose)
    acompare_compactions = async_twin(compare_compactions)
    astart_comparison = async_twin(start_comparison)
    aconfirm = async_twin(confirm)
    aedit = async_twin(edit)
    acompact = async_twin(compact)
    aundo = async_twin(undo)
    aredo = async_twin(redo)
    acompactions = async_twin(compactions)
    alosses = async_twin(losses)
    agenerations = async_twin(generations)
    astart_generations = async_twin(start_generations)
    asentence_lives = async_twin(sentence_lives)
    alosses_under = async_twin(losses_under)
    aproposed_losses = async_twin(proposed_losses)
    asignals = async_twin(signals)
    ajudge_signal = async_twin(judge_signal)
    asignal_counts = async_twin(signal_counts)
    apolicy = async_twin(policy)
    asave_policy = async_twin(save_policy)
    asave_policies = async_twin(save_policies)
    adeviations = async_twin(deviations)
    auser = async_twin(user)
    ausers = async_twin(users)
    acreate_user = async_twin(create_user)
    aassign = async_twin(assign)
    amodels = async_twin(models)
    abudget = async_twin(budget)
    ahealth = async_twin(health)
    acheck_database = async_twin(check_database)
    aexamine_database = async_iterator_twin(examine_database)
    alast_backup = async_twin(last_backup)
    aback_up = async_twin(back_up)
    arestore_backup = async_twin(restore_backup)
    aforesee = async_twin(foresee)
    acalls = async_twin(calls)
    acosts = async_twin(costs)
    adamage = async_twin(damage)
    aexport = async_twin(export)
    asecrets_in = async_twin(secrets_in)
    aexport_many = async_iterator_twin(export_many)
    apreview_import = async_twin(preview_import)
    apreview_file = async_twin(preview_file)
    aimport_ = async_twin(import_)
    aimport_file = async_twin(import_file)
    aimported_before = async_twin(imported_before)
    afile_imported_before = async_twin(file_imported_before)
    adigest = async_twin(digest)


def _to_message(content: Content) -> Message:
    if isinstance(content, Message):
        return content
    if isinstance(content, str):
        return text_message("user", content)
    return parse_one(content)
