"""Draws a trial: a table of its candidates, a chart, the report and the table as files."""

from __future__ import annotations

import streamlit as st

from ctxcore.csv_text import to_csv
from ctxcore.trials.comparing import reference_at
from ctxcore.trials.report import WORDS, render_report
from ctxcore.trials.tables import trial_rows as csv_rows
from ctxcore.trials.values import Trial
from dashboard.lab_page.charts import pareto_figure, trial_rows
from dashboard.lab_page.choosing import candidate_name
from dashboard.safe_markdown import plain_label
from dashboard.texts import language, t, text_of
from dashboard.widgets import CONFIG, choice_key, table_with_choice
from dashboard.wording import reason_text


def show_results(trial: Trial, job_id: str) -> int:
    """Draws the trial; returns the place of the candidate whose row is open."""
    names = [candidate_name(candidate) for candidate in trial.candidates]
    totals = trial.totals
    calls = max(one.calls for one in totals)
    st.markdown(t("lab.result", sessions=len(trial.sessions), calls=f"{calls:,}"))
    at = reference_at(trial.candidates, totals)
    rows = trial_rows(trial, names.__getitem__, None if at is None else names[at])
    options = [str(place) for place in range(len(rows))]
    opened = table_with_choice(
        rows, options, key=f"lab_rows_{job_id}", alt=t("lab.column.policy"), newest=at or 0
    )
    _notes(trial)
    figure = pareto_figure(trial, names.__getitem__)
    if figure is not None:
        key = f"lab_pareto_{job_id}"

        def opened_point() -> None:
            """Opens the row of the point that was clicked."""
            points = st.session_state[key]["selection"]["points"]
            if points and points[0].get("customdata") is not None:
                st.session_state[choice_key(f"lab_rows_{job_id}")] = str(points[0]["customdata"])

        st.plotly_chart(
            figure,
            key=key,
            alt=t("lab.chart"),
            config=dict(CONFIG),
            on_select=opened_point,
            selection_mode="points",
        )
        st.caption(t("lab.chart.told"))
    _files(trial, job_id)
    return int(opened)


def _notes(trial: Trial) -> None:
    """What the table's words mean, what was assumed, and what could not be tried."""
    st.caption(t("lab.terms"))
    if not trial.is_exact:
        st.caption(t("lab.estimated"))
    if any(one.is_window_assumed for one in trial.sessions):
        st.caption(t("lab.window.assumed"))
    if any(one.over for one in trial.totals):
        st.caption(f":material/block: {t('lab.over')}")
    for one in trial.failed:
        text = f"{one.title or one.id}: {reason_text(one.reason)}"
        st.warning(plain_label(text, max_chars=300), icon=":material/error:")


def _files(trial: Trial, job_id: str) -> None:
    with st.container(horizontal=True):
        st.download_button(
            t("lab.html"),
            data=lambda: render_report(trial, report_words(), language()).encode("utf-8"),
            file_name="trial.html",
            mime="text/html",
            key=f"lab_html_{job_id}",
            icon=":material/description:",
            on_click="ignore",
        )
        st.download_button(
            t("usage.csv"),
            data=lambda: to_csv(csv_rows(trial)),
            file_name="trial.csv",
            mime="text/csv",
            key=f"lab_csv_{job_id}",
            icon=":material/download:",
            on_click="ignore",
        )


def report_words() -> dict[str, str]:
    """The words of the report in the page's language; those of the library where it has none."""
    found = {key: text_of(f"lab.report.{key}", language()) for key in WORDS}
    return {key: found[key] or text for key, text in WORDS.items()}
