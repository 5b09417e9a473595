"""Draws a request in the form of each provider, and what a provider would refuse in it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from ctxcore.assembly.legality import PROVIDERS, lint
from ctxcore.assembly.rules.values import Violation
from ctxcore.engine.requests import RebuiltRequest
from ctxcore.messages.shapes.bodies import body_of
from ctxcore.messages.shapes.reading import parse_messages
from ctxcore.messages.shapes.values import SHAPES, Shape
from ctxcore.tokens.families import Provider
from dashboard.call_view.messages import show_parts
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.widgets import plain_table
from dashboard.wording import reason_text

_NAMES: dict[Provider, str] = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "bedrock": "Bedrock",
}
_SHAPE_NAMES: dict[Shape, str] = {
    "openai": "OpenAI Chat Completions",
    "anthropic": "Anthropic Messages",
    "responses": "OpenAI Responses",
    "gemini": "Gemini",
}
_MOST_VIOLATIONS = 50  # chosen: a glance; a request has none unless a rule of one's own is broken


def show_forms(request: RebuiltRequest, key: str) -> None:
    """Draws which providers accept a request, and its messages in the form of one."""
    messages = [made.message for made in request.messages]
    _legality({name: lint(messages, name, tools=request.tools) for name in PROVIDERS})
    shape = st.segmented_control(
        t("usage.request.form"),
        SHAPES,
        default=SHAPES[0],
        required=True,
        format_func=_SHAPE_NAMES.__getitem__,
        label_visibility="collapsed",
        key=f"{key}_form",
    )
    body = body_of(parse_messages(messages), shape)
    text = json.dumps(body, ensure_ascii=False, indent=1)
    show_parts(text, key=f"{key}_body_{shape}", language="json")
    st.caption(t("usage.request.form.told"))


def _legality(found: dict[Provider, list[Violation]]) -> None:
    """A chip for each provider; what would be refused stands below."""
    with st.container(horizontal=True):
        for name, violations in found.items():
            label = _NAMES[name]
            if violations:
                count = f"{len(violations):,}"
                text = t("usage.request.refused", provider=label, count=count)
                st.badge(text, icon=":material/block:", color="red")
            else:
                text = t("usage.request.accepted", provider=label)
                st.badge(text, icon=":material/check:", color="green")
    rows = [
        {
            t("usage.request.provider"): _NAMES[name],
            t("usage.request.number"): None if one.at is None else one.at + 1,
            t("usage.reason"): plain_label(reason_text(one.reason), max_chars=300),
        }
        for name, violations in found.items()
        for one in _first(violations)
    ]
    if rows:
        plain_table(rows, alt=t("usage.request.refusals"))


def _first(violations: Sequence[Violation]) -> Sequence[Violation]:
    return violations[:_MOST_VIOLATIONS]
