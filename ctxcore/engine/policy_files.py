"""A scope's policy as a YAML file: written, and read with a preview of what it would change."""

from __future__ import annotations

from dataclasses import dataclass

from ctxcore.engine.policies import EffectivePolicy, merge_layers
from ctxcore.engine.services import EngineServices
from ctxcore.json_types import JsonObject
from ctxcore.plain import Plain
from ctxcore.policy.changes import FieldChange, changed_fields
from ctxcore.policy.layers import Layer, merge
from ctxcore.settings.loading import read_text
from ctxcore.settings.writing import to_yaml, whole_policy
from ctxcore.store.values import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDraft(Plain):
    """The overrides of a scope as they are, and as a file would make them."""

    scope: Scope
    before: JsonObject
    after: JsonObject

    @property
    def changes(self) -> list[FieldChange]:
        """The fields that differ."""
        return changed_fields(self.before, self.after)


def scopes_above(services: EngineServices, scope: Scope) -> list[Scope]:
    """The stored scopes that a scope inherits from, widest first."""
    if scope.kind == "default":
        return []
    if scope.kind == "group":
        return [Scope()]
    if scope.kind == "session":
        session = services.figures(scope.owner)
        model = session.model or services.default_model or ""
        user = services.store.user(session.user_id)
    else:
        is_own = scope.owner == services.user_id
        model, user = scope.model, services.user() if is_own else services.store.user(scope.owner)
    wider = [Scope(), Scope(kind="group", owner=user.group)]
    if scope.kind == "user":
        return wider
    wider.append(Scope(kind="user", owner=user.id))
    of_model = Scope(kind="user_model", owner=user.id, model=model)
    return [*wider, of_model] if scope.kind == "session" else wider


def policy_in(services: EngineServices, scope: Scope) -> EffectivePolicy:
    """The policy that applies in a scope."""
    stored = services.store.policies([*scopes_above(services, scope), scope])
    versions = [version for version in stored if version]
    return merge_layers(versions, {}, outer=services.layers)


def policy_text(services: EngineServices, scope: Scope, *, whole: bool) -> str:
    """The overrides of a scope as YAML; the `whole` policy with what it inherits."""
    services.check_scope(scope)
    if whole:
        return to_yaml(whole_policy(policy_in(services, scope).policy))
    own = services.store.policy(scope)
    return to_yaml(own.overrides if own else {})


def draft_of(services: EngineServices, scope: Scope, text: str, *, name: str) -> PolicyDraft:
    """What the file `name` with this text would make of a scope's policy.

    Raises:
        ConfigurationError, PolicyError: it cannot be read, a field is unknown or a value not
            allowed, by itself or with what the scope inherits; it names the line.
        NotAllowedError: the scope is another user's, and this user is no operator.
    """
    services.check_scope(scope)
    given = read_text(text, name=name)
    stored = services.store.policies([*scopes_above(services, scope), scope])
    layers = [
        Layer(name=found.scope.kind, overrides=found.overrides) for found in stored[:-1] if found
    ]
    merge([*services.layers, *layers, given])
    own = stored[-1]
    return PolicyDraft(
        scope=scope, before=dict(own.overrides) if own else {}, after=dict(given.overrides)
    )
