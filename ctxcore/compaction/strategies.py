"""Owns the choice between truncating and summarizing: gates first, then scores.

Pure numbers in, a choice with its reason out. Source: the `truncate-or-summarize` design.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from ctxcore.assembly.history import Counted, is_expansion
from ctxcore.assembly.states import CompactionState
from ctxcore.compaction.drafting import Chooser, Draft, Scope
from ctxcore.compaction.selectors import Superseded, find_superseded
from ctxcore.compression.markers import LEAST_TOKENS
from ctxcore.errors import ContextError, StrategyError
from ctxcore.policy.names import STRATEGIES, StrategyName
from ctxcore.policy.values import Policy, Preference, TaskType
from ctxcore.reasons.codes import ChoiceCode
from ctxcore.reasons.values import Reason

Method = Literal["truncate", "summarize"]
Level = Literal["minimal", "balanced", "detailed", "complete"]

_FEW_MESSAGES = 10
_FEW_CHARS = 2_000
_MANY_MESSAGES = 30
_LONG_MESSAGES = 50
_LONG_CHARS = 10_000
_FREE_TRUNCATIONS = 5  # more only lower the score, a truncation is never refused
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
    """What was done in a session so far; a use is one recorded action."""

    summaries: int = 0
    truncations: int = 0
    has_summarizer: bool = True

    @classmethod
    def of(cls, state: CompactionState, *, has_summarizer: bool) -> Uses:
        """What a state knows of it."""
        return cls(
            summaries=state.summaries,
            truncations=state.truncations,
            has_summarizer=has_summarizer,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to do with what does not stay, and why."""

    method: Method
    reason: Reason


def choose(
    *, messages: int, chars: int, uses: Uses, preference: Preference, max_summaries: int | None
) -> Choice:
    """Whether to truncate or to summarize a conversation of so many messages and characters."""
    if not uses.has_summarizer:
        return Choice(method="truncate", reason=ChoiceCode.NO_SUMMARIZER())
    if messages < _FEW_MESSAGES or chars < _FEW_CHARS:
        reason = ChoiceCode.SHORT(messages=messages, chars=chars)
        return Choice(method="truncate", reason=reason)
    if max_summaries is not None and uses.summaries >= max_summaries:
        reason = ChoiceCode.LIMIT(count=uses.summaries, most=max_summaries)
        return Choice(method="truncate", reason=reason)
    if preference == "fast":
        return Choice(method="truncate", reason=ChoiceCode.FAST())
    if messages > _MANY_MESSAGES:
        return Choice(method="summarize", reason=ChoiceCode.LONG(messages=messages))
    if preference == "quality":
        return Choice(method="summarize", reason=ChoiceCode.QUALITY())
    return _by_score(messages, chars, uses, preference)


def scores(
    *, messages: int, chars: int, uses: Uses, preference: Preference
) -> Mapping[Method, float]:
    """What each method scores, weighted by the preference."""
    weights = _WEIGHTS[preference]
    return {
        "truncate": _truncate_score(messages, chars, uses) * weights["truncate"],
        "summarize": _summarize_score(messages, chars, uses) * weights["summarize"],
    }


def _by_score(messages: int, chars: int, uses: Uses, preference: Preference) -> Choice:
    scored = scores(messages=messages, chars=chars, uses=uses, preference=preference)
    truncate, summarize = scored["truncate"], scored["summarize"]
    method: Method = "summarize" if summarize > truncate else "truncate"
    reason = ChoiceCode.SCORES(truncate=truncate, summarize=summarize)
    return Choice(method=method, reason=reason)


def _truncate_score(messages: int, chars: int, uses: Uses) -> int:
    score = 20
    score += 30 if messages <= _LONG_MESSAGES else 0
    score += 30 if chars <= _LONG_CHARS else 0
    return score + (20 if uses.truncations < _FREE_TRUNCATIONS else 0)


def _summarize_score(messages: int, chars: int, uses: Uses) -> int:
    score = 20
    score += 30 if messages >= _FEW_MESSAGES else 0
    score += 30 if chars >= _FEW_CHARS else 0
    return score + (20 if uses.summaries < _FREE_SUMMARIES else -50)


def level_of(ratio: float) -> Level:
    """What a summary of this share of its source is called: the nearest named level."""
    return min(_LEVELS, key=lambda level: abs(level[0] - ratio))[1]


Strategy = Callable[[Draft], Draft]

STALE_SHARE = 4  # an output that says nothing new any more keeps a quarter of what others keep


def shorten_tool_outputs(draft: Draft) -> Draft:
    """Tool outputs over their limits, outside the newest turns, stand for themselves shortened.

    Reads that a later one stands for go first, to a quarter and in the newest turns too; where
    they make room enough, nothing else is shortened.
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
    return draft.shortened({**rest, **first})


def _short_sizes(
    scope: Scope, rows: Sequence[Counted], superseded: Superseded, *, fresh_from: int
) -> dict[int, int]:
    """What each of `rows` that is shortened takes then: the older ones, and all that stand again.

    Those that stay as they are since an earlier compaction are not among them.
    """
    sizes: dict[int, int] = {}
    read_again = superseded.read_again
    stale_if_old = read_again | superseded.changed
    for row in rows:
        is_old = row.seq < fresh_from
        if not (is_old or row.seq in read_again):
            continue
        limit = scope.policy.tool_limit(row.function_name)
        if limit is None or row.seq in scope.pinned or is_expansion(row):
            continue
        is_done = row.short is not None and row.sent_tokens <= limit
        if row.seq in (stale_if_old if is_old else read_again):
            limit = max(LEAST_TOKENS, limit // STALE_SHARE)
        if row.sent_tokens > limit and not is_done:
            sizes[row.seq] = limit
    return sizes


def fold_oldest(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; the protected tail stays."""
    return _fold_until_target(draft, draft.scope.tail_start)


