"""Owns walking through a recorded conversation as if a policy had been in force all along.

Before each recorded answer a model was called: what it would have been sent is built, or known to
be the context before with messages behind it. The rules are looked at when the policy says, and
once more at the end, as the next call would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.items import Merged
from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.prefixes import PrefixHistory
from ctxcore.assembly.records import Compaction
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.compacting import automatic_trigger, compact_prepared
from ctxcore.compaction.confirming import Answer, Confirmation
from ctxcore.compaction.growing import GrowingContext
from ctxcore.compaction.measuring import measure
from ctxcore.compaction.recording import Recording
from ctxcore.compaction.simulated import SimulatedCall, SimulatedCompaction, Simulation
from ctxcore.compaction.triggers import overflow
from ctxcore.errors import BudgetError
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.summarizers.protocol import Summarizer

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
        self._growing = None if builds_all else GrowingContext(self._view, self._call)
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
