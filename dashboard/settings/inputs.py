"""Owns how a threshold is drawn: one input for each kind, and a value in words.

The session state holds what is shown; whoever draws sets it first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ctxcore.policy.fields import fields_of
from ctxcore.policy.markers import GROUPS, GroupName
from ctxcore.policy.values import Policy
from dashboard import numbers
from dashboard.services import default_model, engine
from dashboard.settings.fields import Field, Shown, field_named
from dashboard.texts import has_text, t
from dashboard.wording import words_for

OnChange = Callable[..., None]

_FRACTIONAL = ("percent", "number")


def field_name(name: str) -> str:
    """What a field is called; English stands in its declaration."""
    declared = fields_of(Policy).get(name)
    return _text(f"settings.field.{name}", declared.label if declared else name)


def field_help(name: str) -> str:
    """What a field does; English stands in its declaration."""
    return _text(f"settings.field.{name}.help", fields_of(Policy)[name].help)


def group_name(group: GroupName) -> str:
    """What a group of fields is called."""
    return _text(f"settings.group.{group}", GROUPS[group])


def _text(key: str, english: str) -> str:
    return t(key) if has_text(key) else english


def preset_name(name: str) -> str:
    """What a preset is called."""
    key = f"settings.preset.{name}"
    return t(key) if has_text(key) else name


def preset_line(name: str) -> str:
    """A preset with what it does."""
    key = f"settings.preset.{name}.told"
    return f"{preset_name(name)} – {t(key)}" if has_text(key) else preset_name(name)


def value_text(name: str, value: object) -> str:
    """A field's value as a person reads it."""
    if name == "name":
        return preset_name(str(value))
    field = field_named(name)
    if value is None or value in ("", (), []):
        return t("settings.none")
    if field is None:
        return str(value)
    shown = field.shown(tuple(value) if isinstance(value, list) else value)
    if isinstance(shown, bool):
        return t("settings.yes" if shown else "settings.no")
    if field.kind == "percent":
        return f"{shown:g} %"
    if field.kind == "tokens" and isinstance(shown, int):
        return numbers.tokens(shown)
    return words_for(f"settings.choice.{name}", str(shown)) if field.choices else str(shown)


def draw_input(
    field: Field,
    value: object,
    *,
    key: str,
    on_change: OnChange,
    args: Sequence[object],
    disabled: bool = False,
) -> None:
    """The input of a field, showing `value`."""
    shown = field.shown(value)
    st.session_state[key] = (
        float(shown) if field.kind in _FRACTIONAL and shown is not None else shown
    )
    if field.kind in (*_FRACTIONAL, "tokens", "count"):
        _number(field, key, disabled, on_change, args)
    elif field.kind == "switch":
        _switch(field, key, on_change, args)
    elif field.kind == "choice":
        _choice(field, key, on_change, args)
    elif field.kind == "model":
        _model(field, shown, key, on_change, args)
    else:
        st.session_state[key] = str(shown or "")
        st.text_input(
            field_name(field.name),
            key=key,
            help=field_help(field.name),
            placeholder=t("settings.none"),
            on_change=on_change,
            args=tuple(args),
        )


def _number(
    field: Field, key: str, disabled: bool, on_change: OnChange, args: Sequence[object]
) -> None:
    is_fractional = field.kind in _FRACTIONAL
    st.number_input(
        field_name(field.name),
        value=None if field.is_optional else "min",
        step=1.0 if is_fractional else 1,
        format="%.1f" if is_fractional else "%d",
        key=key,
        help=field_help(field.name),
        disabled=disabled,
        placeholder=t("settings.none") if field.is_optional else None,
        on_change=on_change,
        args=tuple(args),
    )


def _switch(field: Field, key: str, on_change: OnChange, args: Sequence[object]) -> None:
    st.toggle(
        field_name(field.name),
        key=key,
        help=field_help(field.name),
        on_change=on_change,
        args=tuple(args),
    )


def _choice(field: Field, key: str, on_change: OnChange, args: Sequence[object]) -> None:
    st.selectbox(
        field_name(field.name),
        field.choices,
        index=None if field.is_optional else 0,
        placeholder=t("settings.none") if field.is_optional else None,
        format_func=lambda choice: words_for(f"settings.choice.{field.name}", choice),
        key=key,
        help=field_help(field.name),
        on_change=on_change,
        args=tuple(args),
    )


def _model(
    field: Field, shown: Shown, key: str, on_change: OnChange, args: Sequence[object]
) -> None:
    """Models that are reached here, or any name that is typed; none leaves it to the library."""
    known = [default_model(), *(one.model for one in engine().models().connections)]
    st.selectbox(
        field_name(field.name),
        list(dict.fromkeys([*known, *([str(shown)] if shown else [])])),
        index=None,
        key=key,
        help=field_help(field.name),
        placeholder=t("settings.none"),
        accept_new_options=True,
        on_change=on_change,
        args=tuple(args),
    )
