"""Values of a replay: its calls, its compactions, their sums, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ctxcore.assembly.effects import CompactionEffect
from ctxcore.assembly.verdicts import VerdictKind
from ctxcore.budget import TokenBudget
from ctxcore.compaction.plans import joined
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import BreakCode
from ctxcore.reasons.values import Reason, document
from ctxcore.replay.losses import FATES, FactFates, LossVerdict, NeededFact
from ctxcore.replay.requests import HARMLESS
from ctxcore.tokens.prices import BilledTokens, Price, cost_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """One request to a model, and how much of it was sent before."""

    at: int
    """The index of the recorded answer, from 0."""
    turn: int
    tokens: int
    """The size of the request: reused, resent and new; 0 where nothing could be sent."""
    reused_tokens: int
    resent_tokens: int
    new_tokens: int
    cause: BreakCode | None
    """Why it does not begin with the whole call before; None where it does."""
    shared_messages: int
    """How many messages it begins with that the call before began with too."""
    compactions: int
    """How many compactions there were since the call before."""
    is_over: bool
    violations: int
    output_tokens: int
    """The recorded answer with its thinking, and the summaries written since the call before."""
    literals_used: int
    literals_missed: tuple[str, ...]
    """Used literals that the request does not hold."""
    facts: FactFates | None = None
    """The fates of the live facts; None where they were not checked."""

    @property
    def is_break(self) -> bool:
        """Whether the prefix of the call before was lost."""
        return self.cause not in HARMLESS

    def to_dict(self) -> JsonObject:
        """Returns the call as JSON, without the fates of facts."""
        plain = asdict(self) | {"literals_missed": list(self.literals_missed)}
        del plain["facts"]
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCompaction:
    """A compaction of the replay with what it lost."""

    at: int
    """How many messages there were."""
    trigger: Reason
    strategies: tuple[str, ...]
    before_tokens: int
    """What the triggers compare: the input as if the window had room for everything."""
    after_tokens: int
    effect: CompactionEffect | None
    """What it changed in the next call; None where the call without it cannot be sent."""
    reason: Reason
    lost: tuple[NeededFact, ...]
    """By what matters."""
    verdict: LossVerdict
    """What the losses come to, of all that it folded."""

    @property
    def strategy(self) -> str:
        """The names of the strategies as one text."""
        return joined(self.strategies)

    @property
    def needed_later(self) -> tuple[NeededFact, ...]:
        """The lost facts that were used again."""
        return tuple(fact for fact in self.lost if fact.needed_at is not None)

    def to_dict(self) -> JsonObject:
        """Returns the compaction as JSON."""
        return {
            "at": self.at,
            "trigger": document(self.trigger),
            "strategies": list(self.strategies),
            "before_tokens": self.before_tokens,
            "after_tokens": self.after_tokens,
            "next_call": self.effect.to_dict() if self.effect else None,
            "reason": document(self.reason),
            "needed_later": len(self.needed_later),
            **self.verdict.to_dict(),
            "lost": [fact.to_dict() for fact in self.lost],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A recorded conversation under one policy."""

    policy: str
    budget: TokenBudget | None
    turns: int
    calls: tuple[ReplayedCall, ...]
    compactions: tuple[ReplayedCompaction, ...]
    price: Price | None
    """What the model costs; None where that is not known."""
    summaries: int = 0
    """How many of the compactions wrote a summary."""
    truncations: int = 0
    """How many left messages out without a summary."""
    end_tokens: int = 0
    """The size of the next request."""
    verdicts: tuple[tuple[VerdictKind, int], ...] = ()
    """How many messages have each verdict in it."""

    @property
    def sent_tokens(self) -> int:
        """The size of all requests together."""
        return sum(call.tokens for call in self.calls)

    @property
    def peak_tokens(self) -> int:
        """The size of the largest request."""
        return max((call.tokens for call in self.calls), default=0)

    @property
    def reused_tokens(self) -> int:
        """Tokens that a prompt cache could have reused."""
        return sum(call.reused_tokens for call in self.calls)

    @property
    def resent_tokens(self) -> int:
        """Tokens that were sent again and could not be reused."""
        return sum(call.resent_tokens for call in self.calls)

    @property
    def output_tokens(self) -> int:
        """Tokens of recorded answers and summaries."""
        return sum(call.output_tokens for call in self.calls)

    @property
    def reuse_share(self) -> float | None:
        """The share of all sent tokens that a prompt cache could have reused."""
        return self.reused_tokens / self.sent_tokens if self.sent_tokens else None

    @property
    def breaks(self) -> Mapping[BreakCode, int]:
        """How often the shared prefix was lost, by cause."""
        counted = Counter(call.cause for call in self.calls if call.is_break)
        return {cause: counted[cause] for cause in BreakCode if counted[cause]}

    @property
    def breaks_per_100_calls(self) -> float:
        """Breaks per 100 calls."""
        return _per_100(sum(self.breaks.values()), len(self.calls))

    @property
    def breaks_per_100_turns(self) -> float:
        """Breaks per 100 turns."""
        return _per_100(sum(self.breaks.values()), self.turns)

    @property
    def overflows(self) -> int:
        """How many calls could not be made because what must be kept did not fit."""
        return sum(call.is_over for call in self.calls)

    @property
    def illegal_calls(self) -> int:
        """How many calls some provider would refuse."""
        return sum(call.violations > 0 for call in self.calls)

    @property
    def literals_used(self) -> int:
        """How many literals calls used after they appeared."""
        return sum(call.literals_used for call in self.calls)

    @property
    def literals_present(self) -> int:
        """How many of them the context held when they were used."""
        return self.literals_used - sum(len(call.literals_missed) for call in self.calls)

    @property
    def literals_share(self) -> float | None:
        """The share of the literals that the context held when they were used."""
        return self.literals_present / self.literals_used if self.literals_used else None

    @property
    def facts(self) -> FactFates:
        """The fates of live facts, each counted once for every checked call."""
        return FactFates.total(call.facts for call in self.calls if call.facts is not None)

    @property
    def cost(self) -> float | None:
        """Cost in US dollars where the prompt cache reuses what it can and takes up the rest."""
        reused = self.reused_tokens
        return self._cost(cached_tokens=reused, cache_write_tokens=self.sent_tokens - reused)

    @property
    def cost_without_cache(self) -> float | None:
        """Cost in US dollars where nothing is cached."""
        return self._cost(cached_tokens=0, cache_write_tokens=0)

    def _cost(self, *, cached_tokens: int, cache_write_tokens: int) -> float | None:
        billed = BilledTokens(
            input_tokens=self.sent_tokens,
            cached_tokens=cached_tokens,
            cache_write_tokens=cache_write_tokens,
            output_tokens=self.output_tokens,
        )
        return cost_of(billed, self.price)

    def to_dict(self) -> JsonObject:
        """Returns the sums, the calls and the compactions as JSON."""
        return {
            **self.sums(),
            "calls": [call.to_dict() for call in self.calls],
            "compactions": [made.to_dict() for made in self.compactions],
        }

    def sums(self) -> JsonObject:
        """Returns the sums over all calls as JSON."""
        return {
            "policy": self.policy,
            "usable_tokens": self.budget.usable_tokens if self.budget else None,
            "turns": self.turns,
            "sent_tokens": self.sent_tokens,
            "reused_tokens": self.reused_tokens,
            "resent_tokens": self.resent_tokens,
            "output_tokens": self.output_tokens,
            "reuse_share": _rounded(self.reuse_share),
            "breaks": {str(cause): count for cause, count in self.breaks.items()},
            "breaks_per_100_calls": round(self.breaks_per_100_calls, 2),
            "breaks_per_100_turns": round(self.breaks_per_100_turns, 2),
            "overflows": self.overflows,
            "illegal_calls": self.illegal_calls,
            "literals_used": self.literals_used,
            "literals_present": self.literals_present,
            "literals_share": _rounded(self.literals_share),
            "facts_share": _rounded(self.facts.share()),
            "standing_share": _rounded(self.facts.standing_share),
            "facts": {
                kind: {fate: self.facts.count(kind=kind, fate=fate) for fate in FATES}
                for kind in self.facts.kinds
            },
            "prices_per_million": _prices(self.price),
            "cost": _rounded(self.cost, 6),
            "cost_without_cache": _rounded(self.cost_without_cache, 6),
        }


def _prices(price: Price | None) -> JsonObject:
    return {
        "input": price.input if price else None,
        "cached_input": price.cached if price else None,
        "cache_write": price.cache_write if price else None,
        "output": price.output if price else None,
    }


def _per_100(count: int, of: int) -> float:
    return 100 * count / of if of else 0.0


def _rounded(value: float | None, places: int = 4) -> float | None:
    return None if value is None else round(value, places)
