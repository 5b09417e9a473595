"""The view of connections: how models are reached.

A connection names the environment variable that holds its key. The page shows whether the
variable is set, never its value; no input takes a key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from ctxcore.engine.policies import save_connections
from ctxcore.errors import ContextError
from ctxcore.gateway.litellm_gateway import LiteLLMGateway
from ctxcore.gateway.local.status import LOCAL_MODEL, local_model_status
from ctxcore.gateway.values import Connection, ModelRequest
from dashboard.keys import key_state, key_text
from dashboard.safe_markdown import plain_label
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.widgets import empty_state
from dashboard.wording import error_text, reason_text

_RESULT = "settings_connection_result"
_PROBLEM = "settings_connection_problem"
_EDITED = "settings_connection_edited"
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")  # upper case only: keys hold other letters
_FIELDS = ("name", "model", "api_base", "key_env")
_REPLY_TOKENS = 16  # chosen: room for one word; some models refuse fewer


def show_connections() -> None:
    """Draws the connections of this installation; operators can change them."""
    st.caption(t("settings.connections.told", model=plain_label(default_model())))
    _local()
    connections = engine().models().connections
    may_edit = engine().user().is_operator
    _result()
    if not connections:
        empty_state(t("settings.connections.empty"), icon=":material/hub:")
    for at, connection in enumerate(connections):
        _connection(at, connection, may_edit=may_edit)
    if not may_edit:
        st.info(t("settings.connections.operators"), icon=":material/lock:")
        return
    _form(connections)


def with_connection(
    connections: Sequence[Connection], connection: Connection, replaces: str | None
) -> list[Connection]:
    """`connections` with one more, or with the one named `replaces` exchanged.

    Raises:
        ValueError: name or model is missing, the name is taken, or the variable's name is invalid;
            the argument is the key of the text.
    """
    if not connection.name or not connection.model:
        raise ValueError("settings.connections.incomplete")
    if connection.key_env and not _VARIABLE.fullmatch(connection.key_env):
        raise ValueError("settings.key.invalid")
    others = [other.name for other in connections if other.name != replaces]
    if connection.name in others:
        raise ValueError("settings.connections.twice")
    if replaces is None:
        return [*connections, connection]
    return [connection if other.name == replaces else other for other in connections]


def _local() -> None:
    status = local_model_status()
    if status.available:
        st.markdown(t("settings.local.ready", model=plain_label(LOCAL_MODEL)))
    else:
        st.markdown(
            t(
                "settings.local.missing",
                model=plain_label(LOCAL_MODEL),
                reason=plain_label(reason_text(status.reason), max_chars=300),
            )
        )


def _connection(at: int, connection: Connection, *, may_edit: bool) -> None:
    with st.container(border=True, key=f"settings_connection_{at}"):
        st.markdown(
            t(
                "settings.connection",
                name=plain_label(connection.name),
                model=plain_label(connection.model),
                base=plain_label(connection.api_base or t("settings.connection.public")),
            )
        )
        st.caption(key_text(key_state(connection.model, connection)))
        with st.container(horizontal=True, key=f"settings_connection_buttons_{at}"):
            st.button(
                t("settings.connection.test"),
                key=f"settings_test_{at}",
                icon=":material/network_check:",
                help=t("settings.connection.test.help"),
                on_click=_test,
                args=(connection,),
            )
            if may_edit:
                _edit_buttons(at, connection)


def _edit_buttons(at: int, connection: Connection) -> None:
    st.button(
        t("settings.connection.edit"),
        key=f"settings_edit_{at}",
        icon=":material/edit:",
        on_click=_edit,
        args=(connection,),
    )
    st.button(
        t("settings.connection.remove"),
        key=f"settings_remove_{at}",
        icon=":material/delete:",
        on_click=_remove,
        args=(connection.name,),
    )


def _result() -> None:
    if (found := st.session_state.pop(_RESULT, None)) is not None:
        is_good, text = found
        show = st.success if is_good else st.error
        show(plain_label(text, max_chars=500), icon=":material/network_check:")


def _form(connections: Sequence[Connection]) -> None:
    edited = st.session_state.get(_EDITED)
    replaces = edited if any(known.name == edited for known in connections) else None
    st.markdown(f"**{t('settings.connection.change' if replaces else 'settings.connection.new')}**")
    if (problem := st.session_state.pop(_PROBLEM, None)) is not None:
        st.error(t(problem), icon=":material/error:")
    with st.form("settings_connection_form", clear_on_submit=False):
        for name in _FIELDS:
            st.text_input(
                t(f"settings.connection.{name}"),
                key=_form_key(name),
                help=t(f"settings.connection.{name}.help"),
                placeholder=t(f"settings.connection.{name}.hint"),
            )
        st.form_submit_button(
            t("settings.connection.save"), key="settings_connection_save", on_click=_submit
        )
    if replaces:
        st.button(t("common.cancel"), key="settings_connection_cancel", on_click=_clear)


def _form_key(name: str) -> str:
    return f"settings_connection_field_{name}"


def _edit(connection: Connection) -> None:
    st.session_state[_EDITED] = connection.name
    for name in _FIELDS:
        st.session_state[_form_key(name)] = getattr(connection, name) or ""


def _clear() -> None:
    st.session_state.pop(_EDITED, None)
    for name in _FIELDS:
        st.session_state[_form_key(name)] = ""


def _submit() -> None:
    typed = {name: str(st.session_state.get(_form_key(name)) or "").strip() for name in _FIELDS}
    if not engine().user().is_operator:
        return
    connections = engine().models().connections
    known = {saved.name: saved for saved in connections}
    replaces = st.session_state.get(_EDITED)
    replaces = replaces if replaces in known else None
    base = known.get(replaces) if replaces else None
    connection = replace(
        base or Connection(name="", model=""),
        name=typed["name"],
        model=typed["model"],
        api_base=typed["api_base"] or None,
        key_env=typed["key_env"] or None,
    )
    try:
        changed = with_connection(connections, connection, replaces)
    except ValueError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    save_connections(engine().store, changed)
    _clear()
    st.toast(t("settings.saved"), icon=":material/check:")


def _remove(name: str) -> None:
    if not engine().user().is_operator:
        return
    rest = [other for other in engine().models().connections if other.name != name]
    save_connections(engine().store, rest)
    st.toast(t("settings.connection.removed", name=plain_label(name)), icon=":material/delete:")


def _test(connection: Connection) -> None:
    """Sends one short request through the connection; the next run shows the result."""
    request = ModelRequest(
        model=connection.model,
        messages=[{"role": "user", "content": "Answer with the word OK."}],
        max_output_tokens=_REPLY_TOKENS,
        connection=connection,
    )
    try:
        reply = LiteLLMGateway().complete(request)
    except ContextError as error:
        st.session_state[_RESULT] = (False, f"{connection.name}: {error_text(error)}")
        return
    seconds = f"{reply.latency_seconds:.1f}"
    text = t("settings.connection.answered", name=connection.name, seconds=seconds)
    st.session_state[_RESULT] = (True, text)
