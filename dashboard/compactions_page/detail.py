"""Draws one compaction: its effect on the next call, steps, summary and folded messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.verdicts import INPUT_SEGMENTS
from ctxcore.compaction.loss_report import Visibility, visibility
from ctxcore.engine.services import CallTarget
from ctxcore.store.values import CompactionInfo, SessionInfo
from dashboard import numbers
from dashboard.compactions_page.losses import show_losses
from dashboard.compactions_page.rows import CompactionRow, length_then, steps
from dashboard.compactions_page.sentences import show_sentences
from dashboard.excerpts import excerpt
from dashboard.safe_markdown import plain_label
from dashboard.selection import select_session, session_title
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Figure, Row, plain_table, report_errors, show_summary
from dashboard.window_chart import SEGMENT_COLORS, comparison_table
from dashboard.window_panel import effect_text, segment_label
from dashboard.wording import reason_text, strategy_label

NOTICE = "compaction_notice"
PAGE_MESSAGES = 50  # chosen: rows per page of folded messages
WISH_CHARS = 600  # chosen: some lines of instructions
LONG_SUMMARY_CHARS = 1_500  # chosen: a longer summary scrolls in a frame

SEPARATOR = "rgba(127,127,127,0.5)"  # visible on light and on dark


def show_detail(session: SessionInfo, row: CompactionRow) -> None:
    """Draws one compaction of the tree."""
    info = row.info
    st.subheader(t("compaction.detail", number=info.number))
    st.markdown(effect_text(info.effect))
    st.caption(t("compaction.covers", covered=f"{info.compaction.covered_until:,}"))
    st.caption(t("compaction.reason", reason=plain_label(reason_text(row.trigger), max_chars=300)))
    _why(row)
    _wishes(row)
    target = engine().call_target(session.id)
    parent = _parent(info)
    _bars(target, info, parent)
    _steps(info)
    _summary(row)
    _facts(info)
    show_losses(target, row)
    _folded(session, target, info, parent)
    _fork(session, row)


def _why(row: CompactionRow) -> None:
    """Draws the policy's choice and its reason, a failure, and advice if it did not help."""
    reason = plain_label(reason_text(row.reason), max_chars=300)
    if row.is_fallback:
        text = t("compaction.truncated_instead", reason=reason)
        st.warning(text, icon=":material/warning:")
    elif row.is_quoted:
        st.warning(t("compact.quoted_instead", reason=reason), icon=":material/format_quote:")
    elif row.was_chosen:
        st.caption(t("compaction.chosen", reason=reason))
    if row.is_still_over:
        st.info(t("compaction.still_over"), icon=":material/add_comment:")


def _wishes(row: CompactionRow) -> None:
    """Draws what people wanted kept."""
    for key, text in (("focus", row.focus), ("instructions", row.instructions)):
        if text:
            st.caption(t(f"compaction.{key}", text=plain_label(text, max_chars=WISH_CHARS)))


def _parent(info: CompactionInfo) -> CompactionInfo | None:
    if info.parent_id is None:
        return None
    return engine().store.compaction(info.session_id, info.parent_id)


def _bars(target: CallTarget, info: CompactionInfo, parent: CompactionInfo | None) -> None:
    """Draws the next call with and without this compaction."""
    without = build_context(target.view, target.call, parent.compaction if parent else None)
    with_it = build_context(target.view, target.call, info.compaction)
    before = parent.compaction if parent else None
    seen = visibility(target.view, without, before)
    seen_with = visibility(target.view, with_it, info.compaction)
    st.caption(t("compaction.bars.told"))
    plain_table(
        [_seen("compaction.without", seen), _seen("compaction.with", seen_with)],
        alt=t("compaction.seen"),
    )
    figure = before_and_after(
        [
            (_bar_name("compaction.without", without), without.breakdown.to_dict()),
            (_bar_name("compaction.with", with_it), with_it.breakdown.to_dict()),
        ],
        names={name: segment_label(name) for name in INPUT_SEGMENTS},
        colors={name: SEGMENT_COLORS[name] for name in INPUT_SEGMENTS},
        axis=t("common.tokens"),
    )
    key = f"compaction_bars_{info.id}"
    st.plotly_chart(figure, key=key, alt=t("compaction.bars"), config={"displayModeBar": False})
    with st.expander(t("usage.as_table"), key=f"{key}_numbers"):
        st.html(
            comparison_table(
                without.breakdown, with_it.breakdown, segment_label, is_exact=with_it.is_exact
            )
        )


def _bar_name(key: str, context: Context) -> str:
    return f"{t(key)}: {numbers.tokens(context.tokens, is_exact=context.is_exact)}"


def _seen(name: str, seen: Visibility) -> Row:
    """How many messages the next call shows, stands for, and does not have."""
    return {
        t("compaction.next_call"): t(name),
        t("compaction.seen.shown"): seen.shown,
        t("compaction.seen.represented"): seen.represented,
        t("compaction.seen.gone"): seen.gone,
    }


def _steps(info: CompactionInfo) -> None:
    found = steps(info.details)
    if not found:
        return
    st.markdown(f"**{t('compaction.steps')}**")
    rows: list[Row] = [
        {
            t("compaction.strategies"): strategy_label(step.strategy),
            t("common.segment.before"): step.before_tokens,
            t("common.segment.after"): step.after_tokens,
            t("compaction.outcome"): reason_text(step.outcome),
        }
        for step in found
    ]
    plain_table(rows, alt=t("compaction.steps"))


