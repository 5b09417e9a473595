"""The form of settings: for whom, the five values of the bar, a search for the others, versions.

The store holds the state of the form: a callback saves every change, and each run shows what is
saved. A rejected value is not saved; the reason is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import streamlit as st

from ctxcore.messages.values import JsonObject
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.markers import GroupName
from ctxcore.policy.values import Policy
from ctxcore.store.values import PolicyVersion, Scope, SessionInfo, UserInfo
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, session_title
from dashboard.services import engine
from dashboard.settings import saving
from dashboard.settings.drafts import main_fields
from dashboard.settings.fields import FIELDS, ROW_FIELDS, Field, rows_of, shown_first
from dashboard.settings.form import Form, draw_source, field_source, make_form, source_text
from dashboard.settings.inputs import (
    draw_input,
    field_name,
    group_name,
    pick_model,
    preset_line,
    value_text,
)
from dashboard.settings.main_values import show_main
from dashboard.settings.scopes import ScopeName, Target, scope_names, target_of
from dashboard.settings.searching import found_fields
from dashboard.texts import t
from dashboard.widgets import empty_state, show_value
from dashboard.wording import reason_sentence

SHOWN = ("changed", "preset", "all")
"""What stands under the search field: what differs from the preset, what makes it, or all."""
SHOWN_VERSIONS = 20  # chosen: keeps the list short


def show_thresholds() -> None:
    """Draws for whom, the five values with what they do, and a search for all others."""
    session = current_session()
    left, right = st.columns((3, 2), vertical_alignment="bottom")
    with left:
        name = _scope(session)
    with right:
        model = pick_model(
            f"settings_model_{session.id if session else ''}", help=t("settings.model.help")
        )
    target = _target(name, session, model)
    if target is None:
        return
    form = make_form(target, name, session, model)
    show_main(form)
    _notices(form)
    _switches(form)
    _others(form)
    _warnings(form)
    _reset(form)
    _versions(target.scope, form.own)


def _others(form: Form) -> None:
    """Draws the other fields: those that a search finds, those changed here, or all."""
    main = set(main_fields(form.policy).values())
    others = [field for field in FIELDS if field not in main]
    query = st.text_input(
        t("settings.search"),
        key="settings_search",
        type="search",
        placeholder=t("settings.search.hint", count=len(others)),
        live=True,
        persist_state="session",
    )
    found = found_fields(FIELDS, query or "", lambda name: _shown(form, name))
    if query:
        fields = [field for field in found if field not in main]
        _told(found, fields)
    else:
        fields = [field for field in _chosen(form) if field not in main]
    _groups(form, fields)


def _chosen(form: Form) -> Sequence[Field]:
    """Draws the choice of what to show without a search; returns those fields."""
    shown = st.segmented_control(
        t("settings.shown"),
        SHOWN,
        default="changed",
        required=True,
        format_func=lambda name: t(f"settings.shown.{name}"),
        label_visibility="collapsed",
        key="settings_shown",
    )
    if shown == "all":
        return FIELDS
    if shown == "preset":
        return shown_first(form.policy.name, ())
    changed = [field for field in FIELDS if field.name in form.effective.sources]
    if not changed:
        st.caption(t("settings.shown.none"))
    return changed


def _shown(form: Form, name: str) -> str:
    return value_text(name, getattr(form.policy, name))


def _told(found: Sequence[Field], drawn: Sequence[Field]) -> None:
    """Says how much a search found, and what of it stands above."""
    if not found:
        empty_state(t("settings.search.none"), icon=":material/search_off:")
        return
    above = ", ".join(field_name(field.name) for field in found if field not in drawn)
    text = t("settings.search.found", count=len(found))
    st.caption(f"{text} {t('settings.search.above', fields=above)}" if above else text)


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
            wrap=True,  # in a column it would scroll, which nothing shows
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
    text = _scope_text(name, user, session, model)
    st.caption(plain_label(text, max_chars=200))
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


def _scope_text(name: ScopeName, user: UserInfo, session: SessionInfo | None, model: str) -> str:
    title = session_title(session) if session else ""
    return t(
        f"settings.scope.{name}.told",
        user=user.name or user.id,
        group=user.group,
        session=title,
        model=model,
    )


def _notices(form: Form) -> None:
    """Draws notices about stored fields that no longer exist; the next save drops them."""
    for notice in form.effective.notices:
        st.info(plain_label(reason_sentence(notice), max_chars=300), icon=":material/info:")


def _switches(form: Form) -> None:
    key = "settings_preset"
    show_value("settings_automatic", form.policy.is_automatic)
    show_value(key, form.policy.name)
    st.selectbox(
        t("settings.preset"),
        Policy.presets(),
        format_func=preset_line,
        key=key,
        help=t("settings.preset.help"),
        on_change=saving.save_value,
        args=(form.target, PRESET_FIELD, key),
    )
    is_set = PRESET_FIELD in form.effective.sources
    if is_set:
        draw_source(form, PRESET_FIELD, source_text(form, PRESET_FIELD))
    st.toggle(
        t("settings.automatic"),
        key="settings_automatic",
        help=t("settings.automatic.help"),
        on_change=saving.save_automatic,
        args=(form.target, "settings_automatic"),
    )


def _groups(form: Form, fields: Sequence[Field]) -> None:
    """Draws the fields by group; small groups stand side by side under their own headings."""
    begun: GroupName | None = None
    for row in rows_of(fields):
        has_heading = any(field.group != begun for field in row)
        for column, field in zip(st.columns(ROW_FIELDS), row, strict=False):
            with column:
                if has_heading:
                    is_first = field.group != begun
                    _heading(group_name(field.group) if is_first else "&nbsp;")
                _field(form, field)
            begun = field.group


def _heading(text: str) -> None:
    st.markdown(f"**{text}**")


def _field(form: Form, field: Field) -> None:
    """Draws one field: its input, its value in tokens, and where the value comes from."""
    key = f"settings_{field.name}"
    draw_input(
        field,
        getattr(form.policy, field.name),
        key=key,
        disabled=field.name == "trigger_ratio" and not form.policy.is_automatic,
        on_change=saving.save_field,
        args=(form.target, field, key),
    )
    draw_source(form, field.name, field_source(form, field))
    if field.may_be_empty and getattr(form.policy, field.name) not in (None, "", ()):
        st.button(
            t("settings.set_none"),
            key=f"{key}_none",
            type="tertiary",
            icon=":material/block:",
            on_click=saving.save_nothing,
            args=(form.target, field),
        )
    if form.own is not None and field.name in form.own.overrides:
        st.button(
            t("settings.reset_field"),
            key=f"{key}_reset",
            type="tertiary",
            icon=":material/restart_alt:",
            on_click=saving.reset_field,
            args=(form.target, field.name),
        )


def _warnings(form: Form) -> None:
    """Warns of a target set at or above the trigger; values of a preset are not checked."""
    policy, own = form.policy, form.effective.sources
    pairs = (("target_ratio", "trigger_ratio"), ("lower_tokens", "upper_tokens"))
    for target, trigger in pairs:
        low, high = getattr(policy, target), getattr(policy, trigger)
        is_set = bool({target, trigger} & own.keys()) and low is not None and high is not None
        if policy.is_automatic and is_set and low >= high:
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


def _versions(scope: Scope, own: PolicyVersion | None) -> None:
    """Draws the versions of a scope, newest first."""
    versions = engine().store.policy_versions(scope)
    with st.expander(t("settings.versions", count=len(versions)), key="settings_versions"):
        if not versions:
            st.caption(t("settings.versions.none"))
        for version in versions[:SHOWN_VERSIONS]:
            _version(version, is_current=own is not None and version.id == own.id)


def _version(version: PolicyVersion, *, is_current: bool) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"settings_version_{version.id}"
    ):
        st.markdown(
            t(
                "settings.version",
                number=version.version,
                at=f"{version.created_at:%Y-%m-%d %H:%M}",
                by=plain_label(version.created_by),
                changes=plain_label(_changes(version.overrides), max_chars=300),
            )
        )
        st.button(
            t("settings.version.current") if is_current else t("settings.version.restore"),
            key=f"settings_restore_{version.id}",
            disabled=is_current,
            on_click=saving.restore,
            args=(Target(scope=version.scope, parents=()), version.overrides),
        )


def _changes(overrides: JsonObject) -> str:
    if not overrides:
        return t("settings.version.nothing")
    return ", ".join(
        f"{field_name(name)} = {value_text(name, value)}" for name, value in overrides.items()
    )
