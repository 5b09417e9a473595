"""Saves policies, and takes the last save of a scope back while nothing else was saved there.

Nothing is lost: every policy that was in force remains a version; undo saves the former one again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from ctxcore.json_types import JsonObject
from ctxcore.store.values import PolicyVersion, Scope
from dashboard.codes import UndoError, UndoProblem
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import report_errors, show_problem

_SAVED, _PROBLEM = "policy_saving_saved", "policy_saving_problem"
_BAR_WIDTH = 520  # pixels; chosen: the message and the button stay side by side


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The version that was saved last for a scope, with what was there before it."""

    scope: Scope
    version_id: int
    before: JsonObject
    place: str
    """Where it was saved; only there undo is offered."""
    label: str
    """What was saved, as that place names it."""


def save(scope: Scope, overrides: JsonObject, *, place: str, label: str = "") -> None:
    """Saves a scope's overrides, and keeps the way back to what it had.

    Raises:
        PolicyError: a field is unknown or a value is outside its range.
        NotAllowedError: the scope is another user's, and this user is no operator.
    """
    stored = engine().store.policy(scope)
    version = engine().save_policy(scope, overrides)
    saved = Saved(
        scope=scope,
        version_id=version.id,
        before=dict(stored.overrides) if stored else {},
        place=place,
        label=label,
    )
    st.session_state[_SAVED] = {**_without(scope), scope: saved}  # the newest stands last


def save_from_button(scope: Scope, overrides: JsonObject, place: str, label: str = "") -> None:
    """The same as a callback; `show_saved` says what went wrong."""
    with report_errors(_PROBLEM):
        save(scope, overrides, place=place, label=label)


def can_undo(scope: Scope, newest: PolicyVersion | None, *, place: str) -> bool:
    """Whether the newest version of a scope was saved in `place`."""
    saved = _all_saved().get(scope)
    return saved is not None and saved.place == place and _is_newest(saved, newest)


def undo(scope: Scope, *, check: Callable[[JsonObject], object] | None = None) -> None:
    """Saves again what a scope had before the last save; `check` may refuse that.

    Raises:
        UndoError: something else was saved since.
        ContextError: it is not allowed, or no longer valid; undo remains possible.
    """
    saved = _all_saved().get(scope)
    if saved is None or not _is_newest(saved, engine().store.policy(scope)):
        _forget(scope)
        raise UndoError(UndoProblem.SAVED_SINCE())
    if check is not None:
        check(saved.before)
    engine().save_policy(scope, saved.before)
    _forget(scope)
    st.toast(t("common.undone"), icon=":material/undo:")


def show_saved(place: str, told: Callable[[Saved], str]) -> None:
    """Draws what was saved last in `place`, as `told`, with a button that takes it back."""
    show_problem(_PROBLEM)
    if (saved := _last_saved(place)) is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_saved"):
        st.success(told(saved), icon=":material/check:", width=_BAR_WIDTH)
        st.button(
            t("common.undo"),
            key=f"{place}_undo",
            icon=":material/undo:",
            on_click=_undo_from_button,
            args=(saved.scope,),
        )


@report_errors(_PROBLEM)
def _undo_from_button(scope: Scope) -> None:
    undo(scope)


def _last_saved(place: str) -> Saved | None:
    """What was saved last in `place` and can be undone."""
    for saved in reversed([one for one in _all_saved().values() if one.place == place]):
        if _is_newest(saved, engine().store.policy(saved.scope)):
            return saved
        _forget(saved.scope)
    return None


def _is_newest(saved: Saved, newest: PolicyVersion | None) -> bool:
    return newest is not None and newest.id == saved.version_id


def _all_saved() -> dict[Scope, Saved]:
    """The last save of each scope, in the order of saving."""
    return dict(st.session_state.get(_SAVED, {}))


def _without(scope: Scope) -> dict[Scope, Saved]:
    return {of: saved for of, saved in _all_saved().items() if of != scope}


def _forget(scope: Scope) -> None:
    st.session_state[_SAVED] = _without(scope)
