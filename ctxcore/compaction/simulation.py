"""Simulates what a policy would have sent and compacted in a recorded conversation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import get_args

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.effects import CompactionEffect
from ctxcore.assembly.fitting import Prepared, budget_of, oversize_tokens, ruling, takes_reasoning
from ctxcore.assembly.history import HistoryView, ListHistory
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.items import Merged
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.rules.values import SentNames, defined_names
from ctxcore.assembly.states import CompactionState
from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.budget import TokenBudget
from ctxcore.compaction.compacting import automatic_trigger, compact_prepared
from ctxcore.compaction.incremental_context import IncrementalContext
from ctxcore.compaction.loss_report import LostFact
from ctxcore.compaction.triggers import Trigger, measure, overflow
from ctxcore.errors import BudgetError
from ctxcore.facts.rule_edits import NO_EDITS, RuleEdits
from ctxcore.messages.arguments import checked_tools
from ctxcore.messages.shapes.reading import Given, parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason
from ctxcore.summarizers.calling import SummarizerLike, to_summarizer
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_message, count_tools, counter_for
from ctxcore.tokens.factors import NO_FACTOR, CountFactor


class Recording:
    """A recorded conversation; it is counted once, however many policies are simulated.

    Args:
        messages: the conversation.
        model: what it is counted for.
        tools: their definitions.
        rule_edits: what people say of the rules that are found.
        pinned: numbers (from 1) of messages that every context has from then on.
        excluded: numbers of messages that no context has.
        factor: what calls taught of the model's counts; policies that do not learn ignore it.
    """

    def __init__(
        self,
        messages: Given,
        *,
        model: str | None = None,
        tools: Sequence[Mapping[str, object]] | None = None,
        rule_edits: RuleEdits = NO_EDITS,
        pinned: Collection[int] = (),
        excluded: Collection[int] = (),
        factor: CountFactor = NO_FACTOR,
    ) -> None:
        self._rule_edits = rule_edits
        self._pinned, self._excluded, self._factor = pinned, excluded, factor
        self.messages = tuple(parse_messages(messages))
        self.model = model
        self._counter = counter_for(model)
        self._tools = checked_tools(tools)
        self._names = SentNames(defined_names(self._tools))
        sent = self._names.applied(self._tools)
        self._tools_tokens = count_tools(sent, self._counter) if self._tools else 0
        self._histories = dict[int, ListHistory]()

    def prepare(
        self, policy: Policy, *, window_tokens: int | None = None, max_tokens: int | None = None
    ) -> tuple[HistoryView, Call]:
        """Returns the counted history and what surrounds it in each request."""
        info = model_info(self.model)
        if window_tokens is not None:
            info = replace(info, window_tokens=window_tokens)
            if policy.window_tokens is not None:
                window_tokens = max(policy.window_tokens, window_tokens)
                policy = policy.override(window_tokens=window_tokens)
        system = (message for message in self.messages if message.is_system)
        factor = self._factor if policy.learns_count_factor else NO_FACTOR
        budget = budget_of(
            policy,
            info,
            max_tokens=max_tokens,
            system_tokens=sum(count_message(message, self._counter) for message in system),
            tools_tokens=self._tools_tokens,
            count_factor=factor.value,
        )
        budget = budget and replace(budget, count_error_ratio=factor.error_ratio)
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
        """The counted messages, without any tool output shortened."""
        return self._counted

    def _history(self, limit: int | None) -> ListHistory:
        if limit is None:
            return self._counted
        if limit not in self._histories:
            self._histories[limit] = self._counted.shortening(limit)
        return self._histories[limit]

    @cached_property
    def _counted(self) -> ListHistory:
        return ListHistory(
            self.messages,
            self._counter,
            pinned=self._pinned,
            excluded=self._excluded,
            rule_edits=self._rule_edits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCompaction:
    """A compaction that the policy would have made."""

    at: int
    """How many messages there were."""
    trigger: Trigger
    strategies: tuple[str, ...]
    before_tokens: int
    after_tokens: int
    effect: CompactionEffect | None
    writes_summary: bool
    truncates: bool
    """Whether it left messages out without a summary."""
    reason: Reason
    before: Compaction | None = field(default=None, repr=False)
    """The active record before it."""
    record: Compaction | None = field(default=None, repr=False)
    """The active record after it."""
    lost: tuple[LostFact, ...] = field(default=(), repr=False)
    """Facts that the context no longer holds, the highest score first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCall:
    """One request to a model, as it would have been."""

    at: int
    """The index of the recorded answer, from 0."""
    turn: int
    """The turn it belongs to, from 1; 0 before the first user message."""
    tokens: int
    """The size of the request; 0 where nothing could be sent."""
    violations: int
    """How many violations the four providers together would find in it."""
    is_over: bool
    """Whether nothing could be sent because what must be kept did not fit."""
    compactions: tuple[SimulatedCompaction, ...]
    """The compactions since the call before."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """What a policy would have made of a conversation."""

    policy: Policy
    budget: TokenBudget | None
    calls: tuple[SimulatedCall, ...]
    compactions: tuple[SimulatedCompaction, ...]
    context: Context | None
    """The context of the next call; None where what must be kept does not fit."""
    state: CompactionState

    @property
    def summaries(self) -> int:
        """How many compactions wrote a summary."""
        return sum(made.writes_summary for made in self.compactions)

    @property
    def truncations(self) -> int:
        """How many compactions left messages out without a summary."""
        return sum(made.truncates for made in self.compactions)

    @property
    def illegal_calls(self) -> int:
        """How many calls some provider would refuse."""
        return sum(call.violations > 0 for call in self.calls)

    @property
    def over_calls(self) -> int:
        """How many calls could not be made because what must be kept did not fit."""
        return sum(call.is_over for call in self.calls)

    @property
    def sent_tokens(self) -> int:
        """The size of all requests together."""
        return sum(call.tokens for call in self.calls)

    @property
    def peak_tokens(self) -> int:
        """The size of the largest request."""
        return max((call.tokens for call in self.calls), default=0)

    @property
    def final_tokens(self) -> int:
        """The size of the next request."""
        return self.context.tokens if self.context else 0

    @property
    def verdicts(self) -> Mapping[VerdictKind, int]:
        """How many messages have each verdict at the end."""
        counts: dict[VerdictKind, int] = dict.fromkeys(get_args(VerdictKind), 0)
        for run in self.context.runs if self.context else ():
            counts[run.verdict] += run.last - run.first + 1
        return counts


class Walk:
    """One walk through a recording under one policy: iterate over its calls, or take the `result`.

    Args:
        recording: the conversation.
        policy: its thresholds; `window_tokens` gives it another window, `max_tokens` an input
            budget. A compaction that needs a person's consent has it.
        summarizer: what writes summaries; the extractive one, which calls no model, without it.
        builds_all: builds every context, even one that only grew since the last.
        refuses: sends messages whole or not at all: a call whose input does not fit is over, as it
            is for a program that leaves nothing out.
    """

    def __init__(
        self,
        recording: Recording,
        policy: Policy,
        *,
        window_tokens: int | None = None,
        max_tokens: int | None = None,
        summarizer: SummarizerLike | None = None,
        builds_all: bool = False,
        refuses: bool = False,
    ) -> None:
        self._refuses = refuses
        self.whole, self.call = recording.prepare(
            policy, window_tokens=window_tokens, max_tokens=max_tokens
        )
        self._messages = recording.messages
        self.view = PrefixHistory(self.whole)
        """The messages before the last call."""
        self._summarizer = (
            ExtractiveSummarizer(self.call.counter)
            if summarizer is None
            else to_summarizer(summarizer)
        )
        anchors = self.whole.anchors()
        marked = {*anchors.pinned, *anchors.excluded}
        self._growing = None if builds_all else IncrementalContext(self.view, self.call, marked)
        self._state = CompactionState()
        self._calls: list[SimulatedCall] = []
        self._compactions: list[SimulatedCompaction] = []
        self._reported = 0
        self._context: Context | None = None

    @property
    def active(self) -> Compaction | None:
        """The active compaction at the last call."""
        return self._state.active

    @property
    def context(self) -> Context | None:
        """The context of the last call, if it was built; None where what must be kept did not fit.

        With `builds_all` it always is.
        """
        return self._context

    @property
    def sent(self) -> Sequence[Merged]:
        """The messages of the last call; none where nothing could be sent."""
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
        """Yields each call in order."""
        turn = 0
        for at, message in enumerate(self._messages):
            if message.role not in ("user", "assistant"):
                continue
            self.view.grow(at)
            if message.role == "user":
                turn += 1
                self._between_turns()
            elif self.view.messages():
                self._calls.append(self._answer(at, turn))
                yield self._calls[-1]

    def result(self) -> Simulation:
        """Returns the simulation of the whole recording, iterating first if that is not done."""
        for _ in self if not self.view.count() else ():
            pass
        self.view.grow(len(self._messages))
        self._between_turns()
        self._before_call()
        return Simulation(
            policy=self.call.policy,
            budget=self.call.budget,
            calls=tuple(self._calls),
            compactions=tuple(self._compactions),
            context=self._build(),
            state=self._state,
        )

    def _between_turns(self) -> None:
        """Checks the triggers between an answer and the next user message."""
        last = self._messages[self.view.count() - 1] if self.view.count() else None
        is_answered = last is not None and last.role == "assistant" and not last.calls
        if is_answered and self.call.policy.check_at != "before_send":
            self._compact_if_due(all_rules=True)

    def _before_call(self) -> None:
        """Checks the triggers before a call; an input that is too large never waits."""
        all_rules = self.call.policy.check_at == "before_send"
        if all_rules or self._grown() is None:
            self._compact_if_due(all_rules=all_rules)

    def _answer(self, at: int, turn: int) -> SimulatedCall:
        self._before_call()
        tokens, violations = self._grown(), 0
        self._context = None
        if tokens is None:
            context = self._context = self._build()
            tokens = context.tokens if context else 0
            violations = _count_violations(context.messages) if context else 0
            if self._growing and context and not violations:
                self._growing.start(context, self._state.active)
        made = tuple(self._compactions[self._reported :])
        self._reported = len(self._compactions)
        return SimulatedCall(
            at=at,
            turn=turn,
            tokens=tokens,
            violations=violations,
            is_over=not tokens,
            compactions=made,
        )

    @property
    def _call(self) -> Call:
        """The call with what was recalled before it."""
        return replace(self.call, recalls=self._state.recalls)

    def _grown(self) -> int | None:
        return self._growing.tokens(self._state.active) if self._growing else None

    def _build(self) -> Context | None:
        try:
            context = build_context(self.view, self._call, self._state.active)
        except BudgetError:
            return None
        if self._refuses and any(run.verdict != "kept" for run in context.runs):
            return None
        self._state = replace(self._state, recalls=context.recalls)
        return context

    def _compact_if_due(self, *, all_rules: bool) -> None:
        if not self.call.policy.is_automatic:
            return
        prepared = Prepared(self.view, self._call, self._state)
        measured = measure(self.view, self._call, self._state.active)
        trigger = overflow(measured, self.call)
        if trigger is None and all_rules:
            trigger = automatic_trigger(prepared, measured)
        if trigger is None:
            return
        try:
            result = compact_prepared(
                prepared,
                measured,
                trigger,
                summarizer=self._summarizer,
                confirm=lambda _: "compact",
            )
        except BudgetError:
            return  # the next call is over the budget and says so
        before, self._state = self._state, replace(result.state, recalls=())
        if result.applied:
            self._compactions.append(
                SimulatedCompaction(
                    at=self.view.count(),
                    trigger=trigger,
                    strategies=result.strategies,
                    before_tokens=result.before_tokens,
                    after_tokens=result.after_tokens,
                    effect=result.effect,
                    writes_summary=result.summary_written,
                    truncates=result.state.truncations > before.truncations,
                    reason=result.reason,
                    before=before.active,
                    record=result.state.active,
                    lost=result.lost,
                )
            )


def _count_violations(messages: Sequence[JsonObject]) -> int:
    parsed = parse_messages(messages)
    return sum(len(lint(parsed, provider)) for provider in PROVIDERS)
