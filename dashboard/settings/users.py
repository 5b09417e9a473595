"""The view of users: their names, groups and roles."""

from __future__ import annotations

import os
from collections.abc import Sequence

import streamlit as st

from ctxcore.store.values import UserInfo
from dashboard.login import CLAIM_VARIABLE, roles_come_from_login
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, report_errors, show_problem, show_value, table_with_choice

_PROBLEM = "settings_user_problem"


def show_users() -> None:
    """Draws all users for operators; for others, their own entry."""
    me = engine().user()
    if not me.is_operator:
        st.info(
            t("settings.users.self", name=plain_label(me.name), group=plain_label(me.group or "–")),
            icon=":material/person:",
        )
        return
    users = engine().users()
    _change(users)
    _add()


def is_last_operator(users: Sequence[UserInfo], user_id: str) -> bool:
    """Whether no other operator is left."""
    return [user.id for user in users if user.is_operator] == [user_id]


def roles_text(*, is_operator: bool, is_auditor: bool) -> str:
    """The names of roles."""
    if not is_operator:
        return t("settings.user.role.user")
    operator = t("settings.user.operator")
    return f"{operator}, {t('settings.user.auditor')}" if is_auditor else operator


def _row(user: UserInfo) -> Row:
    return {
        t("settings.user.id"): user.id,
        t("settings.user.name"): user.name,
        t("settings.user.group"): user.group,
        t("settings.user.roles"): roles_text(
            is_operator=user.is_operator, is_auditor=user.reads_others
        ),
        t("settings.user.since"): f"{user.created_at:%Y-%m-%d}",
    }


def _change(users: Sequence[UserInfo]) -> None:
    """Draws a table of the users, and the fields of the open one."""
    by_id = {user.id: user for user in users}
    chosen = by_id[
        table_with_choice(
            [_row(user) for user in users],
            list(by_id),
            key="settings_users",
            alt=t("settings.view.users"),
        )
    ]
    show_problem(_PROBLEM, max_chars=300)
    st.markdown(f"**{plain_label(chosen.name or chosen.id)}**")
    keys = {name: f"settings_user_{name}_{chosen.id}" for name in ("name", "group")}
    for name, value in (("name", chosen.name), ("group", chosen.group)):
        st.session_state[keys[name]] = value
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings_user_fields"):
        for name, key in keys.items():
            st.text_input(
                t(f"settings.user.{name}"),
                key=key,
                width=260,
                on_change=_save,
                args=(chosen.id, name, key),
            )
    _roles(chosen, users)


def _roles(chosen: UserInfo, users: Sequence[UserInfo]) -> None:
    """Draws the roles of a user; none of them is drawn where they follow from the login."""
    if roles_come_from_login():
        text = t("settings.user.roles.login", claim=os.environ[CLAIM_VARIABLE])
        st.caption(plain_label(text, max_chars=300))
        return
    me = engine().user()
    fixed = {
        "operator": is_last_operator(users, chosen.id),
        "auditor": not chosen.is_operator or (chosen.id == me.id and not me.is_auditor),
    }
    given = {"operator": chosen.is_operator, "auditor": chosen.reads_others}
    with st.container(horizontal=True, key="settings_user_roles"):
        for name, value in given.items():
            key = f"settings_user_{name}_{chosen.id}"
            show_value(key, value)
            st.toggle(
                t(f"settings.user.{name}"),
                key=key,
                disabled=fixed[name],
                help=t(f"settings.user.{name}.help"),
                on_change=_save_roles,
                args=(chosen.id,),
            )


def _add() -> None:
    st.markdown(f"**{t('settings.user.add')}**")
    with st.form("settings_user_form", clear_on_submit=True):
        for name in ("id", "name", "group"):
            st.text_input(
                t(f"settings.user.{name}"),
                key=f"settings_new_user_{name}",
                help=t(f"settings.user.{name}.help"),
            )
        st.form_submit_button(t("settings.user.add"), key="settings_user_add", on_click=_create)


def _create() -> None:
    typed = {
        name: str(st.session_state.get(f"settings_new_user_{name}") or "").strip()
        for name in ("id", "name", "group")
    }
    if not typed["id"]:
        st.session_state[_PROBLEM] = t("settings.user.no_id")
        return
    with report_errors(_PROBLEM):
        engine().create_user(typed["id"], name=typed["name"], group=typed["group"])
        st.toast(t("settings.saved"), icon=":material/check:")


def _save(user_id: str, name: str, key: str) -> None:
    """Saves the name or the group of a user."""
    change = engine().people.rename if name == "name" else engine().people.group
    with report_errors(_PROBLEM):
        change(user_id, str(st.session_state[key]))


def _save_roles(user_id: str) -> None:
    """Saves both roles of a user."""
    given = {
        name: bool(st.session_state[f"settings_user_{name}_{user_id}"])
        for name in ("operator", "auditor")
    }
    with report_errors(_PROBLEM):
        engine().people.set_roles(
            user_id, is_operator=given["operator"], is_auditor=given["auditor"]
        )
