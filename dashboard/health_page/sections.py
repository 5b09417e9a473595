"""Draws the state of the installation: what is known at once, and the checks on request."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.health import CounterHealth, Health, ModelHealth
from ctxcore.store.values import CallInfo, DatabaseInfo, TurnInfo
from dashboard import numbers
from dashboard.health_page.upkeep import show_backup, show_check
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, empty_state, plain_table
from dashboard.wording import reason_text


def show_health() -> None:
    """Draws the page; nothing is asked of a model or of another server for it."""
    health = engine().health()
    _database(health.database)
    _turns(health.running)
    _errors(health.errors)
    _counters(health.counters)
    _models(health)
    st.subheader(t("health.versions"))
    rows: list[Row] = [
        {t("health.package"): name, t("health.version"): version}
        for name, version in health.versions
    ]
    plain_table(rows, alt=t("health.versions"))


def _database(database: DatabaseInfo) -> None:
    st.subheader(t("health.database"))
    size = f"{database.size_bytes / 1_000_000:,.1f} MB"
    with st.container(horizontal=True, key="health_database"):
        st.metric(t("health.size"), size)
        st.metric(t("health.sessions"), f"{database.sessions:,}")
        st.metric(t("health.revision"), database.revision or t("common.unknown"))
    st.code(database.url, language=None, wrap_lines=True)
    show_check()
    show_backup(database)


def _turns(running: Sequence[TurnInfo]) -> None:
    st.subheader(t("health.turns"))
    if not running:
        st.caption(t("health.turns.none"))
        return
    rows: list[Row] = [
        {
            t("health.session"): turn.session_id,
            t("usage.turn"): turn.number,
            t("usage.model"): turn.model or t("common.unknown"),
            t("health.since"): f"{turn.started_at:%Y-%m-%d %H:%M:%S}",
        }
        for turn in running
    ]
    plain_table(rows, alt=t("health.turns"))


def _errors(errors: Sequence[CallInfo]) -> None:
    st.subheader(t("health.errors"))
    if not errors:
        empty_state(t("health.errors.none"), icon=":material/check_circle:")
        return
    rows: list[Row] = [
        {
            t("health.when"): f"{call.created_at:%Y-%m-%d %H:%M:%S}",
            t("usage.model"): call.model or t("common.unknown"),
            t("usage.error"): reason_text(call.error),
            t("health.session"): call.session_id,
        }
        for call in errors
    ]
    plain_table(rows, alt=t("health.errors"))


def _counters(counters: Sequence[CounterHealth]) -> None:
    st.subheader(t("health.counters"))
    st.caption(t("health.counters.told"))
    if not counters:
        st.caption(t("health.counters.none"))
        return
    plain_table([_counter_row(one) for one in counters], alt=t("health.counters"))


def _counter_row(one: CounterHealth) -> Row:
    error, value = one.factor.error_ratio, one.factor.value
    share = t("health.counters.few") if error is None else numbers.within(100 * value, error)
    return {
        t("usage.model"): one.model,
        t("health.counter"): one.counter_id,
        t("health.calls"): one.calls,
        t("health.share"): share,
    }


def _models(health: Health) -> None:
    st.subheader(t("health.models"))
    st.caption(t("health.models.told", date=health.catalogue_date))
    plain_table([_model_row(model) for model in health.models], alt=t("health.models"))


def _model_row(model: ModelHealth) -> Row:
    return {
        t("usage.model"): model.model,
        t("usage.window"): model.window_tokens,
        t("health.window_source"): t(f"health.source.{model.window_source}"),
        t("health.price_source"): t(f"health.source.{model.price_source}"),
    }
