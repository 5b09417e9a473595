"""Strategies that fold and shorten drafts, and the choice between truncating and summarizing.

A strategy is a function from a draft to a draft with less in it; it calls no model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, cast

from ctxcore.assembly.arguments import most_tokens
from ctxcore.assembly.history import Counted, is_own_answer
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.drafting import Chooser, Draft, Scope, newest_within
from ctxcore.compaction.selectors import Superseded, find_superseded
from ctxcore.compression.markers import LEAST_TOKENS
from ctxcore.errors import ContextError, StrategyError
from ctxcore.policy.names import STRATEGIES, StrategyName
from ctxcore.policy.values import Policy, Preference, TaskType
from ctxcore.reasons.codes import ChoiceCode
from ctxcore.reasons.values import Reason

Method = Literal["truncate", "summarize"]
Level = Literal["minimal", "balanced", "detailed", "complete"]

# Numbers of `choose` and `level_of`. Source: the `truncate-or-summarize` design.
_FEW_MESSAGES = 10
_FEW_CHARS = 2_000
_MANY_MESSAGES = 30
_LONG_MESSAGES = 50
_LONG_CHARS = 10_000
_FREE_TRUNCATIONS = 5  # more only lower the score: a truncation is never refused
_FREE_SUMMARIES = 3
_WEIGHTS: Mapping[Preference, Mapping[Method, float]] = {
    "fast": {"truncate": 0.8, "summarize": 0.2},
    "balanced": {"truncate": 0.5, "summarize": 0.5},
    "quality": {"truncate": 0.2, "summarize": 0.8},
}
_LEVELS: tuple[tuple[float, Level], ...] = (
    (0.10, "minimal"),
    (0.15, "balanced"),
    (0.25, "detailed"),
    (0.40, "complete"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """How often a session was compacted so far, by method."""

    summaries: int = 0
    truncations: int = 0
    has_summarizer: bool = True

    @classmethod
    def of(cls, state: CompactionState, *, has_summarizer: bool) -> Uses:
        """Returns the uses that a state records."""
        return cls(
            summaries=state.summaries,
            truncations=state.truncations,
            has_summarizer=has_summarizer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The chosen method, and why."""

    method: Method
    reason: Reason


def choose(
    *, messages: int, chars: int, uses: Uses, preference: Preference, max_summaries: int | None
) -> Choice:
    """Chooses whether to truncate or to summarize so many messages and characters.

    Source: the `truncate-or-summarize` design: gates first, then scores.
    """
    method: Method = "truncate"
    if not uses.has_summarizer:
        reason = ChoiceCode.NO_SUMMARIZER()
    elif messages < _FEW_MESSAGES or chars < _FEW_CHARS:
        reason = ChoiceCode.SHORT(messages=messages, chars=chars)
    elif max_summaries is not None and uses.summaries >= max_summaries:
        reason = ChoiceCode.LIMIT(count=uses.summaries, most=max_summaries)
    elif preference == "fast":
        reason = ChoiceCode.FAST()
    elif messages > _MANY_MESSAGES:
        method, reason = "summarize", ChoiceCode.LONG(messages=messages)
    elif preference == "quality":
        method, reason = "summarize", ChoiceCode.QUALITY()
    else:
        scored = scores(messages=messages, chars=chars, uses=uses, preference=preference)
        if scored["summarize"] > scored["truncate"]:
            method = "summarize"
        reason = ChoiceCode.SCORES(truncate=scored["truncate"], summarize=scored["summarize"])
    return Choice(method=method, reason=reason)


def scores(
    *, messages: int, chars: int, uses: Uses, preference: Preference
) -> Mapping[Method, float]:
    """Returns the score of each method, at most 100, weighted by the preference."""
    truncate = summarize = 20
    truncate += 30 if messages <= _LONG_MESSAGES else 0
    truncate += 30 if chars <= _LONG_CHARS else 0
    truncate += 20 if uses.truncations < _FREE_TRUNCATIONS else 0
    summarize += 30 if messages >= _FEW_MESSAGES else 0
    summarize += 30 if chars >= _FEW_CHARS else 0
    summarize += 20 if uses.summaries < _FREE_SUMMARIES else -50
    weights = _WEIGHTS[preference]
    return {
        "truncate": truncate * weights["truncate"],
        "summarize": summarize * weights["summarize"],
    }


