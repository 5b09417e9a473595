"""Carries out compaction plans: makes their open choices, has the summary written, judges the gain.

Unlike planning, it reads all covered messages that compete to stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Final

from ctxcore.assembly.building import NOTHING_COVERED, Call, build_context
from ctxcore.assembly.history import Counted, HistoryView, requests_by_seq, shorten_row
from ctxcore.assembly.reading import by_block
from ctxcore.assembly.records import Compaction, ShortArguments
from ctxcore.compaction.beside import shown_beside
from ctxcore.compaction.carried_facts import ledger_for, room_beside, stated_tokens, with_facts
from ctxcore.compaction.drafting import LEAST_SUMMARY_TOKENS
from ctxcore.compaction.keeping import Addition, Keeping, Pieces, keep_blocks, text_of
from ctxcore.compaction.loss_report import LostFact, find_losses, sort_by_salience, with_losses
from ctxcore.compaction.planning import EMERGENCY
from ctxcore.compaction.plans import CompactionPlan, Competing
from ctxcore.compaction.restoring import lost_items, still_lost, to_restore
from ctxcore.compaction.selectors import CHOOSERS, outdated_of, request_at, stated_in
from ctxcore.compaction.short_calls import arguments_of, with_short_calls
from ctxcore.compaction.summarizing import Summarizing, summary_source
from ctxcore.compaction.triggers import find_trigger, input_size, measure
from ctxcore.compression.markers import REFERENCE_TOKENS
from ctxcore.errors import SummarizerError
from ctxcore.facts.ledger import Ledger
from ctxcore.facts.values import STATEMENTS, Fact, Kind
from ctxcore.messages.canonical import printable
from ctxcore.plain import Plain
from ctxcore.reasons.codes import OutcomeCode, TriggerCode
from ctxcore.reasons.values import Reason
from ctxcore.salience.meetings import many_speak
from ctxcore.salience.ranking import TALK_SHARE, Wishes, full_share
from ctxcore.summarizers.extractive import ExtractiveSummarizer
from ctxcore.summarizers.protocol import Summarizer, SummaryUsage
from ctxcore.summarizers.support import SummaryCheck

_TINY_TOKENS = 200  # chosen: the frame of a quoted summary takes a tenth or more
_RAISED: Final[tuple[Kind, ...]] = ("setting",)  # what raises its message in larger windows
_FILLS = 3  # chosen: merging neighbours frees room for more blocks; each pass costs a measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Plain):
    """One strategy that ran: the input before and after it, and what came of it."""

    strategy: str
    before_tokens: int
    after_tokens: int
    outcome: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Plain):
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
    """Facts that the context no longer holds, the highest score first."""
    check: SummaryCheck | None = None
    """What the check of the summary found; None where nothing but quotes was written."""

    @property
    def after_tokens(self) -> int:
        """The input after the compaction, as the record has it."""
        return self.record.after_tokens if self.record else 0

    @property
    def cost(self) -> float | None:
        """Cost of the summary in US dollars; None where there was none or a price is unknown."""
        known = [usage.cost for usage in self.usages if usage.cost is not None]
        return sum(known) if known and len(known) == len(self.usages) else None


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
    """Returns the outcome of `plan`; nothing is written.

    `is_needed`: the input cannot be sent as it is, so a truncation stands in for a failed summary.
    `is_forced`: no minimum gain is required.
    """
    begun = time.perf_counter()
    ledger = ledger_for(view, call)
    min_gain_ratio = 0.0 if is_needed or is_forced else call.policy.min_gain_ratio

    def begin(plan: CompactionPlan) -> _Executor:
        goes_on = active is not None and bool(active.summary) and not plan.starts_anew
        return _Executor(
            plan=resolved(plan, view, call, quotes=_quotes(summarizer) and not goes_on),
            view=view,
            call=call,
            active=active or NOTHING_COVERED,
            summarizer=summarizer,
            ledger=ledger,
            min_gain_ratio=min_gain_ratio,
        )

    outcome = _climb(plan, begin, is_needed=is_needed)
    record, lost = outcome.record, None
    if record is not None:
        lost = find_losses(view, call, active, record)
        lost = None if lost is None else sort_by_salience([*lost, *outcome.lost])
        record = with_losses(record, lost)
    seconds = time.perf_counter() - begun
    return replace(outcome, record=record, lost=tuple(lost or ()), seconds=seconds)


def _climb(
    plan: CompactionPlan, begin: Callable[[CompactionPlan], _Executor], *, is_needed: bool
) -> Outcome:
    """Returns the outcome of the first plan that frees enough, else of the one that frees most.

    A plan that fails is skipped and recorded, and so is one that could not free enough even with
    an empty summary, before a summary is paid for. A truncation replaces the first plan only if
    all fail.
    """
    first = executor = begin(plan)
    skipped, usages, best = list[Step](), list[SummaryUsage](), None
    while True:
        following = executor.plan.instead
        outcome = (following and executor.falling_short()) or executor.run(
            truncates=is_needed and plan.instead is None
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
        outcome = first.truncated(outcome.reason, is_allowed=True) or outcome
    return replace(outcome, steps=_with_skipped(skipped, outcome.steps), usages=tuple(usages))


def _with_skipped(skipped: Sequence[Step], steps: Sequence[Step]) -> tuple[Step, ...]:
    """Returns `steps` after the skipped ones, each strategy once."""
    before = [step for step in skipped if step.outcome.code != OutcomeCode.DONE]
    tried = {step.strategy for step in before}
    behind = [step for step in steps if step.strategy not in tried]
    if before and behind:
        behind[0] = replace(behind[0], before_tokens=before[-1].after_tokens)
    return (*before, *behind)


@dataclass(kw_only=True)
class _Executor:
    """Carries out one plan whose choices are all made."""

    plan: CompactionPlan
    view: HistoryView
    call: Call
    active: Compaction
    summarizer: Summarizer
    ledger: Ledger
    min_gain_ratio: float
    usages: list[SummaryUsage] = field(default_factory=list)
    check: SummaryCheck | None = None
    """The check of the summary, once there is one."""
    missed: list[LostFact] = field(default_factory=list)
    """Items of the summary before that a model's summary lost and that are not carried."""

    def run(self, *, truncates: bool) -> Outcome:
        """Carries the plan out; with `truncates`, a truncation may replace a failed summary."""
        if self.plan.fold and self.plan.fold_as == "truncation":
            return self._judge(self._covering(self.plan.covered_until), self.min_gain_ratio)
        try:
            record = self._summarized() if self.plan.fold else self._shortened
        except SummarizerError as error:
            outcome = self._refused(error.reason)
        else:
            outcome = self._judge(record, self.min_gain_ratio)
        if outcome.record is not None:
            return outcome
        truncated = self.truncated(outcome.reason, is_allowed=truncates)
        return truncated if truncated and truncated.record else outcome

    def truncated(self, failure: Reason, *, is_allowed: bool) -> Outcome | None:
        """Truncates in place of a summary that failed, where the plan or the caller allows it."""
        cut = self.plan.emergency_until
        if cut is not None:
            return self._judge(self._covering(cut), 0.0, failure, strategies=(EMERGENCY,))
        if is_allowed and self.plan.fold:
            return self._judge(self._covering(self.plan.covered_until), 0.0, failure)
        return None

    def falling_short(self) -> Outcome | None:
        """Returns a refusal where what stays verbatim is above the target without any summary."""
        budget = self.call.budget
        if budget is None:
            return None
        record = self._covering(self.plan.covered_until)
        measured = measure(self.view, self.call, record)
        least = measured.input_tokens - measured.summary_tokens
        if least > budget.target_tokens:  # unless repairs and merged neighbours save enough
            size = input_size(self.view, self.call, record)
            least = min(least, size - measured.summary_tokens)
        if least <= budget.target_tokens:
            return None
        return self._refused(OutcomeCode.STAYS(tokens=least), failed=False)

    def is_enough(self, outcome: Outcome) -> bool:
        """Whether the input is now at the target.

        Thinking of the open turn does not count: it yields to everything else.
        """
        budget, record = self.call.budget, outcome.record
        if record is None or budget is None:
            return record is not None
        if record.after_tokens <= budget.target_tokens:
            return True
        return measure(self.view, self.call, record).input_tokens <= budget.target_tokens

    def skipped(self, outcome: Outcome) -> Step:
        """Returns the step of this plan where another plan is taken instead."""
        record = outcome.record
        return Step(
            strategy=self.plan.steps[-1].strategy,
            before_tokens=self.plan.before_tokens,
            after_tokens=record.after_tokens if record else self.plan.before_tokens,
            outcome=OutcomeCode.NOT_ENOUGH() if record else OutcomeCode.SKIPPED(why=outcome.reason),
        )

    @cached_property
    def _shortened(self) -> Compaction:
        """The active record with the plan's tool outputs shortened; empty in a new session."""
        plan, counter = self.plan, self.call.counter
        active = NOTHING_COVERED if plan.starts_anew else self.active
        reference_tokens = REFERENCE_TOKENS if self.call.offers_expand else 0
        texts, requests = dict(active.shortened), self._requests()
        for row in (row for row in self.view.get(plan.shorten) if row.message.is_tool_result):
            limit = plan.short_sizes[row.seq] - reference_tokens
            shorter = shorten_row(row, limit, counter, query=requests[row.seq])
            texts[row.seq] = printable(shorter.short or "")
        if plan.pieces is not None:  # chosen anew, from the original messages
            texts = {seq: text for seq, text in texts.items() if seq > plan.covered_until}
            rows = self.view.get(plan.pieces.keys())
            texts |= _joined(rows, plan.pieces, plan.covered_until)
        return replace(
            active,
            shortened=tuple(sorted(texts.items())),
            arguments=self._arguments(active.arguments, plan.shorten),
            trigger=plan.trigger.reason,
            strategies=tuple(step.strategy for step in plan.steps),
        )

    def _arguments(
        self, known: Iterable[tuple[int, ShortArguments]], seqs: Iterable[int]
    ) -> tuple[tuple[int, ShortArguments], ...]:
        """Returns what stands for the arguments of calls, those of the messages `seqs` as well."""
        found = dict(known)
        for row in self.view.get([seq for seq in seqs if seq not in found]):
            texts = arguments_of(row, self.call)
            if texts is not None:
                found[row.seq] = texts
        return tuple(sorted(found.items()))

    def _kept_arguments(
        self, record: Compaction, kept: Iterable[int]
    ) -> tuple[tuple[int, ShortArguments], ...]:
        """Returns the arguments of `record` where the covered messages `kept` stay."""
        staying = set(kept)
        behind = (pair for pair in record.arguments if pair[0] > record.covered_until)
        again = (pair for pair in self.active.arguments if pair[0] in staying)
        return tuple(sorted((*behind, *again)))

    def _requests(self) -> dict[int, str]:
        """Returns what the outputs that are shortened were called for."""
        if not self.plan.shorten:
            return {}
        first = min(self.active.covered_until + 1, *self.plan.shorten)
        last_user = self.view.anchors().last_user or first
        return requests_by_seq(
            self.view.get({last_user, *range(first, max(self.plan.shorten) + 1)})
        )

    def _covering(self, cut: int) -> Compaction:
        """Returns the shortened record moved up to `cut`, its summary as it was."""
        anchors = self.view.anchors()
        pins = set(anchors.pinned) - set(anchors.prompts)
        staying = {*self.plan.verbatim} - pins
        kept = tuple(seq for seq in self.plan.verbatim if seq <= cut and seq in staying)
        shortened = replace(self._shortened, covered_until=cut)
        return replace(
            shortened,
            kept=kept,
            arguments=self._kept_arguments(shortened, kept),
            pins=tuple(sorted(seq for seq in pins if seq <= cut)),
            shortened=tuple(
                (seq, text)
                for seq, text in self._shortened.shortened
                if seq > cut or seq in staying
            ),
        )

    def _summarized(self) -> Compaction:
        """The record with a summary; quotes take the place of one that the check refused.

        Without one where facts leave no room to quote.
        """
        covering = self._covering(self.plan.covered_until)
        if not self._may_quote(covering):
            return covering
        summarizing = self._summarizing(self.summarizer, self._beside(covering))
        try:
            return summarizing.summarized(covering, self.plan.stops)
        except SummarizerError:
            if summarizing.check is None or summarizing.check.refused is None:
                raise
        finally:
            self.check = summarizing.check
        quoting = self._summarizing(ExtractiveSummarizer(self.call.counter))
        return quoting.summarized(covering, self.plan.stops)

    def _may_quote(self, covering: Compaction) -> bool:
        """Whether what was laid down, where it comes first, leaves room to quote as well.

        In mere talk whole messages take that room, and so do in a meeting the sentences that say
        something new. A summary that a model writes, and one that there is, have theirs in any
        case.
        """
        if not _quotes(self.summarizer) or covering.summary:
            return True
        if self.plan.is_meeting and not self.plan.focus:
            return False
        if self.plan.is_talk and _is_tiny(self.plan, self.call):
            return False
        stated = stated_tokens(self.view, self.call)
        if not stated:
            return True
        framed = replace(covering, facts="", summary=".")
        room = room_beside(self.view, self.call, framed) - stated
        return room >= LEAST_SUMMARY_TOKENS and not self.plan.is_talk

    def _beside(self, covering: Compaction) -> str:
        """What the context shows beside the summary of a model, for the form that asks for it."""
        if _quotes(self.summarizer) or self.call.policy.summary_form != "plain":
            return ""
        silent = replace(covering, summary="")
        record = with_facts(
            self.view,
            self.call,
            silent,
            self.ledger,
            Wishes.of(self.plan.focus, self.call.policy),
            is_talk=self.plan.is_talk,
        )
        return shown_beside(self.view, self.call, record)

    def _summarizing(self, summarizer: Summarizer, carried: str = "") -> Summarizing:
        return Summarizing(
            self.view,
            self.call,
            self.active,
            summarizer,
            focus=self.plan.focus,
            is_talk=self.plan.is_talk,
            carried=carried,
            outdated=outdated_of(self.ledger),
            report=self.usages.append,
        )

    def _judge(
        self,
        record: Compaction,
        gain_ratio: float,
        failure: Reason | None = None,
        *,
        strategies: tuple[str, ...] = (),
    ) -> Outcome:
        """Returns `record` completed and accepted, or refused where it gains too little.

        `failure` is why a truncation replaces the summary; `strategies` name it.
        """
        plan, view, call = self.plan, self.view, self.call
        if plan.fold:
            record = self._completed(record)
        before, after = plan.before_tokens, input_size(view, call, record)
        steps, strategies = tuple(self._steps(after, failure)), strategies or plan.strategies
        problem: Reason | None = None
        if after >= before:
            problem = OutcomeCode.NOT_SMALLER(before=before, after=after)
        elif before - after < before * gain_ratio:
            problem = OutcomeCode.LITTLE_GAIN(before=before, after=after)
        if problem is not None:
            return replace(self._refused(problem), steps=steps, strategies=strategies)
        starts_anew = plan.starts_anew or "full_summary" in record.strategies
        record = replace(
            record,
            seen_until=view.count(),
            turns_from=view.count() if starts_anew else record.turns_from,
            before_tokens=before,
            after_tokens=after,
        )
        reason = plan.reason or plan.trigger.reason
        if failure is not None:
            reason = OutcomeCode.TRUNCATED_INSTEAD(why=failure)
        elif self._refusal is not None:
            reason = OutcomeCode.QUOTED_INSTEAD(why=self._refusal)
        reason = self._advised(reason, record)
        return Outcome(
            record=replace(record, reason=reason),
            reason=reason,
            steps=steps,
            failed=failure is not None,
            plan=plan,
            strategies=strategies,
            check=self.check,
            lost=tuple(self.missed),
        )

    @property
    def _refusal(self) -> Reason | None:
        """Why quotes took the place of the summary."""
        return self.check.refused if self.check else None

    def _refused(self, reason: Reason, *, failed: bool = True) -> Outcome:
        strategies = self.plan.strategies
        return Outcome(
            record=None,
            reason=reason,
            failed=failed,
            plan=self.plan,
            strategies=strategies,
            check=self.check,
        )

    def _completed(self, record: Compaction) -> Compaction:
        """Returns `record` with its facts, and with blocks in the room that is left.

        Where what was laid down comes first, those blocks may show some of it: then it is not
        carried as well, and the room goes to others.
        """
        if self._is_packed:
            return self._carrying(self._packed(record))
        carried, stated = self._carrying(record), stated_tokens(self.view, self.call)
        bare = replace(record, facts="")
        if stated and carried.facts and stated > room_beside(self.view, self.call, bare):
            return carried
        filled = self._filled(carried)
        if not stated:
            return filled
        for _ in range(_FILLS):
            kept, filled = filled.kept, self._filled(self._carrying(filled))
            if filled.kept == kept:
                return filled
        return self._carrying(filled)

    def _carrying(self, record: Compaction) -> Compaction:
        """Returns `record` with its facts; what a model's summary lost comes back as it has room.

        What a model writes shorter than it may goes to those first, then to further blocks.
        """
        view, call, plan = self.view, self.call, self.plan
        wishes = Wishes.of(plan.focus, call.policy)
        carried = with_facts(view, call, record, self.ledger, wishes, is_talk=plan.is_talk)
        if not (self._is_written and record.summary and call.budget and call.budget.facts_tokens):
            return carried
        items = self._lost_items(carried)
        restored = to_restore(
            view,
            call,
            self.active,
            carried,
            self.ledger,
            items,
            max_tokens=self._left_by_model(carried),
            is_talk=plan.is_talk,
        )
        if restored.entries and restored.max_tokens > 0:
            carried = with_facts(
                view, call, record, self.ledger, wishes, is_talk=plan.is_talk, restored=restored
            )
        self.missed = still_lost(carried, items)
        return carried

    @property
    def _is_written(self) -> bool:
        """Whether a model, or a function, wrote the summary."""
        return self.check is not None and self._refusal is None

    def _left_by_model(self, record: Compaction) -> int:
        """Returns how much shorter than allowed a model's summary is, as far as the target goes."""
        budget, policy = self.call.budget, self.call.policy
        if budget is None:
            return 0
        limit = min(budget.summary_tokens, policy.summary_max_tokens)
        left = budget.target_tokens - measure(self.view, self.call, record).input_tokens
        return min(limit - record.summary_tokens, left)

    def _lost_items(self, record: Compaction) -> list[Fact]:
        """Returns the items of the summary before that a model's summary lost."""
        if not self.active.summary:
            return []
        rows = summary_source(self.view, self.call.policy, self.active, record)
        behind = range(record.covered_until + 1, self.view.count() + 1)
        shown = self.view.get({*record.kept, *record.pins, *behind})
        return lost_items(self.active, record, self.ledger, rows, shown)

    def _filled(self, record: Compaction) -> Compaction:
        """Returns `record` with the next best blocks in the room that the summary left."""
        budget, additions = self.call.budget, self._additions(record)
        if budget is None or not self.plan.next_best:
            return record
        keeping = self._keeping(record, additions)
        for _ in range(_FILLS):
            tokens = keeping.tokens
            # Not `input_size`: a context is chosen before its messages are merged.
            left = budget.target_tokens - measure(self.view, self.call, record).input_tokens
            for addition in additions:
                left -= keeping.add(addition, left) or 0
            if keeping.tokens == tokens:
                break
            record = self._having(record, keeping)
        return record

    @property
    def _is_packed(self) -> bool:
        """Whether blocks that stay are chosen by what each adds to the context.

        Not where much was laid down: facts hold more of it.
        """
        is_tiny = self.plan.is_talk and _is_tiny(self.plan, self.call)
        return is_tiny and _quotes(self.summarizer) and not stated_tokens(self.view, self.call)

    def _packed(self, record: Compaction) -> Compaction:
        """Returns `record` with the best blocks whose context is within the target.

        In so small a window, frames that merged neighbours share are a good part of it: what a
        block takes is read from the context. Blocks whose words alone do not fit are not tried.
        """
        budget, counter = self.call.budget, self.call.counter
        if budget is None:
            return record
        additions = self._additions(record)
        keeping = self._keeping(record, additions)
        left = budget.target_tokens - self._whole_size(record)
        for addition in additions:
            tried = keeping.copy()
            tried.add(addition)
            texts = (tried.text(seq) for seq in addition.block if seq not in keeping.sizes)
            if sum(map(counter.count, texts)) > left:
                continue
            longer = self._having(record, tried)
            longer_left = budget.target_tokens - self._whole_size(longer)
            if longer_left >= 0:
                keeping, record, left = tried, longer, longer_left
        return record

    def _whole_size(self, record: Compaction) -> int:
        """Returns the size of all that `record` shows, were the window large enough.

        Without rules put back and messages recalled: they have the room that is left.
        """
        policy = self.call.policy.override(facts_ratio=None, recall_ratio=None)
        call = replace(self.call, policy=policy, budget=None)
        return build_context(self.view, call, record).tokens

    def _additions(self, record: Compaction) -> list[Addition]:
        """Returns the next best blocks that `record` covers."""
        cut = record.covered_until
        return [added for added in self.plan.next_best if max(added.block) <= cut]

    def _keeping(self, record: Compaction, additions: Iterable[Addition]) -> Keeping:
        """Returns what `record` keeps, to which `additions` may be added."""
        seqs = {*record.kept, *(seq for added in additions for seq in added.block)}
        short = {seq for seq, _ in self.active.arguments}
        rows = with_short_calls(self.view.get(seqs), self.call, short)
        return Keeping.having(rows, record.kept, self.plan.pieces or {}, self.call.counter)

    def _having(self, record: Compaction, keeping: Keeping) -> Compaction:
        """Returns `record` with the messages that stay."""
        cut = record.covered_until
        texts = {seq: text for seq, text in record.shortened if seq > cut}
        texts |= _joined(keeping.rows.values(), keeping.pieces, cut)
        return replace(
            record,
            kept=keeping.seqs,
            shortened=tuple(sorted(texts.items())),
            arguments=self._kept_arguments(record, keeping.seqs),
        )

    def _advised(self, reason: Reason, record: Compaction) -> Reason:
        """Returns `reason`, and the rule that asks again: the rest is left to a person.

        Source: the `pi` design.
        """
        if self.plan.trigger.rule == TriggerCode.ASKED:
            return reason
        again = find_trigger(measure(self.view, self.call, record), self.call)
        return reason if again is None else OutcomeCode.STILL_OVER(why=reason, trigger=again.reason)

    def _steps(self, after: int, failure: Reason | None) -> Iterator[Step]:
        """Yields the plan's steps with the sizes they led to; `after` is that of the last one."""
        before = self.plan.before_tokens
        for planned in self.plan.steps:
            size, outcome = after, OutcomeCode.DONE()
            if planned is self.plan.steps[-1]:
                outcome = self._last_outcome(failure)
            elif planned.strategy == "shorten_tool_outputs":
                size = input_size(self.view, self.call, self._shortened)
            else:
                size = max(after, planned.expected_tokens)
            yield Step(
                strategy=planned.strategy, before_tokens=before, after_tokens=size, outcome=outcome
            )
            before = size

    def _last_outcome(self, failure: Reason | None) -> Reason:
        if failure is not None:
            return OutcomeCode.TRUNCATED(why=failure)
        refusal = self._refusal
        return OutcomeCode.DONE() if refusal is None else OutcomeCode.QUOTED(why=refusal)


