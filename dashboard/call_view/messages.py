"""Draws the messages of a request: a row each, and one of them whole, a part at a time.

Texts are drawn in code blocks only, so nothing in them is read as markup.
"""

from __future__ import annotations

import json

import streamlit as st

from ctxcore.engine.requests import RebuiltMessage, RebuiltPart, RebuiltRequest
from ctxcore.trials.values import text_of
from dashboard.excerpts import excerpt
from dashboard.texts import t
from dashboard.widgets import Row, table_with_choice
from dashboard.wording import reason_text

PART_CHARS = 6_000  # chosen: a part is drawn without delay, and most messages are one


def show_messages(request: RebuiltRequest, key: str) -> None:
    """Draws every message of a request in a table, the open one whole, and the tools."""
    _messages(request, f"{key}_message_{request.call.id}")
    _tools(request, key)


def show_parts(text: str, *, key: str, language: str | None = None) -> None:
    """Draws a text; where it is long, the part whose number is chosen."""
    parts, part = max(1, -(-len(text) // PART_CHARS)), 1
    if parts > 1:
        part = int(st.number_input(t("usage.request.part", count=parts), 1, parts, key=key))
    shown = text[(part - 1) * PART_CHARS : part * PART_CHARS]
    st.code(shown, language=language, wrap_lines=True)


def role_of(made: RebuiltMessage) -> str:
    """The role under which a message was sent."""
    return str(made.message.get("role", ""))


def made_of(made: RebuiltMessage) -> str:
    """Messages of the history by their numbers, and the names of other texts."""
    return " + ".join(map(_part, made.parts))


def _part(part: RebuiltPart) -> str:
    return t(f"common.segment.{part.segment}") if part.at is None else f"#{part.at + 1}"


def _row(number: int, made: RebuiltMessage) -> Row:
    verdicts = dict.fromkeys(part.verdict for part in made.parts if part.verdict)
    reasons = dict.fromkeys(reason_text(part.reason) for part in made.parts if part.reason)
    has_own = any(part.is_own for part in made.parts)
    return {
        t("usage.request.number"): number,
        t("usage.request.role"): role_of(made),
        t("common.tokens"): made.tokens,
        t("usage.request.made_of"): made_of(made),
        t("usage.request.own"): t("usage.request.own.mark") if has_own else "",
        t("usage.verdict"): ", ".join(t(f"usage.verdict.{verdict}") for verdict in verdicts),
        t("usage.reason"): ", ".join(reasons),
        t("usage.said"): excerpt(text_of(made.message)),
    }


def _messages(request: RebuiltRequest, key: str) -> None:
    messages = request.messages
    chosen = table_with_choice(
        [_row(number, made) for number, made in enumerate(messages, start=1)],
        [str(at) for at in range(len(messages))],
        key=key,
        alt=t("usage.request.messages"),
        newest=request.differs_at or 0,
    )
    show_parts(text_of(messages[int(chosen)].message), key=f"{key}_part_{chosen}")


def _tools(request: RebuiltRequest, key: str) -> None:
    if not request.tools:
        st.caption(t("usage.request.no_tools"))
        return
    label = t("usage.request.tools", count=len(request.tools))
    key = f"{key}_tools_{request.call.id}"
    with st.expander(label, key=key, on_change="rerun") as it:
        if it.open:
            text = json.dumps(list(request.tools), ensure_ascii=False, indent=1)
            show_parts(text, key=f"{key}_part", language="json")
