"""Draws the timeline of a session's calls, and the call that is selected in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.elements.plotly_chart import PlotlyState

from ctxcore.store.values import CallInfo, SessionInfo
from dashboard import numbers
from dashboard.addresses import CONTEXT_PAGE, follow, name_place, place_link
from dashboard.call_view.request import show_request
from dashboard.reads import recorded, turn_beginnings
from dashboard.safe_markdown import plain_label
from dashboard.texts import about, language, t, translate
from dashboard.usage.charts import Line
from dashboard.usage.parts import part_colors, part_names
from dashboard.usage.rows import SOURCES, Source
from dashboard.usage.timeline_chart import Wording, timeline_figure
from dashboard.usage.timeline_rows import CallPoint, call_points, source_of, thinned
from dashboard.usage.turns import call_row
from dashboard.widgets import CONFIG, Row, csv_button, plain_table
from dashboard.wording import reason_sentence, reason_text

MOST_POINTS = 1_500  # chosen: drawn at once in a browser; more are thinned, their peaks kept


def show_timeline(session: SessionInfo, calls: Sequence[CallInfo], lines: Sequence[Line]) -> None:
    """Draws what each call sent; a click or a number selects a call, shown below."""
    if not any(call.estimate or call.input_tokens for call in calls):
        return
    st.subheader(t("usage.timeline"))
    source = _source(session, calls)
    points = _points(session, calls, source)
    st.caption(_told(points))
    shown = _range(session, points)
    drawn = thinned(shown, MOST_POINTS)
    figure = timeline_figure(
        drawn,
        names=part_names(source),
        colors=part_colors(source),
        wording=_wording(),
        told=partial(_hover, partial(translate, language=language())),
        lines=lines,
    )
    event = st.plotly_chart(
        figure,
        key=f"usage_timeline_{session.id}_{source}",
        alt=t("usage.timeline.alt"),
        config=dict(CONFIG),
        on_select="rerun",
        selection_mode="points",
    )
    if len(drawn) < len(shown):
        st.caption(t("usage.timeline.thinned", calls=f"{len(shown):,}", drawn=f"{len(drawn):,}"))
    _numbers(points)
    _call(session, _chosen(session, points, _clicked(event)))


def _points(session: SessionInfo, calls: Sequence[CallInfo], source: Source) -> Sequence[CallPoint]:
    starts = [seq for seq, _ in turn_beginnings(session)]
    return call_points(calls, source=source, starts=starts, imported=recorded(session).imported)


def _clicked(event: PlotlyState) -> int | None:
    """The number of the call that was clicked in the chart."""
    selected = event.selection.points
    return int(selected[0]["x"]) if selected else None


def _source(session: SessionInfo, calls: Sequence[CallInfo]) -> Source:
    """Whose count is drawn; a choice where both sides counted."""
    has_ours = any(call.estimate for call in calls)
    has_theirs = any(call.input_tokens is not None for call in calls)
    if not (has_ours and has_theirs):
        return source_of(calls)
    return st.segmented_control(
        t("usage.timeline.source"),
        SOURCES,
        default=source_of(calls),
        required=True,
        format_func=lambda name: t(f"usage.source.{name}"),
        label_visibility="collapsed",
        key=f"usage_timeline_source_{session.id}",
    )


def _told(points: Sequence[CallPoint]) -> str:
    """How many calls there are, the largest, and what happened to them."""
    peak = max(points, key=lambda point: point.sent_tokens)
    folds = sum(point.is_compacted for point in points)
    broken = sum(point.cache_break is not None for point in points)
    return t(
        "usage.timeline.told",
        calls=f"{len(points):,}",
        peak=numbers.tokens(peak.sent_tokens),
        at=f"{peak.number:,}",
        compactions=f"{folds:,}",
        breaks=f"{broken:,}",
    )


def _range(session: SessionInfo, points: Sequence[CallPoint]) -> Sequence[CallPoint]:
    """The calls that are drawn: all, or the range that is selected of many."""
    if len(points) <= MOST_POINTS:
        return points
    first, last = st.slider(
        t("usage.timeline.range"),
        1,
        len(points),
        (1, len(points)),
        key=f"usage_timeline_range_{session.id}_{len(points)}",
    )
    return points[first - 1 : last]


def _wording() -> Wording:
    return Wording(
        tokens=t("common.tokens"),
        call=t("usage.call"),
        cached=t("usage.figure.cached"),
        cost=t("usage.figure.cost"),
        compaction=t("usage.compaction"),
        cache_break=t("usage.timeline.break"),
    )


def _hover(text: Callable[..., str], point: CallPoint) -> str:
    """What a call sent and cost, a line each; `text` is `t`, asked for its language once."""
    lines = [
        _name(text, point),
        text("usage.timeline.sent", tokens=numbers.tokens(point.sent_tokens)),
        f"{text('usage.figure.cached')}: {_share(point)}",
        f"{text('usage.figure.cost')}: {numbers.money(point.call.cost)}",
    ]
    if point.is_compacted:
        lines.append(text("usage.timeline.compacted"))
    if point.cache_break is not None:
        lines.append(f"{text('usage.timeline.break')}: {reason_text(point.cache_break)}")
    return "<br>".join(lines)


def _name(text: Callable[..., str], point: CallPoint) -> str:
    if point.turn is None:
        return text("usage.timeline.call", number=f"{point.number:,}")
    return text("usage.timeline.call_of_turn", number=f"{point.number:,}", turn=f"{point.turn:,}")


def _share(point: CallPoint) -> str:
    return numbers.percent(point.cached_ratio, 1)


def _numbers(points: Sequence[CallPoint]) -> None:
    """Offers the same numbers as a table, with every call."""
    with st.expander(t("usage.as_table"), key="usage_timeline_numbers", on_change="rerun") as open_:
        if not open_.open:
            return
        rows = [_point_row(point) for point in points]
        plain_table(rows, alt=t("usage.timeline"))
        csv_button(rows, key="usage_timeline_csv", name="calls.csv")


def _point_row(point: CallPoint) -> Row:
    return {
        t("usage.call"): point.number,
        t("usage.turn"): point.turn,
        t("usage.figure.sent"): point.sent_tokens or None,
        t("usage.figure.cached"): point.call.cached_tokens,
        t("usage.figure.output"): point.call.output_tokens,
        t("usage.figure.cost"): numbers.money(point.call.cost),
        t("usage.compaction"): t("compaction.yes") if point.is_compacted else "",
        t("usage.timeline.break"): reason_text(point.cache_break),
    }


def _chosen(session: SessionInfo, points: Sequence[CallPoint], clicked: int | None) -> CallPoint:
    """The call that was clicked, typed or named by the address; else the last one."""
    key = f"usage_timeline_call_{session.id}"
    state = st.session_state
    if clicked is not None and state.get(f"{key}_clicked") != clicked:
        state[f"{key}_clicked"] = state[key] = clicked
        name_place("call", clicked)
    follow("call", key, {point.number: point.number for point in points})
    state[key] = min(max(1, state.get(key, len(points))), len(points))
    number = st.number_input(
        t("usage.timeline.choose"),
        min_value=1,
        max_value=len(points),
        step=1,
        key=key,
        help=t("usage.timeline.choose.help"),
        on_change=_name_in_address,
        args=(key,),
        width=220,
    )
    return points[int(number) - 1]


def _name_in_address(key: str) -> None:
    name_place("call", st.session_state[key])


def _call(session: SessionInfo, point: CallPoint) -> None:
    """Draws one call: its numbers, what broke the cache, its answer, and what was sent."""
    call = point.call
    at = f"{call.created_at:%Y-%m-%d %H:%M:%S}"
    parts = [_name(t, point), at, call.model or t("common.unknown")]
    st.markdown(f"**{plain_label(' · '.join(parts), max_chars=200)}**")
    if notes := _notes(point):
        st.caption(plain_label(notes, max_chars=400))
    plain_table([call_row(point.number, call)], alt=_name(t, point))
    if call.seq is not None:
        answer = t("usage.timeline.answer", seq=f"{call.seq:,}")
        place_link(session.id, "m", call.seq, label=answer, icon=":material/chat:")
    label = t("usage.timeline.context")
    icon = ":material/visibility:"
    place_link(session.id, "call", point.number, label=label, icon=icon, page=CONTEXT_PAGE)
    show_request(session, [call], place="usage_timeline")


def _notes(point: CallPoint) -> str:
    """What changed before a call."""
    notes = [t("usage.timeline.compacted")] if point.is_compacted else []
    if point.cache_break is not None:
        reason = reason_sentence(point.cache_break)
        notes.append(t("usage.timeline.broken", reason=reason, share=_share(point)))
    return about(language()).between_sentences.join(notes)
