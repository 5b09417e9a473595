"""Draws what stands beside the chat input: the model, the last failure, pinned messages."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.events import COMPACTED, FAILED, INPUT_CUT
from ctxcore.engine.policies import ModelCatalog
from ctxcore.gateway.local.status import LOCAL_MODEL, local_model_status
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.chat_page import actions
from dashboard.reads import reason_in
from dashboard.safe_markdown import plain_label
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.widgets import draw_nothing
from dashboard.wording import reason_text


def model_names(session_model: str | None, catalog: ModelCatalog) -> list[str]:
    """The models to choose from, each once: the default, the connections, the built-in one."""
    named = [
        session_model or default_model(),
        default_model(),
        *(connection.model for connection in catalog.connections),
        LOCAL_MODEL,
    ]
    return list(dict.fromkeys(named))


def model_label(model: str, catalog: ModelCatalog) -> str:
    """The name of a model in the list."""
    if model == LOCAL_MODEL:
        return t("chat.local_model")
    connection = catalog.connection(model)
    return f"{connection.name} · {model}" if connection and connection.name else model


def draw_model_menu(session: SessionInfo | None, *, is_running: bool) -> str:
    """Draws the name of the model, which opens the picker; returns the chosen model."""
    chosen = session.model if session else st.session_state.get(actions.NEW_MODEL)
    shown = chosen or default_model()
    is_missing = shown == LOCAL_MODEL and not local_model_status().available
    with st.popover(
        plain_label(model_label(shown, ModelCatalog.load(engine().store)), max_chars=40),
        type="tertiary",
        icon=":material/warning:" if is_missing else ":material/smart_toy:",
        help=t("chat.model"),
        key="chat_model_menu",
    ):
        return draw_model(session, is_running=is_running)


def draw_model(session: SessionInfo | None, *, is_running: bool) -> str:
    """Draws the model picker and notes on the model; returns the chosen model."""
    catalog = ModelCatalog.load(engine().store)
    pending = st.session_state.get(actions.NEW_MODEL)
    chosen = session.model if session else pending
    names = model_names(chosen, catalog)
    session_id = session.id if session else None
    key = f"chat_model_{session_id or 'none'}"
    st.session_state[key] = chosen or default_model()
    model = st.selectbox(
        t("chat.model"),
        names,
        format_func=lambda name: model_label(name, catalog),
        key=key,
        disabled=is_running,
        on_change=actions.choose_model,
        args=(session_id, key),
    )
    _about_model(model)
    return model


def _about_model(model: str) -> None:
    if model != LOCAL_MODEL:
        return
    status = local_model_status()
    if status.available:
        st.caption(t("chat.local_note"))
        return
    st.warning(
        t(
            "chat.local_unavailable",
            reason=plain_label(reason_text(status.reason), max_chars=300),
        ),
        icon=":material/info:",
    )
    st.page_link("../pages/settings.py", label=t("chat.to_settings"), icon=":material/tune:")


def draw_failure(session: SessionInfo) -> None:
    """Draws why the last compaction failed, unless one was recorded since."""
    newest = engine().store.last_events(session.id, (COMPACTED, FAILED), limit=1)
    if newest and newest[0].kind == FAILED:
        reason = plain_label(reason_text(reason_in(newest[0].body, "reason")), max_chars=200)
        st.caption(f":material/warning: {t('compact.failed', reason=reason)}")
    else:
        draw_nothing()


def draw_cut(session: SessionInfo) -> None:
    """Draws a warning where the provider counted far less than the last turn sent."""
    turn = engine().store.last_turn(session.id)
    newest = engine().store.last_events(session.id, (INPUT_CUT,), limit=1)
    if turn is None or not newest or newest[0].body.get("turn_id") != turn.id:
        draw_nothing()
        return
    sent, reported = (newest[0].body.get(name) for name in ("sent_tokens", "reported_tokens"))
    st.warning(
        t(
            "chat.input_cut",
            sent=numbers.tokens(sent if isinstance(sent, int) else None, is_exact=False),
            reported=numbers.tokens(reported if isinstance(reported, int) else None),
        ),
        icon=":material/content_cut:",
    )


def draw_pinned(session: SessionInfo, pinned: frozenset[int]) -> None:
    """Draws the pinned messages, each with a button that unpins it."""
    if not pinned:
        return
    st.markdown(f"**{t('chat.pinned')}**")
    for seq in sorted(pinned):
        info = engine().store.messages(session.id, seq, seq)[0]
        with st.container(horizontal=True, vertical_alignment="center", key=f"chat_pin_{seq}"):
            st.caption(f"#{seq} {plain_label(info.message.text, max_chars=90)}", width="stretch")
            st.button(
                t("chat.action.unpin"),
                key=f"chat_unpin_{seq}",
                type="tertiary",
                on_click=actions.unpin,
                args=(session.id, seq),
            )
