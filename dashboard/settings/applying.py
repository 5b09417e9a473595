"""Saves a previewed change of a policy, and takes it back again while nothing else was saved."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.json_types import JsonObject
from ctxcore.policy.changes import FieldChange
from ctxcore.store.values import Scope
from dashboard.services import engine
from dashboard.settings.inputs import field_name, value_text
from dashboard.settings.scope_choice import scope_name, user_names
from dashboard.texts import t
from dashboard.widgets import Row, plain_table, report_errors, show_problem

_APPLIED, _PROBLEM = "applying_done", "applying_problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A saved change, with what was there before it."""

    scope: Scope
    before: JsonObject
    version_id: int


def change_rows(changes: list[FieldChange]) -> list[Row]:
    """A row for each field: what it was, and what it becomes."""
    return [
        {
            t("settings.deviations.field"): field_name(change.field),
            t("reports.before"): change_text(change, is_after=False),
            t("reports.after"): change_text(change, is_after=True),
        }
        for change in changes
    ]


def change_text(change: FieldChange, *, is_after: bool) -> str:
    """The value of a field before or after; one that is not set is inherited."""
    is_set, value = (change.is_set, change.after) if is_after else (change.was_set, change.before)
    return value_text(change.field, value) if is_set else t("reports.inherited")


def show_changes(changes: list[FieldChange], *, alt: str) -> None:
    """Draws the fields that would change."""
    plain_table(change_rows(changes), alt=alt)


def apply_change(scope: Scope, before: JsonObject, after: JsonObject) -> None:
    """Saves `after`; a callback. `before` is what `show_applied` offers to restore."""
    with report_errors(_PROBLEM):
        version = engine().save_policy(scope, after)
        st.session_state[_APPLIED] = Applied(scope=scope, before=before, version_id=version.id)


def show_applied() -> None:
    """Draws what was saved last, with a button that takes it back."""
    show_problem(_PROBLEM)
    applied = st.session_state.get(_APPLIED)
    if not isinstance(applied, Applied):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="applying_bar"):
        st.success(
            t("reports.applied", who=scope_name(applied.scope, user_names())),
            icon=":material/check:",
            width=520,
        )
        st.button(
            t("reports.undo"), key="applying_undo", icon=":material/undo:", on_click=_take_back
        )


def _take_back() -> None:
    applied = st.session_state.pop(_APPLIED)
    newest = engine().store.policy(applied.scope)
    if newest is None or newest.id != applied.version_id:
        st.session_state[_PROBLEM] = t("reports.undo.late")
        return
    try:
        engine().save_policy(applied.scope, applied.before)
    except ContextError:
        st.session_state[_APPLIED] = applied
        raise
    st.toast(t("reports.undone"), icon=":material/undo:")
