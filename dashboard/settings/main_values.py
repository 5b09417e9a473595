"""Draws the five values that matter most on the bar of the window, with what they would do.

Typing redraws the bar and says what becomes of the current session; nothing is saved before *Save*,
and *Undo* takes a save back.
"""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from ctxcore.assembly.verdicts import Breakdown, make_breakdown
from ctxcore.budget import TokenBudget
from ctxcore.engine.foreseeing import Foreseen
from ctxcore.errors import BudgetError
from dashboard import numbers
from dashboard.reads import foreseen
from dashboard.safe_markdown import plain_label
from dashboard.selection import session_title
from dashboard.settings import saving
from dashboard.settings.drafts import main_fields
from dashboard.settings.fields import Field
from dashboard.settings.form import Form, draw_source, field_source
from dashboard.settings.inputs import field_help, field_name
from dashboard.slow_reads import read_slowly
from dashboard.texts import about, language, t
from dashboard.widgets import show_problem, show_value
from dashboard.window_chart import window_bar
from dashboard.window_panel import segment_label
from dashboard.wording import error_text


def show_main(form: Form) -> None:
    """Draws the bar, what the values do, the five inputs and the buttons that save them."""
    foreseen, problem = _foreseen(form)
    with st.container(border=True, key="settings_main"):
        bar = window_bar(_breakdown(form, foreseen), form.typed_budget, segment_label)
        if bar:
            st.html(bar)
        st.markdown("\n\n".join(_sentences(form)))
        if problem:
            _does_not_fit(problem)
        if foreseen is not None and form.typed_budget is not None:
            _session(form, foreseen, form.typed_budget)
        _inputs(form)
        show_problem(saving.PROBLEM)
        _buttons(form)


def _foreseen(form: Form) -> tuple[Foreseen | None, str]:
    """The session under the typed values, nothing planned; None without messages, or why not."""
    if form.session is None or not form.session.length:
        return None, ""
    try:
        return foreseen(form.session, form.typed, form.model, plans=False).read(), ""
    except BudgetError as error:  # these values may be what makes it fit
        return None, error_text(error)


def _does_not_fit(problem: str) -> None:
    st.warning(plain_label(problem, max_chars=600), icon=":material/warning:")


def _breakdown(form: Form, foreseen: Foreseen | None) -> Breakdown:
    """What the next call of the session sends; an empty window without a session."""
    if foreseen is not None:
        return foreseen.context.breakdown
    budget = form.typed_budget
    if budget is None:
        return Breakdown()
    return make_breakdown(
        {}, window_tokens=budget.window_tokens, reserve_tokens=budget.reserve_tokens
    )


def _sentences(form: Form) -> Iterator[str]:
    budget, model = form.typed_budget, plain_label(form.model)
    if budget is None:
        yield t("settings.live.unknown", model=model)
        return
    yield _effect(form, budget, model)
    if form.draft and form.budget is not None:
        yield f":gray[{_saved(form, form.budget)}]"


def _session(form: Form, seen: Foreseen, budget: TokenBudget) -> None:
    """Says what would happen to the session; a compaction that is due is planned first."""
    assert form.session is not None  # where it was looked at
    planned: Foreseen | None = seen
    if seen.trigger is not None:
        try:
            planned = read_slowly(
                foreseen(form.session, form.typed, form.model),
                place="settings_foreseen",
                text=t("settings.main.now.planning"),
            )
        except BudgetError as error:
            _does_not_fit(error_text(error))
            return
    if planned is not None:
        title = plain_label(session_title(form.session))
        st.markdown(f":material/arrow_forward: {_now(form, planned, budget, title)}")


def _effect(form: Form, budget: TokenBudget, model: str) -> str:
    """Where a compaction starts, and what it leaves."""
    policy = form.typed
    if not policy.is_automatic:
        return t("settings.live.off", model=model, usable=numbers.tokens(budget.usable_tokens))
    text = t(
        "settings.live",
        model=model,
        trigger=numbers.tokens(budget.trigger_tokens),
        usable=numbers.tokens(budget.usable_tokens),
        share=numbers.percent(budget.trigger_tokens, budget.usable_tokens),
        target=numbers.tokens(budget.target_tokens),
    )
    asks = t("settings.live.confirm") if policy.requires_confirmation else ""
    shadow = t("settings.live.shadow") if policy.is_shadow else ""
    return about(language()).between_sentences.join(filter(None, (text, asks, shadow)))


def _saved(form: Form, budget: TokenBudget) -> str:
    """What holds until the typed values are saved."""
    if not form.policy.is_automatic:
        return t("settings.main.saved_off")
    return t(
        "settings.main.saved",
        trigger=numbers.tokens(budget.trigger_tokens),
        target=numbers.tokens(budget.target_tokens),
    )


def _now(form: Form, foreseen: Foreseen, budget: TokenBudget, title: str) -> str:
    """What would happen to the session before its next call."""
    context, plan = foreseen.context, foreseen.plan
    used = numbers.tokens(context.tokens, is_exact=context.is_exact)
    if foreseen.trigger is None:
        left = budget.trigger_tokens - foreseen.measured_tokens
        if not form.typed.is_automatic or left <= 0:
            return t("settings.main.now.nothing", session=title, used=used)
        return t("settings.main.now.later", session=title, used=used, left=numbers.tokens(left))
    if plan is None:
        return t("settings.main.now.stuck", session=title, used=used)
    return t(
        "settings.main.now.due",
        session=title,
        messages=f"{len(plan.fold):,}",
        shortened=f"{len(plan.shorten):,}",
        used=used,
        after=numbers.tokens(plan.expected_tokens, is_exact=False),
    )


def _inputs(form: Form) -> None:
    fields = main_fields(form.policy)
    for column, (name, field) in zip(st.columns(len(fields)), fields.items(), strict=True):
        with column:
            _input(form, name, field)


def _input(form: Form, name: str, field: Field) -> None:
    """Draws one value; what is refused stays in its field, with what is allowed under it."""
    key = saving.main_key(form.target, field)
    refused = saving.refused(key)
    if refused is None:
        typed = form.draft.get(field.name, (getattr(form.policy, field.name),))
        show_value(key, saving.written(field, *typed) if typed else "")
    st.text_input(
        f"{t(f'settings.main.{name}')} ({t(f'settings.main.unit.{field.kind}')})",
        key=key,
        live=True,
        placeholder=t("settings.main.inherited"),
        help=f"**{field_name(field.name)}**: {field_help(field.name)}",
        disabled=field.name == "trigger_ratio" and not form.policy.is_automatic,
        on_change=saving.draft_field,
        args=(form.target, field, key),
    )
    if refused is not None:
        st.error(plain_label(refused, max_chars=200))
    elif field.name in form.draft:
        st.caption(f":material/edit: {t('settings.main.unsaved')}")
    else:
        draw_source(form, field.name, field_source(form, field))


def _buttons(form: Form) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="settings_main_buttons"):
        st.button(
            t("settings.main.save"),
            key="settings_save",
            type="primary",
            icon=":material/save:",
            on_click=saving.save_draft,  # never disabled: a click right after typing would be lost
            args=(form.target,),
        )
        st.button(
            t("settings.main.discard"),
            key="settings_discard",
            disabled=not form.draft and not saving.has_refused(form.target),
            on_click=saving.discard_draft,
            args=(form.target,),
        )
        st.button(
            t("common.undo"),
            key="settings_undo",
            icon=":material/undo:",
            help=t("settings.main.undo.help"),
            disabled=not saving.can_undo(form.target),
            on_click=saving.undo,
            args=(form.target,),
        )
