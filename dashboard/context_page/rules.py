"""Draws the standing instructions that were found: which hold, and which were taken back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.compaction.rules_in_force import FoundRule, ended_rules, rules_in_force
from ctxcore.engine.services import CallTarget
from dashboard.addresses import place_link
from dashboard.excerpts import excerpt
from dashboard.texts import t
from dashboard.widgets import Row, choosable_table

RULE_CHARS = 160  # chosen: two lines of a table


def show_rules(target: CallTarget, context: Context) -> None:
    """Draws the rules in force, and on request those that no longer are."""
    st.subheader(t("context.rules"))
    rules = rules_in_force(target.view, context)
    if rules:
        unsaid = sum(not rule.is_said for rule in rules)
        told = t("context.rules.told", count=f"{len(rules):,}", unsaid=f"{unsaid:,}")
        st.caption(told if unsaid else t("context.rules.all_said", count=f"{len(rules):,}"))
        _table(target.session.id, rules, [_held(rule) for rule in rules], key="context_rules")
    else:
        st.caption(t("context.rules.none"))
    label = t("context.rules.ended")
    with st.expander(label, key="context_rules_ended", on_change="rerun") as opened:
        if not opened.open:
            return
        with st.spinner(t("context.working")):
            ended = ended_rules(target.view)
        if not ended:
            st.caption(t("context.rules.none_ended"))
            return
        _table(target.session.id, ended, [_ended(rule) for rule in ended], key="context_ended")


def _table(session_id: str, rules: Sequence[FoundRule], rows: Sequence[Row], *, key: str) -> None:
    """Draws a row a rule; under the selected one stand links to its messages."""
    chosen = choosable_table(rows, key=key, alt=t("context.rules"))
    if chosen is None:
        st.caption(t("context.rules.select"))
        return
    rule = rules[chosen]
    with st.container(horizontal=True, key=f"{key}_links"):
        for seq in (*rule.seqs[:1], *filter(None, (rule.ended_by,))):
            if seq:
                label = t("common.open_message", seq=f"{seq:,}")
                place_link(session_id, "m", seq, label=label, icon=":material/chat:")


def _held(rule: FoundRule) -> Row:
    return {
        t("context.rules.rule"): excerpt(rule.text, RULE_CHARS),
        t("context.rules.said_in"): _places(rule),
        t("context.rules.is_said"): t("compaction.yes" if rule.is_said else "compaction.no"),
    }


def _ended(rule: FoundRule) -> Row:
    return {
        t("context.rules.rule"): excerpt(rule.text, RULE_CHARS),
        t("context.rules.said_in"): _places(rule),
        t("context.rules.ended_by"): rule.ended_by,
        t("context.rules.replaced_by"): excerpt(rule.replaced_by, RULE_CHARS),
    }


def _places(rule: FoundRule) -> str:
    """The messages that said it; none stands for before the first."""
    return ", ".join(str(seq) for seq in rule.seqs if seq) or "–"
