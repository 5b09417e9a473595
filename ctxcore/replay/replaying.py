"""Owns replaying: one walk through a recording under a policy, each request compared with the last.

Built on `Walk`: what is sent is what the walk sends. Nothing is written and no model is called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from ctxcore.compaction.loss_report import said_text
from ctxcore.compaction.simulation import Recording, SimulatedCall, SimulatedCompaction, Walk
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.values import Fact
from ctxcore.policy.values import Policy
from ctxcore.replay.losses import FactFates, LaterUses, Presence
from ctxcore.replay.references import (
    LiteralUse,
    find_literal_uses,
    places_of,
    says_literal,
)
from ctxcore.replay.requests import NOTHING_SENT, Request, Reuses, break_cause
from ctxcore.replay.values import Prices, Replay, ReplayedCall, ReplayedCompaction
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_priming, count_reasoning

MOST_LOOKS = 500  # calls at which the live facts are looked at; of more, evenly spaced ones


class Replaying:
    """Replays one recording under as many policies as wanted; what they share is read once.

    Args:
        recording: the conversation.
        uses: the literals that calls use; those that are found in their arguments without it.
        prices: what tokens cost; those of the recording's model without it.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        uses: Iterable[LiteralUse] | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.recording = recording
        messages = recording.messages
        found = find_literal_uses(messages) if uses is None else uses
        uses_in_order = sorted(set(found), key=lambda use: (use.used_at, use.literal))
        self.prices = prices or Prices.of(model_info(recording.model))
        self.texts = [said_text(message) for message in messages]
        self.places = places_of((use.literal for use in uses_in_order), self.texts)
        unplaced = {use.literal for use in uses_in_order} - self.places.keys()
        self.parts = frozenset(
            one for one in unplaced if not any(says_literal(text, one) for text in self.texts)
        )
        self.later = LaterUses(messages)
        self._used: dict[int, list[str]] = defaultdict(list)
        for use in uses_in_order:
            if use.literal not in self._used[use.used_at]:
                self._used[use.used_at].append(use.literal)
        self._facts: list[tuple[int, Sequence[Fact]]] | None = None

    def uses_at(self, at: int) -> Sequence[str]:
        """The literals that the message at place `at` uses."""
        return self._used.get(at, ())

    def facts(self, walk: Walk) -> Sequence[tuple[int, Sequence[Fact]]]:
        """What each message says that must not get lost; the same under every policy."""
        if self._facts is None:
            self._facts = list(walk.whole.facts())
        return self._facts

    def under(
        self,
        policy: Policy,
        *,
        window_tokens: int | None = None,
        max_tokens: int | None = None,
        summarizer: Summarizer | None = None,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Replay:
        """The recording under `policy`; the arguments are those of `Walk`.

        `advance` is called with how many messages were walked through since it was called last.
        """
        walk = Walk(
            self.recording,
            policy,
            window_tokens=window_tokens,
            max_tokens=max_tokens,
            summarizer=summarizer,
        )
        return _Replayer(self, walk).run(advance)


def replay_recording(
    recording: Recording,
    policy: Policy,
    *,
    window_tokens: int | None = None,
    max_tokens: int | None = None,
    summarizer: Summarizer | None = None,
    uses: Iterable[LiteralUse] | None = None,
    prices: Prices | None = None,
) -> Replay:
    """`recording` call by call under `policy`; the arguments are those of `Replaying`."""
    return Replaying(recording, uses=uses, prices=prices).under(
        policy, window_tokens=window_tokens, max_tokens=max_tokens, summarizer=summarizer
    )


class _Replayer:
    """One replay while it runs."""

    def __init__(self, replaying: Replaying, walk: Walk) -> None:
        self._shared = replaying
        self._walk = walk
        self._reuses = Reuses()
        self._presence = Presence(replaying.texts, replaying.places, replaying.parts)
        self._before: Request | None = None
        self._facts = replaying.facts(walk)
        self._read = 0
        self._ledger = Ledger()
        self._calls: list[ReplayedCall] = []
        self._compactions: list[ReplayedCompaction] = []

    def run(self, advance: Callable[[int], None]) -> Replay:
        """All of it."""
        messages, seen = self._shared.recording.messages, 0
        looks = _looks(sum(message.role == "assistant" for message in messages))
        for nth, call in enumerate(self._walk):
            self._calls.append(self._replayed(call, is_looked_at=nth in looks))
            self._compactions += map(self._told, call.compactions)
            advance(call.at - seen)
            seen = call.at
        advance(len(messages) - seen)
        return Replay(
            policy=self._walk.call.policy.name,
            budget=self._walk.call.budget,
            turns=sum(message.role == "user" for message in messages),
            calls=tuple(self._calls),
            compactions=tuple(self._compactions),
            prices=self._shared.prices,
        )

    def _replayed(self, call: SimulatedCall, *, is_looked_at: bool) -> ReplayedCall:
        reuse, shared, cause = NOTHING_SENT, 0, None
        if not call.is_over:
            request = self._request()
            reuse, shared = self._reuses.add(request)
            cause = break_cause(self._before, request, shared)
            self._presence.follow(request, shared)
            self._before = request
        used = self._shared.uses_at(call.at)
        missed = (one for one in used if call.is_over or not self._presence.says(one))
        return ReplayedCall(
            at=call.at,
            turn=call.turn,
            tokens=call.tokens,
            reused_tokens=reuse.reused_tokens,
            resent_tokens=reuse.resent_tokens,
            new_tokens=reuse.new_tokens,
            cause=cause,
            shared_messages=shared,
            compactions=len(call.compactions),
            is_over=call.is_over,
            violations=call.violations,
            output_tokens=self._output_tokens(call),
            literals_used=len(used),
            literals_missed=tuple(missed),
            facts=self._fates(call.at) if is_looked_at and not call.is_over else None,
        )

    def _request(self) -> Request:
        call, shown = self._walk.call, self._walk.sent
        has_system = bool(shown) and shown[0].items[0].segment == "system"
        priming = count_priming(
            call.counter, has_tools=bool(call.tools_tokens), has_system=has_system
        )
        return Request(
            shown=shown,
            framing_tokens=priming + call.tools_tokens,
            active=self._walk.active,
            policy=call.policy,
        )

    def _output_tokens(self, call: SimulatedCall) -> int:
        (row,) = self._walk.view.get([call.at + 1])
        thinking = count_reasoning(row.message, self._walk.call.counter)
        written = (one.record for one in call.compactions if one.writes_summary)
        return row.tokens + thinking + sum(one.summary_tokens for one in written if one)

    def _fates(self, count: int) -> FactFates:
        """The fates of what holds before the message at place `count`."""
        while self._read < len(self._facts) and self._facts[self._read][0] <= count:
            self._ledger.add(*self._facts[self._read])
            self._read += 1
        return self._presence.fates(live(self._ledger))

    def _told(self, one: SimulatedCompaction) -> ReplayedCompaction:
        return ReplayedCompaction(
            at=one.at,
            trigger=one.trigger.reason,
            strategies=one.strategies,
            before_tokens=one.before_tokens,
            after_tokens=one.after_tokens,
            reason=one.reason,
            lost=self._shared.later.needed(one.lost, after=one.at),
        )


def _looks(calls: int) -> frozenset[int]:
    """The calls at which live facts are looked at."""
    if calls <= MOST_LOOKS:
        return frozenset(range(calls))
    return frozenset(at * calls // MOST_LOOKS for at in range(MOST_LOOKS))
