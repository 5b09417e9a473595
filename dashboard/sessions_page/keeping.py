"""How long sessions are kept: a setting with its effect, and the erasure of all deleted ones."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.core import KEPT_AFTER_DELETE
from ctxcore.engine.retention import FIELD, DueSession, stored_limits
from ctxcore.errors import ContextError
from ctxcore.store.values import Scope
from dashboard import numbers
from dashboard.reads import session_tokens
from dashboard.selection import session_title
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, is_typed, plain_table, report_errors, show_problem
from dashboard.wording import error_text

SHOWN_DUE = 100  # chosen: enough to recognize them
_PROBLEM = "sessions_keeping_problem"
_ERASE = "sessions_to_erase"


def show_retention() -> None:
    """Draws after how many days sessions are deleted, for oneself or everybody, and which now."""
    with st.expander(t("sessions.keep"), key="sessions_keep_open", icon=":material/auto_delete:"):
        st.caption(t("sessions.keep.told", days=KEPT_AFTER_DELETE.days))
        show_problem(_PROBLEM)
        scope, is_everybody = _scope()
        saved = stored_limits(engine().store).get(scope)
        days = st.number_input(
            t("sessions.keep.days"),
            value=saved,
            min_value=1,
            step=1,
            placeholder=t("sessions.keep.never"),
            key=f"sessions_keep_days_{scope.kind}",
            width=260,
        )
        _due(engine().due_sessions(everybody=is_everybody, instead=(scope, days)))
        st.button(
            t("sessions.keep.save"),
            key="sessions_keep_save",
            type="primary",
            disabled=days == saved,
            on_click=_save,
            args=(scope, days),
        )


def _scope() -> tuple[Scope, bool]:
    """For whom it is set; operators may set it for everybody."""
    mine = Scope(kind="user", owner=engine().user_id)
    if not engine().user().is_operator:
        return mine, False
    chosen = st.segmented_control(
        t("settings.scope"),
        ("me", "everybody"),
        default="me",
        required=True,
        format_func=lambda name: t(f"settings.scope.{name}"),
        key="sessions_keep_scope",
    )
    return (Scope(), True) if chosen == "everybody" else (mine, False)


def _due(due: list[DueSession]) -> None:
    """Draws what would be deleted with the typed days."""
    if not due:
        st.caption(t("sessions.keep.none"))
        return
    st.warning(t("sessions.keep.due", count=f"{len(due):,}"), icon=":material/auto_delete:")
    rows: list[Row] = [
        {
            t("sessions.name"): session_title(one.session),
            t("sessions.messages"): one.session.length,
            t("sessions.size"): session_tokens(one.session),
            t("sessions.updated"): f"{one.session.updated_at:%Y-%m-%d %H:%M}",
            t("sessions.keep.after"): one.days,
            t("sessions.user"): one.session.user_id,
        }
        for one in due[:SHOWN_DUE]
    ]
    plain_table(rows, alt=t("sessions.keep.due", count=f"{len(due):,}"))


def _save(scope: Scope, days: int | None) -> None:
    own = engine().store.policy(scope)
    overrides = dict(own.overrides) if own else {}
    overrides.pop(FIELD, None)
    if days is not None:
        overrides[FIELD] = int(days)
    with report_errors(_PROBLEM):
        engine().save_policy(scope, overrides)
        st.toast(t("settings.saved"), icon=":material/check:")


def show_purge_all(total: int) -> None:
    """Draws the button that erases all deleted sessions, and its dialog."""
    st.button(
        t("sessions.erase_all", count=f"{total:,}"),
        key="sessions_erase_all",
        icon=":material/delete_forever:",
        on_click=lambda: st.session_state.update({_ERASE: total}),
    )
    if st.session_state.get(_ERASE):
        draw = st.dialog(t("sessions.purge"), on_dismiss=_close)(_body)
        draw(total)


def _body(total: int) -> None:
    st.warning(t("sessions.erase_all.sure", count=numbers.tokens(total)), icon=":material/warning:")
    is_meant = is_typed(t("sessions.erase_all.word"), key="sessions_erase_word")
    with st.container(horizontal=True, key="sessions_erase_buttons"):
        st.button(
            t("sessions.purge.confirm"),
            key="sessions_erase_confirm",
            type="primary",
            disabled=not is_meant,
            on_click=_erase,
        )
        st.button(t("common.cancel"), key="sessions_erase_cancel", on_click=_cancel)


def _erase() -> None:
    try:
        erased = engine().purge_all_deleted()
    except ContextError as error:
        st.session_state[_PROBLEM] = error_text(error)
    else:
        text = t("sessions.erase_all.done", count=f"{len(erased):,}")
        st.toast(text, icon=":material/delete_forever:")
    _cancel()


def _cancel() -> None:
    _close()
    st.rerun()


def _close() -> None:
    st.session_state.pop(_ERASE, None)
