"""Lets people correct the rules in force: dismiss a wrong one, add a missed one, undo either."""

from __future__ import annotations

import streamlit as st

from ctxcore.compaction.rules_in_force import missed_rules
from ctxcore.engine.services import CallTarget
from ctxcore.store.values import RuleEditInfo
from dashboard.addresses import place_link
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors

PROBLEM = "context_problem"
RULE_CHARS = 300  # chosen: most sentences whole
_WORDS = "context_rule_words"


@report_errors(PROBLEM)
def dismiss(session_id: str, seq: int, text: str) -> None:
    """Dismisses a rule of message `seq`; a callback."""
    engine().dismiss_rule(session_id, seq - 1, text)
    st.toast(t("context.rules.dismissed"), icon=":material/close:")


@report_errors(PROBLEM)
def _add(session_id: str, seq: int, text: str) -> None:
    engine().add_rule(session_id, seq - 1, text)
    st.toast(t("context.rules.was_added"), icon=":material/check:")


@report_errors(PROBLEM)
def _undo(session_id: str, edit_id: int) -> None:
    if engine().undo_rule_edit(session_id, edit_id):
        st.toast(t("context.rules.undone"), icon=":material/undo:")


def show_missed(target: CallTarget) -> None:
    """Draws a search for a rule that was missed: what it finds is added by a click."""
    with st.expander(t("context.rules.missed"), key="context_rule_missed", icon=":material/add:"):
        words = st.text_input(
            t("context.rules.words"), key=_WORDS, placeholder=t("context.rules.words_example")
        )
        if not words.strip():
            return
        offered = missed_rules(target.view, target.call.counter, words)
        if not offered:
            st.caption(t("context.rules.not_found"))
        for at, (seq, text) in enumerate(offered):
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                gap="xsmall",
                key=f"context_offer_{at}",
            ):
                st.markdown(plain_label(text, max_chars=RULE_CHARS), width="stretch")
                place_link(target.session.id, "m", seq, label=f"#{seq:,}", icon=":material/chat:")
                st.button(
                    t("context.rules.add"),
                    key=f"context_rule_add_{at}",
                    type="tertiary",
                    icon=":material/add:",
                    on_click=_add,
                    args=(target.session.id, seq, text),
                )


def show_edits(session_id: str) -> None:
    """Draws who added and dismissed which rules, each with a button to undo it."""
    edits = engine().rule_edits(session_id, with_undone=True)
    if not edits:
        return
    label = t("context.rules.edits", count=f"{len(edits):,}")
    with st.expander(label, key="context_rule_edits", icon=":material/edit:"):
        for edit in reversed(edits):
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                gap="xsmall",
                key=f"context_edit_{edit.id}",
            ):
                _edit(session_id, edit)


def _edit(session_id: str, edit: RuleEditInfo) -> None:
    told = t(
        f"context.rules.edit.{edit.kind}",
        text=plain_label(edit.text, max_chars=RULE_CHARS),
        who=plain_label(edit.set_by, max_chars=60),
        when=f"{edit.set_at:%Y-%m-%d %H:%M}",
    )
    if edit.cleared_at is None:
        st.markdown(told, width="stretch")
        st.button(
            t("common.undo"),
            key=f"context_rule_undo_{edit.id}",
            type="tertiary",
            icon=":material/undo:",
            on_click=_undo,
            args=(session_id, edit.id),
        )
        return
    undone = t(
        "context.rules.edit.undone",
        who=plain_label(edit.cleared_by or "", max_chars=60),
        when=f"{edit.cleared_at:%Y-%m-%d %H:%M}",
    )
    st.caption(f"{told} {undone}", width="stretch")
