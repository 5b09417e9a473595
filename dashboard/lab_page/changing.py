"""The editor of changed fields: finds them, draws an input for each, and a range for numbers.

What was typed stays as it was typed; where it is not allowed, the reason stands under its field.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Final, TypeAlias

import streamlit as st

from ctxcore.errors import ContextError, PolicyError
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.policy.fields import fields_of
from ctxcore.policy.layers import to_field, to_json
from ctxcore.policy.values import Policy
from ctxcore.settings.assignments import Choice, combinations, parse_choice
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.fields import FIELDS, NUMBERS, PRESET_FIELDS, Field
from dashboard.settings.inputs import draw_input, draw_number, field_name, value_text
from dashboard.settings.saving import refusal, typed_or_text
from dashboard.settings.searching import found_fields
from dashboard.texts import t
from dashboard.wording import error_text

_FIRST: Final = ("trigger_ratio", "target_ratio", "recent_ratio", "shorten_over_tokens")
_PICKED, _TYPED = "lab_changed_fields", "lab_changed_values"

Part: TypeAlias = str
"""What is typed for a field: its value, the end of a range (`to`), or its `step`."""


def show_changing(session_ids: Sequence[str]) -> list[JsonObject] | None:
    """Draws the editor; returns the overrides to try, None where one is not allowed.

    A field starts with the value that the first session has today.
    """
    today = engine().policy(session_ids[0]).policy if session_ids else Policy()
    choices: list[Choice] = []
    is_refused = False
    for field in _picked(today):
        try:
            choices.append(_field(field, getattr(today, field.name)))
        except ContextError as error:
            st.error(plain_label(_refusal(error), max_chars=300), icon=":material/error:")
            is_refused = True
    try:
        return None if is_refused else combinations(choices)
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=300), icon=":material/error:")
        return None


def _refusal(error: ContextError) -> str:
    return refusal(error) if isinstance(error, PolicyError) else error_text(error)


def choice_of(
    field: Field, value: JsonValue, to: JsonValue = None, step: JsonValue = None
) -> Choice:
    """A field with the values that it is tried with.

    Raises:
        PolicyError: one of them is not allowed.
        TrialError: they do not rise, or are more than can be tried.
    """
    fields_of(Policy)[field.name].check(to_field(value))
    if to is None or value is None:
        return field.name, [value]
    by = "" if step is None else f":{_plain(step)}"
    return parse_choice(f"{field.name}={_plain(value)}..{_plain(to)}{by}")


def _plain(number: JsonValue) -> str:
    """A number without an exponent."""
    return f"{Decimal(str(number)):f}"


def _picked(today: Policy) -> list[Field]:
    """Draws the search and the choice of fields; returns those that are chosen."""
    fields = {field.name: field for field in (*FIELDS, *PRESET_FIELDS)}
    search, chosen = st.columns([1, 2], vertical_alignment="bottom")
    query = search.text_input(
        t("lab.change.search"),
        key="lab_field_search",
        type="search",
        placeholder=t("settings.search.hint", count=len(fields)),
        live=True,
    )
    known = st.session_state.get(_PICKED, [])
    found = found_fields(
        [*fields.values()], query or "", lambda name: value_text(name, getattr(today, name))
    )
    ordered = sorted((one.name for one in found), key=lambda name: name not in _FIRST)
    st.session_state["lab_fields"] = known
    chosen.multiselect(
        t("lab.change"),
        list(dict.fromkeys([*known, *ordered])),
        format_func=field_name,
        key="lab_fields",
        placeholder=t("settings.assign.fields.hint"),
        help=t("lab.change.help"),
        on_change=_pick,
    )
    return [fields[name] for name in known]


def _pick() -> None:
    st.session_state[_PICKED] = list(st.session_state["lab_fields"])


def _field(field: Field, today: object) -> Choice:
    """Draws a field, for numbers with the end and the step of a range."""
    drafts = st.session_state.get(_TYPED, {})
    value = drafts.get((field.name, "value"), today)
    if field.kind not in NUMBERS:
        _input(field, "value", value)
        return choice_of(field, to_json(value))
    columns = st.columns([4, 2, 2], vertical_alignment="bottom")
    to, step = drafts.get((field.name, "to")), drafts.get((field.name, "step"))
    with columns[0]:
        _input(field, "value", value)
    for column, part, known in zip(columns[1:], ("to", "step"), (to, step), strict=True):
        with column:
            draw_number(
                field,
                known,
                label=t(f"lab.change.{part}"),
                key=_key(field, part),
                on_change=_typed,
                args=(field, part),
                disabled=part == "step" and to is None,
            )
    return choice_of(field, to_json(value), to, step)


def _input(field: Field, part: Part, value: object) -> None:
    key = _key(field, part)
    draw_input(field, value, key=key, on_change=_typed, args=(field, part))


def _typed(field: Field, part: Part) -> None:
    """Keeps what was typed, whether it is allowed or not."""
    value = typed_or_text(field, st.session_state[_key(field, part)])
    drafts = {**st.session_state.get(_TYPED, {}), (field.name, part): to_field(value)}
    st.session_state[_TYPED] = drafts


def _key(field: Field, part: Part) -> str:
    return f"lab_field_{field.name}_{part}"
