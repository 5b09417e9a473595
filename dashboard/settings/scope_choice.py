"""The choice of a scope in one list: oneself, the session, and for operators everybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from ctxcore.store.values import Scope, UserInfo
from dashboard.policy_saving import Saved
from dashboard.safe_markdown import plain_label
from dashboard.selection import current_session, session_title
from dashboard.services import engine
from dashboard.texts import about, language, t

MOST_NAMES: Final = 5  # chosen: a line


def pick_scope(key: str) -> Scope:
    """Draws the choice of a scope that the user may change."""
    options = _options()
    chosen = st.selectbox(
        t("reports.scope"), list(options), format_func=options.__getitem__, key=key, width=420
    )
    return _scope(str(chosen))


def scope_name(scope: Scope, users: Mapping[str, str]) -> str:
    """The name of a scope; `users` are the names of users by their ids."""
    if scope.kind == "default":
        return t("settings.scope.everybody")
    owner = scope.owner[:8] if scope.kind == "session" else users.get(scope.owner, scope.owner)
    return t(f"settings.who.{scope.kind}", owner=owner, model=scope.model)


def user_names() -> dict[str, str]:
    """The names of users by id: of all for operators, of oneself for others."""
    me = engine().user()
    known = engine().users() if me.is_operator else [me]
    return {user.id: user.name or user.id for user in known}


def saved_text(saved: Saved) -> str:
    """That a policy was saved, and for whom."""
    return t("reports.applied", who=whom_text(saved.scopes))


def whom_text(scopes: Sequence[Scope]) -> str:
    """For whom something is set: the first few by name, groups with the number of their users."""
    users = engine().users() if engine().user().is_operator else [engine().user()]
    named = [_whom(scope, users) for scope in scopes[:MOST_NAMES]]
    if (more := len(scopes) - MOST_NAMES) > 0:
        named.append(t("settings.whom.more", count=more))
    return about(language()).between_words.join(named)


def _whom(scope: Scope, users: Sequence[UserInfo]) -> str:
    if scope.kind != "group":
        names = {user.id: user.name or user.id for user in users}
        return plain_label(scope_name(scope, names))
    count = sum(user.group == scope.owner for user in users)
    key = "settings.whom.group_of_one" if count == 1 else "settings.whom.group"
    return t(key, owner=plain_label(scope.owner), count=count)


def _options() -> dict[str, str]:
    """Scopes as `kind:owner`, with their names."""
    me, session = engine().user(), current_session()
    found = {f"user:{me.id}": t("settings.scope.me")}
    if session is not None:
        title = plain_label(session_title(session))
        found[f"session:{session.id}"] = f"{t('settings.scope.session')} · {title}"
    if not me.is_operator:
        return found
    found["default:"] = t("settings.scope.everybody")
    users = engine().users()
    for group in sorted({user.group for user in users if user.group}):
        found[f"group:{group}"] = t("settings.who.group", owner=group)
    for user in users:
        found.setdefault(f"user:{user.id}", user.name or user.id)
    return found


def _scope(option: str) -> Scope:
    kind, _, owner = option.partition(":")
    match kind:
        case "default":
            return Scope()
        case "group":
            return Scope(kind="group", owner=owner)
        case "session":
            return Scope(kind="session", owner=owner)
        case _:
            return Scope(kind="user", owner=owner)
