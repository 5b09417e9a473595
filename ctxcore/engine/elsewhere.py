"""Recalls what the user's other sessions say about a request, where the policy allows it."""

from __future__ import annotations

from dataclasses import replace

from ctxcore.assembly.recall_texts import heading, text_within
from ctxcore.assembly.recalled import least_rarity
from ctxcore.engine.services import CallTarget, EngineServices
from ctxcore.recalling.requests import asks
from ctxcore.store.values import SearchHit

MOST_HITS = 8  # chosen: more than fit beside the session's own


def with_other_sessions(services: EngineServices, target: CallTarget, request: str) -> CallTarget:
    """`target` with what is found as knowledge of the call, each marked with its session.

    It belongs to the turn, gives way before the session's own messages do, and is never stored.
    """
    policy, budget = target.call.policy, target.call.budget
    if not policy.recalls_other_sessions or policy.recall_ratio is None:
        return target
    found = services.store.search(
        target.session.user_id,
        request,
        limit=MOST_HITS,
        least_rarity=least_rarity(asks=asks(request)),
        without=target.session.id,
    )
    usable = budget.usable_tokens * policy.recall_ratio if budget else policy.recall_max_tokens
    left = min(policy.recall_max_tokens, int(usable))
    knowledge = dict(target.call.knowledge)
    for hit in found:
        if not _may_be_shown(services, hit):
            continue
        services.session(hit.session_id, "recall")  # recorded where an auditor asks
        text = _text(services, target, hit, request)
        left -= target.call.counter.count(text)
        if left < 0:
            break
        knowledge[_name(hit)] = text
    return replace(target, call=replace(target.call, knowledge=knowledge))


def _may_be_shown(services: EngineServices, hit: SearchHit) -> bool:
    """Whether it was said in that session, and nobody excluded it there."""
    marks = services.store.marks(hit.session_id)
    is_excluded = any(mark.kind == "exclude" and mark.seq == hit.seq for mark in marks)
    return hit.role in ("user", "assistant", "tool") and not is_excluded


def _name(hit: SearchHit) -> str:
    """Where it comes from: the session and the message in it."""
    return f"{hit.title or hit.session_id} · {heading(hit.seq, hit.role, hit.created_at)}"


def _text(services: EngineServices, target: CallTarget, hit: SearchHit, request: str) -> str:
    [info] = services.store.messages(hit.session_id, hit.seq, hit.seq)
    return text_within(info.message, request, target.call.counter)
