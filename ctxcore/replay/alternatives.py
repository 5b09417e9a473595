"""Compares what each preset and strategy would make of a conversation at this very moment.

Every alternative folds by its own policy and is judged by the next call of the policy in force,
which is what would be sent. Summaries are quotes: no model is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

from ctxcore.assembly.building import Call, build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.effects import CompactionEffect, effect_of, load_effect
from ctxcore.assembly.history import HistoryView
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried_facts import ledger_at
from ctxcore.compaction.executing import Outcome, execute
from ctxcore.compaction.loss_report import LossRank, LostFact, find_losses, with_losses
from ctxcore.compaction.payback import Payback, SummaryTokens, payback
from ctxcore.compaction.planning import plan
from ctxcore.compaction.strategies import Uses
from ctxcore.compaction.triggers import (
    for_trigger,
    input_size,
    manual_trigger,
    measure,
    overflow,
)
from ctxcore.errors import ContextError
from ctxcore.facts.ledger import live
from ctxcore.json_types import JsonObject
from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.names import STRATEGIES
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import OutcomeCode
from ctxcore.reasons.values import Reason, document, from_json
from ctxcore.replay.losses import LaterUses
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer
from ctxcore.tokens.prices import BilledTokens, Price, cost_of

AlternativeKind: TypeAlias = Literal["policy", "preset", "strategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative(Plain):
    """A way to compact: by the policy in force, by a preset, or by one strategy alone."""

    kind: AlternativeKind
    name: str
    """Of the preset or the strategy; of the policy in force its preset."""

    @property
    def key(self) -> str:
        """A text that names it, e.g. `preset:pi`."""
        return f"{self.kind}:{self.name}"

    @property
    def overrides(self) -> JsonObject:
        """The fields that it sets on the policy in force."""
        if self.kind == "preset":
            return {PRESET_FIELD: self.name}
        if self.kind == "strategy":
            return {"strategies": [self.name], "direct_strategies": []}
        return {}


def alternatives(in_force: Policy) -> list[Alternative]:
    """The policy in force first, then the other presets, then every strategy alone."""
    presets = [name for name in Policy.presets() if name != in_force.name]
    return [
        Alternative(kind="policy", name=in_force.name),
        *(Alternative(kind="preset", name=name) for name in presets),
        *(Alternative(kind="strategy", name=str(name)) for name in STRATEGIES),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Plain):
    """What an alternative would make of the next call."""

    alternative: Alternative
    reason: Reason
    """What was done, or why nothing would change."""
    effect: CompactionEffect | None = None
    """None where nothing would change, or nothing can be sent."""
    strategies: tuple[str, ...] = ()
    messages: int = 0
    """How many messages it folds."""
    needed: int = 0
    """Facts that the end of the conversation uses; the same number for all alternatives."""
    gone: int = 0
    """How many of those the next call no longer has."""
    standing: int = 0
    """Lost rules, decisions, settings, tasks and open questions."""
    lost: int = 0
    """All lost facts."""
    payback: Payback | None = None

    def to_dict(self) -> JsonObject:
        """The comparison as JSON; `break_even_calls` is null where it never pays."""
        paid = self.payback
        return {
            "kind": self.alternative.kind,
            "name": self.alternative.name,
            "reason": document(self.reason),
            "next_call": self.effect.to_dict() if self.effect else None,
            "strategies": list(self.strategies),
            "messages": self.messages,
            "needed": self.needed,
            "gone": self.gone,
            "standing": self.standing,
            "lost": self.lost,
            "payback": None
            if paid is None
            else {
                "unit": paid.unit,
                "once": paid.once,
                "saving": paid.saving,
                "rewritten_tokens": paid.rewritten_tokens,
                "summary_input_tokens": paid.summary.input_tokens,
                "summary_output_tokens": paid.summary.output_tokens,
                "break_even_calls": paid.calls,
            },
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> Compared:
        """What `to_dict` gave."""
        raw = cast("Any", plain)  # written by `to_dict` only
        paid, told = raw["payback"], {k: v for k, v in raw["reason"].items() if k != "text"}
        return cls(
            alternative=Alternative(kind=raw["kind"], name=raw["name"]),
            reason=from_json(told),
            effect=load_effect(raw["next_call"]),
            strategies=tuple(raw["strategies"]),
            **{name: raw[name] for name in ("messages", "needed", "gone", "standing", "lost")},
            payback=None
            if paid is None
            else Payback(
                unit=paid["unit"],
                once=paid["once"],
                saving=paid["saving"],
                rewritten_tokens=paid["rewritten_tokens"],
                summary=SummaryTokens(
                    input_tokens=paid["summary_input_tokens"],
                    output_tokens=paid["summary_output_tokens"],
                ),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A conversation as the next call of its policy sees it."""

    view: HistoryView
    call: Call
    active: Compaction | None
    price: Price | None = None
    prices: Callable[[str], Price | None] = lambda _: None
    """The price of a model that writes summaries."""
    uses: Callable[[Policy], Uses | None] = lambda _: None


SETTINGS_OF_SUMMARIES: Final = 600  # tokens; chosen: the prompt around the source of a summary