def level_of(ratio: float) -> Level:
    """Returns the name of the level nearest to this share of a summary in its source."""
    return min(_LEVELS, key=lambda level: abs(level[0] - ratio))[1]


Strategy = Callable[[Draft], Draft]

STALE_SHARE = 4  # chosen: a superseded output keeps a quarter of the limit of others


def shorten_tool_outputs(draft: Draft) -> Draft:
    """Shortens tool outputs and arguments of calls over their limits, outside the newest turns.

    Reads that a later one repeats are shortened first, to a quarter and in the newest turns too;
    where that frees enough, nothing else is shortened.
    """
    scope = draft.scope
    superseded = find_superseded(scope.blocks)
    rows = [row for block in scope.blocks for row in block if row.message.is_tool_result]
    first = _short_sizes(scope, rows, superseded, fresh_from=0)
    if first:
        shorter = draft.shortened(first)
        if shorter.expected_tokens <= scope.budget.target_tokens:
            return shorter
    rest = _short_sizes(scope, rows, superseded, fresh_from=scope.fresh_from())
    return draft.shortened({**rest, **_short_call_sizes(scope), **first})


def _short_call_sizes(scope: Scope) -> dict[int, int]:
    """Returns the most that each older message takes with the arguments of its calls shortened.

    Those of the turn that waits are never shortened: the model goes on from them.
    """
    limit, sizes = scope.policy.shorten_arguments_over_tokens, dict[int, int]()
    if limit is None:
        return sizes
    before = min(scope.fresh_from(), scope.open_from())
    heads = (block[0] for block in scope.blocks if block[0].message.calls)  # no other has calls
    for row in takewhile(lambda row: row.seq < before, heads):
        if row.sent_tokens <= limit or row.seq in scope.pinned or row.short_calls is not None:
            continue
        most = most_tokens(row.message, scope.policy, scope.counter)
        if most is not None and most < row.sent_tokens:
            sizes[row.seq] = most
    return sizes


