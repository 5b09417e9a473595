"""The dialog that creates a session with a model, a system prompt and tool definitions."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.policies import ModelCatalog
from dashboard.chat_page.instructions import Fields, Model, draw_system, draw_tools
from dashboard.chat_page.model_picker import model_label, model_names
from dashboard.chat_page.tool_definitions import parse_tools
from dashboard.compaction_dialog import close_compaction
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.selection import select_session
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

DIALOG = "new_session"
FIELDS = Fields(name="new_session")
_MODEL = "new_session_model"
_TITLE = "new_session_title"
_PROBLEM = "new_session_problem_create"


def open_new_session() -> None:
    """Opens the dialog with empty fields; a callback."""
    FIELDS.fill()
    st.session_state[_MODEL], st.session_state[_TITLE] = default_model(), ""
    st.session_state.pop(_PROBLEM, None)
    close_compaction()
    open_dialog(DIALOG)


def draw_dialog() -> None:
    """Draws the dialog if it is open; call it once, around the page."""
    if is_open(DIALOG):
        st.dialog(t("instructions.new"), width="large", on_dismiss=close_dialog)(_body)()


def _body() -> None:
    show_problem(_PROBLEM)
    catalog = ModelCatalog.load(engine().store)
    with st.container(horizontal=True, key="new_session_first"):
        st.text_input(t("shell.title"), max_chars=120, key=_TITLE)
        name = st.selectbox(
            t("chat.model"),
            model_names(None, catalog),
            format_func=lambda one: model_label(one, catalog),
            key=_MODEL,
        )
    model = Model.named(name)
    draw_system(FIELDS, model)
    tools = draw_tools(FIELDS, model)
    with st.container(horizontal=True, key="new_session_buttons"):
        st.button(
            t("instructions.create"),
            key="new_session_create",
            type="primary",
            disabled=tools is None,
            on_click=_create,
        )
        st.button(t("common.cancel"), key="new_session_cancel", on_click=_cancel)


@report_errors(_PROBLEM)
def _create() -> None:
    system, tools = FIELDS.written()
    model = st.session_state[_MODEL]
    session = engine().create_session(
        str(st.session_state[_TITLE] or "").strip(),
        model=None if model == default_model() else model,
        system=system or None,
        tools=parse_tools(tools),
    )
    select_session(session.id)
    close_dialog()
    st.rerun()


def _cancel() -> None:
    close_dialog()
    st.rerun()
