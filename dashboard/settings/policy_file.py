"""The view of a policy as a file: YAML to download, and to upload with a preview of its changes."""

from __future__ import annotations

import streamlit as st

from ctxcore.errors import ContextError
from ctxcore.store.values import Scope
from dashboard.codes import GivenError, GivenProblem
from dashboard.policy_saving import save_from_button, show_saved
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.policy_changes import show_changes
from dashboard.settings.scope_choice import pick_scope, saved_text
from dashboard.texts import t
from dashboard.wording import error_text

_PLACE = "settings_file"


def show_policy_file() -> None:
    """Draws the download and the upload for one scope."""
    show_saved(_PLACE, saved_text)
    scope = pick_scope("settings_file_scope")
    _download(scope)
    _upload(scope)


def _download(scope: Scope) -> None:
    whole = st.toggle(t("reports.file.whole"), key="settings_file_whole")
    text = engine().reports.policy_text(scope, whole=whole)
    st.code(text, language="yaml", height=220)
    st.download_button(
        t("reports.file.download"),
        data=text,
        file_name="policy.yaml",
        mime="application/yaml",
        key="settings_file_download",
        icon=":material/download:",
        on_click="ignore",
    )


def _upload(scope: Scope) -> None:
    """Draws what an uploaded file would change; nothing is saved before the button is clicked."""
    st.subheader(t("reports.file.upload"))
    st.caption(t("reports.file.upload.told"))
    given = st.file_uploader(
        t("reports.file.upload"),
        type=["yaml", "yml"],
        key="settings_file_upload",
        label_visibility="collapsed",
    )
    if given is None:
        return
    try:
        draft = engine().reports.draft(scope, _text(given.getvalue(), given.name), name=given.name)
    except ContextError as error:
        st.error(plain_label(error_text(error), max_chars=2_000), icon=":material/error:")
        return
    if not draft.changes:
        st.info(t("reports.file.same"), icon=":material/check:")
        return
    st.markdown(t("reports.file.preview"))
    show_changes(draft.changes, alt=t("reports.file.preview"))
    st.button(
        t("reports.file.save"),
        key="settings_file_save",
        type="primary",
        icon=":material/save:",
        on_click=save_from_button,
        args=(scope, draft.after, _PLACE),
    )


def _text(data: bytes, name: str) -> str:
    """The text of a file.

    Raises:
        GivenError: it is no UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GivenError(GivenProblem.NO_TEXT(name=name)) from error
