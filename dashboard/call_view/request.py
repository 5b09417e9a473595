"""Draws what a past call was sent: whether it is known, its messages, forms and changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import streamlit as st

from ctxcore.engine.requests import RebuiltRequest
from ctxcore.store.values import CallInfo, SessionInfo
from dashboard import numbers
from dashboard.call_view.changes import show_changes
from dashboard.call_view.forms import show_forms
from dashboard.call_view.messages import show_messages
from dashboard.reads import call_request
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.wording import reason_sentence, reason_text, strategy_label

_VIEWS: Final[Mapping[str, Callable[[SessionInfo, RebuiltRequest, str], None]]] = {
    "messages": lambda _, request, key: show_messages(request, key),
    "form": lambda _, request, key: show_forms(request, f"{key}_{request.call.id}"),
    "changes": show_changes,
}


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
        _request(session, call_request(session, calls[(number or len(calls)) - 1].id), place)


def _purpose(call: CallInfo) -> str:
    return t(f"usage.purpose.{'summary' if call.purpose == 'summary' else 'answer'}")


def _request(session: SessionInfo, request: RebuiltRequest, place: str) -> None:
    _verdict(request)
    st.caption(_limits(request))
    _knowledge(request)
    if not request.messages:
        return
    key = f"{place}_request"
    view = st.segmented_control(
        t("usage.request.view"),
        tuple(_VIEWS),
        default="messages",
        required=True,
        format_func=lambda name: t(f"usage.request.view.{name}"),
        label_visibility="collapsed",
        key=f"{key}_view_{request.call.id}",
    )
    _VIEWS[view](session, request, key)
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
