"""Draws an input for a policy field, and renders its value as text.

The value is written to the session state before each draw; the input holds no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from ctxcore.policy.fields import fields_of
from ctxcore.policy.markers import GROUPS, GroupName
from ctxcore.policy.values import Policy
from dashboard import numbers
from dashboard.selection import current_session
from dashboard.services import default_model, engine
from dashboard.settings.fields import NUMBERS, Field, Shown, field_named
from dashboard.texts import has_text, t
from dashboard.widgets import show_value
from dashboard.wording import name_text

OnChange = Callable[..., None]

PROSE_HEIGHT = 122  # pixels; chosen: four lines
_FRACTIONAL = ("percent", "number")


def field_name(name: str) -> str:
    """The name of a field; the English one is in its declaration."""
    declared = fields_of(Policy).get(name)
    return _text(f"settings.field.{name}", declared.label if declared else name)


def field_help(name: str) -> str:
    """What a field does; the English text is in its declaration."""
    return _text(f"settings.field.{name}.help", fields_of(Policy)[name].help)


def group_name(group: GroupName) -> str:
    """The name of a group of fields."""
    return _text(f"settings.group.{group}", GROUPS[group])


def _text(key: str, english: str) -> str:
    return t(key) if has_text(key) else english


def preset_name(name: str) -> str:
    """The name of a preset."""
    key = f"settings.preset.{name}"
    return t(key) if has_text(key) else name


def preset_line(name: str) -> str:
    """The name of a preset with what it does."""
    key = f"settings.preset.{name}.told"
    return f"{preset_name(name)} – {t(key)}" if has_text(key) else preset_name(name)


def value_text(name: str, value: object) -> str:
    """The value of a field as text."""
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
    return name_text(f"settings.choice.{name}", str(shown)) if field.choices else str(shown)


def draw_input(
    field: Field,
    value: object,
    *,
    key: str,
    on_change: OnChange,
    args: Sequence[object],
    disabled: bool = False,
) -> None:
    """Draws the input of a field with `value` in it."""
    shown = field.shown(value)
    common: dict[str, Any] = {
        "label": field_name(field.name),
        "key": key,
        "help": field_help(field.name),
        "on_change": on_change,
        "args": tuple(args),
    }
    none = t("settings.none") if field.is_optional else None
    if field.kind in NUMBERS:
        draw_number(field, value, disabled=disabled, placeholder=none, **common)
        return
    is_chosen = field.kind in ("switch", "choice", "model")
    show_value(key, shown if is_chosen else str(shown or ""))
    if field.kind == "switch":
        st.toggle(**common)
    elif field.kind == "choice":
        st.selectbox(
            options=field.choices,
            index=None if field.is_optional else 0,
            placeholder=none,
            format_func=lambda choice: name_text(f"settings.choice.{field.name}", choice),
            **common,
        )
    elif field.kind == "model":
        _model_input(shown, common)
    elif field.kind == "prose":
        st.text_area(height=PROSE_HEIGHT, placeholder=t("settings.none"), **common)
    else:
        st.text_input(placeholder=t("settings.none"), **common)


def draw_number(
    field: Field,
    value: object,
    *,
    label: str,
    key: str,
    on_change: OnChange,
    args: Sequence[object],
    help: str | None = None,
    disabled: bool = False,
    placeholder: str | None = None,
) -> None:
    """Draws a number in the unit of a field with `value` in it; it may be empty."""
    shown, is_fractional = field.shown(value), field.kind in _FRACTIONAL
    show_value(key, float(shown) if is_fractional and shown is not None else shown)
    st.number_input(
        label,
        value=None,  # so that it can be cleared
        step=1.0 if is_fractional else 1,
        format="%.1f" if is_fractional else "%d",
        key=key,
        help=help,
        disabled=disabled,
        placeholder=placeholder,
        on_change=on_change,
        args=tuple(args),
    )


def _model_input(shown: Shown, common: dict[str, Any]) -> None:
    """Offers the connected models and any typed name; empty means no model."""
    known = [
        default_model(),
        *(connection.model for connection in engine().models().connections),
        *([str(shown)] if shown else []),
    ]
    st.selectbox(
        options=list(dict.fromkeys(known)),
        index=None,
        placeholder=t("settings.none"),
        accept_new_options=True,
        **common,
    )


def pick_model(
    key: str,
    *,
    also: Iterable[str] = (),
    help: str | None = None,
) -> str:
    """Draws the choice of a model: the session's, the default, connections, and `also`."""
    session = current_session()
    known = dict.fromkeys(
        [
            (session.model if session else None) or default_model(),
            default_model(),
            *(connection.model for connection in engine().models().connections),
            *also,
        ]
    )
    chosen = st.selectbox(
        t("settings.model"), list(known), key=key, accept_new_options=True, help=help
    )
    return str(chosen or default_model())