def carried_out(
    moment: Moment, under: Call, summarizer: Summarizer | None = None, *, focus: str = ""
) -> Outcome:
    """Compacts by the policy of `under` on request, judged by the next call of the moment."""
    view, active = moment.view, moment.active
    measured = measure(view, under, active)
    trigger = manual_trigger(measured)
    call = for_trigger(under, measured, trigger)
    uses = moment.uses(under.policy)
    planned = plan(view, call, active, measured, trigger, uses=uses, focus=focus)
    if planned is None:
        return Outcome(record=None, reason=OutcomeCode.NOTHING_FOLDS())
    outcome = execute(
        planned,
        view,
        call,
        active,
        summarizer or ExtractiveSummarizer(under.counter),
        is_needed=overflow(measured, under) is not None,
        is_forced=True,
    )
    return seen_by(moment, replace(outcome, plan=outcome.plan or planned))


def seen_by(moment: Moment, outcome: Outcome) -> Outcome:
    """`outcome` with the sizes and losses of its record in the next call of the moment."""
    record, view, call = outcome.record, moment.view, moment.call
    if record is None:
        return outcome
    lost = find_losses(view, call, moment.active, record)
    record = replace(
        with_losses(record, lost),
        before_tokens=measure(view, call, moment.active).input_tokens,
        after_tokens=input_size(view, call, record),
    )
    return replace(outcome, record=record, lost=tuple(lost or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    alternative: Alternative
    policy: Policy
    reason: Reason
    outcome: Outcome | None = None
    after: Context | None = None

    @property
    def record(self) -> Compaction | None:
        return self.outcome.record if self.outcome and self.after else None


Under: TypeAlias = Callable[[Alternative], Call]


def compare_all(
    moment: Moment, under: Under, ways: Sequence[Alternative], messages: Sequence[Message]
) -> Iterator[Compared | None]:
    """Tries each of `ways`; gives None after each, and at the end what came of all, in order.

    `under` gives the call by the policy of an alternative, `messages` are all of the conversation.
    What is needed is what its end uses: the messages that no alternative folds.
    """
    before = build_context(moment.view, moment.call, moment.active)
    tried = list[_Tried]()
    for way in ways:
        tried.append(_try(moment, under, way))
        yield None
    yield from _judged(moment, before, tried, messages)


def _try(moment: Moment, under: Under, way: Alternative) -> _Tried:
    policy = moment.call.policy
    try:
        call = under(way)
        policy = call.policy
        outcome = carried_out(moment, call)
        after = None
        if outcome.record is not None:
            after = build_context(moment.view, moment.call, outcome.record)
    except ContextError as error:  # what it must keep does not fit, or a field is missing
        return _Tried(alternative=way, policy=policy, reason=error.reason)
    return _Tried(
        alternative=way, policy=policy, reason=outcome.reason, outcome=outcome, after=after
    )


def _judged(
    moment: Moment, before: Context, tried: Sequence[_Tried], messages: Sequence[Message]
) -> Iterator[Compared]:
    records = [one.record for one in tried if one.record is not None]
    known = moment.active.covered_until if moment.active else 0
    start = min((record.covered_until for record in records), default=known)
    uses = LaterUses(messages[start:], start=start)
    folded = [
        entry.fact for entry in live(ledger_at(moment.view)) if known < entry.seqs[-1] <= start
    ]
    gone = [_gone(uses, one.outcome.lost if one.outcome else (), start) for one in tried]
    needed = len(uses.used(folded, after=start).keys() | {text for texts in gone for text in texts})
    for one, texts in zip(tried, gone, strict=True):
        yield _compared(moment, before, one, gone=len(texts), needed=needed)


def _gone(uses: LaterUses, lost: Iterable[LostFact], start: int) -> set[str]:
    """The lost facts that are used behind the message that said them last."""
    found = uses.needed(lost, after=start)
    return {one.text for one in found if one.needed_at is not None and one.needed_at > one.at}


def _compared(moment: Moment, before: Context, one: _Tried, *, gone: int, needed: int) -> Compared:
    if one.outcome is None or one.after is None or one.record is None:
        return Compared(alternative=one.alternative, reason=one.reason, needed=needed)
    record = one.record
    ranks = Counter[LossRank](lost.rank for lost in one.outcome.lost)
    system = moment.view.anchors().prompts
    summary = _summary_tokens(one.policy, record)
    return Compared(
        alternative=one.alternative,
        reason=one.reason,
        effect=effect_of(before, one.after, record),
        strategies=one.outcome.strategies,
        messages=len(record.folded_since(moment.active, system)),
        needed=needed,
        gone=gone,
        standing=ranks["standing"],
        lost=len(one.outcome.lost),
        payback=payback(
            before,
            one.after,
            price=moment.price,
            summary=summary,
            summary_dollars=_summary_dollars(moment, one.policy, summary),
        ),
    )


def _summary_tokens(policy: Policy, record: Compaction) -> SummaryTokens:
    """What a model would read and write for the summary, where the policy names one."""
    if policy.summary_model is None or not record.summary:
        return SummaryTokens()
    return SummaryTokens(
        input_tokens=record.source_tokens + SETTINGS_OF_SUMMARIES,
        output_tokens=record.summary_tokens,
    )


def _summary_dollars(moment: Moment, policy: Policy, summary: SummaryTokens) -> float | None:
    if policy.summary_model is None:
        return 0.0
    billed = BilledTokens(input_tokens=summary.input_tokens, output_tokens=summary.output_tokens)
    return cost_of(billed, moment.prices(policy.summary_model))
