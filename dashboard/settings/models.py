"""The view of models: window sizes and prices, from the catalogue or set by this installation.

Prices are shown per million tokens, as providers list them, and stored per token.
"""

from __future__ import annotations

import streamlit as st

from ctxcore.engine.policies import save_figures
from ctxcore.tokens.catalog import ModelInfo, as_of, model_info
from dashboard import numbers
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.settings.inputs import pick_model
from dashboard.texts import t
from dashboard.widgets import Row, plain_table, show_value

WHOLE = ("window_tokens", "max_output_tokens")
PRICES = (
    "input_price",
    "output_price",
    "cache_read_price",
    "cache_write_price",
    "cache_hour_price",
)
MILLION = 1_000_000


def show_figures() -> None:
    """Draws window, output limit and prices of one model."""
    st.caption(t("settings.models.told", date=as_of().isoformat()))
    model = pick_model("settings_figures_model", also=engine().models().overrides)
    own = engine().models().overrides.get(model, {})
    listed = model_info(model)
    may_edit = engine().user().is_operator
    with st.container(key="settings_figures"):
        for names in (WHOLE, PRICES):
            for column, name in zip(st.columns(len(PRICES)), names, strict=False):
                with column:
                    _figure(model, name, own.get(name), listed, may_edit=may_edit)
    st.button(
        t("settings.models.reset"),
        key="settings_figures_reset",
        icon=":material/restart_alt:",
        disabled=not (own and may_edit),
        on_click=_reset,
        args=(model,),
    )
    _overridden()


def _figure(model: str, name: str, own: float | None, listed: ModelInfo, *, may_edit: bool) -> None:
    key = f"settings_figure_{name}"
    scale = 1 if name in WHOLE else MILLION
    value = None if own is None else own * scale
    show_value(key, int(value) if name in WHOLE and value is not None else value)
    st.number_input(
        t(f"settings.figure.{name}"),
        min_value=0 if name in WHOLE else 0.0,
        value=None,
        step=1 if name in WHOLE else 0.01,
        key=key,
        placeholder=_listed(name, listed),
        disabled=not may_edit,
        on_change=_save,
        args=(model, name, key),
    )
    st.caption(
        t("settings.figure.listed", value=_listed(name, listed))
        if own is not None
        else t(f"settings.figure.{_origin(name, listed)}")
    )


def _origin(name: str, listed: ModelInfo) -> str:
    """Where a listed figure comes from."""
    is_assumed = name == "window_tokens" and listed.is_assumed
    return "assumed" if is_assumed else "from_catalogue"


def _listed(name: str, listed: ModelInfo) -> str:
    value: float | None = getattr(listed, name)
    if value is None:
        return t("common.unknown")
    return f"{int(value):,}" if name in WHOLE else numbers.money(value * MILLION)


def _save(model: str, name: str, key: str) -> None:
    if not engine().user().is_operator:
        return
    shown = st.session_state[key]
    own: dict[str, float | None] = dict(engine().models().overrides.get(model, {}))
    if shown is None:
        own[name] = None
    else:
        own[name] = shown if name in WHOLE else shown / MILLION
    if name == "window_tokens" and not own[name]:
        own[name] = None  # a window of 0 cannot be meant
    save_figures(engine().store, model, own)
    st.toast(t("settings.saved"), icon=":material/check:")


def _reset(model: str) -> None:
    if engine().user().is_operator:
        save_figures(engine().store, model, {})


def _overridden() -> None:
    """Draws all models with figures of their own."""
    own = engine().models().overrides
    if not own:
        return
    rows: list[Row] = [
        {
            t("settings.model"): model,
            **{
                t(f"settings.figure.{name}"): figures.get(name)
                if name in WHOLE
                else _per_million(figures.get(name))
                for name in (*WHOLE, *PRICES)
            },
        }
        for model, figures in own.items()
    ]
    st.markdown(f"**{plain_label(t('settings.models.own'))}**")
    plain_table(rows, alt=t("settings.models.own"))


def _per_million(price: float | None) -> str:
    return "" if price is None else numbers.money(price * MILLION)
