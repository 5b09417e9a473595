"""The view of users: their names, groups, and who is an operator."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.store.values import UserInfo
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, report_errors, show_problem, table_with_choice

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


def _row(user: UserInfo) -> Row:
    return {
        t("settings.user.id"): user.id,
        t("settings.user.name"): user.name,
        t("settings.user.group"): user.group,
        t("settings.user.operator"): t("compaction.yes" if user.is_operator else "compaction.no"),
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
    keys = {name: f"settings_user_{name}_{chosen.id}" for name in ("name", "group", "operator")}
    for name, value in (("name", chosen.name), ("group", chosen.group)):
        st.session_state[keys[name]] = value
    st.session_state[keys["operator"]] = chosen.is_operator
    with st.container(horizontal=True, vertical_alignment="bottom", key="settings_user_fields"):
        for name in ("name", "group"):
            st.text_input(
                t(f"settings.user.{name}"),
                key=keys[name],
                width=260,
                on_change=_save,
                args=(chosen.id, name, keys[name]),
            )
        st.toggle(
            t("settings.user.operator"),
            key=keys["operator"],
            disabled=is_last_operator(users, chosen.id),
            help=t("settings.user.operator.help"),
            on_change=_save,
            args=(chosen.id, "operator", keys["operator"]),
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
    """Saves one field of a user; listing users raises for others than operators."""
    value = st.session_state[key]
    with report_errors(_PROBLEM):
        users = engine().users()
        if name == "operator":
            if value or not is_last_operator(users, user_id):
                engine().store.update_user(user_id, is_operator=bool(value))
        elif name == "group":
            engine().store.update_user(user_id, group=str(value).strip())
        else:
            engine().store.update_user(user_id, name=str(value).strip() or user_id)
