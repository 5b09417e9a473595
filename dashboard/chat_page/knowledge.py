"""Texts that are given to the model for the next turn alone: chips above the input, and a dialog.

They stay in the page until a turn that had them has ended well, so that nothing is lost by a
failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import cast

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.store.values import SessionInfo
from ctxcore.tokens.count import count_tokens, counter_for
from dashboard import numbers
from dashboard.chat_page.turn_runner import RunningTurn
from dashboard.compaction_dialog import close_compaction
from dashboard.dialogs import close_dialog, is_open, open_dialog
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session
from dashboard.services import default_model
from dashboard.texts import t
from dashboard.uploads import TEXT_MEGABYTES, text_of_file
from dashboard.widgets import draw_nothing, report_errors, show_problem

DIALOG = "knowledge"
FIELD_HEIGHT = 200  # pixels; chosen: a page of text is seen at a glance
NEW = "new"
"""Stands for the session that the next message starts."""
_GIVEN = "chat_knowledge"
_SENT = "chat_knowledge_sent"
_NAME = "chat_knowledge_name"
_TEXT = "chat_knowledge_text"
_FILE = "chat_knowledge_file"
_PROBLEM = "chat_knowledge_problem"


def given(session_id: str | None) -> dict[str, str]:
    """The texts for the next turn of a session, by name."""
    return dict(_all_given().get(session_id or NEW, {}))


def note_sent(turn: RunningTurn) -> None:
    """Notes the turn that was given the texts; a callback."""
    if turn.knowledge:
        st.session_state[_SENT] = turn


def adopt(session_id: str) -> None:
    """Hands the texts for a new session to the one that was just made; a callback."""
    if texts := _all_given().pop(NEW, None):
        _all_given()[session_id] = texts


def settle() -> None:
    """Removes the texts of a turn that has ended well; call it before the page is drawn."""
    turn = st.session_state.get(_SENT)
    if not isinstance(turn, RunningTurn) or turn.is_running:
        return
    del st.session_state[_SENT]
    if turn.state == "done":
        session_id = turn.first_session_id
        texts = given(session_id)
        _keep(session_id, {name: texts[name] for name in texts if name not in turn.knowledge})


def draw_chips(session_id: str | None, *, is_disabled: bool) -> None:
    """Draws the button that opens the dialog, and a chip for each text that removes it."""
    with st.container(horizontal=True, gap="xsmall", width="content", key="chat_knowledge_line"):
        st.button(
            t("chat.knowledge.add"),
            key="chat_knowledge_add",
            icon=":material/library_add:",
            type="tertiary",
            disabled=is_disabled,
            help=t("chat.knowledge.told"),
            on_click=_open,
        )
        for place, (name, text) in enumerate(given(session_id).items()):
            size = t("chat.size", tokens=_tokens(text))
            st.button(
                f"{plain_label(name, max_chars=40)} · {size}",
                key=f"chat_knowledge_{place}",
                icon=":material/close:",
                disabled=is_disabled,
                help=t("chat.knowledge.remove"),
                on_click=_remove,
                args=(session_id, name),
            )


def draw_cut(context: Context | None, session: SessionInfo) -> None:
    """Says how much of the texts is sent where not all of them fit."""
    model = session.model or default_model()
    whole = sum(count_tokens(text, model) for text in given(session.id).values())
    if context is None or context.breakdown.knowledge >= whole:
        draw_nothing()
        return
    cut = t(
        "chat.knowledge.cut",
        sent=numbers.tokens(context.breakdown.knowledge, is_exact=context.is_exact),
        given=numbers.tokens(whole, is_exact=context.is_exact),
    )
    st.caption(f":material/content_cut: {cut}")


def draw_dialog() -> None:
    """Draws the dialog if it is open; call it once at the end of a page."""
    if is_open(DIALOG):
        draw = st.dialog(t("chat.knowledge.title"), width="large", on_dismiss=close_dialog)(_body)
        draw()


def _body() -> None:
    st.caption(t("chat.knowledge.told"))
    st.text_input(t("chat.knowledge.name"), max_chars=80, key=_NAME)
    text = st.text_area(t("chat.knowledge.text"), key=_TEXT, height=FIELD_HEIGHT)
    st.caption(t("chat.size", tokens=_tokens(text or "")))
    st.file_uploader(
        t("chat.knowledge.file"), max_upload_size=TEXT_MEGABYTES, key=_FILE, on_change=_take_file
    )
    show_problem(_PROBLEM)
    with st.container(horizontal=True, key="chat_knowledge_buttons"):
        st.button(
            t("chat.knowledge.give"),
            key="chat_knowledge_give",
            type="primary",
            disabled=not (text or "").strip(),
            on_click=_give,
        )
        st.button(t("common.cancel"), key="chat_knowledge_cancel", on_click=_close)


def _tokens(text: str) -> str:
    session = current_session()
    model = (session.model if session else None) or default_model()
    return numbers.tokens(count_tokens(text, model), is_exact=counter_for(model).is_exact)


def _open() -> None:
    st.session_state[_NAME], st.session_state[_TEXT] = "", ""
    st.session_state.pop(_PROBLEM, None)
    close_compaction()
    open_dialog(DIALOG)


def _take_file() -> None:
    """Puts the text of the uploaded file into the field, and its name beside it."""
    if (file := st.session_state.get(_FILE)) is None:
        return
    with report_errors(_PROBLEM):
        st.session_state[_TEXT] = text_of_file(file.name, file.getvalue())
        st.session_state[_NAME] = st.session_state.get(_NAME) or file.name


def _give() -> None:
    session = current_session()
    session_id = session.id if session else None
    texts = given(session_id)
    name = _free_name(texts, str(st.session_state[_NAME] or "").strip())
    _keep(session_id, {**texts, name: str(st.session_state[_TEXT])})
    _close()


def _free_name(texts: Mapping[str, str], wanted: str) -> str:
    """A name that no text has yet: the one wanted, or that with a number."""
    if wanted and wanted not in texts:
        return wanted
    numbered = (
        f"{wanted} ({number})" if wanted else t("chat.knowledge.unnamed", number=number)
        for number in count(len(texts) + 1)
    )
    return next(name for name in numbered if name not in texts)


def _remove(session_id: str | None, name: str) -> None:
    texts = given(session_id)
    texts.pop(name, None)
    _keep(session_id, texts)


def _keep(session_id: str | None, texts: dict[str, str]) -> None:
    _all_given()[session_id or NEW] = texts


def _all_given() -> dict[str, dict[str, str]]:
    return cast("dict[str, dict[str, str]]", st.session_state.setdefault(_GIVEN, {}))


def _close() -> None:
    close_dialog()
    st.rerun()
