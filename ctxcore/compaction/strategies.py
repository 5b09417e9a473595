"""Owns strategies: a draft in, a draft with less in it out; a ladder is a list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ctxcore.compaction.drafting import Draft, Scope
from ctxcore.policy.values import StrategyName


def shorten_tool_outputs(draft: Draft) -> Draft:
    """Tool outputs over the limit, outside the newest turns, stand for themselves shortened."""
    limit, fresh = draft.scope.policy.shorten_over_tokens, draft.scope.fresh_from()
    rows = (row for block in draft.scope.blocks for row in block)
    old = (row for row in rows if row.message.is_tool_result and row.seq < fresh)
    short_sizes = {row.seq: limit for row in old if row.sent_tokens > limit}
    return Draft.of(draft.scope, draft.cut, short_sizes)


def fold_oldest(draft: Draft) -> Draft:
    """Folds from the oldest block until the target is reached; the protected tail stays."""
    return _fold_until_target(draft, draft.scope.tail_start)


def keep_by_worth(draft: Draft) -> Draft:
    """Folds all but the protected tail; what is worth most stays as far as the target allows."""
    cut = max(draft.cut, draft.scope.tail_start)
    return replace(draft, cut=cut, chooses=True) if cut else draft


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


def _cut_leaving(scope: Scope, messages: int) -> int:
    """The cut behind which at most `messages` messages lie, but all of the turn that waits."""
    count = 0
    for at in range(len(scope.blocks) - 1, -1, -1):
        count += len(scope.blocks[at])
        if count > messages and scope.before_current[at]:
            return at + 1
    return 0


STRATEGIES: Mapping[StrategyName, Callable[[Draft], Draft]] = {
    "shorten_tool_outputs": shorten_tool_outputs,
    "keep_by_worth": keep_by_worth,
    "fold_oldest": fold_oldest,
    "fold_to_tail": fold_to_tail,
    "fold_to_lower": fold_to_lower,
    "keep_turns": keep_turns,
    "fold_to_fit": fold_to_fit,
}
