"""Draws the standing instructions: which hold, which ended, and what people said of them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.compaction.rules_in_force import FoundRule, ended_rules, rules_in_force
from ctxcore.engine.services import CallTarget
from dashboard.addresses import place_link
from dashboard.context_page.rule_edits import dismiss, show_edits, show_missed
from dashboard.excerpts import excerpt
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.widgets import Row, choosable_table

RULE_CHARS = 160  # chosen: two lines of a table
SHOWN_RULES = 20  # chosen: a screen or two; the rest on request


def show_rules(target: CallTarget, context: Context) -> None:
    """Draws the rules in force, each with a button to dismiss it, and ways to correct them."""
    st.subheader(t("context.rules"))
    session_id, rules = target.session.id, rules_in_force(target.view, context)
    st.caption(_told(rules))
    if rules:
        _rules(session_id, rules)
    show_missed(target)
    show_edits(session_id)
    label = t("context.rules.ended")
    with st.expander(label, key="context_rules_ended", on_change="rerun") as opened:
        if not opened.open:
            return
        with st.spinner(t("context.working")):
            ended = ended_rules(target.view)
        if not ended:
            st.caption(t("context.rules.none_ended"))
            return
        _ended_table(session_id, ended)


def _told(rules: Sequence[FoundRule]) -> str:
    """What there is of rules, and whether the next call says those that are for the model."""
    for_model = [rule for rule in rules if not rule.is_for_others]
    if not for_model:
        name = "only_others" if rules else "none"
        return t(f"context.rules.{name}", count=f"{len(rules):,}")
    unsaid = sum(not rule.is_said for rule in for_model)
    count = f"{len(for_model):,}"
    if unsaid:
        return t("context.rules.told", count=count, unsaid=f"{unsaid:,}")
    return t("context.rules.all_said", count=count)


def _rules(session_id: str, rules: Sequence[FoundRule]) -> None:
    """Draws a row a rule; of very many the first ones, unless all are asked for."""
    shown = rules
    if len(rules) > SHOWN_RULES:
        label = t("context.rules.all", count=f"{len(rules):,}")
        shown = rules if st.toggle(label, key="context_rules_all") else rules[:SHOWN_RULES]
    for at, rule in enumerate(shown):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="xsmall", key=f"context_rule_{at}"
        ):
            _rule(session_id, at, rule)


def _rule(session_id: str, at: int, rule: FoundRule) -> None:
    icon = _icon(rule)
    text = f"{icon} {plain_label(rule.text, max_chars=RULE_CHARS)}"
    notes = [t("context.rules.added")] if rule.is_added else []
    if not rule.is_said:
        notes.append(t(f"context.rules.{'for_others' if rule.is_for_others else 'unsaid'}"))
    st.markdown(" · ".join([text, *(f"*{note}*" for note in notes)]), width="stretch")
    seq = rule.seqs[0]
    if not seq:
        return
    place_link(session_id, "m", seq, label=f"#{seq:,}", icon=":material/chat:")
    st.button(
        t("context.rules.dismiss"),
        key=f"context_rule_dismiss_{at}",
        help=t("context.rules.dismiss_help"),
        type="tertiary",
        icon=":material/close:",
        on_click=dismiss,
        args=(session_id, seq, rule.text),
    )


def _icon(rule: FoundRule) -> str:
    if rule.is_said:
        return ":material/check:"
    return ":material/group:" if rule.is_for_others else ":material/warning:"


def _ended_table(session_id: str, rules: Sequence[FoundRule]) -> None:
    """Draws a row a rule that ended; under the selected one stand links to its messages."""
    rows = [_ended(rule) for rule in rules]
    chosen = choosable_table(rows, key="context_ended", alt=t("context.rules.ended"))
    if chosen is None:
        st.caption(t("context.rules.select"))
        return
    rule = rules[chosen]
    with st.container(horizontal=True, key="context_ended_links"):
        for seq in (*rule.seqs[:1], *filter(None, (rule.ended_by,))):
            if seq:
                label = t("common.open_message", seq=f"{seq:,}")
                place_link(session_id, "m", seq, label=label, icon=":material/chat:")


def _ended(rule: FoundRule) -> Row:
    return {
        t("context.rules.rule"): excerpt(rule.text, RULE_CHARS),
        t("context.rules.said_in"): ", ".join(str(seq) for seq in rule.seqs if seq) or "–",
        t("context.rules.ended_by"): rule.ended_by,
        t("context.rules.replaced_by"): excerpt(rule.replaced_by, RULE_CHARS),
    }
