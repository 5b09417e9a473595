"""Draws the guided path above the conversation: five steps in a line, and the next one to do."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import SessionInfo
from dashboard.chat_page import actions
from dashboard.compaction_dialog import open_compaction
from dashboard.demos import tries_of
from dashboard.guide import STEPS, Guide, Step, comparing_page, follow, guide_of, save_guide
from dashboard.page_registry import PAGES
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors


def draw_guide(session: SessionInfo | None, *, is_running: bool) -> None:
    """Draws the guide, if the user has one that is open; call it in one place of the page."""
    guide = follow(engine(), session)
    with st.container(key="guide"):  # its own, so that nothing stale stays
        if guide is not None:
            _draw(guide, session, is_running=is_running)


def draw_restart() -> None:
    """Draws a button that opens the guide again; nothing while it is open."""
    try:
        guide = guide_of(engine())
    except ContextError:  # the page says so
        return
    if guide is None or guide.is_closed:
        st.button(
            t("guide.restart"),
            key="guide_restart",
            type="tertiary",
            icon=":material/school:",
            on_click=_restart,
        )


def steps_line(guide: Guide) -> str:
    """The steps in a line: done ones with a check, the next one bold."""
    return "  ".join(_step(step, guide, number) for number, step in enumerate(STEPS, 1))


def _step(step: Step, guide: Guide, number: int) -> str:
    name = t(f"guide.{step}")
    if step in guide.done:
        return f":green[:material/check_circle: {name}]"
    return f"**{number} {name}**" if step == guide.next_step else f":gray[{number} {name}]"


def _draw(guide: Guide, session: SessionInfo | None, *, is_running: bool) -> None:
    step = guide.next_step
    told = t(f"guide.{step}.do") if step is not None else t("guide.end")
    with st.container(horizontal=True, vertical_alignment="center", key="guide_row", gap="small"):
        st.caption(f"{steps_line(guide)}  \n{told}", width="stretch")
        if step is not None:
            _do(step, session, is_running=is_running)
        st.button(
            "",
            key="guide_close",
            type="tertiary",
            icon=":material/close:",
            help=t("guide.close"),
            on_click=_close,
        )


def _do(step: Step, session: SessionInfo | None, *, is_running: bool) -> None:
    """Draws what does the step, where a click can."""
    if step in ("watch", "compare"):
        page = "context" if step == "watch" else comparing_page(PAGES)
        st.page_link(
            str(PAGES[page].file), label=t(f"guide.{step}.button"), icon=":material/arrow_forward:"
        )
        return
    tries = tries_of(session) if session is not None else ()
    if session is None or (step == "send" and not tries):
        return
    st.button(
        tries[0] if step == "send" else t(f"guide.{step}.button"),
        key=f"guide_{step}",
        disabled=is_running,
        on_click=_act,
        args=(step, session.id, tries[0] if tries else ""),
    )


@report_errors(actions.PROBLEM)
def _act(step: Step, session_id: str, question: str) -> None:
    if step == "send":
        actions.send(question)
    elif step == "compact":
        open_compaction(session_id)
    else:
        engine().undo(session_id)


def _close() -> None:
    if (guide := guide_of(engine())) is not None:
        save_guide(engine(), replace(guide, is_closed=True))


def _restart() -> None:
    save_guide(engine(), Guide())