def _joined(rows: Iterable[Counted], pieces: Mapping[int, Pieces], cut: int) -> dict[int, str]:
    """Returns the pieces of messages as texts that any store and any codec takes.

    Of messages after `cut`, which are not covered, the first words stay in any case.
    """
    return {
        row.seq: printable(text_of(row, pieces[row.seq], begins=row.seq > cut))
        for row in rows
        if row.seq in pieces
    }


def resolved(
    planned: CompactionPlan, view: HistoryView, call: Call, *, quotes: bool = True
) -> CompactionPlan:
    """Returns `planned` with the covered blocks chosen that stay, by score, importance or events.

    `quotes`: the summary would only quote; then meetings and the smallest windows have none.
    It reads all of them, which planning does not: a second for ten thousand messages.
    """
    competing = planned.competing
    if competing is None:
        return planned
    blocks: Sequence[Sequence[Counted]] = _rows(view, competing.blocks)
    if competing.choosers == ("worth",):
        return _kept_by_score(planned, competing, blocks, view, call, quotes=quotes)
    for chooser in competing.choosers:
        if chooser != "worth":
            blocks = CHOOSERS[chooser](
                blocks, view, call.policy, Wishes.of(planned.focus, call.policy)
            )
    return _keeping(planned, tuple(row.seq for block in blocks for row in block))


