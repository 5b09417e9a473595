"""Owns carrying out a plan: shorten, summarize, check; what comes back is a record or a refusal.

A record is accepted only if the input gets smaller. When a compaction is needed and its summary
fails, a truncation takes its place, so that the same over-long input is never sent twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted, HistoryView, shorten_row
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.measuring import input_size
from ctxcore.compaction.planning import CompactionPlan, summary_limit
from ctxcore.errors import SummarizerError
from ctxcore.messages.values import Message
from ctxcore.summarizers.checks import check_summary
from ctxcore.summarizers.language import detect_language
from ctxcore.summarizers.protocol import Language, Summarizer, SummaryRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One strategy that ran: the input before and after it, and what came of it."""

    strategy: str
    before_tokens: int
    after_tokens: int
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a plan: a new record, or None with the reason why nothing changed."""

    record: Compaction | None
    reason: str
    steps: tuple[Step, ...] = ()
    failed: bool = False
    """Whether the summarizer failed, even if a truncation took its place."""


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
    executor = _Executor(plan, view, call, active or NOTHING_COVERED, summarizer)
    return executor.run(is_needed=is_needed, is_forced=is_forced)


class _Executor:
    def __init__(
        self,
        plan: CompactionPlan,
        view: HistoryView,
        call: Call,
        active: Compaction,
        summarizer: Summarizer,
    ) -> None:
        self._plan = plan
        self._view = view
        self._call = call
        self._active = active
        self._summarizer = summarizer

    def run(self, *, is_needed: bool, is_forced: bool) -> Outcome:
        shortened = self._with_shortened()
        gain = 0.0 if is_needed or is_forced else self._call.policy.min_gain_ratio
        outcome = self._fold(shortened, gain)
        if outcome.record is not None or not (is_needed and self._plan.fold):
            return outcome
        truncated = self._judge(self._covering(shortened), shortened, outcome.reason, 0.0)
        return outcome if truncated.record is None else truncated

    def _fold(self, shortened: Compaction, gain_ratio: float) -> Outcome:
        try:
            record = self._with_summary(shortened) if self._plan.fold else shortened
        except SummarizerError as error:
            return Outcome(record=None, reason=str(error), failed=True)
        return self._judge(record, shortened, "", gain_ratio)

    def _judge(
        self, record: Compaction, shortened: Compaction, failure: str, gain_ratio: float
    ) -> Outcome:
        before = self._plan.before_tokens
        after = input_size(self._view, self._call, record)
        steps = tuple(self._steps(record, shortened, after, failure))
        problem = ""
        if after >= before:
            problem = f"not smaller: {before:,} tokens before, {after:,} after"
        elif before - after < before * gain_ratio:
            problem = f"too little gain: {before:,} tokens before, {after:,} after"
        if problem:
            return Outcome(record=None, reason=problem, steps=steps, failed=True)
        reason = f"{failure}; truncated instead" if failure else str(self._plan.trigger)
        done = replace(record, before_tokens=before, after_tokens=after, reason=reason)
        return Outcome(record=done, reason=reason, steps=steps, failed=bool(failure))

    def _steps(
        self, record: Compaction, shortened: Compaction, after: int, failure: str
    ) -> Iterator[Step]:
        before = self._plan.before_tokens
        for planned in self._plan.steps:
            is_last = planned is self._plan.steps[-1]
            size = after if is_last else input_size(self._view, self._call, shortened)
            outcome = f"truncated: {failure}" if failure and is_last else "done"
            yield Step(
                strategy=planned.strategy, before_tokens=before, after_tokens=size, outcome=outcome
            )
            before = size

    def _with_shortened(self) -> Compaction:
        """The active record with the tool outputs of the plan shortened."""
        limit = self._call.policy.shorten_over_tokens
        texts = dict(self._active.shortened)
        for row in self._view.get(self._plan.shorten):
            texts[row.seq] = shorten_row(row, limit, self._call.counter).short or ""
        return replace(
            self._active,
            shortened=tuple(sorted(texts.items())),
            trigger=self._plan.trigger.rule,
            strategies=tuple(step.strategy for step in self._plan.steps),
        )

    def _covering(self, shortened: Compaction) -> Compaction:
        """`shortened` moved up to the plan's cut, its summary as it was."""
        cut = self._plan.covered_until
        anchors = self._view.anchors()
        pins = set(anchors.pinned) - set(anchors.system)
        return replace(
            shortened,
            covered_until=cut,
            kept=tuple(seq for seq in shortened.kept if seq not in pins),
            pins=tuple(sorted(seq for seq in pins if seq <= cut)),
            shortened=tuple((seq, text) for seq, text in shortened.shortened if seq > cut),
        )

    def _with_summary(self, shortened: Compaction) -> Compaction:
        record = self._covering(shortened)
        rows = self._source(record)
        source_tokens = sum(row.sent_tokens for row in rows)
        messages = tuple(_said(row) for row in rows)
        is_first = not self._active.summary
        language = detect_language(messages) if is_first else self._active.language
        text = self._summarize(messages, source_tokens, language)
        everything = self._view.totals().messages
        behind = self._view.totals(after=record.covered_until).messages
        return replace(
            record,
            summary=text,
            summary_tokens=self._call.counter.count(text),
            summarized_until=record.covered_until,
            covered_messages=everything - behind,
            generation=0 if is_first else self._active.generation + 1,
            language=language,
        )

    def _source(self, record: Compaction) -> list[Counted]:
        """What the summary newly stands for: truncated messages too, nothing that stays shown.

        The last user message is shown now, but no longer once it is answered.
        """
        anchors = self._view.anchors()
        shown = {*record.pins, *record.kept, *self._whole_goal()}
        out = {*anchors.excluded, *anchors.system, *shown}
        released = {*self._active.pins, *self._active.kept}  # and not summarized until now
        new = range(self._active.summarized_until + 1, record.covered_until + 1)
        return self._view.get({*released, *new} - out)

    def _whole_goal(self) -> list[int]:
        """The goal, if all of it stays in the context for good."""
        goal = self._view.anchors().goal
        if goal is None or self._view.get([goal])[0].tokens > self._call.policy.goal_max_tokens:
            return []
        return [goal]

    def _summarize(
        self, messages: tuple[Message, ...], source_tokens: int, language: Language
    ) -> str:
        counter, policy = self._call.counter, self._call.policy
        source = source_tokens + counter.count(self._active.summary)
        assert self._call.budget is not None  # `for_trigger` gave it one
        limit = summary_limit(policy.summary_source_ratio, self._call.budget, source)
        text = self._ask(
            SummaryRequest(
                messages=messages,
                previous=self._active.summary,
                max_tokens=limit,
                language=language,
            )
        )
        return check_summary(text, source_tokens=source, counter=counter, max_tokens=limit)

    def _ask(self, request: SummaryRequest) -> str:
        try:
            text: object = self._summarizer.summarize(request)
        except SummarizerError:
            raise
        except Exception as error:  # a caller's summarizer may raise anything; nothing changes
            raise SummarizerError(problem=f"{type(error).__name__}: {error}") from error
        if not isinstance(text, str):
            raise SummarizerError(problem=f"it is {type(text).__name__}, not text")
        return text


def _said(row: Counted) -> Message:
    """The message with its function's name, so that a summarizer can say whose output it is."""
    if row.message.is_tool_result and not row.message.name:
        return replace(row.message, name=row.function_name or None)
    return row.message
