"""Draws the context page: the verdict on each message, and shortened ones beside originals.

Tool output is shown in code blocks and table cells only, so nothing in it is read as markup.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.context import Context
from ctxcore.assembly.fitting import oversize_tokens
from ctxcore.compression.extracting import elided_text
from ctxcore.compression.markers import Elided
from ctxcore.engine.services import CallTarget
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.context_page.history_map import show_map
from dashboard.context_page.marking import MOST_LINES
from dashboard.context_page.past_call import chosen_call, show_past_call
from dashboard.context_page.rules import show_rules
from dashboard.context_page.shortened import (
    LeftOut,
    Shortened,
    find_shortened,
    left_out,
    limits_for,
    mark,
    queries_for,
    with_block,
)
from dashboard.safe_markdown import plain_label
from dashboard.selection import session_title
from dashboard.services import database_url, engine
from dashboard.texts import t
from dashboard.widgets import (
    Row,
    plain_table,
    report_errors,
    show_damage,
    show_problem,
    verdict_table,
)
from dashboard.window_panel import trigger_level, window_panel
from dashboard.wording import reason_text

SHOWN_PARTS = 50  # chosen: keeps the page quick to draw
SENT_CHARS = 20_000  # chosen, as above
PART_CHARS = 120  # chosen: fits a table column
PANE_HEIGHT = 420  # pixels; chosen: both panes fit a screen

PROBLEM = "context_problem"


def show_context(session: SessionInfo) -> None:
    """Draws what the next call of a session is sent, or a past one was: each message's verdict."""
    st.caption(plain_label(session_title(session)))
    show_problem(PROBLEM, max_chars=600)
    number = chosen_call(session)
    if number is None:
        _next_call(session)
    else:
        show_past_call(session, number)


def _next_call(session: SessionInfo) -> None:
    with st.spinner(t("context.working")):
        target = engine().call_target(session.id)
        context = build_context(target.view, target.call, target.record)
    show_damage(context.notices, "context.damage")
    window_panel(context, trigger_level(target))
    _verdicts(session, context)
    show_rules(target, context)
    _pinned(session)
    _shortened(session, target, context)


def _verdicts(session: SessionInfo, context: Context) -> None:
    st.subheader(t("context.verdicts"))
    before = sum(run.before_tokens for run in context.runs)
    after = sum(run.after_tokens for run in context.runs)
    st.caption(t("context.sent", before=numbers.tokens(before), after=numbers.tokens(after)))
    show_map(session, context.runs, key="context_map", is_exact=context.is_exact)
    verdict_table(session.id, context.runs, key="context_runs", alt=t("context.verdicts"))


def _shortened(session: SessionInfo, target: CallTarget, context: Context) -> None:
    st.subheader(t("context.shortened"))
    found = {message.seq: message for message in find_shortened(context)}
    if not found:
        st.caption(t("context.none_shortened"))
        return
    key = _picked_key(session.id)
    if st.session_state.get(key) not in found:
        st.session_state[key] = next(iter(found))
    seq = st.selectbox(
        t("context.choose"), list(found), format_func=lambda seq: _label(found[seq]), key=key
    )
    message = found[seq]
    _restoring(session, target, message, with_block(message, found.values()))
    panes = st.expander(t("context.sides"), key="context_sides", on_change="rerun")
    if panes.open:  # a browser takes a second to draw both
        with panes:
            _sides(message, _left_out(target, message))


def _label(message: Shortened) -> str:
    before, after = numbers.tokens(message.before_tokens), numbers.tokens(message.after_tokens)
    return t("context.option", seq=message.seq, name=message.name[:40], before=before, after=after)


def _left_out(target: CallTarget, message: Shortened) -> LeftOut:
    """What was left out of a message; finding it may compress the original again."""
    call = target.call
    limits = limits_for(
        call.policy, message.row.function_name, oversize_tokens(call.policy, call.budget)
    )
    with st.spinner(t("context.comparing")):
        return _cached_left_out(
            database_url(),
            target.session.id,
            message.seq,
            message.sent,
            tuple(limits),
            message,
            target,
        )


@st.cache_resource(max_entries=100, show_spinner=False)
def _cached_left_out(
    url: str,
    session_id: str,
    seq: int,
    sent: str,
    limits: tuple[int, ...],
    _message: Shortened,
    _target: CallTarget,
) -> LeftOut:
    """The same, cached: a message never changes."""
    del url, session_id, seq, sent  # part of the key only
    return left_out(_message, limits, queries_for(_message, _target.view), _target.call.counter)


