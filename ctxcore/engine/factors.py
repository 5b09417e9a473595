"""Chooses the count factor of a session's calls: the one in force, else what calls have taught.

It changes only in a new session and at a compaction, so that contexts between keep their bytes.
"""

from __future__ import annotations

from ctxcore.assembly.verdicts import INPUT_SEGMENTS
from ctxcore.policy.values import Policy
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import CallInfo, SessionFactor, SessionInfo
from ctxcore.tokens.factors import MOST_CALLS, NO_FACTOR, CountFactor, learn_factor
from ctxcore.tokens.families import TokenCounter

_READ_CALLS = 2 * MOST_CALLS  # chosen: some are too small to teach anything


def factor_of(
    store: SessionStore,
    session: SessionInfo,
    model: str | None,
    counter: TokenCounter,
    policy: Policy,
) -> CountFactor:
    """The factor in force for `model`, or the one that a first call would bring into force."""
    if model is None or not _learns(policy, counter):
        return NO_FACTOR
    held = session.count_factor
    if held is not None and held.holds_for(model, counter.id):
        return held.factor
    return learned_factor(store, model, counter.id)


def hold_factor(
    store: SessionStore,
    session: SessionInfo,
    model: str | None,
    counter: TokenCounter,
    policy: Policy,
    *,
    anew: bool = False,
) -> None:
    """Brings what calls have taught into force: for a first call, or `anew` at a compaction."""
    held = session.count_factor
    if model is None or not _learns(policy, counter):
        return
    if held is not None and held.holds_for(model, counter.id) and not anew:
        return
    factor = learned_factor(store, model, counter.id)
    in_force = SessionFactor(model=model, counter_id=counter.id, factor=factor)
    if held != in_force:
        store.set_count_factor(session.id, in_force)


def learned_factor(store: SessionStore, model: str, counter_id: str) -> CountFactor:
    """The factor that the newest calls to `model` teach."""
    calls = store.counted_calls(model, counter_id, limit=_READ_CALLS)
    return learn_factor([(_counted(call), call.input_tokens or 0) for call in calls])


def _learns(policy: Policy, counter: TokenCounter) -> bool:
    """Whether budgets are corrected by what providers report."""
    return policy.learns_count_factor and not counter.is_exact


def _counted(call: CallInfo) -> int:
    return sum(call.estimate.get(name, 0) for name in INPUT_SEGMENTS)
