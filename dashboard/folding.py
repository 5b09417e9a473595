"""Owns listing the messages that a compaction would fold, one short line each."""

from __future__ import annotations

from collections.abc import Sequence

from ctxcore.store.protocol import SessionStore
from dashboard.safe_markdown import plain_label
from dashboard.texts import t

MOST_LINES = 200


def folded_lines(
    store: SessionStore, session_id: str, places: Sequence[int], *, most: int = MOST_LINES
) -> list[str]:
    """The first of the messages at `places` (from 0), and how many more there are."""
    shown = sorted(places)[:most]
    if not shown:
        return []
    wanted = set(shown)
    lines = [
        f"{info.seq}\\. **{t(f'chat.role.{info.message.role}')}** "
        f"{plain_label(info.message.text or t('chat.no_words'), max_chars=140)}"
        for info in store.messages(session_id, shown[0] + 1, shown[-1] + 1)
        if info.seq - 1 in wanted
    ]
    more = len(places) - len(shown)
    return [*lines, t("compact.more_folded", count=more)] if more else lines
