"""Draws what each change of a policy led to: the figures of the calls before and under it."""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.policy_effects import LEAST_CALLS, PolicyFigures, VersionEffect
from dashboard import numbers
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.inputs import field_name
from dashboard.settings.policy_changes import change_text
from dashboard.settings.scope_choice import pick_scope
from dashboard.texts import about, language, t
from dashboard.widgets import Row, csv_button, empty_state, plain_table

SHOWN = 10  # chosen: the CSV has all
FIGURES = (
    "calls",
    "call_tokens",
    "call_dollars",
    "cached",
    "compactions",
    "failed",
    "refused",
    "forgetful",
)


def show_effects() -> None:
    """Draws the versions of a scope, newest first."""
    effects = engine().reports.effects(pick_scope("reports_effects_scope"))
    if not effects:
        empty_state(t("reports.effects.empty"), icon=":material/tune:")
        return
    st.caption(t("reports.effects.told", least=LEAST_CALLS))
    for effect in effects[:SHOWN]:
        _effect(effect)
    if len(effects) > SHOWN:
        st.caption(t("reports.newest", count=SHOWN, all=f"{len(effects):,}"))
    rows = [row for effect in effects for row in effect_rows(effect)]
    csv_button(rows, key="reports_effects_csv", name="effects.csv")


def _effect(effect: VersionEffect) -> None:
    version = effect.change.version
    with st.container(border=True, key=f"reports_effect_{version.id}"):
        st.markdown(
            t(
                "reports.effects.version",
                number=version.version,
                at=f"{version.created_at:%Y-%m-%d %H:%M}",
                by=plain_label(version.created_by),
            )
        )
        st.markdown(plain_label(fields_text(effect), max_chars=500))
        if not effect.is_told:
            st.caption(f":material/hourglass_empty: {waiting_text(effect)}")
        plain_table(
            [figure_row(name, effect) for name in FIGURES],
            alt=t("reports.effects.alt", number=version.version),
        )


def fields_text(effect: VersionEffect) -> str:
    """The fields that a version changed, with their values before and after."""
    parts = [
        f"{field_name(change.field)}: {change_text(change, is_after=False)} → "
        f"{change_text(change, is_after=True)}"
        for change in effect.change.fields
    ]
    return about(language()).between_words.join(parts) or t("reports.effects.nothing")


def waiting_text(effect: VersionEffect) -> str:
    """How many calls there are where that is not enough."""
    sides = (("before", effect.before), ("under", effect.after))
    missing = [
        t(f"reports.effects.not_yet.{name}", calls=f"{one.calls:,}", least=LEAST_CALLS)
        for name, one in sides
        if not one.has_enough
    ]
    return about(language()).between_sentences.join(missing)


def figure_row(name: str, effect: VersionEffect) -> Row:
    """A figure before and under a version."""
    return {
        t("reports.effects.figure"): t(f"reports.effects.{name}"),
        t("reports.effects.before"): figure_text(name, effect.before),
        t("reports.effects.under"): figure_text(name, effect.after),
    }


def effect_rows(effect: VersionEffect) -> list[Row]:
    """The figures of a version as rows of a file."""
    version = effect.change.version
    return [
        {
            "version": version.version,
            "at": version.created_at.isoformat(timespec="seconds"),
            "by": version.created_by,
            "period": period,
            **one.to_dict(),
        }
        for period, one in (("before", effect.before), ("under", effect.after))
    ]


def figure_text(name: str, one: PolicyFigures) -> str:
    """A figure as text; of too few calls only how many there are."""
    if name == "calls":
        return f"{one.calls:,}"
    if name == "failed":
        return f"{one.failed_summaries:,}"
    if name == "refused":
        return f"{one.refused:,}"
    if not one.has_enough:
        return "–"
    match name:
        case "call_tokens":
            tokens = one.call_tokens
            return numbers.tokens(None if tokens is None else round(tokens))
        case "call_dollars":
            return numbers.money(one.call_dollars)
        case "cached":
            return numbers.percent(one.cached_ratio, 1)
        case "compactions":
            return _rate(one.compactions_per_100)
        case _:
            return _rate(one.forgetful_per_100)


def _rate(value: float | None) -> str:
    return t("common.unknown") if value is None else f"{value:.1f}"
