"""Examines one recorded conversation; a conversation without compactions is only counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Final

from ctxcore.assembly.verdicts import Run
from ctxcore.autopsy.values import (
    CacheBreak,
    ExaminedFold,
    ExaminedSession,
    LostThing,
    SaidAgain,
    Spending,
    SpendingKind,
    sum_known,
)
from ctxcore.compaction.simulation import Recording
from ctxcore.facts.reading import one_line
from ctxcore.formats.cache_breaks import break_between, resent_tokens
from ctxcore.formats.folds import recorded_folds
from ctxcore.formats.hints import Hint, input_rate, known_stays, transcript_hints
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.formats.stays import Stays
from ctxcore.formats.values import Transcript
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import VerdictCode
from ctxcore.replay.losses import NeededFact
from ctxcore.replay.recorded import FoldAccount, Saved, account_for_folds
from ctxcore.signals.finding import find_in_request
from ctxcore.signals.seen import Seen
from ctxcore.signals.values import FoundSignal, tells_of_forgetting
from ctxcore.tokens.catalog import model_info
from ctxcore.tokens.count import count_each, counter_for
from ctxcore.tokens.prices import PER_MILLION, Price, cost_of, list_price

# Chosen: what a person looks through, and what a page of many sessions may hold.
MOST_LOST: Final = 20
MOST_SPENDING: Final = 15
MOST_HINTS: Final = 5
MOST_INPUTS: Final = 200
_RULE: Final = "instruction"
_ROLES: Final[tuple[SpendingKind, ...]] = ("system", "user", "assistant", "summary")


def examine(transcript: Transcript, policy: Policy, *, model: str | None = None) -> ExaminedSession:
    """What happened in a recorded conversation; `policy` is what compactions are compared with.

    Args:
        transcript: The conversation.
        policy: Gets the same messages, and as many tokens as each recorded compaction left.
        model: Counts in place of the model that the file names.
    """
    found = _Examined(transcript, model or transcript.model, policy)
    times = [time for time in transcript.times if time is not None]
    usage, messages = transcript.usage, transcript.messages
    answers = sum(message.role == "assistant" for message in messages)
    inputs = [call.total_input_tokens for call in usage]
    return ExaminedSession(
        path=transcript.path,
        id=transcript.id,
        title=transcript.title,
        format=transcript.format,
        model=found.model,
        parent_id=transcript.parent_id,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        messages=len(messages),
        turns=sum(message.role == "user" for message in messages),
        calls=len(usage) or answers,
        has_usage=bool(usage),
        window_tokens=model_info(found.model).window_tokens,
        peak_tokens=max(inputs, default=0),
        stored_tokens=sum(found.counts),
        sent_tokens=sum(inputs),
        cached_tokens=sum(call.cache_read_tokens for call in usage),
        output_tokens=sum(call.output_tokens for call in usage),
        dollars=sum_known(cost_of(call.billed, found.price_of(call.model)) for call in usage),
        inputs=tuple(_peaks(inputs)),
        spending=tuple(found.spending()),
        folds=tuple(map(found.fold, found.accounts)),
        breaks=tuple(_breaks(transcript, found.price_of)),
        said_again=tuple(found.said_again()),
        hints=tuple(found.hints()[:MOST_HINTS]),
        problems=len(transcript.problems),
    )


class _Examined:
    """A conversation with what is read of it once."""

    def __init__(self, transcript: Transcript, model: str | None, policy: Policy) -> None:
        self.model = model
        self._transcript = transcript
        self._policy = policy
        self._counter = counter_for(model)
        self.counts = count_each(transcript.messages, self._counter)
        self.price_of = cache(list_price)  # of few models, asked for at every call
        self._rate = input_rate(transcript.usage, self.price_of)

    @cached_property
    def accounts(self) -> list[FoldAccount]:
        """The recorded compactions beside ours."""
        folds = recorded_folds(self._transcript, self.model)
        return account_for_folds(self._recording, folds, self._policy) if folds else []

    @cached_property
    def _stays(self) -> Stays:
        return known_stays(self._transcript, self.counts, self._counter)

    @cached_property
    def _recording(self) -> Recording:
        return Recording(self._transcript.messages, model=self.model)

    def hints(self) -> list[Hint]:
        """What cost tokens for nothing, the largest first."""
        return transcript_hints(
            self._transcript, self._counter, self.price_of, counts=self.counts, stays=self._stays
        )

    def fold(self, account: FoldAccount) -> ExaminedFold:
        """One compaction in short."""
        theirs, ours = account.theirs, account.ours
        rules = self._recording.history.standing(until=account.fold.at)
        return ExaminedFold(
            at=account.fold.at,
            trigger=account.fold.trigger,
            before_tokens=account.fold.before_tokens,
            after_tokens=account.shown_tokens,
            facts=account.facts,
            kept=theirs.facts_said,
            needed=account.verdict.needed,
            gone=account.verdict.gone,
            rules=len(rules),
            rules_gone=_rules_gone(theirs),
            ours_kept=ours.facts_said if ours else None,
            ours_gone=len({fact.text for fact in ours.needed_later}) if ours else None,
            ours_rules_gone=_rules_gone(ours) if ours else None,
            lost=tuple(_lost_things(theirs.lost)),
            repeated_calls=len(account.repeats),
            repeated_tokens=account.repeated_tokens,
        )

    def spending(self) -> Iterator[Spending]:
        """Where the tokens went: roles, then tools, then files, each the most first."""
        once = usage_report(self._transcript, self._counter, counts=self.counts)
        sent = usage_report(self._transcript, self._counter, counts=self.counts, stays=self._stays)
        yield from self._by_role(once, sent)
        sent_tools = {tool.name: tool.total_tokens for tool in sent.tools}
        for tool in once.tools[:MOST_SPENDING]:
            yield self._spent("tool", tool.name, tool.total_tokens, sent_tools.get(tool.name, 0))
        sent_files = {file.path: file.total_tokens for file in sent.files}
        for file in once.files[:MOST_SPENDING]:
            yield self._spent("file", file.path, file.total_tokens, sent_files.get(file.path, 0))

    def said_again(self) -> Iterator[SaidAgain]:
        """Where a user had to say again what a compaction had folded."""
        folds = sorted(fold.at for fold in self._transcript.compactions)
        for at, message in enumerate(self._transcript.messages):
            before = [fold for fold in folds if fold <= at]
            if message.role != "user" or not before or not before[-1]:
                continue
            seen = Seen(_runs_after(before[-1], at))
            for signal in find_in_request(self._recording.history, at + 1, message, seen):
                if tells_of_forgetting(signal.verdict):
                    yield self._again(signal)

    def _again(self, signal: FoundSignal) -> SaidAgain:
        messages, earlier = self._transcript.messages, signal.earlier[0] - 1
        return SaidAgain(
            at=signal.seq - 1,
            kind=signal.kind,
            text=one_line(messages[signal.seq - 1].text),
            earlier_at=earlier,
            earlier=one_line(messages[earlier].text),
        )

    def _by_role(self, once: TokenReport, sent: TokenReport) -> Iterator[Spending]:
        for kind in _ROLES:
            tokens = getattr(once, f"{kind}_tokens")
            if tokens:
                yield self._spent(kind, "", tokens, getattr(sent, f"{kind}_tokens"))
        if once.unattributed_tokens:
            hidden = once.unattributed_tokens
            yield self._spent("hidden", "", hidden, hidden * len(self._transcript.usage))

    def _spent(self, kind: SpendingKind, name: str, tokens: int, sent: int) -> Spending:
        dollars = None if self._rate is None else sent * self._rate
        return Spending(kind=kind, name=name, tokens=tokens, sent_tokens=sent, dollars=dollars)


def _rules_gone(saved: Saved) -> int:
    return sum(fact.kind == _RULE for fact in saved.lost)


def _lost_things(lost: Sequence[NeededFact]) -> Iterator[LostThing]:
    """What was needed again, and rules, which hold until they are taken back."""
    told = [fact for fact in lost if fact.needed_at is not None or fact.kind == _RULE]
    for fact in told[:MOST_LOST]:
        yield LostThing(
            text=one_line(fact.text), kind=fact.kind, said_at=fact.at, needed_at=fact.needed_at
        )


def _runs_after(fold: int, at: int) -> list[Run]:
    """The verdicts of a context right after a compaction that folded all before message `fold`."""
    folded = Run(
        first=0,
        last=fold - 1,
        verdict="summarized",
        reason=VerdictCode.FOLDED(),
        before_tokens=0,
        after_tokens=0,
    )
    if fold >= at:
        return [folded]
    shown = replace(folded, first=fold, last=at - 1, verdict="kept", reason=VerdictCode.RECENT())
    return [folded, shown]


def _breaks(
    transcript: Transcript, price_of: Callable[[str | None], Price | None]
) -> Iterator[CacheBreak]:
    """The calls that found little of the call before in the cache."""
    folds = [fold.at for fold in transcript.compactions]
    for before, call in pairwise(transcript.usage):
        is_compacted = any(before.after < fold <= call.after for fold in folds)
        reason = break_between(before, call, is_compacted=is_compacted)
        if reason is None:
            continue
        tokens, price = resent_tokens(before, call), price_of(call.model or transcript.model)
        dollars = None if price is None else tokens * price.lost_cache / PER_MILLION
        yield CacheBreak(at=call.after, reason=reason, tokens=tokens, dollars=dollars)


def _peaks(inputs: Sequence[int]) -> Iterator[int]:
    """At most `MOST_INPUTS` of the sizes: of neighbours the largest."""
    step = max(1, -(-len(inputs) // MOST_INPUTS))
    return (max(inputs[at : at + step]) for at in range(0, len(inputs), step))
