"""Draws the usage page.

An imported transcript begins with where its tokens went; a chat begins with its turns.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.costs import cost_of_calls
from ctxcore.reasons.codes import CostCode
from ctxcore.store.values import CallInfo, SessionInfo
from ctxcore.tokens.factors import LEAST_CALLS, LEAST_TOKENS
from dashboard import numbers
from dashboard.reads import calls_of, recorded, turn_beginnings, turns_of
from dashboard.safe_markdown import plain_label
from dashboard.selection import session_title
from dashboard.services import engine
from dashboard.texts import about, language, t
from dashboard.usage.account import show_account
from dashboard.usage.charts import Line, estimate_against_provider, stacked_turns
from dashboard.usage.hints import show_hints
from dashboard.usage.parts import part_colors, part_names
from dashboard.usage.rows import (
    MODES,
    SOURCES,
    Bar,
    Compared,
    KnownSum,
    Mode,
    Source,
    Totals,
    TurnUsage,
    bars,
    compared,
    error_band,
    is_summary,
    totals_of,
    turn_rows,
)
from dashboard.usage.signals import show_signals
from dashboard.usage.survival import show_survival
from dashboard.usage.timeline import show_timeline
from dashboard.usage.turns import show_turns
from dashboard.widgets import Row, chart, empty_state, plain_table
from dashboard.wording import reason_text

WIDTHS = {"turns": 95, "calls": 95}  # pixels; chosen: short numbers
SHOWN_TURNS = 100  # chosen: more bars cannot be told apart on one screen


def show_usage(session: SessionInfo) -> None:
    """Draws the page for one session."""
    calls, compactions = calls_of(session), recorded(session).compactions
    starts = turn_beginnings(session)
    turns = turn_rows(starts, session.length, turns_of(session), calls, compactions)
    st.caption(plain_label(session_title(session)))
    _key_figures(turns, calls)
    is_imported = bool(calls) and all(call.is_imported for call in calls)
    if calls:
        show_timeline(session, calls, _limits(session))
        show_survival(session, calls)
    if is_imported or not calls:
        show_hints(session)
        show_account(session)
    if calls:
        shown = _shown(turns)
        _tokens_per_turn(session, shown)
        _estimate_and_provider(shown)
    if turns:
        show_turns(session, turns)
    show_signals(session)
    if calls and not is_imported:
        show_hints(session)
        show_account(session)


def _key_figures(turns: Sequence[TurnUsage], calls: Sequence[CallInfo]) -> None:
    totals = totals_of(calls)
    figures: tuple[tuple[str, KnownSum], ...] = (
        ("sent", totals.sent),
        ("cached", totals.cached),
        ("output", totals.output),
    )
    with st.container(horizontal=True, key="usage_figures"):
        _figure("turns", f"{len(turns):,}", t("usage.help.turns"))
        _figure("calls", f"{len(calls):,}", t("usage.help.calls"))
        if not calls:
            return
        for name, known in figures:
            value = None if known.value is None else int(known.value)
            _figure(
                name, numbers.short_tokens(value), _figure_help(name, known, numbers.tokens(value))
            )
        cost = numbers.money(totals.cost.value)
        _figure("cost", cost, _figure_help("cost", totals.cost, cost))
    _cost_gaps(calls)
    _by_purpose(calls)


def _cost_gaps(calls: Sequence[CallInfo]) -> None:
    """Says of which calls the cost is not known, and why."""
    gaps = cost_of_calls(calls).unknown
    if not gaps:
        return
    told = [
        t("usage.cost.gap", calls=f"{gap.calls:,}", reason=reason_text(gap.reason)) for gap in gaps
    ]
    is_mendable = any(gap.reason.code == CostCode.NO_PRICE for gap in gaps)
    way_out = [t("usage.cost.settings")] if is_mendable else []
    st.caption(about(language()).between_sentences.join([*told, *way_out]))


def _by_purpose(calls: Sequence[CallInfo]) -> None:
    """Draws answers and summaries separately and together, if there were summaries."""
    summaries = [call for call in calls if is_summary(call)]
    if not summaries:
        return
    answers = [call for call in calls if not is_summary(call)]
    st.caption(t("usage.purposes.told"))
    kinds = (("answers", answers), ("summaries", summaries), ("all", calls))
    rows = [_purpose_row(t(f"usage.purpose.{name}"), totals_of(made)) for name, made in kinds]
    plain_table(rows, alt=t("usage.purposes"))


def _purpose_row(name: str, totals: Totals) -> Row:
    return {
        t("usage.purpose"): name,
        t("usage.figure.calls"): totals.calls,
        t("usage.figure.sent"): totals.sent.value,
        t("usage.figure.cached"): totals.cached.value,
        t("usage.figure.output"): totals.output.value,
        t("usage.figure.cost"): numbers.money(totals.cost.value),
    }


def _figure(name: str, value: str, text: str) -> None:
    st.metric(t(f"usage.figure.{name}"), value, help=text, width=WIDTHS.get(name, 130))


def _figure_help(name: str, known: KnownSum, whole: str) -> str:
    """What a key figure contains, and how many calls did not report it."""
    text = f"{t(f'usage.help.{name}')} {plain_label(whole)}."
    if known.missing and known.value is not None:
        text += " " + t("usage.help.missing", count=known.missing)
    return text


def _shown(turns: Sequence[TurnUsage]) -> Sequence[TurnUsage]:
    """The turns that are drawn: the newest, or the range selected."""
    if len(turns) <= SHOWN_TURNS:
        return turns
    newest = (len(turns) - SHOWN_TURNS + 1, len(turns))
    first, last = st.slider(
        t("usage.range"), 1, len(turns), newest, key=f"usage_range_{len(turns)}"
    )
    return turns[first - 1 : last]


def _tokens_per_turn(session: SessionInfo, turns: Sequence[TurnUsage]) -> None:
    st.subheader(t("usage.per_turn"))
    mode = st.segmented_control(
        t("usage.mode"),
        MODES,
        default="turn",
        required=True,
        format_func=lambda name: t(f"usage.mode.{name}"),
        key="usage_mode",
        persist_state="session",
    )
    st.caption(t(f"usage.mode.{mode}.told"))
    drawn = 0
    for source in SOURCES:
        is_wanted = source == "estimate" or any(
            call.is_imported for turn in turns for call in turn.calls
        )
        if is_wanted and (rows := bars(turns, mode, source)):
            _stacked(session, turns, rows, mode, source)
            drawn += 1
    if not drawn:
        empty_state(t("usage.no_calls"))


def _stacked(
    session: SessionInfo,
    turns: Sequence[TurnUsage],
    rows: Sequence[Bar],
    mode: Mode,
    source: Source,
) -> None:
    names = part_names(source)
    figure = stacked_turns(
        rows,
        names=names,
        colors=part_colors(source),
        axis=t("common.tokens"),
        turn=t("usage.turn"),
        lines=_limits(session) if mode == "context" else (),
        marked=[turn.number for turn in turns if turn.compactions],
        marker=t("usage.compaction"),
    )
    st.markdown(f"**{t(f'usage.source.{source}')}**")
    table = [_bar_row(bar, names) for bar in rows]
    alt = t(f"usage.alt.{mode}", source=t(f"usage.source.{source}"))
    chart(figure, table, key=f"usage_{mode}_{source}", alt=alt, csv_name=f"usage_{mode}.csv")
    if mode == "context":
        _limits_caption(session)


def _bar_row(bar: Bar, names: dict[str, str]) -> Row:
    parts = {name: bar.parts.get(part, 0) for part, name in names.items()}
    return {t("usage.turn"): bar.turn, **parts, t("usage.sum"): sum(bar.parts.values())}


def _limits(session: SessionInfo) -> list[Line]:
    budget = engine().call_target(session.id).call.budget
    if budget is None:
        return []
    return [
        Line(name=t("common.segment.trigger"), tokens=budget.trigger_tokens, dash="dash"),
        Line(name=t("usage.usable"), tokens=budget.usable_tokens, dash="solid"),
        Line(name=t("usage.window"), tokens=budget.window_tokens, dash="dot"),
    ]


def _limits_caption(session: SessionInfo) -> None:
    text = " · ".join(f"{line.name} {line.tokens:,}" for line in _limits(session))
    st.caption(t("usage.limits", lines=text) if text else t("usage.no_limits"))


def _estimate_and_provider(turns: Sequence[TurnUsage]) -> None:
    rows = compared(turns)
    if not rows:
        return
    st.subheader(t("usage.against"))
    ours = sum(row.estimate_tokens for row in rows)
    theirs = sum(row.provider_tokens for row in rows)
    st.caption(
        t(
            "usage.against.told",
            ours=numbers.tokens(ours),
            theirs=numbers.tokens(theirs),
            share=numbers.percent(theirs, ours),
        )
    )
    _band(rows)
    figure = estimate_against_provider(
        rows,
        ours=t("usage.ours"),
        theirs=t("usage.theirs"),
        axis=t("common.tokens"),
        turn=t("usage.turn_call"),
    )
    table = [
        {
            t("usage.turn"): row.turn,
            t("usage.call"): row.call,
            t("usage.ours"): row.estimate_tokens,
            t("usage.theirs"): row.provider_tokens,
            t("usage.difference"): row.difference,
        }
        for row in rows
    ]
    alt = t("usage.against")
    chart(figure, table, key="usage_against", alt=alt, csv_name="usage_estimate.csv")


def _band(rows: Sequence[Compared]) -> None:
    """Says how far the provider's counts lie from ours, or from when on that is known."""
    band = error_band(rows)
    if band.error_ratio is None:
        st.caption(t("usage.band.unknown", calls=LEAST_CALLS, tokens=numbers.tokens(LEAST_TOKENS)))
        return
    share = numbers.within(100 * band.value, band.error_ratio)
    st.caption(t("usage.band", share=share, calls=f"{band.calls:,}"))
