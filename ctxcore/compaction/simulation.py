"""Owns a recorded conversation that is counted once and walked through as often as wanted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared, budget_of, oversize_tokens, ruling, takes_reasoning
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.items import Merged
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rules.values import SentNames, defined_names
from ctxcore.assembly.states import CompactionState
from ctxcore.budget import TokenBudget
from ctxcore.compaction.compacting import automatic_trigger, compact_prepared
from ctxcore.compaction.incremental_context import IncrementalContext
from ctxcore.compaction.loss_report import LostFact
from ctxcore.compaction.plans import Answer, Confirmation
from ctxcore.compaction.triggers import Trigger, measure, overflow
from ctxcore.errors import BudgetError
from ctxcore.messages.beside import checked_tools
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject, Message
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_message, count_tools, counter_for


class Recording:
    """A conversation that is counted once and walked through as often as wanted."""

    def __init__(
        self,
        messages: Iterable[Mapping[str, object] | Message],
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        self.messages = tuple(parse_messages(messages))
        self._counter, tools = counter_for(model), checked_tools(tools)
        self.model = model
        self._tools = tools
        self._names = SentNames(defined_names(tools))
        sent = self._names.applied(tools)
        self._tools_tokens = count_tools(sent, self._counter) if tools else 0
        self._histories: dict[int | None, ListHistory] = {}

    def prepare(
        self, policy: Policy, *, window_tokens: int | None = None, max_tokens: int | None = None
    ) -> tuple[HistoryView, Call]:
        """The counted history and what surrounds it in each request."""
        info = model_info(self.model)
        if window_tokens is not None:
            info = replace(info, window_tokens=window_tokens)
            own = policy.window_tokens
            policy = (
                policy if own is None else policy.override(window_tokens=max(own, window_tokens))
            )
        budget = budget_of(
            policy,
            info,
            max_tokens=max_tokens,
            system_tokens=self._system_tokens(),
            tools_tokens=self._tools_tokens,
        )
        call = Call(
            policy=policy,
            counter=self._counter,
            budget=budget,
            tools_tokens=self._tools_tokens,
            tool_names=self._names,
            sends_reasoning=takes_reasoning(self.model),
            **ruling(policy, self.model, self._tools),
        )
        return self._history(oversize_tokens(policy, budget)), call

    @property
    def history(self) -> HistoryView:
        """The counted messages, no tool output shortened."""
        return self._history(None)

    def summarizer(self) -> Summarizer:
        """The one that quotes, without a model."""
        return ExtractiveSummarizer(self._counter)

    def _system_tokens(self) -> int:
        system = (message for message in self.messages if message.is_system)
        return sum(count_message(message, self._counter) for message in system)

    def _history(self, limit: int | None) -> ListHistory:
        if limit not in self._histories:
            made = ListHistory(self.messages, self._counter, oversize_tokens=limit)
            self._histories[limit] = made
        return self._histories[limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCompaction:
    """A compaction that the policy would have made."""

    at: int
    """How many messages there were."""
    trigger: Trigger
    strategies: tuple[str, ...]
    before_tokens: int
    after_tokens: int
    writes_summary: bool
    truncates: bool
    """Whether it leaves messages out without a summary."""
    reason: Reason
    before: Compaction | None = field(default=None, repr=False)
    """The record that was in force until then."""
    record: Compaction | None = field(default=None, repr=False)
    """The one that it left."""
    lost: tuple[LostFact, ...] = field(default=(), repr=False)
    """What the context no longer says, the most worth first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCall:
    """One request to a model, as it would have been."""

    at: int
    """The place of the recorded answer, from 0."""
    turn: int
    """The turn it belongs to, from 1; 0 before the first user message."""
    tokens: int
    """What would have been sent; 0 where nothing could be."""
    violations: int
    """What the four providers together would refuse in it."""
    is_over: bool
    """Whether what must be kept did not fit, so that nothing could be sent."""
    compactions: tuple[SimulatedCompaction, ...]
    """What was compacted since the call before."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """What a policy would have made of a conversation."""

    policy: Policy
    budget: TokenBudget | None
    calls: tuple[SimulatedCall, ...]
    compactions: tuple[SimulatedCompaction, ...]
    context: Context | None
    """What the next call would be sent; None where what must be kept does not fit."""
    state: CompactionState

    @property
    def summaries(self) -> int:
        """Compactions that wrote a summary."""
        return sum(one.writes_summary for one in self.compactions)

    @property
    def truncations(self) -> int:
        """Compactions that left messages out without one."""
        return sum(one.truncates for one in self.compactions)

    @property
    def illegal_calls(self) -> int:
        """Calls of which some provider would refuse something."""
        return sum(call.violations > 0 for call in self.calls)

    @property
    def over_calls(self) -> int:
        """Calls that could not be made: what must be kept did not fit."""
        return sum(call.is_over for call in self.calls)

    @property
    def sent_tokens(self) -> int:
        """What all calls together would have been sent."""
        return sum(call.tokens for call in self.calls)

    @property
    def peak_tokens(self) -> int:
        """The largest input."""
        return max((call.tokens for call in self.calls), default=0)

    @property
    def final_tokens(self) -> int:
        """What the next call would be sent."""
        return self.context.tokens if self.context else 0

    @property
    def verdicts(self) -> Mapping[str, int]:
        """How many messages have which verdict at the end."""
        counts = dict.fromkeys(("kept", "compressed", "summarized", "recalled", "dropped"), 0)
        for run in self.context.runs if self.context else ():
            counts[run.verdict] += run.last - run.first + 1
        return counts


__all__ = [
    "Recording",
    "SimulatedCall",
    "SimulatedCompaction",
    "Simulation",
    "Walk",
    "count_violations",
    "simulate",
]


class Walk:
    """One walk through a recording under one policy: iterate, then ask for the `result`.

    Args:
        recording: the conversation.
        policy: its thresholds; `window_tokens` gives it another window, `max_tokens` an input
            budget. Where it wants a person's consent to a compaction, it has it.
        summarizer: the one that quotes without it.
        builds_all: builds each context, also one that only grew.
    """

    def __init__(
        self,
        recording: Recording,
        policy: Policy,
        *,
        window_tokens: int | None = None,
        max_tokens: int | None = None,
        summarizer: Summarizer | None = None,
        builds_all: bool = False,
    ) -> None:
        self.whole, self._call = recording.prepare(
            policy, window_tokens=window_tokens, max_tokens=max_tokens
        )
        self._messages = recording.messages
        self._view = PrefixHistory(self.whole)
        self._summarizer = summarizer or recording.summarizer()
        self._growing = None if builds_all else IncrementalContext(self._view, self._call)
        self._state = CompactionState()
        self._calls: list[SimulatedCall] = []
        self._compactions: list[SimulatedCompaction] = []
        self._told = 0
        self._context: Context | None = None

    @property
    def view(self) -> HistoryView:
        """What there was before the last call that was told."""
        return self._view

    @property
    def call(self) -> Call:
        """What surrounds the messages of each request."""
        return self._call

    @property
    def active(self) -> Compaction | None:
        """The compaction in force at that call."""
        return self._state.active

    @property
    def sent(self) -> Sequence[Merged]:
        """The messages of that call; none where nothing could be sent."""
        if not self._calls or self._calls[-1].is_over:
            return ()
        if self._context is None and self._growing:
            grown = self._growing.sent()
            if grown is not None:
                return grown
            self._context = self._build()
            if self._context:
                self._growing.start(self._context, self._state.active)
        return self._context.made_of if self._context else ()

    def __iter__(self) -> Iterator[SimulatedCall]:
        """Each call in order."""
        turn = 0
        for at, message in enumerate(self._messages):
            if message.role not in ("user", "assistant"):
                continue
            self._view.grow(at)
            if message.role == "user":
                turn += 1
                self._between_turns()
            elif self._view.messages():
                self._calls.append(self._answer(at, turn))
                yield self._calls[-1]

    def result(self) -> Simulation:
        """What came of it, once it is over."""
        for _ in self if not self._view.count() else ():
            pass
        self._view.grow(len(self._messages))
        self._between_turns()
        self._before_call()
        return Simulation(
            policy=self._call.policy,
            budget=self._call.budget,
            calls=tuple(self._calls),
            compactions=tuple(self._compactions),
            context=self._build(),
            state=self._state,
        )

    def _between_turns(self) -> None:
        """What happens after an answer, and before the next user's message."""
        last = self._messages[self._view.count() - 1] if self._view.count() else None
        is_answered = last is not None and last.role == "assistant" and not last.calls
        if is_answered and self._call.policy.check_at != "before_send":
            self._look(all_rules=True)

    def _before_call(self) -> None:
        """What happens before each call; an input that is too large never waits."""
        all_rules = self._call.policy.check_at == "before_send"
        if all_rules or self._grown() is None:
            self._look(all_rules=all_rules)

    def _answer(self, at: int, turn: int) -> SimulatedCall:
        self._before_call()
        tokens, violations = self._grown(), 0
        self._context = None
        if tokens is None:
            context = self._context = self._build()
            tokens = context.tokens if context else 0
            violations = count_violations(context.messages) if context else 0
            if self._growing and context and not violations:
                self._growing.start(context, self._state.active)
        made = tuple(self._compactions[self._told :])
        self._told = len(self._compactions)
        return SimulatedCall(
            at=at,
            turn=turn,
            tokens=tokens,
            violations=violations,
            is_over=not tokens,
            compactions=made,
        )

    def _grown(self) -> int | None:
        return self._growing.tokens(self._state.active) if self._growing else None

    def _build(self) -> Context | None:
        try:
            return build_context(self._view, self._call, self._state.active)
        except BudgetError:
            return None

    def _look(self, *, all_rules: bool) -> None:
        """Compacts where a rule asks for it."""
        prepared = Prepared(self._view, self._call, self._state)
        if not self._call.policy.is_automatic:
            return
        measured = measure(self._view, self._call, self._state.active)
        trigger = overflow(measured, self._call)
        if trigger is None and all_rules:
            trigger = automatic_trigger(prepared, measured)
        if trigger is None:
            return
        try:
            result = compact_prepared(
                prepared, measured, trigger, summarizer=self._summarizer, confirm=_agree
            )
        except BudgetError:
            return  # the call tells it
        before, self._state = self._state, result.state
        if result.applied:
            self._compactions.append(
                SimulatedCompaction(
                    at=self._view.count(),
                    trigger=trigger,
                    strategies=result.strategies,
                    before_tokens=result.before_tokens,
                    after_tokens=result.after_tokens,
                    writes_summary=result.summary_written,
                    truncates=result.state.truncations > before.truncations,
                    reason=result.reason,
                    before=before.active,
                    record=result.state.active,
                    lost=result.lost,
                )
            )


def simulate(
    recording: Recording,
    policy: Policy,
    *,
    window_tokens: int | None = None,
    max_tokens: int | None = None,
    summarizer: Summarizer | None = None,
    builds_all: bool = False,
) -> Simulation:
    """What `policy` would have made of `recording`; the arguments are those of `Walk`."""
    walk = Walk(
        recording,
        policy,
        window_tokens=window_tokens,
        max_tokens=max_tokens,
        summarizer=summarizer,
        builds_all=builds_all,
    )
    for _ in walk:
        pass
    return walk.result()


def count_violations(messages: Sequence[JsonObject]) -> int:
    """What the four providers together would refuse in `messages`."""
    parsed = parse_messages(messages)
    return sum(len(lint(parsed, provider)) for provider in PROVIDERS)


def _agree(question: Confirmation) -> Answer:
    return "compact"
