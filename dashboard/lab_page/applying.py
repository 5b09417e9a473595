"""Applies a candidate to oneself, a user or a group: what changes for whom, and undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ctxcore.json_types import JsonObject
from ctxcore.policy.changes import FieldChange, changed_fields
from ctxcore.policy.layers import PRESET_FIELD
from ctxcore.settings.writing import whole_policy
from ctxcore.store.values import PolicyVersion, Scope, UserInfo
from ctxcore.trials.candidates import Candidate
from dashboard.lab_page.choosing import candidate_name
from dashboard.policy_saving import Saved, save_from_button, show_saved
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.policy_changes import show_changes
from dashboard.settings.scopes import Target, layered, target_of
from dashboard.texts import t

_PLACE = "lab"


def show_applying(candidate: Candidate) -> None:
    """Draws for whom, what would change, and the buttons."""
    st.subheader(t("lab.apply"))
    show_saved(_PLACE, _saved_text)
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
    show_changes(changes, alt=t("lab.apply.changes"))
    st.button(
        t("lab.apply.save", policy=plain_label(candidate_name(candidate), max_chars=40)),
        key="lab_apply",
        type="primary",
        icon=":material/check:",
        on_click=save_from_button,
        args=(target.scope, overrides, _PLACE, candidate.name),
    )


def applied_overrides(candidate: Candidate, own: JsonObject) -> JsonObject:
    """What is saved for a scope that has `own`: changed fields join it, a whole policy replaces."""
    if candidate.extends_today and PRESET_FIELD not in candidate.overrides:
        return {**own, **candidate.overrides}
    return dict(candidate.overrides)


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


def _changes(target: Target, own: PolicyVersion | None, overrides: JsonObject) -> list[FieldChange]:
    """The fields of the whole policy that would be others."""
    work = engine()
    parents = work.store.policies(target.parents) if target.parents else []
    before = layered(parents, own, work.layers).policy
    after = layered(parents, _version(target.scope, overrides), work.layers).policy
    return changed_fields(whole_policy(before), whole_policy(after))


def _version(scope: Scope, overrides: JsonObject) -> PolicyVersion:
    """A version as it would be saved."""
    at = engine().user().created_at
    return PolicyVersion(
        id=0, scope=scope, version=0, overrides=overrides, created_by="", created_at=at
    )


def _saved_text(saved: Saved) -> str:
    return t("lab.apply.done", policy=plain_label(saved.label, max_chars=60))
