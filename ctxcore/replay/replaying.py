"""Replays a recording under a policy, comparing each request with the last.

The requests are those of `Walk`. Nothing is written and no model is called.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence

from ctxcore.assembly.addressees import without_rules_for_others
from ctxcore.compaction.loss_report import message_text
from ctxcore.compaction.simulation import Recording, SimulatedCall, SimulatedCompaction, Walk
from ctxcore.facts.ledger import Ledger, live
from ctxcore.facts.values import Fact
from ctxcore.policy.values import Policy
from ctxcore.replay.losses import FactFates, LaterUses, Presence, folded_facts, rank_losses
from ctxcore.replay.references import (
    LiteralUse,
    find_literal_uses,
    places_of,
    says_literal,
)
from ctxcore.replay.requests import NOTHING_SENT, Request, Reuses, break_cause
from ctxcore.replay.values import Replay, ReplayedCall, ReplayedCompaction
from ctxcore.summarizers.calling import SummarizerLike
from ctxcore.tokens.count import count_priming, count_reasoning
from ctxcore.tokens.prices import Price, list_price

MOST_LOOKS = 500  # calls at which live facts are checked, evenly spaced; source: docs/replay.md


class Replaying:
    """Replays one recording under any number of policies; what they share is read once.

    Args:
        recording: the conversation.
        uses: the literals that calls use; without it, those found in their arguments.
        price: what tokens cost; without it, the list price of the recording's model.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        uses: Iterable[LiteralUse] | None = None,
        price: Price | None = None,
    ) -> None:
        self.recording = recording
        messages = recording.messages
        found = find_literal_uses(messages) if uses is None else uses
        uses_in_order = sorted(set(found), key=lambda use: (use.used_at, use.literal))
        self.price = price or list_price(recording.model)
        self.texts = [message_text(message) for message in messages]
        self.places = places_of((use.literal for use in uses_in_order), self.texts)
        unplaced = {use.literal for use in uses_in_order} - self.places.keys()
        self.parts = frozenset(
            literal
            for literal in unplaced
            if not any(says_literal(text, literal) for text in self.texts)
        )
        self.later = LaterUses(messages)
        self._used: dict[int, list[str]] = defaultdict(list)
        for use in uses_in_order:
            if use.literal not in self._used[use.used_at]:
                self._used[use.used_at].append(use.literal)
        self._facts: list[tuple[int, Sequence[Fact]]] | None = None

    def uses_at(self, at: int) -> Sequence[str]:
        """Returns the literals that the message with index `at` uses."""
        return self._used.get(at, ())

    def facts(self, walk: Walk) -> Sequence[tuple[int, Sequence[Fact]]]:
        """Returns the facts of each message that is not excluded, the same under every policy."""
        if self._facts is None:
            excluded = {*walk.whole.anchors().excluded}
            self._facts = [one for one in walk.whole.facts() if one[0] not in excluded]
        return self._facts

    def under(
        self,
        policy: Policy,
        *,
        window_tokens: int | None = None,
        max_tokens: int | None = None,
        summarizer: SummarizerLike | None = None,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Replay:
        """Returns the replay under `policy`; the arguments are those of `Walk`.

        `advance` is called with the number of messages passed since its last call.
        """
        walk = Walk(
            self.recording,
            policy,
            window_tokens=window_tokens,
            max_tokens=max_tokens,
            summarizer=summarizer,
        )
        return run_to_end(self.along(walk), advance)

    def along(self, walk: Walk) -> Generator[int, None, Replay]:
        """Replays a walk through the recording; yields how many messages each call passed."""
        return _Replayer(self, walk).run()


def run_to_end(steps: Generator[int, None, Replay], advance: Callable[[int], None]) -> Replay:
    """The replay at the end of `steps`; `advance` is called with what each yields."""
    while True:
        try:
            advance(next(steps))
        except StopIteration as ended:
            replay: Replay = ended.value
            return replay


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
        self._made: list[SimulatedCompaction] = []
        self._compactions: list[ReplayedCompaction] = []

    def run(self) -> Generator[int, None, Replay]:
        messages, seen = self._shared.recording.messages, 0
        answers = sum(message.role == "assistant" for message in messages)
        checked = {nth * answers // MOST_LOOKS for nth in range(MOST_LOOKS)}
        for nth, call in enumerate(self._walk):
            self._calls.append(self._replayed(call, is_checked=nth in checked))
            self._made += call.compactions
            self._compactions += map(self._to_replayed, call.compactions)
            yield call.at - seen
            seen = call.at
        yield len(messages) - seen
        end = self._walk.result()
        return Replay(
            policy=self._walk.call.policy.name,
            budget=self._walk.call.budget,
            turns=sum(message.role == "user" for message in messages),
            calls=tuple(self._calls),
            compactions=tuple(self._compactions),
            price=self._shared.price,
            summaries=sum(made.writes_summary for made in self._made),
            truncations=sum(made.truncates for made in self._made),
            end_tokens=end.final_tokens,
            verdicts=tuple(end.verdicts.items()),
        )

    def _replayed(self, call: SimulatedCall, *, is_checked: bool) -> ReplayedCall:
        reuse, shared, cause = NOTHING_SENT, 0, None
        if not call.is_over:
            request = self._request()
            reuse, shared = self._reuses.add(request)
            cause = break_cause(self._before, request, shared)
            self._presence.follow(request, shared)
            self._before = request
        used = self._shared.uses_at(call.at)
        missed = (text for text in used if call.is_over or not self._presence.says(text))
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
            facts=self._fates(call.at, is_over=call.is_over) if is_checked else None,
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
        records = (made.record for made in call.compactions if made.writes_summary)
        return row.tokens + thinking + sum(record.summary_tokens for record in records if record)

    def _fates(self, count: int, *, is_over: bool) -> FactFates:
        """Returns the fates of the facts that hold before the message with index `count`.

        A call that could not be made had none of them.
        """
        sent = (group.message for group in self._walk.sent)
        entries = without_rules_for_others(self._walk.view, live(self._ledger_at(count)), sent)
        if is_over:
            return FactFates.of(Counter((entry.kind, "dropped") for entry in entries))
        return self._presence.fates(entries)

    def _ledger_at(self, count: int) -> Ledger:
        """The ledger of the first `count` messages, or of more where it has read more."""
        while self._read < len(self._facts) and self._facts[self._read][0] <= count:
            self._ledger.add(*self._facts[self._read])
            self._read += 1
        return self._ledger

    def _to_replayed(self, made: SimulatedCompaction) -> ReplayedCompaction:
        later, record = self._shared.later, made.record
        lost = later.needed(made.lost, after=made.at)
        ledger = self._ledger_at(made.at)
        folded = folded_facts(record, made.before, ledger) if record else []
        return ReplayedCompaction(
            at=made.at,
            trigger=made.trigger.reason,
            strategies=made.strategies,
            before_tokens=made.before_tokens,
            after_tokens=made.after_tokens,
            effect=made.effect,
            reason=made.reason,
            lost=rank_losses(lost),
            verdict=later.verdict(folded, lost, made.at),
        )
