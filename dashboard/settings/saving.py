"""Callbacks that save thresholds; the library validates every value again.

A value equal to the inherited one is not saved, so that it follows later changes of wider scopes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from ctxcore.engine.policies import merge_layers
from ctxcore.errors import ContextError, PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import to_field, to_json
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Fact, Reason
from dashboard import policy_saving
from dashboard.codes import TypedCode, UndoError, UndoProblem
from dashboard.services import engine
from dashboard.settings.drafts import draft_of, keep_draft, with_draft
from dashboard.settings.fields import AUTOMATIC, NEVER, Field, Shown, field_named
from dashboard.settings.inputs import field_name
from dashboard.settings.scopes import Target, changed, without
from dashboard.texts import t
from dashboard.wording import error_text, reason_text

PROBLEM = "settings_problem"
_REFUSED = "settings_refused"
_PLACE = "settings"

_TYPED: dict[str, TypedCode] = {
    AllowedCode.BESIDE: TypedCode.BESIDE,
    AllowedCode.FALLING: TypedCode.FALLING,
    AllowedCode.TURNS_BY_MESSAGES: TypedCode.TURNS_BY_MESSAGES,
    AllowedCode.TOOL_LIMITS: TypedCode.TOOL_LIMITS,
    AllowedCode.TOOL_NAMES: TypedCode.TOOL_NAMES,
}


def save_field(target: Target, field: Field, key: str) -> None:
    """Saves what was typed for one field; a cleared field inherits its value."""
    shown = st.session_state[key]
    if shown is None or (isinstance(shown, str) and not shown.strip()):
        reset_field(target, field.name)
        return
    try:
        _save_one(target, field.name, typed(field, shown))
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)


def typed(field: Field, shown: Shown) -> JsonValue:
    """The typed value of a field.

    Raises:
        PolicyError: the field does not allow it.
    """
    value = typed_or_text(field, shown)
    fields_of(Policy)[field.name].check(to_field(value))
    return value


def typed_or_text(field: Field, shown: Shown) -> JsonValue:
    """The typed value of a field, whether it allows it or not; text that is no value stays text."""
    try:
        return field.stored(shown)
    except ValueError:
        return str(shown)


def draft_field(target: Target, field: Field, key: str) -> None:
    """Keeps what was typed for one of the five values until it is saved.

    A cleared field is to inherit its value, the word for none says that there is none; a value that
    is refused stays as it was typed.
    """
    scope, text = target.scope, str(st.session_state[key] or "").strip()
    draft = {name: value for name, value in draft_of(scope).items() if name != field.name}
    _forget_refusal(key)
    try:
        is_none = field.may_be_empty and text.casefold() == t("settings.none").casefold()
        draft[field.name] = (typed(field, None if is_none else _number(text)),) if text else ()
        _policy(target, with_draft(_overrides(target), draft))
    except PolicyError as error:
        _keep_refusal(key, refusal(error))
        return
    overrides = _overrides(target)
    kept = {
        name: value for name, value in draft.items() if _differs(target, overrides, name, value)
    }
    keep_draft(scope, kept)


def _differs(
    target: Target, overrides: JsonObject, name: str, value: tuple[JsonValue, ...]
) -> bool:
    """Whether saving a typed value would change anything."""
    if not value:
        return name in overrides
    return value != (to_json(getattr(_policy(target, overrides), name)),)


def _number(text: str) -> Shown:
    """What was typed as a number, with separators and a percent sign or not; else the text."""
    plain = text.replace(",", "").replace("，", "").replace(" ", "").removesuffix("%")
    try:
        return float(plain)
    except ValueError:
        return text


def save_draft(target: Target) -> None:
    """Saves the typed values of a scope in one version; says so where there is nothing to save."""
    if has_refused(target):
        st.session_state[PROBLEM] = t("settings.main.refused")
        return
    if not draft_of(target.scope):
        st.toast(t("settings.main.unchanged"))
        return
    overrides = _overrides(target)
    try:
        for name, value in draft_of(target.scope).items():
            rest = without(overrides, name)
            overrides = _with(target, rest, name, *value) if value else rest
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)
        return
    if _save(target, overrides):
        discard_draft(target)


def _with(target: Target, rest: JsonObject, name: str, value: JsonValue) -> JsonObject:
    return changed(rest, name, value, getattr(_policy(target, rest), name))


def discard_draft(target: Target) -> None:
    """Forgets what is typed and not saved for a scope."""
    keep_draft(target.scope, {})
    beginning = _main_keys(target)
    kept = {k: text for k, text in _refusals().items() if not k.startswith(beginning)}
    st.session_state[_REFUSED] = kept


def main_key(target: Target, field: Field) -> str:
    """The key of the input of one of the five values."""
    return f"{_main_keys(target)}{field.name}"


def _main_keys(target: Target) -> str:
    scope = target.scope
    return f"settings_main_{scope.kind}_{scope.owner}_{scope.model}_"


def written(field: Field, value: object) -> str:
    """A value as it is typed."""
    shown = field.shown(value)
    if shown is None:
        return t("settings.none")
    return f"{shown:g}" if isinstance(shown, float) else str(shown)


def refused(key: str) -> str | None:
    """Why what was typed under `key` is not allowed; None if it is."""
    return _refusals().get(key)


def has_refused(target: Target) -> bool:
    """Whether one of the typed values of a scope is not allowed."""
    return any(key.startswith(_main_keys(target)) for key in _refusals())


def _refusals() -> dict[str, str]:
    return dict(st.session_state.get(_REFUSED, {}))


def _keep_refusal(key: str, text: str) -> None:
    st.session_state[_REFUSED] = {**_refusals(), key: text}


def _forget_refusal(key: str) -> None:
    st.session_state[_REFUSED] = without(_refusals(), key)


def can_undo(target: Target) -> bool:
    """Whether the newest version of a scope was saved on this page."""
    return policy_saving.last_saved(_PLACE, target.scope) is not None


def undo(target: Target) -> None:
    """Saves what a scope had before the last save on this page."""

    def undo() -> None:
        if (saved := policy_saving.last_saved(_PLACE, target.scope)) is None:
            raise UndoError(UndoProblem.SAVED_SINCE())
        policy_saving.undo(saved, check=partial(_policy, target))

    _succeeds(undo)


def save_nothing(target: Target, field: Field) -> None:
    """Saves that a field has no value, which clearing it does not say."""
    try:
        _save_one(target, field.name, typed(field, None))
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)


def save_value(target: Target, field: str, key: str) -> None:
    """Saves what was picked for one field."""
    _save_one(target, field, st.session_state[key])


def save_automatic(target: Target, key: str) -> None:
    """Switches automatic compaction on or off."""
    if not st.session_state[key]:
        _save_one(target, "trigger_ratio", NEVER)
        return
    rest = without(_overrides(target), "trigger_ratio")
    try:
        if not _policy(target, rest).is_automatic:
            rest["trigger_ratio"] = AUTOMATIC
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)
    else:
        _save(target, rest)


def reset_field(target: Target, field: str) -> None:
    """Removes one override."""
    _save(target, without(_overrides(target), field))


def reset(target: Target) -> None:
    """Removes all overrides."""
    _save(target, {})


def restore(target: Target, overrides: JsonObject) -> None:
    """Saves an older version as the newest one."""
    _save(target, dict(overrides))


def _save_one(target: Target, field: str, value: JsonValue) -> None:
    overrides = _overrides(target)
    try:
        inherited = getattr(_policy(target, without(overrides, field)), field)
    except PolicyError:  # the rest may be valid only with the present value
        inherited = None
    _save(target, changed(overrides, field, value, inherited))


def _save(target: Target, overrides: JsonObject) -> bool:
    """Saves a scope's own settings and keeps the way back; whether that was done."""
    if overrides == _overrides(target):
        return True

    def save() -> None:
        _policy(target, overrides)
        policy_saving.save(target.scope, overrides, place=_PLACE)
        st.toast(t("settings.saved"), icon=":material/check:")

    return _succeeds(save)


