"""What every preset would have made of a message; pins it, or tries such a policy with undo."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.json_types import JsonObject
from ctxcore.replay.message_fates import MessageFate
from ctxcore.store.values import JobInfo, Scope, SessionInfo
from dashboard import numbers
from dashboard.addresses import try_link
from dashboard.job_view import follow_job
from dashboard.policy_saving import Saved, save, show_saved
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, report_errors, show_problem, table_with_choice
from dashboard.wording import error_text, reason_text

PROBLEM = "story_problem"
_PLACE = "story"


def show_pin(session_id: str, seq: int, *, key: str) -> None:
    """Draws a button that pins the message, or says that it is pinned."""
    marks = engine().store.marks(session_id)
    if any(mark.seq == seq and mark.kind == "pin" for mark in marks):
        st.caption(f":material/keep: {t('story.pinned', seq=f'{seq:,}')}")
        return
    st.button(
        t("story.pin", seq=f"{seq:,}"),
        key=f"{key}_pin",
        icon=":material/keep:",
        help=t("story.pin_help"),
        on_click=_pin,
        args=(session_id, seq),
    )


@report_errors(PROBLEM)
def _pin(session_id: str, seq: int) -> None:
    engine().pin(session_id, seq - 1)


def show_presets(session: SessionInfo, seq: int, *, key: str) -> None:
    """Draws the same message under every preset, worked out in the background on request."""
    show_problem(PROBLEM)
    st.markdown(f"**{t('story.presets')}**")
    started = f"{key}_fates"
    if (job_id := st.session_state.get(started)) is None:
        st.button(
            t("story.presets.start"),
            key=f"{key}_start",
            icon=":material/compare_arrows:",
            on_click=_start,
            args=(session.id, seq, started),
        )
        return
    job = follow_job(job_id, key=f"{key}_fates")
    if job is not None and job.state == "done":
        _fates(session, _read(job), key=key)
    elif job is None or job.state != "running":
        st.button(
            t("story.presets.again"),
            key=f"{key}_start",
            icon=":material/refresh:",
            on_click=_start,
            args=(session.id, seq, started),
        )


@report_errors(PROBLEM)
def _start(session_id: str, seq: int, started: str) -> None:
    st.session_state[started] = engine().start_fates(session_id, seq).id


def _read(job: JobInfo) -> list[MessageFate]:
    fates = job.result["fates"] if job.result else []
    assert isinstance(fates, list)
    return [MessageFate.from_dict(fate) for fate in fates if isinstance(fate, dict)]


def _fates(session: SessionInfo, fates: Sequence[MessageFate], *, key: str) -> None:
    """Draws a row a policy; the selected one can be tried in the session.

    Which one is in force is read anew, since it changes while the table stays.
    """
    st.caption(t("story.presets.told"))
    in_force = engine().policy(session.id).policy.name
    rows = [_row(fate, is_own=fate.name == in_force) for fate in fates]
    names = [fate.name for fate in fates]
    opened = table_with_choice(rows, names, key=f"{key}_presets", alt=t("story.presets"))
    if opened != in_force:
        _offer(session, opened, key=key)
    show_saved(_PLACE, _saved_text, _scope(session.id))


def _row(fate: MessageFate, *, is_own: bool) -> Row:
    name = t("story.presets.in_force", name=fate.name) if is_own else fate.name
    hidden = t("story.presets.never") if fate.hidden_from is None else f"{fate.hidden_from:,}"
    return {
        t("story.presets.policy"): name,
        t("story.presets.hidden"): hidden,
        t("story.presets.there"): f"{fate.there:,} / {fate.needed:,}" if fate.needed else "–",
        t("story.presets.at_end"): t("compaction.yes" if fate.is_shown else "compaction.no"),
        t("story.presets.shortened"): f"{fate.shortened_from:,}" if fate.shortened_from else "–",
        t("story.presets.why"): _why(fate),
        t("story.presets.refused"): fate.refused,
    }


def _why(fate: MessageFate) -> str:
    if fate.hidden_from is None:
        return "–"
    if fate.compaction is None or fate.trigger is None:
        return t("story.presets.outside")
    trigger = reason_text(fate.trigger)
    return t("story.presets.by", number=f"{fate.compaction:,}", trigger=trigger)


def _offer(session: SessionInfo, preset: str, *, key: str) -> None:
    """Says what the next call would be under a preset, and lets the session use it."""
    name = plain_label(preset)
    try:
        now, then = engine().context(session.id), engine().context_under(session.id, _named(preset))
    except ContextError as error:
        st.warning(plain_label(error_text(error), max_chars=400), icon=":material/warning:")
        return
    told = t(
        "story.try.told",
        name=name,
        now=numbers.tokens(now.tokens, is_exact=now.is_exact),
        with_it=numbers.tokens(then.tokens, is_exact=then.is_exact),
    )
    st.markdown(told)
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_try"):
        st.button(
            t("story.try.apply", name=name),
            key=f"{key}_apply",
            icon=":material/check:",
            on_click=_apply,
            args=(session.id, preset),
        )
        try_link(session.id, preset)
        st.page_link("../pages/settings.py", label=t("story.try.settings"), icon=":material/tune:")


def _named(preset: str) -> JsonObject:
    return {"name": preset}


def _scope(session_id: str) -> Scope:
    return Scope(kind="session", owner=session_id)


@report_errors(PROBLEM)
def _apply(session_id: str, preset: str) -> None:
    stored = engine().store.policy(_scope(session_id))
    before: JsonObject = dict(stored.overrides) if stored else {}
    overrides = {**before, **_named(preset)}
    save(_scope(session_id), overrides, place=_PLACE, label=preset)


def _saved_text(saved: Saved) -> str:
    return t("story.try.done", name=plain_label(saved.label))
