"""Draws what a past call was sent: its messages, the texts that no message holds, the verdict.

Long texts are drawn a part at a time, in code blocks only, so nothing in them is read as markup.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.requests import RebuiltMessage, RebuiltPart, RebuiltRequest
from ctxcore.messages.values import JsonObject
from ctxcore.store.values import CallInfo, SessionInfo
from dashboard import numbers
from dashboard.excerpts import excerpt
from dashboard.reads import call_request
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.widgets import Row, plain_table
from dashboard.wording import reason_sentence, reason_text, strategy_label

PART_CHARS = 6_000  # chosen: a part is drawn without delay, and most messages are one


def show_request(session: SessionInfo, calls: Sequence[CallInfo], *, place: str = "usage") -> None:
    """Draws the request of one of `calls` once its section is opened.

    `place` tells two of them on a page apart.
    """
    key = f"{place}_request_{calls[0].id}"
    with st.expander(
        t("usage.request"), key=key, icon=":material/outbox:", on_change="rerun"
    ) as it:
        if not it.open:
            return
        number = st.selectbox(
            t("usage.request.choose"),
            range(len(calls), 0, -1),
            format_func=lambda number: f"{number} · {_purpose(calls[number - 1])}",
            key=f"{key}_call",
        )
        _request(call_request(session, calls[(number or len(calls)) - 1].id), place)


def _purpose(call: CallInfo) -> str:
    return t(f"usage.purpose.{'summary' if call.purpose == 'summary' else 'answer'}")


def _request(request: RebuiltRequest, place: str) -> None:
    _verdict(request)
    st.caption(_limits(request))
    _knowledge(request)
    if not request.messages:
        return
    rows = [_row(number, made) for number, made in enumerate(request.messages, start=1)]
    plain_table(rows, alt=t("usage.request.messages"))
    _message(request, place)
    _tools(request, place)
    st.download_button(
        t("usage.request.download"),
        data=lambda: to_json(request),
        file_name=f"call_{request.call.id}.json",
        mime="application/json",
        key=f"{place}_request_json_{request.call.id}",
        icon=":material/download:",
        on_click="ignore",
    )


def to_json(request: RebuiltRequest) -> bytes:
    """The request as a file."""
    return json.dumps(request.to_dict(), ensure_ascii=False, indent=1).encode()


def _verdict(request: RebuiltRequest) -> None:
    text = plain_label(reason_sentence(request.verdict), max_chars=400)
    if request.is_identical:
        st.success(text, icon=":material/check_circle:")
    elif request.is_rebuilt:
        st.warning(text, icon=":material/difference:")
    else:
        st.info(text, icon=":material/help:")


def _limits(request: RebuiltRequest) -> str:
    """Model, limit, counter and version, as far as they are known."""
    call, limit = request.call, request.max_output_tokens
    facts = [
        t("usage.request.model", model=plain_label(request.model or t("common.unknown"))),
        limit and t("usage.request.limit", tokens=numbers.tokens(limit)),
        call.counter_id and t("usage.request.counter", name=plain_label(call.counter_id)),
        call.count_factor and t("usage.request.factor", factor=f"{call.count_factor:g}"),
        request.library and t("usage.request.library", version=plain_label(request.library)),
        call.digest and t("usage.request.digest", digest=call.digest[:16]),
    ]
    return " · ".join(fact for fact in facts if fact)


def _knowledge(request: RebuiltRequest) -> None:
    """Draws what knowledge made this call do, if anything."""
    if request.knowledge_outcome is None:
        return
    told = [reason_text(request.knowledge_trigger), reason_text(request.knowledge_outcome)]
    if request.knowledge_strategies:
        told.append(strategy_label(*request.knowledge_strategies))
    st.caption(plain_label(" · ".join(filter(None, told)), max_chars=400))


def _row(number: int, made: RebuiltMessage) -> Row:
    verdicts = dict.fromkeys(part.verdict for part in made.parts if part.verdict)
    reasons = dict.fromkeys(reason_text(part.reason) for part in made.parts if part.reason)
    return {
        t("usage.request.number"): number,
        t("usage.request.role"): _role(made.message),
        t("common.tokens"): made.tokens,
        t("usage.request.made_of"): " + ".join(map(_part, made.parts)),
        t("usage.request.own"): t("usage.request.own.mark") if _has_own(made) else "",
        t("usage.verdict"): ", ".join(t(f"usage.verdict.{verdict}") for verdict in verdicts),
        t("usage.reason"): ", ".join(reasons),
        t("usage.said"): excerpt(_text(made.message)),
    }


def _role(message: JsonObject) -> str:
    return str(message.get("role", ""))


def _has_own(made: RebuiltMessage) -> bool:
    return any(part.is_own for part in made.parts)


def _part(part: RebuiltPart) -> str:
    """A message of the history by its number, or the name of another text's segment."""
    if part.at is not None:
        return f"#{part.at + 1}"
    return t(f"common.segment.{part.segment}")


def _text(message: JsonObject) -> str:
    """The words of a message, or all of it as JSON where it has more than words."""
    content = message.get("content")
    if isinstance(content, str) and not message.get("tool_calls"):
        return content
    return json.dumps(message, ensure_ascii=False, indent=1)


def _message(request: RebuiltRequest, place: str) -> None:
    """Draws one message whole, a part at a time."""
    messages, key = request.messages, f"{place}_request_message_{request.call.id}"
    chosen = st.selectbox(
        t("usage.request.message"),
        range(1, len(messages) + 1),
        index=(request.differs_at or 0),
        format_func=lambda number: f"{number} · {_role(messages[number - 1].message)}",
        key=key,
    )
    text = _text(messages[(chosen or 1) - 1].message)
    parts = max(1, -(-len(text) // PART_CHARS))
    part = 1
    if parts > 1:
        label = t("usage.request.part", count=parts)
        part = int(st.number_input(label, 1, parts, key=f"{key}_part_{chosen}"))
    shown = text[(part - 1) * PART_CHARS : part * PART_CHARS]
    st.code(shown, language=None, wrap_lines=True)


def _tools(request: RebuiltRequest, place: str) -> None:
    if not request.tools:
        st.caption(t("usage.request.no_tools"))
        return
    label = t("usage.request.tools", count=len(request.tools))
    key = f"{place}_request_tools_{request.call.id}"
    with st.expander(label, key=key, on_change="rerun") as it:
        if it.open:
            text = json.dumps(list(request.tools), ensure_ascii=False, indent=1)
            st.code(text[:PART_CHARS], language="json", wrap_lines=True)
            if len(text) > PART_CHARS:
                st.caption(t("usage.request.more"))
