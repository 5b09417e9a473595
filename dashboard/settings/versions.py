"""Owns the list of what a scope saved before, each with a way back to it."""

from __future__ import annotations

import streamlit as st

from ctxcore.messages.values import JsonObject
from ctxcore.store.values import PolicyVersion, Scope
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings import saving
from dashboard.settings.inputs import field_name, value_text
from dashboard.settings.scopes import Target
from dashboard.texts import t

SHOWN_VERSIONS = 20


def show_versions(scope: Scope, own: PolicyVersion | None) -> None:
    """The versions of a scope, newest first."""
    versions = engine().store.policy_versions(scope)
    with st.expander(t("settings.versions", count=len(versions)), key="settings_versions"):
        if not versions:
            st.caption(t("settings.versions.none"))
        for version in versions[:SHOWN_VERSIONS]:
            _version(version, is_current=own is not None and version.id == own.id)


def _version(version: PolicyVersion, *, is_current: bool) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", key=f"settings_version_{version.id}"
    ):
        st.markdown(
            t(
                "settings.version",
                number=version.version,
                at=f"{version.created_at:%Y-%m-%d %H:%M}",
                by=plain_label(version.created_by),
                changes=plain_label(_changes(version.overrides), max_chars=300),
            )
        )
        st.button(
            t("settings.version.current") if is_current else t("settings.version.restore"),
            key=f"settings_restore_{version.id}",
            disabled=is_current,
            on_click=saving.restore,
            args=(Target(scope=version.scope, parents=()), version.overrides),
        )


def _changes(overrides: JsonObject) -> str:
    if not overrides:
        return t("settings.version.nothing")
    return ", ".join(
        f"{field_name(name)} = {value_text(name, value)}" for name, value in overrides.items()
    )