def _short_sizes(
    scope: Scope, rows: Sequence[Counted], superseded: Superseded, *, fresh_from: int
) -> dict[int, int]:
    """Returns the new size of each of `rows` to shorten: older outputs, and all reads repeated.

    Outputs that an earlier compaction shortened enough are left out.
    """
    sizes: dict[int, int] = {}
    read_again = superseded.read_again
    stale_if_old = read_again | superseded.changed
    for row in rows:
        is_old = row.seq < fresh_from
        if not (is_old or row.seq in read_again):
            continue
        limit = scope.policy.tool_limit(row.function_name)
        if limit is None or row.seq in scope.pinned or is_own_answer(row):
            continue
        is_done = row.short is not None and row.sent_tokens <= limit
        if row.seq in (stale_if_old if is_old else read_again):
            limit = max(LEAST_TOKENS, limit // STALE_SHARE)
        if row.sent_tokens > limit and not is_done:
            sizes[row.seq] = limit
    return sizes


def fold_oldest(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; the protected tail stays."""
    return _fold_until(draft, draft.scope.tail_start)


def keep_by_worth(draft: Draft) -> Draft:
    """Folds all but the protected tail; what scores highest stays, within the target."""
    cut = max(draft.cut, draft.scope.tail_start)
    return replace(draft, cut=cut, choosers=("worth",)) if cut else draft


def fold_to_fit(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; only the newest block stays."""
    return _fold_until(draft, draft.scope.last_cut)


def _fold_until(
    draft: Draft, last: int, expected: Callable[[int, int], int] | None = None
) -> Draft:
    """Moves the cut up to `last`, until `expected(cut, kept_tokens)` is at the target."""
    scope, kept = draft.scope, draft.kept_tokens
    expected = expected or scope.expected_at
    for cut in range(draft.cut, last):
        if expected(cut, kept) <= scope.budget.target_tokens:
            return replace(draft, cut=cut)
        kept -= draft.sizes[cut]
    return replace(draft, cut=max(draft.cut, last))


def fold_to_tail(draft: Draft) -> Draft:
    """Folds all but the newest messages within the target; nothing if everything fits it."""
    scope = draft.scope
    cut = newest_within(scope.sizes, scope.budget.target_tokens)
    cut = max(draft.cut, min(cut, scope.last_cut))
    return replace(draft, cut=cut, stops=tuple(_lookback_stops(scope, cut)))


def _lookback_stops(scope: Scope, cut: int) -> Iterator[int]:
    """Yields the cuts before `cut` at which as many messages were looked at as the policy says.

    Source: the `sliding-summary` design, whose lookback limits what one summary is made from; what
    lies further back is summarized before it, so that nothing is lost.
    """
    lookback, seen = scope.policy.lookback_messages, 0
    for at, block in enumerate(scope.blocks[:cut] if lookback else ()):
        seen += len(block)
        if seen > (lookback or 0) and seen > len(block):
            yield at
            seen = len(block)


def fold_to_lower(draft: Draft) -> Draft:
    """Folds from the oldest block until the rest and the summary are below the lower threshold."""
    scope = draft.scope

    def history_tokens(cut: int, kept: int) -> int:
        return kept + scope.expected_summary(scope.whole[cut]) + 1  # below it, not at it

    return _fold_until(draft, scope.last_cut, history_tokens)


def keep_turns(draft: Draft) -> Draft:
    """Folds all but the newest turns; fewer of them stay where the rest is still over the target.

    A policy that names turns by the number of messages keeps all of a short conversation.
    """
    scope = draft.scope
    for turns in turns_to_keep(scope):
        draft = replace(draft, cut=max(draft.cut, scope.cut_keeping(turns)))
        if draft.expected_tokens <= scope.budget.target_tokens:
            break
    return draft


def turns_to_keep(scope: Scope) -> Sequence[int]:
    """Returns how many turns may stay, in the order to be tried; empty: all of them."""
    steps = scope.policy.keep_turns_by_messages
    if not steps:
        return scope.policy.keep_turns
    messages = scope.messages + scope.system_messages
    return [turns for least, turns in steps if messages >= least][:1]


def truncate(draft: Draft) -> Draft:
    """Leaves out the oldest blocks, without a summary, until the target is reached."""
    scope = draft.scope.folding(is_summarized=False)
    return fold_to_fit(replace(draft, scope=scope))


def sliding_window(draft: Draft) -> Draft:
    """Folds all but the newest messages, the cut moved to the nearest legal one.

    Source: the `ladder` design: 9 of them, 4 of the user and of tools and 5 of the assistant.
    """
    cut = _nearest_cut(draft.scope, draft.scope.policy.keep_messages)
    if cut <= draft.cut:
        return draft
    return replace(draft, cut=cut, gone=cut, folds_kept=True)


def importance(draft: Draft) -> Draft:
    """Folds all but the newest block, important blocks, and some newest others.

    Source: the `ladder` design, which scores by keywords; here relevance to the request, recency
    and facts are scored, since keywords lose to plain truncation.
    """
    return _choosing(draft, "importance")


def key_events(draft: Draft) -> Draft:
    """Folds all but the newest block, key events, and some newest others.

    Source: the `ladder` design: tasks finished, errors and their fixes, tool calls that changed
    something, decisions.
    """
    return _choosing(draft, "key_events")


def _choosing(draft: Draft, chooser: Chooser) -> Draft:
    """Covers all but the newest block and adds a chooser among what is left."""
    cut = max(draft.cut, draft.scope.last_cut)
    before = tuple(earlier for earlier in draft.choosers if earlier != "worth")
    made = replace(draft, cut=cut, choosers=(*before, chooser))
    left = sum(map(len, made.candidates))
    return made if left > draft.scope.policy.keep_others else draft


def incremental(draft: Draft) -> Draft:
    """Folds whole chunks of turns, oldest first, one after another; the last chunk stays.

    Source: the `ladder` design: 20 rounds make a chunk. With one chunk there is nothing to fold.
    """
    scope, size = draft.scope, draft.scope.policy.chunk_turns
    starts = [at for at in scope.turn_starts() if at >= draft.gone]
    chunks = starts[::size]
    if len(chunks) < 2 or not scope.blocks:
        return draft
    last = min(chunks[-1], scope.last_cut)
    cut = max(draft.cut, last)
    stops = tuple(at for at in chunks[1:] if at < cut)
    return replace(draft, cut=cut, gone=last, folds_kept=True, stops=stops)


def full_summary(draft: Draft) -> Draft:
    """Folds everything but what the model has yet to answer.

    Pinned messages, the request and the working state stay beside the summary, and turns are
    counted anew. Source: the `ladder` design, its last resort.
    """
    scope = draft.scope
    cut = scope.last_cut if scope.is_waiting else len(scope.blocks)
    return replace(draft, cut=cut, gone=cut, choosers=(), folds_kept=True)


def _nearest_cut(scope: Scope, messages: int) -> int:
    """Returns the cut that keeps nearest to so many messages; the newest block never folds."""
    behind, best, nearest = 0, 0, messages
    for at in range(len(scope.blocks) - 1, -1, -1):
        behind += len(scope.blocks[at])
        if abs(behind - messages) > nearest:
            break
        best, nearest = at, abs(behind - messages)
    return min(best, scope.last_cut)


def ladder(policy: Policy, task: TaskType) -> Sequence[StrategyName]:
    """Returns the strategies of `policy`, those first that suit the kind of task.

    Source: the `ladder` design; its code and its chart give other orders than its text, which wins.
    """
    first = [name for name in TASK_ORDERS[task] if name in policy.strategies]
    return [*first, *(name for name in policy.strategies if name not in first)]


def is_ordered_by_task(strategies: Collection[StrategyName]) -> bool:
    """Whether the kind of task may put some of `strategies` before others."""
    return any(name in strategies for order in TASK_ORDERS.values() for name in order)


_DIALOGUE: tuple[StrategyName, ...] = ("sliding_window", "importance", "incremental")
TASK_ORDERS: Mapping[TaskType, tuple[StrategyName, ...]] = {
    "code": ("sliding_window", "key_events", "incremental"),
    "analysis": _DIALOGUE,
    "conversation": _DIALOGUE,
    "mixed": ("sliding_window", "incremental", "importance"),
    "unknown": _DIALOGUE,
}


def register_strategy(name: str, fn: Strategy) -> None:
    """Adds a strategy that policies may name: a function from a draft to one with less in it.

    A strategy that changes nothing returns its draft. It runs while a compaction is planned, calls
    no model and keeps no state.

    Raises:
        NameTakenError: there is a strategy of this name.
        TypeError: it is no function.
    """
    if not callable(fn):
        raise TypeError(f"strategy {name!r} is no function but {type(fn).__name__}")
    STRATEGIES.register(name, fn)


def strategy(name: StrategyName) -> Strategy:
    """Returns the strategy of a name that a policy holds."""
    return cast("Strategy", STRATEGIES[name])


def run_strategy(name: StrategyName, draft: Draft) -> Draft:
    """Runs the strategy of this name, which may be an application's own code.

    Raises:
        StrategyError: it failed, or did not return a draft.
    """
    try:
        made = strategy(name)(draft)
        if not isinstance(made, Draft):
            raise TypeError(f"it gave {type(made).__name__} back, not a draft")
    except ContextError:
        raise
    except Exception as error:
        raise StrategyError(name=name, error=error) from error
    return made