def _restoring(
    session: SessionInfo, target: CallTarget, message: Shortened, block: list[Shortened]
) -> None:
    usable = target.call.budget.usable_tokens if target.call.budget else None
    is_too_large = usable is not None and message.before_tokens > usable
    cost = sum(other.before_tokens - other.after_tokens for other in block)
    with st.container(horizontal=True, vertical_alignment="center", key="context_restoring"):
        st.button(
            t("context.restore"),
            key=f"context_restore_{message.seq}",
            icon=":material/keep:",
            disabled=is_too_large,
            on_click=_show_whole,
            args=(session.id, message.seq),
        )
        name = "cost" if len(block) == 1 else "cost_together"
        text = t(f"context.{name}", tokens=numbers.tokens(cost), count=len(block))
        st.caption(t("context.too_large") if is_too_large else text, width="content")


def _sides(message: Shortened, found: LeftOut) -> None:
    marked = mark(message, found)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{t('context.original', tokens=numbers.tokens(message.before_tokens))}**")
        text = t("context.marked", gone=f"{marked.gone_lines:,}", lines=f"{marked.lines:,}")
        st.caption(text, help=t("context.marked_help"))
        st.code(marked.text, language="diff", wrap_lines=True, height=PANE_HEIGHT)
        if marked.lines > MOST_LINES:
            st.caption(t("context.more_lines", count=f"{marked.lines - MOST_LINES:,}"))
    with right:
        st.markdown(f"**{t('context.compressed', tokens=numbers.tokens(message.after_tokens))}**")
        st.caption(plain_label(reason_text(message.reason), max_chars=300))
        st.code(message.sent[:SENT_CHARS], language=None, wrap_lines=True, height=PANE_HEIGHT)
    if found.elided:
        _parts(message, found.elided)
    else:
        st.caption(t(f"context.{_how(found)}"))


def _how(found: LeftOut) -> str:
    """The key of the text that says how the left-out parts were found."""
    if found.stayed is not None:
        return "in_pieces"
    return "by_words" if found.elided is None else "lossless"


def _parts(message: Shortened, elided: Elided) -> None:
    """Draws every part that was left out, with its beginning."""
    label = t("context.parts", count=len(elided))
    with st.expander(label, key="context_parts", on_change="rerun") as parts:
        if not parts.open:
            return
        rows: list[Row] = [
            {
                t("context.part.what"): f"{part.count:,} {t(f'context.unit.{part.unit}')}",
                t("context.part.path"): part.path,
                t("context.part.range"): "" if part.start is None else f"{part.start}:{part.stop}",
                t("context.part.text"): elided_text(message.original, part, max_chars=PART_CHARS),
            }
            for part in elided[:SHOWN_PARTS]
        ]
        plain_table(rows, alt=label)


def _pinned(session: SessionInfo) -> None:
    """Draws the pinned messages with buttons to unpin them."""
    marks = engine().store.marks(session.id)
    pinned = sorted(mark.seq for mark in marks if mark.kind == "pin")
    if not pinned:
        return
    st.subheader(t("context.pinned"))
    with st.container(horizontal=True, key="context_pinned"):
        for seq in pinned[:SHOWN_PARTS]:
            st.button(
                t("context.unpin", seq=seq),
                key=f"context_unpin_{seq}",
                icon=":material/keep_off:",
                on_click=_shorten_again,
                args=(session.id, seq),
            )


def _picked_key(session_id: str) -> str:
    """The key in the session state of the selected shortened message."""
    return f"context_pick_{session_id}"


def _show_whole(session_id: str, seq: int) -> None:
    """Pins message `seq` (from 1), so that the next context has all of it."""
    _change(session_id, seq, is_pinned=True)


def _shorten_again(session_id: str, seq: int) -> None:
    """Unpins the message and selects it again."""
    _change(session_id, seq, is_pinned=False)
    st.session_state[_picked_key(session_id)] = seq


def _change(session_id: str, seq: int, *, is_pinned: bool) -> None:
    with report_errors(PROBLEM):
        change = engine().pin if is_pinned else engine().unpin
        change(session_id, seq - 1)
        name = "restored" if is_pinned else "unpinned"
        st.toast(t(f"context.{name}", seq=seq), icon=":material/keep:")
