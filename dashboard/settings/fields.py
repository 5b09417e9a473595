"""Owns the thresholds a person may change: which fields, shown how, and which layers they are in.

Pure: a form shows an effective value and its layer, and turns what was typed into overrides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ctxcore.assembly.fitting import budget_of
from ctxcore.budget import TokenBudget
from ctxcore.engine.policies import EffectivePolicy, merge_layers
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy import Policy
from ctxcore.store.values import PolicyVersion, Scope, SessionInfo, UserInfo
from ctxcore.tokens.catalog import ModelInfo

Kind: TypeAlias = Literal["percent", "tokens", "count"]
ScopeName: TypeAlias = Literal["me", "user", "group", "everybody", "session", "model"]

NEVER = 1.0  # a trigger ratio at which nothing starts by itself
AUTOMATIC = 0.8  # where automatic compaction starts when it is switched on without a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One threshold of a policy as the form shows it."""

    name: str
    kind: Kind
    group: Literal["when", "target", "summary", "tools"]
    is_optional: bool = False

    def shown(self, value: object) -> float | int | None:
        """The stored value as the form shows it."""
        if not isinstance(value, (int, float)):
            return None
        return round(value * 100, 2) if self.kind == "percent" else int(value)

    def stored(self, shown: float | None) -> JsonValue:
        """What was typed as the policy stores it."""
        if shown is None:
            return None
        return round(shown / 100, 6) if self.kind == "percent" else int(shown)


FIELDS = (
    Field(name="trigger_ratio", kind="percent", group="when"),
    Field(name="reserve_tokens", kind="tokens", group="when"),
    Field(name="min_messages", kind="count", group="when"),
    Field(name="target_ratio", kind="percent", group="target"),
    Field(name="recent_ratio", kind="percent", group="target"),
    Field(name="recent_min_tokens", kind="tokens", group="target"),
    Field(name="recent_max_tokens", kind="tokens", group="target"),
    Field(name="summary_usable_ratio", kind="percent", group="summary", is_optional=True),
    Field(name="summary_max_tokens", kind="tokens", group="summary"),
    Field(name="min_gain_ratio", kind="percent", group="summary"),
    Field(name="shorten_over_tokens", kind="tokens", group="tools"),
    Field(name="fresh_turns", kind="count", group="tools"),
    Field(name="oversize_ratio", kind="percent", group="tools", is_optional=True),
)
GROUPS: tuple[Literal["when", "target", "summary", "tools"], ...] = (
    "when",
    "target",
    "summary",
    "tools",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Whose thresholds are edited: its own scope and the wider ones it inherits from."""

    scope: Scope
    parents: tuple[Scope, ...]


def target_of(
    name: ScopeName, *, user: UserInfo, session: SessionInfo | None, model: str, owner: UserInfo
) -> Target:
    """The scope called `name`; `user` is whom a user or group scope is about."""
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
    parents: Sequence[PolicyVersion | None], own: PolicyVersion | None
) -> tuple[EffectivePolicy, EffectivePolicy]:
    """What holds with the scope's own changes, and what its parents alone make."""
    wider = [version for version in parents if version]
    return merge_layers([*wider, *([own] if own else [])], {}), merge_layers(wider, {})


def changed(
    overrides: Mapping[str, JsonValue], field: str, value: JsonValue, inherited: object
) -> JsonObject:
    """`overrides` with one field set; a value that the parent has anyway is left to it."""
    rest = {name: one for name, one in overrides.items() if name != field}
    return rest if value == inherited else {**rest, field: value}


def without(overrides: Mapping[str, JsonValue], field: str) -> JsonObject:
    """`overrides` with one field left to the parent."""
    return {name: one for name, one in overrides.items() if name != field}


def budget_for(policy: Policy, info: ModelInfo) -> TokenBudget | None:
    """The numbers of `policy` for a model before anything is said; None for an unknown window."""
    return budget_of(policy, info, max_tokens=None, system_tokens=0, tools_tokens=0)


def tokens_of(field: str, policy: Policy, budget: TokenBudget | None) -> int | None:
    """What a share comes to in tokens under `budget`; None where it has no such number."""
    if budget is None:
        return None
    known = {
        "trigger_ratio": budget.trigger_tokens,
        "target_ratio": budget.target_tokens,
        "recent_ratio": budget.recent_tokens,
        "summary_usable_ratio": budget.summary_tokens,
        "reserve_tokens": budget.reserve_tokens,
    }
    if field == "oversize_ratio" and policy.oversize_ratio is not None:
        return int(budget.usable_tokens * policy.oversize_ratio)
    return known.get(field)


def _chain(owner: UserInfo, model: str) -> tuple[Scope, ...]:
    """The scopes that a session of `owner` under `model` inherits from, widest first."""
    return (
        Scope(),
        Scope(kind="group", owner=owner.group),
        Scope(kind="user", owner=owner.id),
        Scope(kind="user_model", owner=owner.id, model=model),
    )