def _succeeds(action: Callable[[], None]) -> bool:
    """Whether an action raises nothing; what an error says is kept for the page."""
    try:
        action()
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)
    except ContextError as error:
        st.session_state[PROBLEM] = error_text(error)
    else:
        return True
    return False


def refusal(error: PolicyError) -> str:
    """Which field was rejected, the typed value, and what is allowed."""
    field = field_named(error.field)
    return t(
        "settings.refused",
        field=field_name(error.field),
        value=_refused_value(field, error.value),
        allowed=reason_text(as_typed(error.allowed, field)),
    )


def _refused_value(field: Field | None, value: object) -> str:
    """A rejected value as it was typed."""
    if field is not None and field.kind == "percent" and isinstance(value, float | int):
        return f"{field.shown(value):g} %"
    return str(field.shown(value) if field is not None and isinstance(value, tuple) else value)


def _overrides(target: Target) -> JsonObject:
    own = engine().store.policy(target.scope)
    return dict(own.overrides) if own else {}


def _policy(target: Target, overrides: JsonObject) -> Policy:
    """The policy that would apply with `overrides` in place of the scope's own."""
    wider = [version for version in engine().store.policies(target.parents) if version]
    return merge_layers(wider, overrides, outer=engine().layers).policy


def as_typed(allowed: Reason, field: Field | None) -> Reason:
    """What is allowed, as the input of `field` takes it: percentages, lists as typed."""
    if field is None:
        return allowed
    facts = {name: _typed(fact, field) for name, fact in allowed.facts.items()}
    return Reason(_TYPED.get(allowed.code, allowed.code), facts)


def _typed(fact: Fact, field: Field) -> Fact:
    if isinstance(fact, Reason):
        return as_typed(fact, field)
    if field.kind == "percent" and isinstance(fact, (int, float)):
        return f"{fact * 100:g} %"
    return fact
