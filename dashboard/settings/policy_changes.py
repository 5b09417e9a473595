"""Draws the fields that a change of a policy sets, with their values before and after."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.policy.changes import FieldChange
from dashboard.settings.inputs import field_name, value_text
from dashboard.texts import t
from dashboard.widgets import Row, plain_table


def show_changes(changes: Sequence[FieldChange], *, alt: str) -> None:
    """Draws the fields that would change."""
    plain_table([change_row(change) for change in changes], alt=alt)


def change_row(change: FieldChange) -> Row:
    """What a field was, and what it becomes."""
    return {
        t("settings.deviations.field"): field_name(change.field),
        t("reports.before"): change_text(change, is_after=False),
        t("reports.after"): change_text(change, is_after=True),
    }


def change_text(change: FieldChange, *, is_after: bool) -> str:
    """The value of a field before or after; one that is not set is inherited."""
    is_set, value = (change.is_set, change.after) if is_after else (change.was_set, change.before)
    return value_text(change.field, value) if is_set else t("reports.inherited")
