"""The model picker of the chat page: any name, with what is known of it before the first call.

It names the variable of the key and whether it is set, never the key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import streamlit as st

from ctxcore.engine.policies import ModelCatalog, save_connections
from ctxcore.gateway.local.status import LOCAL_MODEL, local_model_status
from ctxcore.gateway.values import Connection
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.catalog import READER_WINDOWS, as_of, model_info
from dashboard import numbers
from dashboard.chat_page import actions
from dashboard.keys import KeyState, key_state, key_text
from dashboard.reads import session_tokens
from dashboard.safe_markdown import plain_label
from dashboard.services import default_model, engine
from dashboard.texts import t
from dashboard.wording import reason_text

Origin = Literal["own", "listed", "assumed", "unknown"]
"""Where a figure comes from: set here, the catalogue, the model's family, or nowhere."""

SLOW_TOKENS: Final = 2_000  # chosen: the built-in model reads longer than people like to wait
_PUBLIC: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a model before it is called."""

    model: str
    window_tokens: int | None
    window_origin: Origin
    input_dollars: float | None
    """Per million tokens, as the output's."""
    output_dollars: float | None
    price_origin: Origin
    key: KeyState
    connection: Connection | None
    has_provider: bool
    """Whether the name tells who serves the model."""


def known_of(model: str, catalog: ModelCatalog) -> Known:
    """What the catalogue, this installation and the environment say of `model`."""
    listed, info = model_info(model), catalog.info(model)
    own = catalog.overrides.get(model, {})
    connection = catalog.connection(model)
    price = catalog.price(model, is_imported=False)
    return Known(
        model=model,
        window_tokens=info.window_tokens,
        window_origin=_window_origin("window_tokens" in own, info.window_tokens, info.is_assumed),
        input_dollars=None if price is None else price.input,
        output_dollars=None if price is None else price.output,
        price_origin="unknown"
        if price is None
        else "own"
        if catalog.own_price(model) is not None
        else "listed",
        key=key_state(model, connection),
        connection=connection,
        has_provider="/" in model or listed.provider is not None or connection is not None,
    )


def _window_origin(is_own: bool, window: int | None, is_assumed: bool) -> Origin:
    if is_own:
        return "own"
    if window is None:
        return "unknown"
    return "assumed" if is_assumed else "listed"


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
    if model in READER_WINDOWS:
        return t("models.reader", window=f"{READER_WINDOWS[model]:,}")
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
    """Draws the picker and what is known of the chosen model; returns the model."""
    catalog = ModelCatalog.load(engine().store)
    pending = st.session_state.get(actions.NEW_MODEL)
    chosen = session.model if session else pending
    session_id = session.id if session else None
    key = f"chat_model_{session_id or 'none'}"
    st.session_state[key] = chosen or default_model()
    model = st.selectbox(
        t("chat.model"),
        model_names(chosen, catalog),
        format_func=lambda name: model_label(name, catalog),
        key=key,
        disabled=is_running,
        accept_new_options=True,
        help=t("models.pick.help"),
        on_change=actions.choose_model,
        args=(session_id, key),
    )
    model = model or default_model()
    _about(model, session)
    if model != LOCAL_MODEL and model not in READER_WINDOWS:
        _draw_known(known_of(model, catalog), catalog, is_running=is_running)
    return model


def _about(model: str, session: SessionInfo | None) -> None:
    """Says what the models of this library are."""
    if model in READER_WINDOWS:
        st.caption(t("models.reader.note"))
    elif model == LOCAL_MODEL:
        _about_local(session)


def _about_local(session: SessionInfo | None) -> None:
    status = local_model_status()
    if not status.available:
        reason = plain_label(reason_text(status.reason), max_chars=300)
        st.warning(t("chat.local_unavailable", reason=reason), icon=":material/info:")
        st.page_link("../pages/settings.py", label=t("chat.to_settings"), icon=":material/tune:")
        return
    st.caption(t("chat.local_note"))
    if session is not None and is_slow_here(session):
        st.warning(t("models.local.slow"), icon=":material/hourglass_top:")
        st.button(
            t("models.local.new"),
            key="chat_local_new",
            icon=":material/add:",
            on_click=actions.new_local_session,
        )


def is_slow_here(session: SessionInfo) -> bool:
    """Whether the built-in model would read long before it answers in this session."""
    return (session_tokens(session) or 0) > SLOW_TOKENS


def _draw_known(known: Known, catalog: ModelCatalog, *, is_running: bool) -> None:
    """Draws key, window and price in short lines, and what to do where something is missing."""
    if not known.has_provider:
        st.warning(t("models.no_provider"), icon=":material/help:")
    lines = [key_text(known.key), window_line(known), price_line(known)]
    st.caption("  \n".join(lines))
    if catalog.connections and engine().user().is_operator:
        _draw_connection(known, catalog, is_running=is_running)


def window_line(known: Known) -> str:
    """The window, and where it comes from."""
    if known.window_tokens is None:
        return t("models.window.unknown")
    return t(
        f"models.window.{known.window_origin}",
        tokens=f"{known.window_tokens:,}",
        date=as_of().isoformat(),
    )


def price_line(known: Known) -> str:
    """The price per million tokens, and where it comes from."""
    if known.price_origin == "unknown":
        return t("models.price.unknown")
    return t(
        f"models.price.{known.price_origin}",
        input=plain_label(numbers.money(known.input_dollars)),
        output=plain_label(numbers.money(known.output_dollars)),
        date=as_of().isoformat(),
    )


def _draw_connection(known: Known, catalog: ModelCatalog, *, is_running: bool) -> None:
    """Lets an operator pick the connection that reaches the model."""
    names = [_PUBLIC, *(one.name for one in catalog.connections)]
    key = f"chat_connection_{known.model}"
    st.session_state[key] = known.connection.name if known.connection else _PUBLIC
    st.selectbox(
        t("models.connection"),
        names,
        format_func=lambda name: name or t("models.connection.public"),
        key=key,
        disabled=is_running,
        on_change=_connect,
        args=(known.model, key),
    )


def _connect(model: str, key: str) -> None:
    """Reaches `model` through the picked connection, or through its provider again."""
    if not engine().user().is_operator:
        return
    store, name = engine().store, st.session_state[key]
    changed = connected(ModelCatalog.load(store).connections, model, name)
    save_connections(store, changed)


def connected(connections: tuple[Connection, ...], model: str, name: str) -> list[Connection]:
    """`connections` with `model` reached like the one named `name`; by its provider if empty.

    A connection is for one model, so that a copy of the named one is made for `model`.
    """
    others = [one for one in connections if one.model != model]
    like = next((one for one in connections if one.name == name), None)
    if like is None:
        return others
    if like.model == model:
        return list(connections)
    taken, copy = {one.name for one in others}, f"{like.name} · {model}"
    assert copy not in taken or like.model == model
    return [*others, replace(like, name=copy, model=model)]
