"""Applies a candidate to oneself, a user or a group: what changes for whom, and undo.

Nothing is lost: every policy that was in force remains a version, and undo saves the former one
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from ctxcore.json_types import JsonObject
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.policy.values import Policy
from ctxcore.store.values import PolicyVersion, Scope, UserInfo
from ctxcore.trials.candidates import Candidate
from dashboard.lab_page.choosing import candidate_name
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.inputs import field_name, value_text
from dashboard.settings.scopes import Target, layered, target_of
from dashboard.texts import t
from dashboard.widgets import Row, plain_table, report_errors, show_problem

_PROBLEM = "lab_apply_problem"
_APPLIED = "lab_applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What was applied, and what undo saves again."""

    scope: Scope
    version_id: int
    name: str
    before: JsonObject


def show_applying(candidate: Candidate) -> None:
    """Draws for whom, what would change, and the buttons."""
    st.subheader(t("lab.apply"))
    show_problem(_PROBLEM)
    _undo()
    if candidate.kind in ("none", "today"):
        st.caption(t(f"lab.apply.{candidate.kind}"))
        return
    users = engine().users() if engine().user().is_operator else [engine().user()]
    target, people = _whom(users)
    if target is None:
        return
    own = engine().store.policy(target.scope)
    overrides = applied_overrides(candidate, own.overrides if own else {})
    changes = _changes(target, own, overrides)
    st.caption(t("lab.apply.people", count=len(people), names=plain_label(", ".join(people))))
    if not changes:
        st.info(t("lab.apply.same"), icon=":material/check:")
        return
    plain_table(changes, alt=t("lab.apply.changes"))
    st.button(
        t("lab.apply.save", policy=plain_label(candidate_name(candidate), max_chars=40)),
        key="lab_apply",
        type="primary",
        icon=":material/check:",
        on_click=_apply,
        args=(target.scope, overrides, candidate.name),
    )


def applied_overrides(candidate: Candidate, own: JsonObject) -> JsonObject:
    """What is saved for a scope that has `own`: changed fields join it, a whole policy replaces."""
    if candidate.extends_today and PRESET_FIELD not in candidate.overrides:
        return {**own, **candidate.overrides}
    return dict(candidate.overrides)


def changed_fields(before: Policy, after: Policy) -> list[str]:
    """The fields in which two policies differ, the preset first."""
    return [name for name in fields_of(Policy) if getattr(before, name) != getattr(after, name)]


def _whom(users: Sequence[UserInfo]) -> tuple[Target | None, list[str]]:
    """The scope that is chosen, and the names of those it is for."""
    me = engine().user()
    groups = sorted({user.group for user in users if user.group})
    names = {user.id: user.name or user.id for user in users}
    options = ["me", *(f"user:{one}" for one in names if one != me.id)]
    options += [f"group:{group}" for group in groups] if me.is_operator else []
    chosen = st.selectbox(
        t("lab.apply.whom"),
        options,
        format_func=lambda option: _who(option, names),
        key="lab_apply_whom",
    )
    kind, _, owner = str(chosen).partition(":")
    found = next((user for user in users if user.id == owner), me)
    if kind == "group":
        members = [user for user in users if user.group == owner]
        target = target_of("group", user=members[0], session=None, model="", owner=me)
        return target, [names[user.id] for user in members]
    target = target_of("user", user=found, session=None, model="", owner=me)
    return target, [names[found.id]]


def _who(option: str, names: Mapping[str, str]) -> str:
    kind, _, owner = option.partition(":")
    if kind == "me":
        return t("lab.apply.me")
    return t(f"lab.apply.{kind}", name=names.get(owner, owner))


def _changes(target: Target, own: PolicyVersion | None, overrides: JsonObject) -> list[Row]:
    work = engine()
    parents = work.store.policies(target.parents) if target.parents else []
    before = layered(parents, own, work.layers).policy
    after = layered(parents, _version(target.scope, overrides), work.layers).policy
    return [
        {
            t("lab.apply.field"): field_name(name),
            t("lab.apply.from"): value_text(name, getattr(before, name)),
            t("lab.apply.to"): value_text(name, getattr(after, name)),
        }
        for name in changed_fields(before, after)
    ]


def _version(scope: Scope, overrides: JsonObject) -> PolicyVersion:
    """A version as it would be saved."""
    at = engine().user().created_at
    return PolicyVersion(
        id=0, scope=scope, version=0, overrides=overrides, created_by="", created_at=at
    )


@report_errors(_PROBLEM)
def _apply(scope: Scope, overrides: JsonObject, name: str) -> None:
    before = engine().store.policy(scope)
    saved = engine().save_policy(scope, overrides)
    st.session_state[_APPLIED] = Applied(
        scope=scope, version_id=saved.id, name=name, before=before.overrides if before else {}
    )


def _undo() -> None:
    """Offers to take the last application back, as long as nothing was saved since."""
    applied: Applied | None = st.session_state.get(_APPLIED)
    if applied is None:
        return
    now = engine().store.policy(applied.scope)
    if now is None or now.id != applied.version_id:
        st.session_state.pop(_APPLIED)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lab_applied_note"):
        st.success(
            t("lab.apply.done", policy=plain_label(applied.name, max_chars=60)),
            icon=":material/check_circle:",
        )
        st.button(t("lab.apply.undo"), key="lab_undo", icon=":material/undo:", on_click=_take_back)


@report_errors(_PROBLEM)
def _take_back() -> None:
    applied: Applied = st.session_state.pop(_APPLIED)
    engine().save_policy(applied.scope, applied.before)
