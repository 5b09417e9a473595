"""Draws the two sides of a question: what each would send and cost, its answer, what differs."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ctxcore.engine.live_trials import LiveAnswer
from ctxcore.trials.live import LiveMessage, LiveOffer, LiveSide
from dashboard import numbers
from dashboard.call_view.messages import show_parts
from dashboard.chat_page.transcript_view import draw_words
from dashboard.excerpts import excerpt
from dashboard.safe_markdown import plain_label
from dashboard.shown_texts import show_text
from dashboard.texts import t
from dashboard.widgets import Row, choosable_table
from dashboard.wording import reason_sentence


def show_prices(offer: LiveOffer, names: Sequence[str]) -> None:
    """Draws for each side what would be sent and what it costs at most, and the sum."""
    title = plain_label(offer.title or offer.session_id[:6], max_chars=60)
    model = plain_label(offer.model, max_chars=60)
    st.caption(t("lab.live.about", session=title, model=model))
    show_text(offer.question, key="lab_live_question")
    for place, column in enumerate(st.columns(len(offer.sides))):
        with column, st.container(border=True, key=f"lab_live_price_{place}"):
            _price(offer, place, names[place])
    st.markdown(_sum(offer))
    st.caption(t("lab.live.most"))
    if offer.is_window_assumed:
        st.caption(t("lab.window.assumed"))
    if not offer.is_exact:
        st.caption(t("lab.live.estimated"))
    if offer.sendable and offer.is_same:
        st.info(t("lab.live.same"), icon=":material/equal:")


def _price(offer: LiveOffer, place: int, name: str) -> None:
    side = offer.sides[place]
    st.markdown(f"**{plain_label(name, max_chars=60)}**")
    if side.refused is not None:
        text = t("lab.live.refused", reason=reason_sentence(side.refused))
        st.warning(plain_label(text, max_chars=400), icon=":material/block:")
        return
    with st.container(horizontal=True, gap="large"):
        tokens = numbers.tokens(side.tokens, is_exact=offer.is_exact)
        st.metric(t("lab.live.tokens"), tokens, width="content")
        st.metric(t("lab.live.cost"), numbers.money(side.most_cost), width="content")
    st.caption(_parts(side, len(offer.only_in(place))))


def _parts(side: LiveSide, only: int) -> str:
    limit = side.max_output_tokens
    told = t("lab.live.limit", tokens=f"{limit:,}") if limit else t("lab.live.no_limit")
    return f"{t('lab.live.messages', count=len(side.messages), only=only)} · {told}"


def _sum(offer: LiveOffer) -> str:
    """What all sides that fit cost at most, or why that is not known."""
    if not offer.sendable:
        return t("lab.live.none_fits")
    if offer.price is None:
        return t("lab.live.no_price", model=plain_label(offer.model, max_chars=60))
    if offer.most_cost is None:
        return t("lab.live.open_price")
    cost = plain_label(numbers.money(offer.most_cost))
    return t("lab.live.sum", count=len(offer.sendable), cost=cost)


def show_answers(answers: Sequence[LiveAnswer | None], names: Sequence[str]) -> None:
    """Draws the answers side by side."""
    columns = st.columns(len(answers))
    for place, (column, answer) in enumerate(zip(columns, answers, strict=True)):
        with column, st.container(border=True, key=f"lab_live_answer_{place}"):
            st.markdown(f"**{plain_label(names[place], max_chars=60)}**")
            if answer is None:
                st.caption(t("lab.live.not_sent"))
            else:
                _answer(answer, key=f"lab_live_words_{place}")


def _answer(answer: LiveAnswer, *, key: str) -> None:
    if answer.error is not None:
        text = t("lab.live.failed", reason=reason_sentence(answer.error))
        st.error(plain_label(text, max_chars=500), icon=":material/error:")
    if answer.error is None or answer.text:
        draw_words(answer.message, key=key)
    for call in answer.calls:
        st.caption(t("lab.live.call", tool=plain_label(call.name)))
        st.code(excerpt(call.arguments, 400), language="json", wrap_lines=True)
    if answer.is_cut:
        st.caption(f":material/content_cut: {t('lab.live.cut')}")
    if answer.error is None:
        st.caption(_figures(answer))


def _figures(answer: LiveAnswer) -> str:
    usage = answer.usage
    facts = {
        "input": numbers.tokens(usage.input_tokens),
        "cached": numbers.tokens(usage.cached_tokens),
        "output": numbers.tokens(usage.output_tokens),
        "cost": plain_label(numbers.money(answer.cost)),
        "first": _seconds(answer.first_token_seconds),
        "all": _seconds(answer.seconds),
    }
    return t("lab.live.figures", **facts)


def _seconds(value: float | None) -> str:
    if value is None:
        return t("common.unknown")
    return f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"


def show_differences(offer: LiveOffer, names: Sequence[str], *, key: str) -> None:
    """Draws the messages that only one side sends, and the selected one whole."""
    found = [(place, one) for place in range(len(offer.sides)) for one in offer.only_in(place)]
    if not found or len(offer.sendable) < len(offer.sides):
        return
    with st.expander(t("lab.live.differs", count=len(found)), key=f"{key}_box"):
        rows = [_row(names[place], one) for place, one in found]
        opened = choosable_table(rows, key=key, alt=t("lab.live.differs", count=len(found)))
        if opened is None:
            st.caption(t("lab.live.select"))
        else:
            show_parts(found[opened][1].text, key=f"{key}_part_{opened}")


def _row(name: str, one: LiveMessage) -> Row:
    places = one.places
    own = t("usage.request.own.mark")
    shown = f"#{places[0]}–{places[-1]}" if len(places) > 1 else f"#{places[0]}" if places else own
    return {
        t("lab.live.only"): name,
        t("usage.request.role"): one.role,
        t("common.tokens"): one.tokens,
        t("usage.request.made_of"): shown,
        t("usage.said"): excerpt(one.text),
    }
