"""Owns carrying a plan's open choice out: which covered blocks stay, by worth or by what they say.

It reads all that competes, which planning does not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted, HistoryView, asked_for, shorten_row
from ctxcore.assembly.reading import by_block
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.carried import ledger_for, with_facts
from ctxcore.compaction.keeping import Keeping, Pieces, Waiting, keep_blocks, text_of
from ctxcore.compaction.loss_report import LostFact, find_losses, with_losses
from ctxcore.compaction.planning import EMERGENCY
from ctxcore.compaction.plans import CompactionPlan, Competing, joined
from ctxcore.compaction.selectors import CHOOSERS, NONE_OUTDATED, Outdated, outdated_of, text_at
from ctxcore.compaction.summarizing import Summarizing
from ctxcore.compaction.triggers import find_trigger, input_size, measure
from ctxcore.compression.markers import REFERENCE_TOKENS
from ctxcore.errors import SummarizerError
from ctxcore.facts.ledger import Ledger
from ctxcore.messages.canonical import printable
from ctxcore.messages.values import JsonObject
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason, to_json
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage
from ctxcore.tokens.families import TokenCounter


def resolved(
    planned: CompactionPlan,
    view: HistoryView,
    call: Call,
    outdated: Outdated = NONE_OUTDATED,
) -> CompactionPlan:
    """`planned` with what stays of the covered blocks chosen: what is worth most per token, what is
    important, or what is a key event.

    Sentences that are `outdated` do not stay where pieces of messages do.

    It reads all of them, which planning does not: a second for ten thousand messages.
    """
    competing = planned.competing
    if competing is None:
        return planned
    blocks = _rows(view, competing.blocks)
    if competing.choosers == ("worth",):
        return _kept_by_worth(planned, competing, blocks, view, call.counter, outdated)
    left: Sequence[Sequence[Counted]] = blocks
    for chooser in competing.choosers:
        if chooser != "worth":
            left = CHOOSERS[chooser](left, view, call.policy)
    return _keeping(planned, tuple(row.seq for block in left for row in block))


def _kept_by_worth(
    planned: CompactionPlan,
    competing: Competing,
    blocks: list[list[Counted]],
    view: HistoryView,
    counter: TokenCounter,
    outdated: Outdated,
) -> CompactionPlan:
    keeping, others = keep_blocks(
        _with_earlier(view, blocks, competing.earlier),
        competing.room_tokens,
        counter,
        opened=_rows(view, competing.opened),
        outdated=outdated,
        request=text_at(view, competing.asked),
    )
    uncovered = {seq for block in competing.opened for seq in block}
    made = _keeping(planned, tuple(seq for seq in keeping.seqs if seq not in uncovered))
    made = replace(made, pieces=keeping.pieces, next_best=tuple(others))
    if competing.waiting is None:
        return made
    return _shortening(made, competing.waiting.raised(competing.room_tokens - keeping.tokens))


def _shortening(planned: CompactionPlan, waiting: Waiting) -> CompactionPlan:
    """`planned` with the outputs that wait as long as their share of the room."""
    others = {seq: size for seq, size in planned.short_sizes.items() if seq not in waiting.sizes}
    sizes = {**others, **waiting.short_sizes}
    return replace(planned, shorten=tuple(sorted(sizes)), short_sizes=sizes)


def _keeping(planned: CompactionPlan, verbatim: tuple[int, ...]) -> CompactionPlan:
    """`planned` with these covered messages staying."""
    staying = set(verbatim)
    return replace(
        planned,
        verbatim=verbatim,
        competing=None,
        keep=(*(seq - 1 for seq in verbatim), *planned.keep),
        fold=tuple(at for at in planned.fold if at + 1 not in staying),
    )


def _rows(view: HistoryView, blocks: Sequence[Sequence[int]]) -> list[list[Counted]]:
    rows = {row.seq: row for row in view.get({seq for block in blocks for seq in block})}
    return [[rows[seq] for seq in block] for block in blocks]


def _with_earlier(
    view: HistoryView, blocks: list[list[Counted]], earlier: range
) -> list[list[Counted]]:
    """`blocks` and the whole ones among `earlier` that may be shown, in order."""
    anchors = view.anchors()
    out = {*anchors.system, *anchors.excluded, *anchors.pinned}
    out.update(row.seq for block in blocks for row in block)
    rows = view.get([seq for seq in earlier if seq not in out])
    made = by_block(row for row in rows if row.block >= earlier.start)
    return sorted([*blocks, *map(list, made)], key=lambda block: block[0].seq)


_FILLS = 3  # what neighbours save that become one message makes room for more of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One strategy that ran: the input before and after it, and what came of it."""

    strategy: str
    before_tokens: int
    after_tokens: int
    outcome: Reason

    def to_dict(self) -> JsonObject:
        """The step as JSON."""
        return {
            "strategy": self.strategy,
            "before_tokens": self.before_tokens,
            "after_tokens": self.after_tokens,
            "outcome": to_json(self.outcome),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a plan: a new record, or None with the reason why nothing changed."""

    record: Compaction | None
    reason: Reason
    steps: tuple[Step, ...] = ()
    failed: bool = False
    """Whether the summarizer failed, even if a truncation took its place."""
    plan: CompactionPlan | None = None
    """What was carried out: the plan with all choices made."""
    strategies: tuple[str, ...] = ()
    """What was done in the end: the plan's, or the truncation that took its place."""
    usages: tuple[SummaryUsage, ...] = ()
    """The requests that the summary took, refused ones too."""
    seconds: float = 0.0
    lost: tuple[LostFact, ...] = ()
    """What held and is no longer said, the most worth first."""

    @property
    def strategy(self) -> str:
        """The strategies, joined for people."""
        return joined(self.strategies)

    @property
    def after_tokens(self) -> int:
        """The input after it; what a record says."""
        return self.record.after_tokens if self.record else 0

    @property
    def cost(self) -> float | None:
        """What the summary cost in US dollars; None where nothing or something unknown was paid."""
        costs = [usage.cost for usage in self.usages]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


def _joined(rows: Iterable[Counted], pieces: Mapping[int, Pieces], cut: int) -> dict[int, str]:
    """The pieces of messages as a record keeps them, which any store and any codec takes.

    Of what is not covered, behind the `cut`, the first words stay in any case.
    """
    return {
        row.seq: printable(text_of(row, pieces[row.seq], begins=row.seq > cut))
        for row in rows
        if row.seq in pieces
    }


class Executor:
    """Carries out one plan."""

    def __init__(
        self,
        plan: CompactionPlan,
        view: HistoryView,
        call: Call,
        active: Compaction,
        summarizer: Summarizer,
        ledger: Ledger,
    ) -> None:
        self.plan = plan
        self._ledger = ledger
        self._view = view
        self._call = call
        self._active = active
        self._summarizer = summarizer
        self.usages: list[SummaryUsage] = []

    def run(self, *, is_needed: bool, is_forced: bool, truncates: bool = True) -> Outcome:
        """What comes of the plan; a truncation may take its place, where it `truncates`."""
        gain = 0.0 if is_needed or is_forced else self._call.policy.min_gain_ratio
        outcome = self._run(gain, is_needed=is_needed and truncates)
        done = outcome.strategies or self.plan.strategies
        return replace(outcome, plan=self.plan, strategies=done)

    def falling_short(self) -> Outcome | None:
        """That nothing came of the plan, where what stays verbatim is above the target by itself;
        no summary is asked for.
        """
        budget = self._call.budget
        if budget is None:
            return None
        record = self._covering(self._shortened)
        measured = measure(self._view, self._call, record)
        least = measured.input_tokens - measured.summary_tokens
        if least > budget.target_tokens:  # unless repairs and merged neighbours save enough
            size = input_size(self._view, self._call, record)
            least = min(least, size - measured.summary_tokens)
        if least <= budget.target_tokens:
            return None
        return Outcome(record=None, reason=OutcomeCode.STAYS(tokens=least), plan=self.plan)

    def is_enough(self, outcome: Outcome) -> bool:
        """Whether the input is now at the target, but for thinking of the open turn: it yields to
        everything else.
        """
        budget, record = self._call.budget, outcome.record
        if record is None or budget is None:
            return record is not None
        if record.after_tokens <= budget.target_tokens:
            return True
        return measure(self._view, self._call, record).input_tokens <= budget.target_tokens

    def skipped(self, outcome: Outcome) -> Step:
        """The step of this plan where the next one is taken instead."""
        step = self.plan.steps[-1]
        record = outcome.record
        after = record.after_tokens if record else self.plan.before_tokens
        why = OutcomeCode.NOT_ENOUGH() if record else OutcomeCode.SKIPPED(why=outcome.reason)
        return Step(
            strategy=step.strategy,
            before_tokens=self.plan.before_tokens,
            after_tokens=after,
            outcome=why,
        )

    def truncated(self, failure: Reason) -> Outcome | None:
        """A truncation in place of the plan, whose summary failed."""
        outcome = self._instead(self._shortened, failure, is_needed=True)
        if outcome is None:
            return None
        done = outcome.strategies or self.plan.strategies
        return replace(outcome, plan=self.plan, strategies=done)

    def _run(self, gain: float, *, is_needed: bool) -> Outcome:
        shortened = self._shortened
        if self.plan.fold and self.plan.fold_as == "truncation":
            return self._judge(self._covering(shortened), shortened, None, gain)
        outcome = self._fold(shortened, gain)
        if outcome.record is not None:
            return outcome
        instead = self._instead(shortened, outcome.reason, is_needed=is_needed)
        return outcome if instead is None or instead.record is None else instead

    def _instead(
        self, shortened: Compaction, failure: Reason, *, is_needed: bool
    ) -> Outcome | None:
        """A truncation in place of a summary that failed, where one is allowed."""
        cut = self.plan.emergency_until
        if cut is not None:
            record = self._covering(shortened, cut)
            return replace(self._judge(record, shortened, failure, 0.0), strategies=(EMERGENCY,))
        if is_needed and self.plan.fold:
            return self._judge(self._covering(shortened), shortened, failure, 0.0)
        return None

    def _fold(self, shortened: Compaction, gain_ratio: float) -> Outcome:
        try:
            record = self._with_summary(shortened) if self.plan.fold else shortened
        except SummarizerError as error:
            return Outcome(record=None, reason=error.reason, failed=True)
        return self._judge(record, shortened, None, gain_ratio)

    def _with_summary(self, shortened: Compaction) -> Compaction:
        record = self._covering(shortened)
        summarizing = Summarizing(
            self._view,
            self._call,
            self._active,
            self._summarizer,
            outdated=outdated_of(self._ledger),
            report=self.usages.append,
        )
        return summarizing.summarized(record, self.plan.stops)

    def _judge(
        self, record: Compaction, shortened: Compaction, failure: Reason | None, gain_ratio: float
    ) -> Outcome:
        if self.plan.fold:
            record = self._filled(with_facts(self._view, self._call, record, self._ledger))
        before = self.plan.before_tokens
        after = input_size(self._view, self._call, record)
        steps = tuple(self._steps(record, shortened, after, failure))
        problem: Reason | None = None
        if after >= before:
            problem = OutcomeCode.NOT_SMALLER(before=before, after=after)
        elif before - after < before * gain_ratio:
            problem = OutcomeCode.LITTLE_GAIN(before=before, after=after)
        if problem is not None:
            return Outcome(record=None, reason=problem, steps=steps, failed=True)
        done = replace(record, seen_until=self._view.count(), turns_from=self._turns_from(record))
        why = self.plan.reason or self.plan.trigger.reason
        if failure is not None:
            why = OutcomeCode.TRUNCATED_INSTEAD(why=failure)
        reason = self._advised(why, done)
        done = replace(done, before_tokens=before, after_tokens=after, reason=reason)
        return Outcome(record=done, reason=reason, steps=steps, failed=failure is not None)

    def _turns_from(self, record: Compaction) -> int:
        """Behind which message turns are counted: a full summary starts their count anew."""
        is_full = self.plan.starts_anew or "full_summary" in record.strategies
        return self._view.count() if is_full else record.turns_from

    def _filled(self, record: Compaction) -> Compaction:
        """`record` with what comes next in the room that the summary did not take."""
        budget, more = self._call.budget, self.plan.next_best
        if budget is None or not more:
            return record
        more = tuple(one for one in more if max(one.block) <= record.covered_until)
        rows = self._view.get({*record.kept, *(seq for one in more for seq in one.block)})
        keeping = Keeping.having(rows, record.kept, self.plan.pieces or {}, self._call.counter)
        for _ in range(_FILLS):
            taken = keeping.tokens
            # Not `input_size`: a context is chosen before its messages are merged.
            left = budget.target_tokens - measure(self._view, self._call, record).input_tokens
            for addition in more:
                left -= keeping.add(addition, left) or 0
            if keeping.tokens == taken:
                break
            texts = {seq: text for seq, text in record.shortened if seq > record.covered_until}
            texts |= _joined(rows, keeping.pieces, record.covered_until)
            record = replace(record, kept=keeping.seqs, shortened=tuple(sorted(texts.items())))
        return record

    def _advised(self, why: Reason, record: Compaction) -> Reason:
        """`why`, and what is left to a person where a rule asks again. Source: the `pi` design."""
        if self.plan.trigger.rule == TriggerCode.ASKED:
            return why
        again = find_trigger(measure(self._view, self._call, record), self._call)
        return why if again is None else OutcomeCode.STILL_OVER(why=why, trigger=again.reason)

    def _steps(
        self, record: Compaction, shortened: Compaction, after: int, failure: Reason | None
    ) -> Iterator[Step]:
        before = self.plan.before_tokens
        for planned in self.plan.steps:
            is_last = planned is self.plan.steps[-1]
            size = after if is_last else self._size_after(planned.strategy, shortened, after)
            outcome = (
                OutcomeCode.TRUNCATED(why=failure) if failure and is_last else OutcomeCode.DONE()
            )
            yield Step(
                strategy=planned.strategy, before_tokens=before, after_tokens=size, outcome=outcome
            )
            before = size

    def _size_after(self, strategy: str, shortened: Compaction, after: int) -> int:
        """The input after a step that others followed."""
        if strategy == "shorten_tool_outputs":
            return input_size(self._view, self._call, shortened)
        planned = next(step for step in self.plan.steps if step.strategy == strategy)
        return max(after, planned.expected_tokens)

    @cached_property
    def _shortened(self) -> Compaction:
        """The active record with the tool outputs of the plan shortened; a new session has none."""
        active = NOTHING_COVERED if self.plan.starts_anew else self._active
        taken = REFERENCE_TOKENS if self._call.offers_expand else 0
        texts = dict(active.shortened)
        asked = self._asked()
        for row in self._view.get(self.plan.shorten):
            limit = self.plan.short_sizes[row.seq] - taken
            shorter = shorten_row(row, limit, self._call.counter, asked=asked[row.seq])
            texts[row.seq] = printable(shorter.short or "")
        if self.plan.pieces is not None:  # chosen anew, from the original messages
            texts = {seq: text for seq, text in texts.items() if seq > self.plan.covered_until}
            rows = self._view.get(self.plan.pieces.keys())
            texts |= _joined(rows, self.plan.pieces, self.plan.covered_until)
        return replace(
            active,
            shortened=tuple(sorted(texts.items())),
            trigger=self.plan.trigger.reason,
            strategies=tuple(step.strategy for step in self.plan.steps),
        )

    def _asked(self) -> dict[int, str]:
        """What the outputs that are shortened were called for."""
        if not self.plan.shorten:
            return {}
        first = min(self._active.covered_until + 1, *self.plan.shorten)
        last_user = self._view.anchors().last_user or first
        return asked_for(self._view.get({last_user, *range(first, max(self.plan.shorten) + 1)}))

    def _covering(self, shortened: Compaction, cut: int | None = None) -> Compaction:
        """`shortened` moved up to the plan's cut, its summary as it was."""
        cut = self.plan.covered_until if cut is None else cut
        anchors = self._view.anchors()
        pins = set(anchors.pinned) - set(anchors.system)
        staying = {*self.plan.verbatim} - pins
        return replace(
            shortened,
            covered_until=cut,
            kept=tuple(seq for seq in self.plan.verbatim if seq <= cut and seq in staying),
            pins=tuple(sorted(seq for seq in pins if seq <= cut)),
            shortened=tuple(
                (seq, text) for seq, text in shortened.shortened if seq > cut or seq in staying
            ),
        )


def execute(
    plan: CompactionPlan,
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    summarizer: Summarizer,
    *,
    is_needed: bool,
    is_forced: bool,
) -> Outcome:
    """The outcome of `plan`; nothing is written.

    `is_needed`: the input cannot be sent as it is, so a truncation stands in for a failed summary.
    `is_forced`: no minimum gain is asked for.
    """
    begun = time.perf_counter()
    ledger = ledger_for(view, call)
    outdated = outdated_of(ledger)

    def begin(plan: CompactionPlan) -> Executor:
        made = resolved(plan, view, call, outdated)
        return Executor(made, view, call, active or NOTHING_COVERED, summarizer, ledger)

    outcome = _climb(plan, begin, is_needed=is_needed, is_forced=is_forced)
    record, lost = outcome.record, None
    if record is not None:
        lost = find_losses(view, call, active, record)
        record = with_losses(record, lost)
    seconds = time.perf_counter() - begun
    return replace(outcome, record=record, lost=tuple(lost or ()), seconds=seconds)


def _climb(
    plan: CompactionPlan,
    begin: Callable[[CompactionPlan], Executor],
    *,
    is_needed: bool,
    is_forced: bool,
) -> Outcome:
    """The outcome of the first step that frees enough, else of the last that frees anything.

    `begin` makes what carries out a plan. A step that fails is skipped and recorded, and so is one
    that could not be enough without any summary, before it pays for one; a truncation takes the
    first one's place only if all fail.
    """
    first = executor = begin(plan)
    skipped, usages, best = list[Step](), list[SummaryUsage](), None
    while True:
        following = executor.plan.instead
        outcome = following and executor.falling_short()
        outcome = outcome or executor.run(
            is_needed=is_needed, is_forced=is_forced, truncates=plan.instead is None
        )
        usages += executor.usages
        if outcome.record is not None and not (best and best.after_tokens <= outcome.after_tokens):
            best = outcome
        if following is None or executor.is_enough(outcome):
            break
        skipped.append(executor.skipped(outcome))
        executor = begin(following)
    if skipped and best is not outcome:
        skipped.append(executor.skipped(outcome))
    outcome = best or outcome
    if outcome.record is None and is_needed and first is not executor:
        outcome = first.truncated(outcome.reason) or outcome
    return replace(outcome, steps=_with_skipped(skipped, outcome.steps), usages=tuple(usages))


def _with_skipped(skipped: Sequence[Step], steps: Sequence[Step]) -> tuple[Step, ...]:
    """`steps` behind those that were tried before them, each strategy once."""
    before = [one for one in skipped if one.outcome.code != OutcomeCode.DONE]
    tried = {one.strategy for one in before}
    behind = [one for one in steps if one.strategy not in tried]
    if before and behind:
        behind[0] = replace(behind[0], before_tokens=before[-1].after_tokens)
    return (*before, *behind)
