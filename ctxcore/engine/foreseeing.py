"""What a policy would make of a stored session before its next call; nothing is recorded."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.compaction.plans import CompactionPlan
from ctxcore.compaction.triggers import Trigger, find_trigger, measure, overflow
from ctxcore.engine.proposals import Proposals
from ctxcore.engine.services import EngineServices
from ctxcore.plain import Plain
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import to_json
from ctxcore.policy.values import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen(Plain):
    """A session under a policy: its next call as it stands, and the compaction that is due."""

    context: Context
    """The next call without a compaction."""
    measured_tokens: int
    """What the policy compares to decide: the whole input or the history, by its own counting."""
    trigger: Trigger | None
    """The rule that asks for a compaction now; None: none does."""
    plan: CompactionPlan | None
    """What that compaction would do; None where none is due, or nothing planned or foldable."""


def foresee(
    services: EngineServices,
    session_id: str,
    policy: Policy,
    *,
    model: str | None = None,
    plans: bool = True,
) -> Foreseen:
    """The session under `policy`; no summarizer is called, and nothing planned without `plans`."""
    overrides = {name: to_json(getattr(policy, name)) for name in fields_of(Policy)}
    target = services.call_target(session_id, model=model, overrides=overrides)
    call = target.call
    measured = measure(target.view, call, target.record)
    trigger = None
    if policy.is_automatic:
        trigger = overflow(measured, call) or find_trigger(measured, call)
    plan = None
    if trigger is not None and plans:
        plan = Proposals(services).plan(target, measured, trigger)
    return Foreseen(
        context=build_context(target.view, call, target.record),
        measured_tokens=measured.ruling.triggering_tokens(policy),
        trigger=trigger,
        plan=plan,
    )