def _kept_by_score(
    planned: CompactionPlan,
    competing: Competing,
    blocks: Sequence[Sequence[Counted]],
    view: HistoryView,
    call: Call,
    *,
    quotes: bool,
) -> CompactionPlan:
    """Returns `planned` with the blocks, or pieces of them, that score highest per token.

    Of messages that stay in pieces, outdated sentences do not stay.
    """
    blocks = _with_earlier(view, blocks, competing.earlier)
    are_calls = (len(block) > 1 or bool(block[0].message.calls) for block in blocks)
    is_talk = full_share(are_calls) < TALK_SHARE
    shorter = {*planned.shorten, *competing.short_calls}
    ledger = ledger_for(view, call)
    room, is_tiny = competing.room_tokens, quotes and is_talk and _is_tiny(planned, call)
    spare_tokens = _spare_in_talk(call) if is_talk else 0
    if is_tiny:  # whole messages take less than facts and quotes with their frames
        room += competing.summary_tokens + competing.facts_tokens
    if is_tiny and not stated_tokens(view, call):  # all wait for `_packed`
        room, spare_tokens = 0, spare_tokens + room
    opened = [with_short_calls(block, call, shorter) for block in _rows(view, competing.opened)]
    is_meeting = many_speak(row.message for row in chain.from_iterable((*blocks, *opened)))
    if is_meeting and quotes and not (is_tiny or planned.focus):
        room += competing.summary_tokens
        spare_tokens = max(0, spare_tokens - competing.summary_tokens)
    keeping, others = keep_blocks(
        [with_short_calls(block, call, shorter) for block in blocks],
        room,
        call.counter,
        opened=opened,
        outdated=outdated_of(ledger),
        stated=stated_in(ledger, STATEMENTS if is_tiny else _RAISED),
        request=request_at(view, competing.request),
        wishes=Wishes.of(planned.focus, call.policy),
        spare_tokens=spare_tokens,
        is_talk=is_talk,
        is_meeting=is_meeting,
    )
    uncovered = {seq for block in competing.opened for seq in block}
    made = _keeping(planned, tuple(seq for seq in keeping.seqs if seq not in uncovered))
    made = replace(
        made,
        pieces=keeping.pieces,
        next_best=tuple(others),
        is_talk=is_talk,
        is_meeting=is_meeting,
    )
    if competing.waiting is None:
        return made
    waiting = competing.waiting.raised(room - keeping.tokens)
    sizes = {seq: size for seq, size in made.short_sizes.items() if seq not in waiting.sizes}
    sizes |= waiting.short_sizes
    return replace(made, shorten=tuple(sorted(sizes)), short_sizes=sizes)


