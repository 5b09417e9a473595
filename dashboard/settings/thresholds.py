"""Owns the form of thresholds: whose, each field with its value and layer, what it comes to.

The store is the form's memory: every change is saved by a callback, and each run shows what is
saved. What the library refuses stays as it was, with the reason beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import streamlit as st

from ctxcore.budget import TokenBudget
from ctxcore.engine.policies import PRESET_FIELD, EffectivePolicy
from ctxcore.policy import Policy
from ctxcore.store.values import PolicyVersion, SessionInfo, UserInfo
from dashboard import numbers
from dashboard.safe_markdown import plain_label
from dashboard.services import default_model, engine
from dashboard.settings import saving
from dashboard.settings.fields import (
    FIELDS,
    GROUPS,
    Field,
    ScopeName,
    Target,
    budget_for,
    layered,
    scope_names,
    target_of,
    tokens_of,
)
from dashboard.settings.versions import show_versions
from dashboard.shell import current_session, session_title
from dashboard.texts import t


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What the form shows: a scope with what holds there, and the numbers it comes to."""

    target: Target
    own: PolicyVersion | None
    effective: EffectivePolicy
    model: str
    budget: TokenBudget | None

    @property
    def policy(self) -> Policy:
        """What holds in this scope."""
        return self.effective.policy


def show_thresholds() -> None:
    """The whole form."""
    session = current_session()
    model = _model(session)
    name = _scope(session)
    target = _target(name, session, model)
    if target is None:
        return
    form = _form(target, name, session, model)
    st.markdown(_sentence(form))
    _refused()
    _switches(form)
    for group in GROUPS:
        _group(form, group)
    _warnings(form)
    _reset(form)
    show_versions(target.scope, form.own)


def _model(session: SessionInfo | None) -> str:
    """The model whose window the numbers are told for."""
    models = dict.fromkeys(
        [
            (session.model if session else None) or default_model(),
            default_model(),
            *(one.model for one in engine().models().connections),
        ]
    )
    chosen = st.selectbox(
        t("settings.model"),
        list(models),
        key=f"settings_model_{session.id if session else ''}",
        accept_new_options=True,
        help=t("settings.model.help"),
    )
    return str(chosen or default_model())


def _scope(session: SessionInfo | None) -> ScopeName:
    names = scope_names(is_operator=engine().user().is_operator, has_session=session is not None)
    if st.session_state.get("settings_scope") not in names:
        st.session_state["settings_scope"] = "me"
    return cast(
        "ScopeName",
        st.segmented_control(
            t("settings.scope"),
            names,
            required=True,
            format_func=lambda name: t(f"settings.scope.{name}"),
            key="settings_scope",
        ),
    )


def _target(name: ScopeName, session: SessionInfo | None, model: str) -> Target | None:
    work = engine()
    me = work.user()
    user = me
    if name in ("user", "group"):
        user = _somebody(work.users(), name)
        if name == "group" and not user.group:
            st.info(t("settings.no_group"), icon=":material/group:")
            return None
    owner = work.store.user(session.user_id) if session else me
    told = _scope_told(name, user, session, model)
    st.caption(plain_label(told, max_chars=200))
    return target_of(name, user=user, session=session, model=model, owner=owner)


def _somebody(users: Sequence[UserInfo], name: ScopeName) -> UserInfo:
    by_id = {user.id: user for user in users}
    chosen = st.selectbox(
        t("settings.user"),
        list(by_id),
        format_func=lambda user_id: _user_label(by_id[user_id], name),
        key="settings_user",
    )
    return by_id[str(chosen)]


def _user_label(user: UserInfo, name: ScopeName) -> str:
    label = user.name or user.id
    return f"{user.group or '–'} ({label})" if name == "group" else label


def _scope_told(name: ScopeName, user: UserInfo, session: SessionInfo | None, model: str) -> str:
    title = session_title(session) if session else ""
    return t(
        f"settings.scope.{name}.told",
        user=user.name or user.id,
        group=user.group,
        session=title,
        model=model,
    )


def _form(target: Target, name: ScopeName, session: SessionInfo | None, model: str) -> Form:
    work = engine()
    *parents, own = work.store.policies([*target.parents, target.scope])
    effective, _ = layered(parents, own)
    if name == "session" and session is not None:
        budget = work.subject(session.id, model=model).call.budget
    else:
        budget = budget_for(effective.policy, work.models().info(model))
    return Form(target=target, own=own, effective=effective, model=model, budget=budget)


