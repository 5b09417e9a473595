"""Owns the account of compactions that another product made in a recording: what they lost.

Beside each stands what a policy of ours would have kept in the same number of tokens, from the same
messages. Both are measured alike: by what the words of the context after it say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ctxcore.compaction.compacting import compact
from ctxcore.compaction.loss_report import LostFact, by_worth, said_text
from ctxcore.compaction.simulation import Recording
from ctxcore.errors import BudgetError
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import SearchedText
from ctxcore.messages.values import JsonObject, JsonValue, Message, text_message
from ctxcore.policy.values import Policy
from ctxcore.replay.losses import LaterUses, NeededFact
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
    """A compaction of the recording program, just before the message at place `at`."""

    at: int
    summary: str
    before_tokens: int | None = None
    """What the program said its input took before it."""
    context_tokens: int | None = None
    """What its context took right after, system prompt and tools left out; None: not told."""
    trigger: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a context right after a compaction still says."""

    tokens: int
    facts_said: int
    lost: tuple[NeededFact, ...]
    """Facts it does not say, the most worth first."""
    literals_said: int
    """Of the literals that calls needed later."""

    @property
    def needed_later(self) -> tuple[NeededFact, ...]:
        """The lost facts that were used again."""
        return tuple(one for one in self.lost if one.needed_at is not None)

    def to_dict(self) -> JsonObject:
        """What is said and what is not, as JSON."""
        return {
            "tokens": self.tokens,
            "facts_said": self.facts_said,
            "facts_lost": len(self.lost),
            "lost_needed_later": len(self.needed_later),
            "literals_said": self.literals_said,
            "lost": [one.to_dict() for one in self.lost],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldAccount:
    """One recorded compaction: what it lost and what that cost, beside ours."""

    fold: RecordedFold
    shown_tokens: int
    """What the recording shows of the context right after it: the budget of ours."""
    facts: int
    """Facts that held before it."""
    literals: tuple[str, ...]
    """Said before it and used by a call behind it."""
    came_again: int
    """Those of the literals that were said again before they were used."""
    theirs: Saved
    ours: Saved | None
    """None where what must be kept does not fit in as many tokens."""
    repeats: tuple[Repeat, ...]

    @property
    def repeated_tokens(self) -> int:
        """What was read again."""
        return sum(repeat.tokens for repeat in self.repeats)

    def to_dict(self) -> JsonObject:
        """The account as JSON."""
        return {
            "at": self.fold.at,
            "trigger": self.fold.trigger,
            "before_tokens": self.fold.before_tokens,
            "context_tokens": self.fold.context_tokens,
            "shown_tokens": self.shown_tokens,
            "facts": self.facts,
            "literals": list[JsonValue](self.literals),
            "literals_came_again": self.came_again,
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
    """The account of each of `folds`, oldest first; what came later counts up to the next one.

    A text that several kinds of facts hold is one fact here.
    """
    accounting = _Accounting(recording, policy, uses)
    ordered = sorted(folds, key=lambda fold: fold.at)
    ends = [*(fold.at for fold in ordered[1:]), len(recording.messages)]
    return [accounting.account(fold, end) for fold, end in zip(ordered, ends, strict=True)]


def account_for_fold(
    recording: Recording, fold: RecordedFold, policy: Policy, *, until: int | None = None
) -> FoldAccount:
    """The account of one fold; what came later counts up to the place `until`, or to the end."""
    end = len(recording.messages) if until is None else until
    return _Accounting(recording, policy, None).account(fold, end)


class _Accounting:
    """Accounts for the folds of one recording; what they share is read once."""

    def __init__(
        self, recording: Recording, policy: Policy, uses: Iterable[LiteralUse] | None
    ) -> None:
        self._messages = recording.messages
        self._model = recording.model
        self._counter = counter_for(recording.model)
        self._facts = list(recording.history.facts())
        self._policy = policy
        self._uses = find_literal_uses(self._messages) if uses is None else list(uses)
        self._later = LaterUses(self._messages)

    @cached_property
    def _sizes(self) -> Sequence[int]:
        return count_each(self._messages, self._counter)

    def account(self, fold: RecordedFold, until: int) -> FoldAccount:
        """What `fold` lost of the messages before it, and what of that was needed up to `until`."""
        entries = self._live(fold.at)
        resumed = self._resumed(fold)
        again = [fold.summary, *map(said_text, resumed)]
        literals = self._needed(fold.at, until)
        budget = self._summary_tokens(fold) + sum(self._sizes[fold.at :][: len(resumed)])
        repeats = find_repeats(self._messages, self._sizes, split_at=fold.at, until=until)
        return FoldAccount(
            fold=fold,
            shown_tokens=budget,
            facts=len(entries),
            literals=tuple(literals),
            came_again=sum(self._came_again(fold.at, use) for use in literals.values()),
            theirs=self._saved("\n".join(again), budget, entries, literals, fold.at),
            ours=self._ours(fold.at, budget, entries, literals),
            repeats=tuple(repeats),
        )

    def _live(self, count: int) -> list[Entry]:
        ledger = Ledger()
        for seq, facts in self._facts:
            if seq <= count:
                ledger.add(seq, facts)
        return list({entry.text: entry for entry in reversed(live(ledger))}.values())

    def _resumed(self, fold: RecordedFold) -> Sequence[Message]:
        """What is said between the compaction and the next answer."""
        behind = self._messages[fold.at :]
        roles = [message.role for message in behind]
        return behind[: roles.index("assistant") if "assistant" in roles else len(behind)]

    def _summary_tokens(self, fold: RecordedFold) -> int:
        return count_message(text_message("user", fold.summary), self._counter)

    def _needed(self, at: int, until: int) -> dict[str, LiteralUse]:
        """The literals that were said before and used behind, each with its first use."""
        first: dict[str, LiteralUse] = {}
        for use in sorted(self._uses, key=lambda use: (use.used_at, use.literal)):
            source = use.first_source_at
            if at <= use.used_at < until and source is not None and source < at:
                first.setdefault(use.literal, use)
        return first

    def _came_again(self, at: int, use: LiteralUse) -> bool:
        between = self._messages[at : use.used_at]
        return any(says_literal(said_text(message), use.literal) for message in between)

    def _ours(
        self, at: int, budget: int, entries: Sequence[Entry], literals: Iterable[str]
    ) -> Saved | None:
        try:
            result = compact(
                self._messages[:at],
                policy=self._policy,
                max_tokens=budget,
                target_tokens=budget,
                model=self._model,
                force=True,
            )
        except BudgetError:
            return None
        said = "\n".join(said_text(group.message) for group in result.context.made_of)
        return self._saved(said, result.context.tokens, entries, literals, at)

    def _saved(
        self, said: str, tokens: int, entries: Sequence[Entry], literals: Iterable[str], at: int
    ) -> Saved:
        text = SearchedText(said)
        lost = by_worth(LostFact.of(one) for one in entries if not text.says(one.fact))
        return Saved(
            tokens=tokens,
            facts_said=len(entries) - len(lost),
            lost=self._later.needed(lost, after=at),
            literals_said=sum(says_literal(said, literal) for literal in literals),
        )
