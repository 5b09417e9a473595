"""Owns deciding what a compaction does: where it cuts, what it shortens; it calls no model.

Strategies run in the policy's order until the expected input is at the target. They look at the
sizes that the policy's triggers count; what a plan says of the input is in the model's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ctxcore.assembly.adapting import adapted, ruled
from ctxcore.assembly.building import NOTHING_COVERED, Call
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.reading import Reader, Reading, by_block
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.choosing import Choice, Uses, choose
from ctxcore.compaction.drafting import Block, Draft, Scope, source_so_far
from ctxcore.compaction.keeping import Addition, Pieces, keep_blocks
from ctxcore.compaction.measuring import Measure, input_size
from ctxcore.compaction.outdated import NONE_OUTDATED, Outdated
from ctxcore.compaction.remembering import facts_room
from ctxcore.compaction.strategies import STRATEGIES, turns_to_keep
from ctxcore.compaction.triggers import ASKED, Trigger
from ctxcore.messages.values import text_chars
from ctxcore.policy.values import StrategyName
from ctxcore.tokens.counter import TokenCounter

FoldAs = Literal["summary", "truncation"]

EMERGENCY = "emergency truncation"
MOST_CANDIDATES = 3_000
"""Messages looked at to choose what stays, beside those that stayed so far: a third of a second."""
LEAST_ROOM_RATIO = 0.25
"""Of the protected tail: with less room for all that is covered, long newest messages give some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """What a compaction will do, before anything is summarized or written.

    `keep` and `fold` are places of messages in the history, from 0.
    """

    trigger: Trigger
    strategy: str
    """The strategies that take part, joined by ` + `; where the policy chooses, what it chose."""
    keep: tuple[int, ...]
    fold: tuple[int, ...]
    before_tokens: int
    expected_tokens: int
    covered_until: int
    fold_as: FoldAs = "summary"
    reason: str = ""
    """Why it was chosen, where the policy chooses."""
    verbatim: tuple[int, ...] = ()
    """Covered messages that stay, by sequence number; whole blocks."""
    pieces: Mapping[int, Pieces] | None = None
    """Of those of which only pieces stay; None: they stay as they stand so far."""
    next_best: tuple[Addition, ...] = ()
    """What stays too if the summary leaves room, the best first."""
    competing: Competing | None = None
    """Which covered blocks stay is still to be decided, by `resolved`."""
    shorten: tuple[int, ...] = ()
    """Tool outputs to shorten, by sequence number."""
    steps: tuple[PlannedStep, ...] = ()
    turns_folded: int = 0
    starts_anew: bool = False
    """Whether the summary so far and what it kept are left out too."""
    emergency_until: int | None = None
    """Where to truncate if the summary fails, whether or not the input is too large."""

    @property
    def saved_ratio(self) -> float:
        """How much smaller the input is expected to be: 1 - after / before."""
        return 1 - self.expected_tokens / self.before_tokens if self.before_tokens else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Competing:
    """Blocks that may stay though they are covered, by sequence numbers, and the room there is."""

    blocks: tuple[tuple[int, ...], ...]
    earlier: range = range(0)
    """Messages that earlier compactions covered and that may come back, or some of their blocks."""
    opened: tuple[tuple[int, ...], ...] = ()
    """Newest blocks that stay, but whose long messages leave no room: they compete by pieces."""
    room_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """One strategy with the input it expects before and after itself."""

    strategy: StrategyName
    before_tokens: int
    expected_tokens: int


def plan(
    view: HistoryView,
    call: Call,
    active: Compaction | None,
    measured: Measure,
    trigger: Trigger,
    *,
    uses: Uses | None = None,
) -> CompactionPlan | None:
    """What to do about `trigger`, with the call that `for_trigger` made for it.

    `uses` is what was done in the session so far, for policies that choose. None if nothing may
    be folded or shortened.
    """
    return _Planner(view, call, active or NOTHING_COVERED, measured, trigger).plan(uses or Uses())


def resolved(
    planned: CompactionPlan,
    view: HistoryView,
    counter: TokenCounter,
    outdated: Outdated = NONE_OUTDATED,
) -> CompactionPlan:
    """`planned` with what stays of the covered blocks chosen: what is worth most per token.

    Sentences that are `outdated` do not stay.

    It reads all of them, which planning does not: a second for ten thousand messages.
    """
    competing = planned.competing
    if competing is None:
        return planned
    blocks, opened = (_rows(view, seqs) for seqs in (competing.blocks, competing.opened))
    blocks = _with_earlier(view, blocks, competing.earlier)
    keeping, others = keep_blocks(
        blocks, competing.room_tokens, counter, opened=opened, outdated=outdated
    )
    uncovered = {seq for block in competing.opened for seq in block}
    verbatim = tuple(seq for seq in keeping.seqs if seq not in uncovered)
    staying = set(verbatim)
    return replace(
        planned,
        verbatim=verbatim,
        pieces=keeping.pieces,
        next_best=tuple(others),
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


def _seqs(blocks: Iterable[Block]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row.seq for row in block) for block in blocks)


