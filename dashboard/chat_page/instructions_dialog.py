"""The dialog in which the system prompt and the tool definitions of a session are changed."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.prompts import SystemVersion
from ctxcore.errors import ContextError
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.chat_page.instructions import Fields, Model, draw_system, draw_tools
from dashboard.chat_page.tool_definitions import (
    Definitions,
    parse_tools,
    tools_text,
    tools_total,
)
from dashboard.chat_page.turn_runner import turn_runner
from dashboard.codes import GivenError, GivenProblem
from dashboard.compaction_dialog import close_compaction
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.widgets import report_errors
from dashboard.wording import error_text

DIALOG = "instructions"
FIELDS = Fields(name="instructions")
SHOWN_VERSIONS = 20  # chosen: of earlier prompts; the transcript has all
_PROBLEM = "instructions_save_problem"
_DONE = "instructions_done"


def draw_button(session: SessionInfo, *, is_disabled: bool) -> None:
    """Draws what the session has of both, and the button that opens the dialog."""
    with st.container(horizontal=True, vertical_alignment="center", key="instructions_line"):
        st.button(
            t("instructions.open"),
            key="instructions_open",
            icon=":material/settings:",
            disabled=is_disabled,
            on_click=_open,
            args=(session.id,),
        )
        st.caption(_summary(session), width="content")


def draw_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if st.session_state.pop(_DONE, False):  # a callback in the dialog cannot show a toast
        st.toast(t("instructions.saved"), icon=":material/check:")
    session = current_session()
    if session is None or not is_open(DIALOG):
        return
    st.dialog(t("instructions.title"), width="large", on_dismiss=close_dialog)(_body)(session.id)


def _summary(session: SessionInfo) -> str:
    model = Model.named(session.model or default_model())
    system = model.system_tokens(engine().system(session.id) or "")
    parts = [
        t("instructions.has_system", tokens=_tokens(system, model))
        if system
        else t("instructions.has_no_system"),
    ]
    if session.tools:
        parts.append(_tools_summary(session.tools, model))
    return " · ".join(parts)


def _tools_summary(tools: Definitions, model: Model) -> str:
    count = f"{len(tools):,}"
    if not (total := tools_total(tools, model.name)):
        return t("instructions.has_unsent_tools", count=count)
    return t("instructions.has_tools", count=count, tokens=_tokens(total, model))


def _tokens(tokens: int, model: Model) -> str:
    return numbers.tokens(tokens, is_exact=model.is_exact)


def _open(session_id: str) -> None:
    session = engine().session(session_id)
    FIELDS.fill(system=engine().system(session_id) or "", tools=tools_text(session.tools))
    st.session_state.pop(_PROBLEM, None)
    close_compaction()
    open_dialog(DIALOG)


def _body(session_id: str) -> None:
    session = engine().session(session_id)
    model = Model.named(session.model or default_model())
    st.caption(t("instructions.told"))
    if (problem := st.session_state.get(_PROBLEM)) is not None:  # stays until the next attempt
        st.error(plain_label(problem, max_chars=400), icon=":material/error:")
    draw_system(FIELDS, model)
    _versions(session_id, model)
    tools = draw_tools(FIELDS, model)
    if tools is not None:
        _own_tool(session, model, tools)
        _cache_break(session, model, tools)
    with st.container(horizontal=True, key="instructions_buttons"):
        st.button(
            t("instructions.save"),
            key="instructions_save",
            type="primary",
            disabled=tools is None,
            on_click=_save,
            args=(session_id,),
        )
        st.button(t("common.cancel"), key="instructions_cancel", on_click=_cancel)


def _versions(session_id: str, model: Model) -> None:
    """Draws the earlier system prompts, each with a button that takes it back."""
    earlier = [one for one in reversed(engine().system_versions(session_id)) if not one.in_force]
    if not earlier:
        return
    title = t("instructions.versions", count=f"{len(earlier):,}")
    with st.expander(title, key="instructions_versions", icon=":material/history:"):
        for version in earlier[:SHOWN_VERSIONS]:
            _version(session_id, version, model)


def _version(session_id: str, version: SystemVersion, model: Model) -> None:
    place = version.place
    with st.container(horizontal=True, vertical_alignment="center", key=f"instructions_v_{place}"):
        at = f"{version.at:%Y-%m-%d %H:%M} UTC" if version.at else t("common.unknown")
        size = t("chat.size", tokens=_tokens(model.system_tokens(version.text), model))
        st.caption(f"{at} · {size} · {plain_label(version.text, max_chars=120)}", width="stretch")
        st.button(
            t("instructions.take_back"),
            key=f"instructions_back_{place}",
            type="tertiary",
            on_click=_take_back,
            args=(session_id, version.text),
        )


def _own_tool(session: SessionInfo, model: Model, tools: Definitions) -> None:
    """Says what the engine's own tools take, which the window counts with the others."""
    if not tools or tools != session.tools:
        return
    whole = engine().call_target(session.id).call.tools_tokens
    if own := whole - tools_total(tools, model.name):
        st.caption(t("instructions.expand", tokens=_tokens(own, model)))


def _cache_break(session: SessionInfo, model: Model, tools: Definitions) -> None:
    """Says what the next call pays for anew, if anything changed and anything can be cached."""
    system = FIELDS.written()[0]
    is_new = system != (engine().system(session.id) or "") or tools_text(tools) != tools_text(
        session.tools
    )
    if not is_new or not engine().store.count_calls(session.id):
        return
    try:
        # All of it is new: the system prompt and the tools begin every input.
        tokens = engine().context(session.id, tools=tools, system=system).breakdown.input_tokens
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=400), icon=":material/error:")
        return
    shown = _tokens(tokens, model)
    st.warning(t("instructions.cache_break", tokens=shown), icon=":material/cached:")


@report_errors(_PROBLEM)
def _save(session_id: str) -> None:
    st.session_state.pop(_PROBLEM, None)
    system, tools = FIELDS.written()
    definitions = parse_tools(tools)
    _refuse_while_running(session_id)
    engine().set_tools(session_id, definitions)
    engine().set_system(session_id, system or None)
    _finish()


@report_errors(_PROBLEM)
def _take_back(session_id: str, text: str) -> None:
    st.session_state.pop(_PROBLEM, None)
    _refuse_while_running(session_id)
    engine().set_system(session_id, text)
    _finish()


def _refuse_while_running(session_id: str) -> None:
    if turn_runner().running(session_id) is not None:
        raise GivenError(GivenProblem.IS_RUNNING())


def _finish() -> None:
    close_dialog()
    st.session_state[_DONE] = True
    st.rerun()


def _cancel() -> None:
    close_dialog()
    st.rerun()
