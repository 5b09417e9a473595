"""The scopes whose thresholds can be edited, and what they inherit; pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ctxcore.assembly.fitting import budget_of
from ctxcore.budget import TokenBudget
from ctxcore.engine.policies import EffectivePolicy, merge_layers
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.layers import Layer, to_json
from ctxcore.policy.values import Policy
from ctxcore.store.values import PolicyVersion, Scope, SessionInfo, UserInfo
from ctxcore.tokens.catalog import ModelInfo

ScopeName: TypeAlias = Literal["me", "user", "group", "everybody", "session", "model"]

_ABSOLUTE = ("upper_tokens", "lower_tokens", "router_tokens", "system_estimate_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The scope to edit, and the wider ones it inherits from."""

    scope: Scope
    parents: tuple[Scope, ...]


def target_of(
    name: ScopeName, *, user: UserInfo, session: SessionInfo | None, model: str, owner: UserInfo
) -> Target:
    """The target for scope `name`; `user` is the subject of a user or group scope."""
    group = Scope(kind="group", owner=user.group)
    if name == "everybody":
        return Target(scope=Scope(), parents=())
    if name == "group":
        return Target(scope=group, parents=(Scope(),))
    if name in ("me", "user"):
        return Target(scope=Scope(kind="user", owner=user.id), parents=(Scope(), group))
    chain = _chain(owner, model)
    if name == "model" or session is None:
        return Target(scope=chain[-1], parents=chain[:-1])
    return Target(scope=Scope(kind="session", owner=session.id), parents=chain)


def scope_names(*, is_operator: bool, has_session: bool) -> list[ScopeName]:
    """The scopes that this user may edit."""
    own: list[ScopeName] = ["me", "session", "model"] if has_session else ["me", "model"]
    return [*own, "user", "group", "everybody"] if is_operator else own


def layered(
    parents: Sequence[PolicyVersion | None],
    own: PolicyVersion | None,
    outer: Sequence[Layer] = (),
) -> EffectivePolicy:
    """The policy that applies in a scope: environment and file, its parents, its own version."""
    return merge_layers([version for version in (*parents, own) if version], {}, outer=outer)


def changed(
    overrides: Mapping[str, JsonValue], field: str, value: JsonValue, inherited: object
) -> JsonObject:
    """`overrides` with one field set, or left out if the inherited value is the same."""
    rest = without(overrides, field)
    return rest if value == to_json(inherited) else {**rest, field: value}


def without(overrides: Mapping[str, JsonValue], field: str) -> JsonObject:
    """`overrides` without one field."""
    return {name: value for name, value in overrides.items() if name != field}


def budget_for(policy: Policy, info: ModelInfo) -> TokenBudget | None:
    """The budget of `policy` for a model with no messages; None for an unknown window."""
    return budget_of(policy, info, max_tokens=None, system_tokens=0, tools_tokens=0)


def tokens_of(field: str, policy: Policy, budget: TokenBudget | None) -> int | None:
    """What a ratio comes to in tokens under `budget`; None if it has no such number."""
    if budget is None:
        return None
    known = {
        "trigger_ratio": budget.trigger_tokens,
        "target_ratio": budget.target_tokens,
        "recent_ratio": budget.recent_tokens,
        "recent_history_ratio": budget.recent_tokens,
        "history_ratio": budget.history_tokens,
        "summary_usable_ratio": budget.summary_tokens,
        "summary_history_ratio": budget.summary_tokens,
        "reserve_tokens": budget.reserve_tokens,
        "usable_ratio": budget.usable_tokens,
    }
    if field in _ABSOLUTE:
        return _scaled(getattr(policy, field), policy, budget)
    if field == "oversize_ratio" and policy.oversize_ratio is not None:
        return int(budget.usable_tokens * policy.oversize_ratio)
    is_off = field in known and getattr(policy, field) is None
    return None if is_off else known.get(field)


def _scaled(tokens: int | None, policy: Policy, budget: TokenBudget) -> int | None:
    """An absolute number scaled to a model window smaller than the preset's."""
    if not tokens or not policy.window_tokens or budget.window_tokens >= policy.window_tokens:
        return None
    return int(tokens * budget.window_tokens / policy.window_tokens)


def _chain(owner: UserInfo, model: str) -> tuple[Scope, ...]:
    """The scopes that a session of `owner` under `model` inherits from, widest first."""
    return (
        Scope(),
        Scope(kind="group", owner=owner.group),
        Scope(kind="user", owner=owner.id),
        Scope(kind="user_model", owner=owner.id, model=model),
    )
