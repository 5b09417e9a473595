"""The view of assignments: a table of deviations, and thresholds for many users at once.

For operators. What is assigned replaces what each user or group had; their versions remain, and one
button saves the former values again while nothing else was saved for any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.policies import Deviation
from ctxcore.errors import ContextError, PolicyError
from ctxcore.messages.values import JsonObject
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.values import Policy
from ctxcore.store.values import Scope, UserInfo
from dashboard.policy_saving import Saved, save_all, show_saved
from dashboard.services import engine
from dashboard.settings.fields import FIELDS, Field
from dashboard.settings.inputs import draw_input, field_name, preset_line, value_text
from dashboard.settings.saving import refusal, typed
from dashboard.settings.scope_choice import whom_text
from dashboard.settings.scopes import layered
from dashboard.texts import t
from dashboard.widgets import Row, csv_button, empty_state, plain_table, show_problem
from dashboard.wording import error_text

_PROBLEM = "settings_assign_problem"
_PLACE = "settings_assign"
_WHO, _PRESET, _CHOSEN = "settings_assign_who", "settings_assign_preset", "settings_assign_fields"


def show_assigning() -> None:
    """Draws the table and the form."""
    if not engine().user().is_operator:
        st.info(t("settings.assign.operators"), icon=":material/lock:")
        return
    users = engine().users()
    _table(users)
    _form(users)


def scopes_of(chosen: Sequence[str]) -> list[Scope]:
    """The scopes of the options `user:ID` and `group:NAME`."""
    parts = [option.partition(":") for option in chosen]
    return [
        Scope(kind="group", owner=owner) if kind == "group" else Scope(kind="user", owner=owner)
        for kind, _, owner in parts
    ]


def options_for(users: Sequence[UserInfo]) -> list[str]:
    """An option for every group and every user, groups first."""
    groups = sorted({user.group for user in users if user.group})
    return [*(f"group:{group}" for group in groups), *(f"user:{user.id}" for user in users)]


def _table(users: Sequence[UserInfo]) -> None:
    st.markdown(f"**{t('settings.deviations')}**")
    found = engine().deviations()
    if not found:
        empty_state(t("settings.deviations.none"), icon=":material/check:")
        return
    names = {user.id: user.name or user.id for user in users}
    rows = [_row(deviation, names) for deviation in found]
    plain_table(rows, alt=t("settings.deviations"))
    csv_button(rows, key="settings_deviations_csv", name="deviations.csv")


def _row(deviation: Deviation, names: dict[str, str]) -> Row:
    return {
        t("settings.deviations.who"): _who(deviation.scope, names),
        t("settings.deviations.field"): field_name(deviation.field),
        t("settings.deviations.value"): value_text(deviation.field, deviation.value),
        t("settings.deviations.everybody"): value_text(deviation.field, deviation.everybody),
    }


def _who(scope: Scope, names: dict[str, str]) -> str:
    owner = scope.owner[:8] if scope.kind == "session" else names.get(scope.owner, scope.owner)
    return t(f"settings.who.{scope.kind}", owner=owner, model=scope.model)


def _form(users: Sequence[UserInfo]) -> None:
    st.markdown(f"**{t('settings.assign')}**")
    st.caption(t("settings.assign.told"))
    show_problem(_PROBLEM)
    show_saved(_PLACE, _saved_text)
    names = {user.id: user.name or user.id for user in users}
    chosen = st.multiselect(
        t("settings.assign.who"),
        options_for(users),
        format_func=lambda option: _who(scopes_of([option])[0], names),
        key=_WHO,
        placeholder=t("settings.assign.who.hint"),
    )
    st.selectbox(
        t("settings.preset"),
        Policy.presets(),
        index=None,
        format_func=preset_line,
        key=_PRESET,
        placeholder=t("settings.assign.inherited"),
    )
    fields = st.multiselect(
        t("settings.assign.fields"),
        [field.name for field in FIELDS],
        format_func=field_name,
        key=_CHOSEN,
        placeholder=t("settings.assign.fields.hint"),
    )
    _values([field for field in FIELDS if field.name in fields])
    st.button(
        t("settings.assign.save", who=whom_text(scopes_of(chosen)) if chosen else "…"),
        key="settings_assign_save",
        type="primary",
        disabled=not chosen,
        on_click=_assign,
    )


def _values(fields: Sequence[Field]) -> None:
    """Draws an input for each chosen field; it starts with the value that everybody has."""
    work = engine()
    house = layered([], work.store.policy(Scope()), work.layers).policy
    for field in fields:
        key = _key(field)
        drafts = st.session_state.setdefault("settings_assign_drafts", {})
        value = drafts.get(field.name, getattr(house, field.name))
        draw_input(field, value, key=key, on_change=_draft, args=(field,))


def _draft(field: Field) -> None:
    """Keeps what was typed; an invalid value is reported and not kept."""
    try:
        value = typed(field, st.session_state[_key(field)])
    except PolicyError as error:
        st.session_state[_PROBLEM] = refusal(error)
        return
    drafts = dict(st.session_state.get("settings_assign_drafts", {}))
    drafts[field.name] = tuple(value) if isinstance(value, list) else value
    st.session_state["settings_assign_drafts"] = drafts


def _assign() -> None:
    scopes = scopes_of(st.session_state[_WHO])
    overrides: JsonObject = {}
    if preset := st.session_state[_PRESET]:
        overrides[PRESET_FIELD] = preset
    chosen = set(st.session_state[_CHOSEN])
    try:
        for field in FIELDS:
            if field.name in chosen:
                overrides[field.name] = typed(field, st.session_state[_key(field)])
        save_all(dict.fromkeys(scopes, overrides), place=_PLACE)
    except PolicyError as error:
        st.session_state[_PROBLEM] = refusal(error)
    except ContextError as error:
        st.session_state[_PROBLEM] = error_text(error)


def _saved_text(saved: Saved) -> str:
    return t("settings.assign.done", who=whom_text(saved.scopes))


def _key(field: Field) -> str:
    return f"settings_assign_{field.name}"