def _sentence(form: Form) -> str:
    """What the thresholds come to for the chosen model, in words."""
    budget, model = form.budget, plain_label(form.model)
    if budget is None:
        return t("settings.live.unknown", model=model)
    if not form.policy.is_automatic:
        return t("settings.live.off", model=model, usable=numbers.tokens(budget.usable_tokens))
    return t(
        "settings.live",
        model=model,
        trigger=numbers.tokens(budget.trigger_tokens),
        usable=numbers.tokens(budget.usable_tokens),
        share=numbers.percent(budget.trigger_tokens, budget.usable_tokens),
        target=numbers.tokens(budget.target_tokens),
    )


def _refused() -> None:
    if (problem := st.session_state.pop(saving.PROBLEM, None)) is not None:
        st.error(plain_label(problem, max_chars=400), icon=":material/error:")


def _switches(form: Form) -> None:
    key = "settings_preset"
    st.session_state["settings_automatic"] = form.policy.is_automatic
    st.session_state[key] = form.policy.name
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings_switches"):
        st.selectbox(
            t("settings.preset"),
            Policy.presets(),
            format_func=_preset_name,
            key=key,
            width=320,
            help=t("settings.preset.help"),
            on_change=saving.save_value,
            args=(form.target, PRESET_FIELD, key),
        )
        st.toggle(
            t("settings.automatic"),
            key="settings_automatic",
            help=t("settings.automatic.help"),
            on_change=saving.save_automatic,
            args=(form.target, "settings_automatic"),
        )
    st.caption(_source(form, PRESET_FIELD))


def _preset_name(name: str) -> str:
    return t(f"settings.preset.{name}")


def _group(form: Form, group: str) -> None:
    st.markdown(f"**{t(f'settings.group.{group}')}**")
    fields = [field for field in FIELDS if field.group == group]
    for column, field in zip(st.columns(len(fields)), fields, strict=True):
        with column:
            _field(form, field)


def _field(form: Form, field: Field) -> None:
    """One threshold: its input, what it comes to in tokens, and where its value comes from."""
    key = f"settings_{field.name}"
    value = field.shown(getattr(form.policy, field.name))
    is_percent = field.kind == "percent"
    st.session_state[key] = float(value) if is_percent and value is not None else value
    st.number_input(
        t(f"settings.field.{field.name}"),
        value=None if field.is_optional else "min",
        step=1.0 if is_percent else 1,
        format="%.1f" if is_percent else "%d",
        key=key,
        help=t(f"settings.field.{field.name}.help"),
        disabled=field.name == "trigger_ratio" and not form.policy.is_automatic,
        placeholder=t("settings.none") if field.is_optional else None,
        on_change=saving.save_field,
        args=(form.target, field, key),
    )
    st.caption(_told(form, field))
    if form.own is not None and field.name in form.own.overrides:
        st.button(
            t("settings.reset_field"),
            key=f"{key}_reset",
            type="tertiary",
            icon=":material/restart_alt:",
            on_click=saving.reset_field,
            args=(form.target, field.name),
        )


def _told(form: Form, field: Field) -> str:
    tokens = tokens_of(field.name, form.policy, form.budget)
    is_off = field.name == "trigger_ratio" and not form.policy.is_automatic
    size = "" if tokens is None or is_off else t("settings.tokens", tokens=numbers.tokens(tokens))
    return f"{size} {_source(form, field.name)}".strip()


def _source(form: Form, field: str) -> str:
    """The layer that a value comes from."""
    kind = form.effective.sources.get(field)
    if kind is None:
        return t("settings.source.preset", preset=_preset_name(form.policy.name))
    return t(f"settings.source.{kind}")


def _warnings(form: Form) -> None:
    policy = form.policy
    if policy.is_automatic and policy.target_ratio >= policy.trigger_ratio:
        st.warning(t("settings.warn.target"), icon=":material/warning:")


def _reset(form: Form) -> None:
    changes = len(form.own.overrides) if form.own else 0
    st.button(
        t("settings.reset", count=changes),
        key="settings_reset",
        icon=":material/restart_alt:",
        disabled=not changes,
        on_click=saving.reset,
        args=(form.target,),
    )
