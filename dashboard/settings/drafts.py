"""Values that are typed but not saved: what they would make of a scope's own settings.

Pure functions, but for the place of the drafts in the session state. A draft has only the fields
that were typed, so that what others save meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import streamlit as st

from ctxcore.messages.values import JsonObject, JsonValue
from ctxcore.policy.values import Policy
from ctxcore.store.values import Scope
from dashboard.settings.fields import Field, field_named

MAIN: Final = ("reserve", "trigger", "target", "recent", "tools")
"""The five values of the bar, in its order."""
_FIELDS: Final = {
    "reserve": ("reserve_tokens",),
    "trigger": ("upper_tokens", "trigger_ratio"),
    "target": ("lower_tokens", "target_ratio"),
    "recent": ("recent_history_ratio", "recent_ratio"),
    "tools": ("shorten_over_tokens",),
}
"""The fields behind each: the first that the policy sets counts, else the last."""
_STATE: Final = "settings_draft"

Draft: TypeAlias = Mapping[str, tuple[JsonValue, ...]]
"""The typed values by field, as JSON, each in a tuple; an empty one: the field is to inherit."""


def main_fields(policy: Policy) -> dict[str, Field]:
    """The field behind each of the five values under `policy`."""
    found = {name: _field(names, policy) for name, names in _FIELDS.items()}
    return {name: field for name, field in found.items() if field is not None}


def _field(names: tuple[str, ...], policy: Policy) -> Field | None:
    chosen = next((name for name in names if getattr(policy, name) is not None), names[-1])
    return field_named(chosen)


def with_draft(overrides: JsonObject, draft: Draft) -> JsonObject:
    """A scope's own settings with the typed values; a field that inherits leaves them."""
    rest = {name: value for name, value in overrides.items() if name not in draft}
    return rest | {name: value for name, typed in draft.items() for value in typed}


def draft_of(scope: Scope) -> Draft:
    """What is typed for a scope and not saved."""
    found = st.session_state.get(_STATE, {}).get(scope, {})
    return dict(found)


def keep_draft(scope: Scope, draft: Draft) -> None:
    """Keeps what is typed for a scope; an empty draft is forgotten."""
    kept = {**st.session_state.get(_STATE, {}), scope: dict(draft)}
    st.session_state[_STATE] = {one: typed for one, typed in kept.items() if typed}
