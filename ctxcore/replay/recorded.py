"""Accounts for compactions that another product made in a recording, beside those of a policy.

The policy gets the same messages and as many tokens. Both are measured by what the text of the
context right after the compaction holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import Prepared
from ctxcore.assembly.history_views import PrefixHistory
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.carried_facts import ledger_at
from ctxcore.compaction.compacting import compact_prepared
from ctxcore.compaction.loss_report import LostFact, message_text, sort_by_salience
from ctxcore.compaction.simulation import Recording
from ctxcore.compaction.triggers import manual_trigger, measure
from ctxcore.errors import BudgetError
from ctxcore.facts.ledger import Entry, live
from ctxcore.facts.presence import SearchedText
from ctxcore.facts.values import Fact
from ctxcore.messages.values import JsonObject, JsonValue, text_message
from ctxcore.policy.values import Policy
from ctxcore.replay.losses import LaterUses, LossVerdict, NeededFact, rank_losses
from ctxcore.replay.references import (
    LiteralUse,
    Repeat,
    find_literal_uses,
    find_repeats,
    says_literal,
)
from ctxcore.tokens.count import count_each, count_message, counter_for


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFold:
    """A compaction of the recording program, just before the message with index `at`."""

    at: int
    summary: str
    before_tokens: int | None = None
    """The size of its input before, as the program reported it."""
    context_tokens: int | None = None
    """The size of its context right after, without system prompt and tools; None: not reported."""
    trigger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a context right after a compaction still holds."""

    tokens: int
    facts_said: int
    lost: tuple[NeededFact, ...]
    """Facts it does not hold, by what matters."""
    literals_said: int
    """How many of the literals that later calls used."""

    @property
    def needed_later(self) -> tuple[NeededFact, ...]:
        """The lost facts that were used again."""
        return tuple(fact for fact in self.lost if fact.needed_at is not None)

    def to_dict(self) -> JsonObject:
        """Returns the numbers and the lost facts as JSON."""
        return {
            "tokens": self.tokens,
            "facts_said": self.facts_said,
            "facts_lost": len(self.lost),
            "lost_needed_later": len(self.needed_later),
            "literals_said": self.literals_said,
            "lost": [fact.to_dict() for fact in self.lost],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldAccount:
    """One recorded compaction: what it lost and what was repeated later, beside a policy's."""

    fold: RecordedFold
    shown_tokens: int
    """The recorded size of the context right after it, which is the budget of the policy."""
    facts: int
    """How many facts held before it."""
    literals: tuple[str, ...]
    """Literals that appeared before it and that a later call used."""
    came_again: int
    """How many of the literals appeared again before they were used."""
    theirs: Saved
    ours: Saved | None
    """None where what must be kept does not fit in as many tokens."""
    verdict: LossVerdict
    """What the recorded compaction's losses come to."""
    needed: Mapping[str, Fact]
    """The facts that were used later, lost or not, by their texts."""
    repeats: tuple[Repeat, ...]

    @property
    def repeated_tokens(self) -> int:
        """Tokens of the results that were read again."""
        return sum(repeat.tokens for repeat in self.repeats)

    def to_dict(self) -> JsonObject:
        """Returns the account as JSON."""
        return {
            "at": self.fold.at,
            "trigger": self.fold.trigger,
            "before_tokens": self.fold.before_tokens,
            "context_tokens": self.fold.context_tokens,
            "shown_tokens": self.shown_tokens,
            "facts": self.facts,
            "literals": list[JsonValue](self.literals),
            "literals_came_again": self.came_again,
            **self.verdict.to_dict(),
            "theirs": self.theirs.to_dict(),
            "ours": self.ours.to_dict() if self.ours else None,
            "repeated_tokens": self.repeated_tokens,
            "repeats": [repeat.to_dict() for repeat in self.repeats],
        }


def account_for_folds(
    recording: Recording,
    folds: Iterable[RecordedFold],
    policy: Policy,
    *,
    uses: Iterable[LiteralUse] | None = None,
) -> list[FoldAccount]:
    """Returns the account of each of `folds`, oldest first; later uses count up to the next fold.

    A text that several kinds of facts share counts as one fact.
    """
    accounting = _Accounting(recording, policy, uses)
    ordered = sorted(folds, key=lambda fold: fold.at)
    ends = [*(fold.at for fold in ordered[1:]), len(recording.messages)]
    return [accounting.account(fold, end) for fold, end in zip(ordered, ends, strict=True)]


def account_for_fold(
    recording: Recording, fold: RecordedFold, policy: Policy, *, until: int | None = None
) -> FoldAccount:
    """Returns the account of one fold; later uses count up to index `until`, or to the end."""
    end = len(recording.messages) if until is None else until
    return _Accounting(recording, policy, None).account(fold, end)


def gone_under(
    policy: Policy, recording: Recording, budget: int, needed: Iterable[Fact]
) -> int | None:
    """Returns how many of the facts `needed` later a policy loses where it compacts `recording`.

    It gets `budget` tokens; None where what it must keep does not fit.
    """
    context = _StandIn(recording, policy).compact(len(recording.messages), budget)
    if context is None:
        return None
    text = SearchedText(_shown_text(context))
    return sum(not text.says(fact) for fact in needed)


def _shown_text(context: Context) -> str:
    return "\n".join(message_text(group.message) for group in context.made_of)


class _StandIn:
    """A policy that compacts where the recording program did, each time on top of the last.

    Tool outputs are shortened before, as in a session: by the window of the model.
    """

    def __init__(self, recording: Recording, policy: Policy) -> None:
        self._recording, self._policy = recording, policy
        whole, _ = recording.prepare(policy)
        self._view = PrefixHistory(whole)
        self._state = CompactionState()

    def live(self, at: int) -> list[Entry]:
        """Returns the facts that hold before message `at`, which is behind the last place."""
        self._view.grow(at)
        return live(ledger_at(self._view))

    def compact(self, at: int, budget: int) -> Context | None:
        """Returns the context of the messages before `at` in as many tokens; None: none fits."""
        self._view.grow(at)
        _, call = self._recording.prepare(self._policy, max_tokens=budget)
        assert call.budget is not None  # made of `budget`
        call = replace(call, budget=self._policy.retarget(call.budget, budget))
        prepared = Prepared(self._view, call, self._state)
        measured = measure(self._view, call, self._state.active)
        try:
            result = compact_prepared(prepared, measured, manual_trigger(measured), halves=False)
        except BudgetError:
            return None
        self._state = replace(result.state, recalls=())
        return result.context


class _Accounting:
    """Accounts for the folds of one recording, whose facts and uses are read once."""

    def __init__(
        self, recording: Recording, policy: Policy, uses: Iterable[LiteralUse] | None
    ) -> None:
        self._messages = recording.messages
        self._model = recording.model
        self._counter = counter_for(recording.model)
        self._uses = find_literal_uses(self._messages) if uses is None else list(uses)
        self._later = LaterUses(self._messages)
        self._stand_in = _StandIn(recording, policy)

    @cached_property
    def _sizes(self) -> Sequence[int]:
        return count_each(self._messages, self._counter)

    def account(self, fold: RecordedFold, until: int) -> FoldAccount:
        """Returns what `fold` lost of the messages before it, and what of that was used later."""
        entries = self._live(fold.at)
        roles = [message.role for message in self._messages[fold.at :]]
        answer_at = fold.at + (roles.index("assistant") if "assistant" in roles else len(roles))
        shown = [fold.summary, *map(message_text, self._messages[fold.at : answer_at])]
        literals = self._used_literals(fold.at, until)
        summary_tokens = count_message(text_message("user", fold.summary), self._counter)
        budget = summary_tokens + sum(self._sizes[fold.at : answer_at])
        repeats = find_repeats(self._messages, self._sizes, split_at=fold.at, until=until)
        facts = [entry.fact for entry in entries]
        theirs = self._saved("\n".join(shown), budget, entries, literals, fold.at)
        return FoldAccount(
            fold=fold,
            shown_tokens=budget,
            facts=len(entries),
            literals=tuple(literals),
            came_again=sum(self._came_again(fold.at, use) for use in literals.values()),
            theirs=theirs,
            verdict=self._later.verdict(facts, theirs.lost, fold.at),
            needed=self._later.used(facts, fold.at),
            ours=self._ours(fold.at, budget, entries, literals),
            repeats=tuple(repeats),
        )

    def _live(self, at: int) -> list[Entry]:
        """Returns the facts that hold before message `at`, each text once."""
        entries = reversed(self._stand_in.live(at))
        return list({entry.text: entry for entry in entries}.values())

    def _used_literals(self, at: int, until: int) -> dict[str, LiteralUse]:
        """Returns the literals that appeared before and are used after, with their first use."""
        first: dict[str, LiteralUse] = {}
        for use in sorted(self._uses, key=lambda use: (use.used_at, use.literal)):
            source = use.first_source_at
            if at <= use.used_at < until and source is not None and source < at:
                first.setdefault(use.literal, use)
        return first

    def _came_again(self, at: int, use: LiteralUse) -> bool:
        between = self._messages[at : use.used_at]
        return any(says_literal(message_text(message), use.literal) for message in between)

    def _ours(
        self, at: int, budget: int, entries: Sequence[Entry], literals: Iterable[str]
    ) -> Saved | None:
        context = self._stand_in.compact(at, budget)
        if context is None:
            return None
        return self._saved(_shown_text(context), context.tokens, entries, literals, at)

    def _saved(
        self, shown: str, tokens: int, entries: Sequence[Entry], literals: Iterable[str], at: int
    ) -> Saved:
        text = SearchedText(shown)
        lost = sort_by_salience(
            LostFact.of(entry) for entry in entries if not text.says(entry.fact)
        )
        return Saved(
            tokens=tokens,
            facts_said=len(entries) - len(lost),
            lost=rank_losses(self._later.needed(lost, after=at)),
            literals_said=sum(says_literal(shown, literal) for literal in literals),
        )