def _facts(info: CompactionInfo) -> None:
    """Draws the facts that are carried verbatim beside the summary."""
    if info.compaction.facts:
        with st.expander(t("compact.facts"), key=f"compaction_facts_{info.id}"):
            st.text(info.compaction.facts)
    if restored := info.compaction.facts_restored:
        count = f"{len(restored):,}"
        with st.expander(
            t("compaction.restored", count=count), key=f"compaction_restored_{info.id}"
        ):
            st.caption(t("compaction.restored.told"))
            st.code("\n".join(restored), language=None, wrap_lines=True)


def _summary(row: CompactionRow) -> None:
    info = row.info
    st.markdown(f"**{t('compact.summary')}**")
    with st.container(border=True, height=_height(info), key=f"compaction_summary_{info.id}"):
        key = f"compaction_summary_all_{info.id}"
        show_summary(info.compaction.summary, row.unsupported, key=key)
    if info.compaction.summary:
        with st.expander(t("compaction.source"), key=f"compaction_source_{info.id}"):
            st.code(info.compaction.summary, language=None, wrap_lines=True)
        show_sentences(info, info.doubts)


def _height(info: CompactionInfo) -> int | Literal["content"]:
    """A long summary scrolls in its frame."""
    return 320 if len(info.compaction.summary) > LONG_SUMMARY_CHARS else "content"


def _folded(
    session: SessionInfo, target: CallTarget, info: CompactionInfo, parent: CompactionInfo | None
) -> None:
    """Draws the messages that this compaction folded and its parent had not, page by page."""
    before, system = parent.compaction if parent else None, target.view.anchors().prompts
    folded = info.compaction.folded_since(before, system)
    title = t("compaction.folded", count=len(folded))
    key = f"compaction_folded_{info.id}"
    with st.expander(title, key=key, on_change="rerun") as opened:
        if not opened.open or not folded:
            return
        pages = -(-len(folded) // PAGE_MESSAGES)
        page = st.pagination(pages, key=f"{key}_page") if pages > 1 else 1
        shown = folded[(page - 1) * PAGE_MESSAGES : page * PAGE_MESSAGES]
        sizes = {row.seq: row.tokens for row in target.view.get(shown)}
        wanted = set(shown)
        rows: list[Row] = [
            {
                t("compaction.message"): stored.seq,
                t("compaction.role"): t(f"fact.role.{stored.message.role}"),
                t("common.segment.tokens"): sizes.get(stored.seq),
                t("compaction.text"): excerpt(
                    stored.message.text or ", ".join(call.name for call in stored.message.calls),
                    160,
                ),
            }
            for stored in engine().store.messages(session.id, shown[0], shown[-1])
            if stored.seq in wanted
        ]
        plain_table(rows, alt=title)


def _fork(session: SessionInfo, row: CompactionRow) -> None:
    """Draws the button that forks a session at this compaction."""
    end = length_then(engine().store, session, row.info)
    title = t("compaction.fork.title", title=session_title(session), number=row.info.number)
    st.button(
        t("compaction.fork"),
        key=f"compaction_fork_{row.info.id}",
        icon=":material/fork_right:",
        help=t("compaction.fork.help", end=f"{end:,}"),
        disabled=row.state == "undone",
        on_click=_fork_at,
        args=(row.info, end, title),
    )


def before_and_after(
    contexts: Sequence[tuple[str, Mapping[str, int]]],
    *,
    names: Mapping[str, str],
    colors: Mapping[str, str],
    axis: str,
) -> Figure:
    """A chart with one horizontal bar per context, stacked by segment in the order of `names`."""
    labels = [label for label, _ in contexts]
    traces = [
        {
            "type": "bar",
            "orientation": "h",
            "name": names[segment],
            "y": labels,
            "x": [parts.get(segment, 0) for _, parts in contexts],
            "marker": {"color": colors[segment], "line": {"width": 1, "color": SEPARATOR}},
            "hovertemplate": f"{names[segment]}: %{{x:,}}<extra></extra>",
        }
        for segment in names
        if any(parts.get(segment) for _, parts in contexts)
    ]
    layout: Figure = {
        "barmode": "stack",
        "height": 250,
        "bargap": 0.35,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 40},
        "legend": {"orientation": "h", "traceorder": "normal", "y": -0.35, "yanchor": "top"},
        "xaxis": {"title": {"text": axis}, "tickformat": ",", "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "automargin": True, "type": "category"},
    }
    return {"data": traces, "layout": layout}


def _fork_at(info: CompactionInfo, end: int, title: str) -> None:
    """Makes a session of messages 1 to `end` in which this compaction is the active one."""
    with report_errors(NOTICE):
        forked = engine().fork(info.session_id, end - 1, title=title)
        _undo_down_to(forked.id, info)
        select_session(forked.id)
        st.toast(t("compaction.forked", title=plain_label(title)), icon=":material/fork_right:")


def _undo_down_to(session_id: str, info: CompactionInfo) -> None:
    """Undoes the compactions after `info` that the fork copied."""
    work = engine()
    while True:
        active = work.store.active_compaction(session_id)
        if active is None or active.compaction == info.compaction:
            return
        work.undo(session_id)
