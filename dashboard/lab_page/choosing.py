"""The form of a trial: sessions, policies, a simple program, changed fields, a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from ctxcore.engine.trials import start_trial
from ctxcore.policy.fields import fields_of
from ctxcore.policy.values import Policy
from ctxcore.settings.assignments import parse_assignments
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
from dashboard.selection import current_session, session_labels
from dashboard.services import engine
from dashboard.settings.inputs import field_help, field_name, preset_name
from dashboard.texts import t
from dashboard.widgets import empty_state, report_errors, show_problem

OPEN: Final = "lab_open"
"""Where the session state has the trial that was just started."""
PROBLEM = "lab_problem"
MOST_SESSIONS = 200  # chosen: a list that can still be searched
_SESSIONS, _ALL, _WHOSE = "lab_sessions", "lab_all", "lab_whose"
_POLICIES, _CHANGES = "lab_policies", "lab_changes"
_BASELINE, _WINDOW = "lab_baseline", "lab_window"
_FIRST: Final = ("trigger_ratio", "target_ratio", "recent_ratio", "shorten_over_tokens")


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
        names = st.multiselect(
            t("lab.policies"),
            (TODAY, *Policy.presets()),
            default=(TODAY, "default", "pi"),
            format_func=policy_name,
            help=t("lab.policies.help"),
            key=_POLICIES,
        )
        baseline = _baseline()
        _changing()
    st.button(
        t("lab.start", count=len(chosen)),
        key="lab_start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not chosen,
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
    """The sessions of the user, or of the one that an operator chose."""
    work = engine()
    if not work.user().is_operator or len(users := work.users()) < 2:
        return [one for one in work.sessions(limit=MOST_SESSIONS) if one.length]
    names = {user.id: user.name or user.id for user in users}
    ids = list(names)
    whose = st.selectbox(
        t("lab.whose"),
        ids,
        index=ids.index(work.user_id),
        format_func=names.__getitem__,
        key=_WHOSE,
    )
    return [one for one in work.store.list_sessions(whose, limit=MOST_SESSIONS) if one.length]


def _chosen_sessions(sessions: Sequence[SessionInfo]) -> tuple[str, ...]:
    labels = session_labels(sessions)
    shown = current_session()
    usual = [shown.id] if shown is not None and shown.id in labels else []
    is_all = st.toggle(t("lab.all", count=len(sessions)), key=_ALL)
    picked = st.multiselect(
        t("lab.sessions"),
        list(labels),
        default=usual,
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


def _changing() -> None:
    """Draws the changed fields, and the form that adds one."""
    known = list(fields_of(Policy))
    ordered = [*_FIRST, *(name for name in known if name not in (*_FIRST, "name"))]
    field, value, add = st.columns([3, 2, 1], vertical_alignment="bottom")
    chosen = field.selectbox(
        t("lab.change"), ordered, format_func=field_name, key="lab_field", help=t("lab.change.help")
    )
    value.text_input(
        t("lab.change.value"),
        placeholder="0.5..0.9",
        key="lab_value",
        help=field_help(str(chosen)),
    )
    add.button(t("lab.change.add"), key="lab_add", on_click=_add)
    changes: list[str] = st.session_state.setdefault(_CHANGES, [])
    if not changes:
        return
    st.pills(
        t("lab.changes"),
        changes,
        default=None,
        key=f"lab_remove_{len(changes)}",
        format_func=lambda text: f"{text} ✕",
        on_change=_remove,
        args=(f"lab_remove_{len(changes)}",),
        help=t("lab.changes.help"),
    )


@report_errors(PROBLEM)
def _add() -> None:
    text = f"{st.session_state['lab_field']}={st.session_state['lab_value'].strip()}"
    changes = [
        known
        for known in st.session_state.get(_CHANGES, [])
        if known.partition("=")[0] != st.session_state["lab_field"]
    ]
    parse_assignments([*changes, text])  # refuses it before it is in the list
    st.session_state[_CHANGES] = [*changes, text]
    st.session_state["lab_value"] = ""


def _remove(key: str) -> None:
    gone = st.session_state.get(key)
    st.session_state[_CHANGES] = [one for one in st.session_state[_CHANGES] if one != gone]


@report_errors(PROBLEM)
def _start(
    sessions: Sequence[str], names: Sequence[str], baseline: Candidate | None, window: int | None
) -> None:
    candidates = chosen_candidates(names, baseline, changed_candidates())
    job = start_trial(engine(), sessions, candidates, window_tokens=window)
    st.session_state[OPEN] = job.id


def changed_candidates() -> list[Candidate]:
    """Today's policy with the changed fields."""
    return [edited(one) for one in parse_assignments(st.session_state.get(_CHANGES, []))]


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
