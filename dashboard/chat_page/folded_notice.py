"""Says at the bottom of the page that older messages were folded by themselves, with a way back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.reasons.codes import TriggerCode
from ctxcore.store.values import CompactionInfo, SessionInfo, TurnInfo
from dashboard.addresses import place_link
from dashboard.chat_page.actions import PROBLEM
from dashboard.compaction_dialog import undo_compaction
from dashboard.texts import t
from dashboard.widgets import draw_nothing, report_errors


def folded_by_itself(
    compactions: Sequence[CompactionInfo], active_id: str | None, turn: TurnInfo | None
) -> CompactionInfo | None:
    """The active compaction, if no person asked for it and it was made since `turn` began."""
    active = next((info for info in compactions if info.id == active_id), None)
    if active is None or turn is None or active.created_at < turn.started_at:
        return None
    trigger = active.compaction.trigger
    is_automatic = trigger is not None and trigger.code != TriggerCode.ASKED
    return active if is_automatic else None


def draw_notice(session: SessionInfo, info: CompactionInfo | None, *, is_disabled: bool) -> None:
    """Draws the notice of `info`, the compaction that was made by itself."""
    if info is None:
        draw_nothing()
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="chat_folded"):
        count = f"{info.compaction.covered_messages:,}"
        st.markdown(f":material/compress: {t('chat.folded', count=count)}", width="content")
        label = t("chat.folded.see")
        place_link(
            session.id, "compaction", info.number, label=label, icon=":material/arrow_forward:"
        )
        st.button(
            t("common.undo"),
            key="chat_folded_undo",
            icon=":material/undo:",
            type="tertiary",
            disabled=is_disabled,
            on_click=_undo,
            args=(session.id,),
        )


@report_errors(PROBLEM)
def _undo(session_id: str) -> None:
    undo_compaction(session_id)
