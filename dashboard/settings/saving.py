"""Callbacks that save thresholds; the library validates every value again.

A value equal to the inherited one is not saved, so that it follows later changes of wider scopes.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.policies import merge_layers
from ctxcore.errors import ContextError, PolicyError
from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import to_field
from ctxcore.policy.values import Policy
from ctxcore.reasons.codes import AllowedCode
from ctxcore.reasons.values import Fact, Reason
from dashboard.codes import TypedCode
from dashboard.services import engine
from dashboard.settings.fields import AUTOMATIC, NEVER, Field, Shown, field_named
from dashboard.settings.inputs import field_name
from dashboard.settings.scopes import Target, changed, without
from dashboard.texts import t
from dashboard.wording import error_text, reason_text

PROBLEM = "settings_problem"

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
    try:
        value = field.stored(shown)
    except ValueError:
        value = str(shown)
    fields_of(Policy)[field.name].check(to_field(value))
    return value


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


def _save(target: Target, overrides: JsonObject) -> None:
    if overrides == _overrides(target):
        return
    try:
        _policy(target, overrides)
        engine().save_policy(target.scope, overrides)
    except PolicyError as error:
        st.session_state[PROBLEM] = refusal(error)
    except ContextError as error:
        st.session_state[PROBLEM] = error_text(error)
    else:
        st.toast(t("settings.saved"), icon=":material/check:")


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
