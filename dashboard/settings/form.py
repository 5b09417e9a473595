"""What the form of settings shows: a scope, the policy that applies in it, and its budget."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ctxcore.budget import TokenBudget
from ctxcore.engine.policies import EffectivePolicy, merge_layers
from ctxcore.errors import PolicyError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.store.values import PolicyVersion, SessionInfo
from dashboard import numbers
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.drafts import Draft, draft_of, with_draft
from dashboard.settings.fields import Field
from dashboard.settings.inputs import preset_name
from dashboard.settings.scopes import ScopeName, Target, budget_for, layered, tokens_of
from dashboard.texts import t
from dashboard.wording import reason_text

_OF_SESSION = ("me", "session", "model")
"""The scopes whose tokens are those of the current session, as on every other page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A scope with what applies in it, and what would apply with the values that are typed."""

    target: Target
    own: PolicyVersion | None
    effective: EffectivePolicy
    model: str
    session: SessionInfo | None
    budget: TokenBudget | None
    draft: Draft
    typed: Policy
    """The policy with the typed values; the one that applies where nothing is typed."""
    typed_budget: TokenBudget | None

    @property
    def policy(self) -> Policy:
        """The policy that applies in this scope."""
        return self.effective.policy

    @property
    def overrides(self) -> JsonObject:
        """The scope's own settings."""
        return dict(self.own.overrides) if self.own else {}


def make_form(target: Target, name: ScopeName, session: SessionInfo | None, model: str) -> Form:
    """Reads what applies in a scope; sizes are those of the session where they apply to it."""
    work = engine()
    *parents, own = work.store.policies([*target.parents, target.scope])
    effective = layered(parents, own, work.layers)
    draft, typed = draft_of(target.scope), effective.policy
    if draft:
        wider = [version for version in parents if version]
        overrides = with_draft(own.overrides if own else {}, draft)
        try:
            typed = merge_layers(wider, overrides, outer=work.layers).policy
        except PolicyError:  # what others saved meanwhile does not go with it; saving says so
            typed = effective.policy
    seen = session if name in _OF_SESSION else None
    budget = _budget(effective.policy, seen, model)
    return Form(
        target=target,
        own=own,
        effective=effective,
        model=model,
        session=session,
        budget=budget,
        draft=draft,
        typed=typed,
        typed_budget=_budget(typed, seen, model) if draft else budget,
    )


def _budget(policy: Policy, session: SessionInfo | None, model: str) -> TokenBudget | None:
    work = engine()
    if session is not None:
        return work.budget(session.id, policy, model=model)
    return budget_for(policy, work.models().info(model))


def field_source(form: Form, field: Field) -> str:
    """The value of a field in tokens, and the layer that it comes from."""
    tokens = tokens_of(field.name, form.policy, form.budget)
    is_off = field.name == "trigger_ratio" and not form.policy.is_automatic
    size = "" if tokens is None or is_off else t("settings.tokens", tokens=numbers.tokens(tokens))
    return f"{size} {source_text(form, field.name)}".strip()


def draw_source(form: Form, field: str, text: str) -> None:
    """Draws where a value comes from; the help shows the exact variable or line."""
    place = form.effective.places.get(field)
    st.caption(text, help=plain_label(reason_text(place), max_chars=200) if place else None)


def source_text(form: Form, field: str) -> str:
    """The layer that a value comes from."""
    kind = form.effective.sources.get(field)
    if not kind:
        return t("settings.source.preset", preset=preset_name(form.policy.name))
    return t(f"settings.source.{kind}")
