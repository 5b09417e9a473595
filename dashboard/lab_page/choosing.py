"""The form of a trial: sessions, policies, a simple program, changed fields, a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from ctxcore.engine.trials import start_trial
from ctxcore.json_types import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.store.values import SessionInfo
from ctxcore.trials.candidates import (
    TODAY,
    Candidate,
    distinct,
    edited,
    last_messages,
    last_tokens,
    no_compaction,
    of_preset,
    summarize_at,
    today,
)
from dashboard.addresses import asked_preset
from dashboard.lab_page.changing import show_changing
from dashboard.selection import current_session, session_labels
from dashboard.services import engine
from dashboard.settings.inputs import preset_name
from dashboard.texts import t
from dashboard.widgets import empty_state, report_errors, show_problem

OPEN: Final = "lab_open"
"""Where the session state has the trial that was just started."""
PROBLEM = "lab_problem"
MOST_SESSIONS = 200  # chosen: a list that can still be searched
_ASKED = "lab_asked"
_SESSIONS, _ALL, _WHOSE = "lab_sessions", "lab_all", "lab_whose"
_POLICIES, _BASELINE, _WINDOW = "lab_policies", "lab_baseline", "lab_window"
_CHANGES = "lab_changes"


def take_address() -> None:
    """Chooses the session and the preset that the address asks to try, once."""
    preset, session = asked_preset(), current_session()
    if preset not in Policy.presets() or session is None or not session.length:
        return
    st.session_state.update(
        {
            _ASKED: True,
            _WHOSE: session.user_id,
            _ALL: False,
            _SESSIONS: [session.id],
            _POLICIES: [TODAY, preset],
        }
    )


def is_asked() -> bool:
    """Whether an address chose what to try, and it is not started yet."""
    return bool(st.session_state.get(_ASKED))


def show_choosing() -> None:
    """Draws the form."""
    show_problem(PROBLEM)
    sessions = _sessions()
    if not sessions:
        empty_state(t("lab.no_sessions"), icon=":material/folder_open:")
        return
    left, right = st.columns(2, gap="large")
    with left:
        chosen = _chosen_sessions(sessions)
        window = st.number_input(
            t("lab.window"),
            min_value=200,
            value=None,
            step=1_000,
            placeholder=t("lab.window.own"),
            help=t("lab.window.help"),
            key=_WINDOW,
        )
    with right:
        st.session_state.setdefault(_POLICIES, [TODAY, "default", "pi"])
        names = st.multiselect(
            t("lab.policies"),
            (TODAY, *Policy.presets()),
            format_func=policy_name,
            help=t("lab.policies.help"),
            key=_POLICIES,
        )
        baseline = _baseline()
    changes = show_changing(chosen)
    st.session_state[_CHANGES] = changes or []
    st.button(
        t("lab.start", count=len(chosen)),
        key="lab_start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not chosen or changes is None,
        on_click=_start,
        args=(chosen, tuple(names), baseline, None if window is None else int(window)),
    )


def policy_name(name: str) -> str:
    """The name of a preset; today's policy in words."""
    return t("lab.policy.today") if name == TODAY else preset_name(name)


def candidate_name(candidate: Candidate) -> str:
    """The name of a candidate on the page."""
    if candidate.kind in ("none", "today"):
        return t(f"lab.policy.{candidate.kind}")
    return candidate.name


def _sessions() -> list[SessionInfo]:
    """The newest sessions of the user, or of the one that an auditor chose, and the shown one."""
    work = engine()
    whose = _whose()
    newest = [one for one in work.people.sessions(whose, limit=MOST_SESSIONS) if one.length]
    shown = current_session()
    if shown is None or not shown.length or shown.user_id != whose:
        return newest
    return newest if shown.id in {one.id for one in newest} else [shown, *newest]


def _whose() -> str:
    """The user, or the one that an auditor chose: a trial shows what was said."""
    work = engine()
    if not work.user().reads_others or len(users := work.users()) < 2:
        return work.user_id
    names = {user.id: user.name or user.id for user in users}
    ids = list(names)
    if st.session_state.get(_WHOSE) not in names:
        st.session_state[_WHOSE] = work.user_id
    chosen = st.selectbox(t("lab.whose"), ids, format_func=names.__getitem__, key=_WHOSE)
    return str(chosen)


def _chosen_sessions(sessions: Sequence[SessionInfo]) -> tuple[str, ...]:
    labels = session_labels(sessions)
    shown = current_session()
    usual = [] if shown is None else [shown.id]
    chosen = st.session_state.get(_SESSIONS, usual)
    st.session_state[_SESSIONS] = [one for one in chosen if one in labels]
    is_all = st.toggle(t("lab.all", count=len(sessions)), key=_ALL)
    picked = st.multiselect(
        t("lab.sessions"),
        list(labels),
        format_func=labels.__getitem__,
        disabled=is_all,
        placeholder=t("lab.sessions.hint"),
        key=_SESSIONS,
    )
    return tuple(labels) if is_all else tuple(picked)


def _baseline() -> Candidate | None:
    """What a simple program does, with its numbers."""
    kinds = ("last_messages", "last_tokens", "summarize", "nothing")
    kind = st.selectbox(
        t("lab.baseline"),
        kinds,
        format_func=lambda name: t(f"lab.baseline.{name}"),
        help=t("lab.baseline.help"),
        key=_BASELINE,
    )
    if kind == "last_messages":
        count = st.number_input(t("lab.baseline.messages"), 1, 10_000, 20, key="lab_n_messages")
        return last_messages(int(count))
    if kind == "last_tokens":
        tokens = st.number_input(
            t("lab.baseline.tokens"), 100, 10_000_000, 8_000, 500, key="lab_n_tokens"
        )
        return last_tokens(int(tokens))
    if kind == "summarize":
        at, keep = st.columns(2)
        size = at.number_input(t("lab.baseline.at"), 200, 10_000_000, 20_000, 500, key="lab_n_at")
        kept = keep.number_input(
            t("lab.baseline.keep"), 50, int(size) - 1, min(4_000, int(size) // 2), key="lab_n_keep"
        )
        return summarize_at(int(size), int(kept))
    return None


@report_errors(PROBLEM)
def _start(
    sessions: Sequence[str],
    names: Sequence[str],
    baseline: Candidate | None,
    window: int | None,
) -> None:
    candidates = chosen_candidates(names, baseline, changed_candidates())
    job = start_trial(engine(), sessions, candidates, window_tokens=window)
    st.session_state[OPEN] = job.id
    st.session_state.pop(_ASKED, None)


def changed_candidates() -> list[Candidate]:
    """Today's policy with the changed fields of the form; none while one is not allowed."""
    changes: list[JsonObject] = st.session_state.get(_CHANGES, [])
    return [edited(one) for one in changes]


def chosen_candidates(
    names: Sequence[str], baseline: Candidate | None, changed: Sequence[Candidate]
) -> list[Candidate]:
    """What is tried, always with no compaction.

    Raises:
        TrialError: that is more than anybody reads.
    """
    named = [today() if name == TODAY else of_preset(name) for name in names]
    simple = [] if baseline is None else [baseline]
    return distinct([no_compaction(), *simple, *named, *changed])