def _quotes(summarizer: Summarizer) -> bool:
    """Whether it writes nothing of its own."""
    return isinstance(summarizer, ExtractiveSummarizer)


def _is_tiny(planned: CompactionPlan, call: Call) -> bool:
    """Whether the frame of a quoted summary takes too much of the target for what it would say.

    Not where a person says what to keep: that is quoted first.
    """
    is_small = call.budget is not None and call.budget.target_tokens <= _TINY_TOKENS
    return is_small and not planned.focus and call.policy.summary_form == "plain"


def _spare_in_talk(call: Call) -> int:
    """Returns what summary and facts leave of their rooms in mere talk, nearly all."""
    return call.budget.summary_tokens + call.budget.facts_tokens if call.budget else 0


def _keeping(planned: CompactionPlan, verbatim: tuple[int, ...]) -> CompactionPlan:
    """Returns `planned` with these covered messages staying."""
    staying = set(verbatim)
    return replace(
        planned,
        verbatim=verbatim,
        competing=None,
        keep=(*(seq - 1 for seq in verbatim), *planned.keep),
        fold=tuple(at for at in planned.fold if at + 1 not in staying),
    )


def _rows(view: HistoryView, blocks: Sequence[Sequence[int]]) -> list[Sequence[Counted]]:
    rows = {row.seq: row for row in view.get({seq for block in blocks for seq in block})}
    return [tuple(map(rows.__getitem__, block)) for block in blocks]


def _with_earlier(
    view: HistoryView, blocks: Sequence[Sequence[Counted]], earlier: range
) -> list[Sequence[Counted]]:
    """Returns `blocks` and the whole blocks among `earlier` that may be shown, in order."""
    anchors = view.anchors()
    out = {*anchors.prompts, *anchors.excluded, *anchors.pinned}
    out.update(row.seq for block in blocks for row in block)
    rows = view.get([seq for seq in earlier if seq not in out])
    made = by_block(row for row in rows if row.block >= earlier.start)
    return sorted([*blocks, *made], key=lambda block: block[0].seq)