def new_session_plan(
    view: HistoryView, active: Compaction | None, planned: CompactionPlan
) -> CompactionPlan:
    """`planned` as if a new session began: nothing stays but the turn that waits for its answer.

    Of what was said before only pins and the original request are shown, as in every context.
    """
    covered = active.covered_until if active else 0
    anchors = view.anchors()
    newest = view.get([view.count()]) if view.count() else []
    is_waiting = bool(newest) and newest[0].message.role != "assistant"
    cut = (anchors.last_user or 1) - 1 if is_waiting else view.count()
    fold = [seq for seq in range(covered + 1, cut + 1) if seq not in anchors.system]
    return replace(
        planned,
        fold_as="truncation",
        strategy="new_session",
        covered_until=max(cut, covered),
        keep=tuple(range(cut, view.count())),
        fold=tuple(seq - 1 for seq in fold),
        verbatim=(),
        pieces=None,
        next_best=(),
        competing=None,
        shorten=(),
        emergency_until=None,
        starts_anew=True,
        turns_folded=view.turns(after=covered) - view.turns(after=max(cut, covered)),
    )


class _Planner:
    def __init__(
        self,
        view: HistoryView,
        call: Call,
        active: Compaction,
        measured: Measure,
        trigger: Trigger,
    ) -> None:
        self._view = view
        self._call = call
        self._active = active
        self._measured = measured
        self._trigger = trigger
        self._own: Scope | None = None
        self._by_rule: Scope | None = None
        self._reading = self._read(adapted(view, call.policy, call.counter), call)

    def plan(self, uses: Uses) -> CompactionPlan | None:
        choice, fold_as = self._choose(uses)
        draft, drafts = self._run(fold_as)
        blocks, policy = draft.scope.blocks, self._call.policy
        fold = [row.seq for block in blocks[: draft.cut] for row in block]
        gains = draft.scope.survivors[draft.cut] < draft.scope.whole[draft.cut]
        is_huge = draft.scope.whole[draft.cut] > draft.scope.budget.target_tokens
        enough = gains and (is_huge or len(fold) >= policy.min_fold_messages)
        if not (fold and enough) and not draft.short_sizes:
            return None
        made = self._to_plan(draft, drafts, fold if enough else [], fold_as)
        return made if choice is None else self._chosen(made, choice, drafts)

    def _choose(self, uses: Uses) -> tuple[Choice | None, FoldAs]:
        policy = self._call.policy
        if policy.fold_as != "choice":
            return None, policy.fold_as
        scope = self._own_scope("truncation")
        if not turns_to_keep(scope) and self._trigger.rule != ASKED:
            few = f"{scope.messages + scope.system_messages} messages do not fit"
            return Choice(method="truncate", reason=few), "truncation"
        rows = [row for block in scope.blocks for row in block]
        chars = sum(text_chars(row.message) for row in (*rows, *self._reading.system))
        choice = choose(
            messages=scope.messages + scope.system_messages,
            chars=chars,
            uses=uses,
            preference=policy.preference,
            max_summaries=policy.max_summaries,
        )
        return choice, "truncation" if choice.method == "truncate" else "summary"

    def _run(self, fold_as: FoldAs) -> tuple[Draft, list[tuple[StrategyName, Draft]]]:
        """The draft in the model's sizes, and each strategy with the draft it made.

        Where the policy counts itself, its sizes say how far to go; the model's have to fit too.
        """
        own = self._own_scope(fold_as)
        drafts: dict[StrategyName, Draft] = {}
        draft = self._climb(Draft.of(self._ruling_scope(fold_as) or own), drafts).within(own)
        if draft.expected_tokens > own.budget.usable_tokens:
            draft = self._climb(draft, drafts)
        return draft, [(name, made.within(own)) for name, made in drafts.items()]

    def _climb(self, draft: Draft, drafts: dict[StrategyName, Draft]) -> Draft:
        """`draft` after the strategies that the target takes; what each made goes to `drafts`."""
        for name in self._call.policy.strategies:
            tried = STRATEGIES[name](draft)
            if tried == draft:
                continue
            drafts[name] = draft = tried
            if draft.expected_tokens <= draft.scope.budget.target_tokens:
                break
        return draft

    def _ruling_scope(self, fold_as: FoldAs) -> Scope | None:
        """The sizes that the triggers compare, where they are not the model's own."""
        rule = self._call.rule
        if rule is None or self._trigger.is_by_model:
            return None
        if self._by_rule is None:
            view = ruled(self._view, self._call.policy, self._call.counter, rule)
            reading = self._read(view, self._call.by_rule)
            self._by_rule = self._scope(reading, self._call.by_rule, self._measured.ruling)
        return self._by_rule.folding(is_summarized=fold_as == "summary")

    def _own_scope(self, fold_as: FoldAs) -> Scope:
        """The sizes that the model counts."""
        if self._own is None:
            self._own = self._scope(self._reading, self._call, self._measured)
        return self._own.folding(is_summarized=fold_as == "summary")

    def _read(self, view: HistoryView, call: Call) -> Reading:
        return Reader(view, self._active, call.policy, call.counter).read(None)

    def _scope(self, reading: Reading, call: Call, measured: Measure) -> Scope:
        assert call.budget is not None  # `for_trigger` gave it one
        return Scope(
            reading,
            call,
            call.budget,
            measured,
            source_tokens=source_so_far(self._active),
            facts_tokens=facts_room(self._view, call),
        )

    def _to_plan(
        self,
        draft: Draft,
        drafts: Sequence[tuple[StrategyName, Draft]],
        fold: Sequence[int],
        fold_as: FoldAs,
    ) -> CompactionPlan:
        blocks = draft.scope.blocks
        competing = self._competing(draft) if fold else None
        verbatim = self._active.kept if competing is None else ()
        kept = [row.seq for block in blocks[draft.cut :] for row in block]
        shorten = tuple(seq for seq in (*verbatim, *kept) if seq in draft.short_sizes)
        if not shorten:  # all that could be shortened was folded
            drafts = [one for one in drafts if one[0] != "shorten_tool_outputs"]
        steps = tuple(self._steps(drafts))
        return CompactionPlan(
            trigger=self._trigger,
            strategy=" + ".join(step.strategy for step in steps),
            keep=tuple(seq - 1 for seq in (*verbatim, *kept)),
            fold=tuple(seq - 1 for seq in fold),
            verbatim=verbatim,
            competing=competing,
            before_tokens=input_size(self._view, self._call, self._active),
            expected_tokens=draft.expected_tokens,
            covered_until=blocks[draft.cut - 1][-1].seq if fold else self._active.covered_until,
            fold_as=fold_as,
            shorten=shorten,
            steps=steps,
            turns_folded=sum(b[0].message.role == "user" for b in blocks[: draft.cut]),
        )

    def _competing(self, draft: Draft) -> Competing | None:
        if not draft.chooses:
            return None
        room = draft.kept_room
        opened: Sequence[Block] = ()
        if room < draft.scope.budget.recent_tokens * LEAST_ROOM_RATIO:
            opened = draft.scope.blocks[draft.cut :]
            room += draft.kept_tokens
        return Competing(
            blocks=_seqs(draft.scope.candidates(draft.cut)),
            earlier=self._earlier(draft.cut),
            opened=_seqs(opened),
            room_tokens=room,
        )

    def _earlier(self, cut: int) -> range:
        """What was covered before and is near enough to be looked at again."""
        folding = sum(len(block) for block in self._own_scope("summary").blocks[:cut])
        covered = self._active.covered_until
        return range(max(1, covered + 1 - max(0, MOST_CANDIDATES - folding)), covered + 1)

    def _steps(self, drafts: Sequence[tuple[StrategyName, Draft]]) -> Sequence[PlannedStep]:
        before, steps = self._measured.input_tokens, []
        for name, draft in drafts:
            after = draft.expected_tokens
            steps.append(PlannedStep(strategy=name, before_tokens=before, expected_tokens=after))
            before = after
        return steps

    def _chosen(
        self,
        made: CompactionPlan,
        choice: Choice,
        drafts: Sequence[tuple[StrategyName, Draft]],
    ) -> CompactionPlan:
        """`made` named after what was chosen; a failed summary ends in an emergency truncation."""
        if made.fold_as == "truncation":
            is_asked = self._trigger.rule == ASKED
            is_emergency = not is_asked and [name for name, _ in drafts] == ["fold_to_fit"]
            strategy = EMERGENCY if is_emergency else "truncate"
            return replace(made, strategy=strategy, reason=choice.reason)
        emergency = self._emergency_cut()
        return replace(made, strategy="summarize", reason=choice.reason, emergency_until=emergency)

    def _emergency_cut(self) -> int | None:
        """Where only the newest messages are left that fit, by either counter."""
        own = self._own_scope("truncation")
        scopes = (own, self._ruling_scope("truncation") or own)
        cut = max(STRATEGIES["fold_to_fit"](Draft.of(scope)).cut for scope in scopes)
        return own.blocks[cut - 1][-1].seq if cut else None
