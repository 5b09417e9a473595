"""Checks what a policy makes of a recorded conversation against limits, for tests of contexts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ctxcore.plain import Plain
from ctxcore.reasons.codes import BreachCode
from ctxcore.reasons.values import Reason
from ctxcore.replay.losses import rank_losses
from ctxcore.replay.values import Replay
from ctxcore.tokens.costs import dollars_text

_NAMED: Final = 5  # facts; chosen: a test's message stays readable


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(Plain):
    """What a conversation must keep under a policy; None: anything goes."""

    no_rule_lost: bool = False
    """Whether every standing instruction must survive every compaction."""
    max_facts_lost: int | None = None
    """Of facts that the conversation uses after they were lost."""
    max_cost: float | None = None
    """US dollars of all calls, where the prompt cache reuses what it can."""
    min_reuse: float | None = None
    """The share of what is sent that a prompt cache must be able to reuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach(Plain):
    """A limit that a conversation broke."""

    reason: Reason
    at: int | None = None
    """The index of the message that it is about."""

    def __str__(self) -> str:
        return str(self.reason)


def breaches(replay: Replay, limits: Limits) -> tuple[Breach, ...]:
    """The limits that a conversation broke; calls that could not be made always count."""
    return tuple(_breaches(replay, limits))


def _breaches(replay: Replay, limits: Limits) -> Iterator[Breach]:
    refused = replay.overflows + replay.illegal_calls
    if refused:
        yield Breach(reason=BreachCode.REFUSED(calls=refused, of=len(replay.calls)))
    if limits.no_rule_lost:
        yield from _lost_rules(replay)
    if limits.max_facts_lost is not None:
        yield from _lost_facts(replay, limits.max_facts_lost)
    if limits.max_cost is not None:
        yield from _costs(replay.cost, limits.max_cost)
    share = replay.reuse_share
    if limits.min_reuse is not None and share is not None and share < limits.min_reuse:
        facts = {"share": f"{share:.0%}", "least": f"{limits.min_reuse:.0%}"}
        yield Breach(reason=BreachCode.REUSE(**facts))


def _lost_rules(replay: Replay) -> Iterator[Breach]:
    for compaction in replay.compactions:
        for fact in compaction.lost:
            if fact.kind == "instruction":
                reason = BreachCode.RULE_LOST(text=fact.text, at=fact.at, lost_at=compaction.at)
                yield Breach(reason=reason, at=fact.at)


def _lost_facts(replay: Replay, most: int) -> Iterator[Breach]:
    needed = (fact for compaction in replay.compactions for fact in compaction.needed_later)
    lost = rank_losses(needed)
    if len(lost) > most:
        named = "; ".join(fact.text for fact in lost[:_NAMED])
        reason = BreachCode.FACTS_LOST(lost=len(lost), most=most, facts=named)
        yield Breach(reason=reason, at=lost[0].at)


def _costs(cost: float | None, most: float) -> Iterator[Breach]:
    if cost is None:
        yield Breach(reason=BreachCode.COST_UNKNOWN())
    elif cost > most:
        told = {"cost": dollars_text(cost), "most": dollars_text(most)}
        yield Breach(reason=BreachCode.COST(**told))
