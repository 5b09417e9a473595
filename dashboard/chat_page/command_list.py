"""Draws the commands: the list above the input, and the answer to `/help`."""

from __future__ import annotations

import streamlit as st

from dashboard.chat_page import submitting
from dashboard.chat_page.commands import COMMANDS
from dashboard.own_components import own_component
from dashboard.safe_markdown import plain_label
from dashboard.texts import t


def draw_list(*, is_disabled: bool) -> None:
    """Draws the button of the list; the list itself opens when the input begins with a slash."""
    own_component("commands")(
        key=submitting.LIST,
        data={
            "field": submitting.FIELD,
            "disabled": is_disabled,
            "button": t("chat.command.button"),
            "help": t("chat.command.button_help"),
            "label": t("chat.command.list"),
            "told": t("chat.command.told"),
            "hint": t("chat.command.hint"),
            "none": t("chat.command.none"),
            "commands": [
                {
                    "name": command.name,
                    "takes": command.takes,
                    "usage": usage(command.name),
                    "about": t(f"chat.command.{command.name}.about"),
                }
                for command in COMMANDS
            ],
        },
        width="content",
        on_run_change=submitting.run_listed,
    )


def usage(name: str) -> str:
    """How a command is typed."""
    return t(f"chat.command.{name}.usage")


def draw_help() -> None:
    """Draws the commands below the transcript once they are asked for, or one is unknown."""
    text = st.session_state.get(submitting.HELP)
    if text is None:
        return
    with st.chat_message("assistant", avatar=":material/help:"):
        if text:
            shown = plain_label(text, max_chars=200)
            st.markdown(f"**{t('chat.command.unknown', text=shown)}**")
        for command in COMMANDS:
            about = t(f"chat.command.{command.name}.about")
            st.markdown(f"`{usage(command.name)}` — {about}")
        st.caption(t("chat.command.literal"))
        with st.container(horizontal=True, key="chat_help_buttons"):
            if text:
                st.button(
                    t("chat.command.send"), key="chat_help_send", on_click=submitting.send_as_text
                )
            st.button(t("chat.dismiss"), key="chat_help_dismiss", on_click=submitting.close_help)
