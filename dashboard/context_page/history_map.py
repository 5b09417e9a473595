"""Draws the history as cells by what became of it in one call; a click leads to a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from ctxcore.assembly.verdicts import Run, VerdictKind
from ctxcore.store.values import SessionInfo
from dashboard import numbers
from dashboard.addresses import place_link
from dashboard.context_page.cells import Cell, by_verdict, cells_figure, cells_of
from dashboard.texts import t
from dashboard.widgets import CONFIG


def show_map(session: SessionInfo, runs: Sequence[Run], *, key: str, is_exact: bool = True) -> None:
    """Draws the verdicts of a call as a map; under the selected cell stands a link to it."""
    cells = cells_of(runs)
    if not cells:
        return
    kinds = get_args(VerdictKind)
    event = st.plotly_chart(
        cells_figure(
            cells, names={kind: t(f"usage.verdict.{kind}") for kind in kinds}, told=_cell_text
        ),
        key=f"{key}_{session.id}",
        alt=t("context.map.alt"),
        config=dict(CONFIG),
        on_select="rerun",
        selection_mode="points",
    )
    chosen = event.selection.points
    if not chosen:
        size = numbers.tokens(cells[0].tokens, is_exact=is_exact)
        st.caption(t("context.map.told", tokens=size))
        return
    _, places = by_verdict(cells)[int(chosen[0]["curve_number"])]
    cell = cells[places[int(chosen[0]["point_index"])]]
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_chosen"):
        st.caption(_cell_text(cell).replace("<br>", " · "), width="content")
        label = t("common.open_message", seq=f"{cell.first:,}")
        place_link(session.id, "m", cell.first, label=label, icon=":material/chat:")


def _cell_text(cell: Cell) -> str:
    """What a cell stands for: its messages, what became of them, its size."""
    name = "one" if cell.first == cell.last else "several"
    messages = t(f"context.map.{name}", first=f"{cell.first:,}", last=f"{cell.last:,}")
    size = t("chat.size", tokens=numbers.tokens(cell.tokens))
    return "<br>".join((messages, t(f"usage.verdict.{cell.verdict}"), size))
