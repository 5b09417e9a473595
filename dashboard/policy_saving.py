"""Saves policies, and takes the last save of a scope back while nothing else was saved there.

Nothing is lost: every policy that was in force remains a version; undo saves the former one again.
The store has which versions a user saved where, so that undo outlives the tab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import streamlit as st

from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.store.values import PolicyVersion, Scope
from dashboard.codes import UndoError, UndoProblem
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

UNDO_FOR: Final = timedelta(days=1)  # chosen: whoever comes back the next morning still can
MOST_SAVES: Final = 20  # chosen: more than a person saves and takes back in a day
_PROBLEM = "policy_saving_problem"
_BAR_WIDTH = 520  # pixels; chosen: the message and the button stay side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record(Plain):
    """One save of a user, as the store has it."""

    version_ids: tuple[int, ...]
    place: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """One save that can be taken back: the version of each scope, all still in force."""

    versions: tuple[PolicyVersion, ...]
    place: str
    """Where it was saved; only there undo is offered."""
    label: str
    """What was saved, as that place names it."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """For whom it was saved."""
        return tuple(version.scope for version in self.versions)


def save(scope: Scope, overrides: JsonObject, *, place: str, label: str = "") -> None:
    """Saves a scope's overrides, and keeps the way back to what it had.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
        NotAllowedError: the scope is another user's, and this user is no operator.
    """
    save_all({scope: overrides}, place=place, label=label)


def save_all(overrides: Mapping[Scope, JsonObject], *, place: str, label: str = "") -> None:
    """The same for many scopes, all or none; they are taken back together."""
    saved = engine().save_policies(overrides)
    ids = tuple(version.id for version in saved)
    _keep([*_records(), _Record(version_ids=ids, place=place, label=label)])


def save_from_button(scope: Scope, overrides: JsonObject, place: str, label: str = "") -> None:
    """The same as a callback; `show_saved` says what went wrong."""
    with report_errors(_PROBLEM):
        save(scope, overrides, place=place, label=label)


def last_saved(place: str, scope: Scope | None = None) -> Saved | None:
    """What the user saved last in `place`, for one scope or for any, and can be taken back."""
    records = [one for one in _records() if one.place == place]
    if not records:
        return None
    in_force = {version.id: version for version in engine().store.all_policies()}
    since = datetime.now(UTC) - UNDO_FOR
    for record in reversed(records):
        found = [in_force[one] for one in record.version_ids if one in in_force]
        is_whole = len(found) == len(record.version_ids)
        is_recent = all(version.created_at >= since for version in found)
        saved = Saved(versions=tuple(found), place=place, label=record.label)
        if is_whole and is_recent and scope in (None, *saved.scopes):
            return saved
    return None


def undo(saved: Saved, *, check: Callable[[JsonObject], object] | None = None) -> None:
    """Saves again what each scope had before; `check` may refuse that.

    Raises:
        UndoError: something else was saved since for one of them.
        ContextError: it is not allowed, or no longer valid; undo remains possible.
    """
    newest = engine().store.policies(saved.scopes)
    if [one.id for one in saved.versions] != [own.id if own else None for own in newest]:
        raise UndoError(UndoProblem.SAVED_SINCE())
    former = {version.scope: _former(version) for version in saved.versions}
    if check is not None:
        for overrides in former.values():
            check(overrides)
    engine().save_policies(former)
    taken_back = tuple(version.id for version in saved.versions)
    _keep([one for one in _records() if one.version_ids != taken_back])
    st.toast(t("common.undone"), icon=":material/undo:")


def show_saved(place: str, told: Callable[[Saved], str], scope: Scope | None = None) -> None:
    """Draws what was saved last in `place`, as `told`, with a button that takes it back.

    A place that saves for one scope at a time, such as a session, names it.
    """
    show_problem(_PROBLEM)
    if (saved := last_saved(place, scope)) is None:
        return
    key = place if scope is None else f"{place}_{scope.owner}"
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_saved"):
        st.success(told(saved), icon=":material/check:", width=_BAR_WIDTH)
        st.button(
            t("common.undo"),
            key=f"{key}_undo",
            icon=":material/undo:",
            on_click=_undo_from_button,
            args=(saved,),
        )


@report_errors(_PROBLEM)
def _undo_from_button(saved: Saved) -> None:
    undo(saved)


def _former(version: PolicyVersion) -> JsonObject:
    """What a scope had before a version; nothing before its first."""
    older = [
        one
        for one in engine().store.policy_versions(version.scope)
        if one.version < version.version
    ]
    return dict(older[0].overrides) if older else {}


def _records() -> list[_Record]:
    """The last saves of the user, oldest first."""
    stored = cast("list[dict[str, Any]]", engine().store.setting(_key()) or [])
    return [_Record(**{**one, "version_ids": tuple(one["version_ids"])}) for one in stored]


def _keep(records: list[_Record]) -> None:
    stored: list[JsonValue] = [one.to_dict() for one in records[-MOST_SAVES:]]
    engine().store.save_setting(_key(), stored or None)


def _key() -> str:
    return f"policy_saved:{engine().user_id}"