def keep_by_worth(draft: Draft) -> Draft:
    """Folds all but the protected tail; what is worth most stays as far as the target allows."""
    cut = max(draft.cut, draft.scope.tail_start)
    return replace(draft, cut=cut, choosers=("worth",)) if cut else draft


def fold_to_fit(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; only the newest block stays."""
    return _fold_until_target(draft, draft.scope.last_cut)


def _fold_until_target(draft: Draft, last: int) -> Draft:
    scope, sizes, kept = draft.scope, draft.sizes, draft.kept_tokens
    for cut in range(draft.cut, last):
        if scope.expected_at(cut, kept) <= scope.budget.target_tokens:
            return replace(draft, cut=cut)
        kept -= sizes[cut]
    return replace(draft, cut=max(draft.cut, last))


def fold_to_tail(draft: Draft) -> Draft:
    """Folds all but the newest messages within the target; nothing if everything fits it."""
    scope = draft.scope
    cut = scope.tail_within(scope.budget.target_tokens)
    lookback, before = scope.policy.lookback_messages, scope.before_current
    if lookback is not None and sum(before) > lookback:
        cut = max(cut, _cut_leaving(scope, scope.policy.lookback_target_messages))
    return replace(draft, cut=max(draft.cut, min(cut, scope.last_cut)))


def fold_to_lower(draft: Draft) -> Draft:
    """Folds from the oldest block until the rest and the summary are below the lower threshold."""
    scope, kept = draft.scope, draft.kept_tokens
    cut = draft.cut
    while cut < scope.last_cut:
        if kept + scope.expected_summary(scope.whole[cut]) < scope.budget.target_tokens:
            break
        kept -= draft.sizes[cut]
        cut += 1
    return replace(draft, cut=cut)


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
    """How many turns may stay, in the order to be tried; empty: all of them."""
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
    """Folds all but the newest block and what the executor finds important, and some newest ones.

    Source: the `ladder` design. It scores by words alone; here relevance to the request, recency
    and facts are what is scored, since keywords lose to plain truncation.
    """
    return _choosing(draft, "importance")


def key_events(draft: Draft) -> Draft:
    """Folds all but the newest block, key events, and some newest others.

    Source: the `ladder` design: tasks finished, errors and their fixes, tool calls that changed
    something, decisions.
    """
    return _choosing(draft, "key_events")


def _choosing(draft: Draft, chooser: Chooser) -> Draft:
    """`draft` with all but the newest block covered, and one more choice among what is left."""
    cut = max(draft.cut, draft.scope.last_cut)
    before = tuple(one for one in draft.choosers if one != "worth")
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

    Source: the `ladder` design, its last resort. What is pinned, the request and the working state
    stay beside the summary, and turns are counted anew.
    """
    scope = draft.scope
    cut = scope.last_cut if scope.is_waiting else len(scope.blocks)
    return replace(draft, cut=cut, gone=cut, choosers=(), folds_kept=True)


def _nearest_cut(scope: Scope, messages: int) -> int:
    """The cut nearest to the newest so many messages; the newest block never folds."""
    behind, best, nearest = 0, 0, messages
    for at in range(len(scope.blocks) - 1, -1, -1):
        behind += len(scope.blocks[at])
        if abs(behind - messages) > nearest:
            break
        best, nearest = at, abs(behind - messages)
    return min(best, scope.last_cut)


def _cut_leaving(scope: Scope, messages: int) -> int:
    """The cut behind which at most `messages` messages lie, but all of the turn that waits."""
    count = 0
    for at in range(len(scope.blocks) - 1, -1, -1):
        count += len(scope.blocks[at])
        if count > messages and scope.before_current[at]:
            return at + 1
    return 0


def ladder(policy: Policy, task: TaskType) -> Sequence[StrategyName]:
    """The strategies of `policy`, those first that suit the kind of task.

    Source: the `ladder` design; its code and its chart give other orders than its text, which wins.
    """
    first = [name for name in TASK_ORDERS[task] if name in policy.strategies]
    return [*first, *(name for name in policy.strategies if name not in first)]


def is_ordered_by_task(strategies: Collection[StrategyName]) -> bool:
    """Whether the kind of task may put some of `strategies` before others."""
    return any(name in strategies for order in TASK_ORDERS.values() for name in order)


_OF_TALK: tuple[StrategyName, ...] = ("sliding_window", "importance", "incremental")
TASK_ORDERS: Mapping[TaskType, tuple[StrategyName, ...]] = {
    "code": ("sliding_window", "key_events", "incremental"),
    "analysis": _OF_TALK,
    "conversation": _OF_TALK,
    "mixed": ("sliding_window", "incremental", "importance"),
    "unknown": _OF_TALK,
}


def register_strategy(name: str, fn: Strategy) -> None:
    """Adds a strategy that policies may name: a draft in, a draft with less in it out.

    A strategy that changes nothing gives its draft back. It runs while a compaction is planned,
    calls no model and keeps nothing.

    Raises:
        NameTakenError: there is a strategy of this name.
        TypeError: it is no function.
    """
    if not callable(fn):
        raise TypeError(f"strategy {name!r} is no function but {type(fn).__name__}")
    STRATEGIES.register(name, fn)


def strategy(name: StrategyName) -> Strategy:
    """The strategy of a name that a policy holds."""
    return cast("Strategy", STRATEGIES[name])


def run_strategy(name: StrategyName, draft: Draft) -> Draft:
    """What the strategy of this name makes of `draft`; it may be other people's code.

    Raises:
        StrategyError: it failed, or gave no draft back.
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
