"""Elements that several pages draw: charts with their numbers, tables, problems, summaries.

A row of a table opens by a click or by the arrow keys; no list repeats the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias, TypedDict, cast

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from ctxcore.assembly.verdicts import Run
from ctxcore.csv_text import to_csv
from ctxcore.errors import ContextError
from ctxcore.reasons.values import Reason
from dashboard.addresses import place_link
from dashboard.safe_markdown import marked_text, plain_label, with_line_breaks
from dashboard.shown_texts import show_text
from dashboard.texts import t
from dashboard.wording import error_text, reason_text

Row = Mapping[str, object]


class Selection(TypedDict):
    """What is selected in a table: rows by place, cells by place and column."""

    rows: list[int]
    columns: list[str]
    cells: list[tuple[int, str]]


class TableState(TypedDict):
    """The session state of a table."""

    selection: Selection


MANY_COLUMNS = 6  # chosen: more leave no room for long text
LONG_TEXT_CHARS = 32  # chosen: longer text gets a fixed width
LONG_TEXT_PIXELS = 260  # chosen; a wider column would push others out of sight

MOST_UNSUPPORTED_CHARS = 300  # chosen: about three lines; all of it is marked in the text
SHOWN_RUNS = 5_000  # chosen: drawn without delay, since browsers draw only visible rows
SHOWN_DAMAGE = 5  # chosen: the first ones tell enough
Figure: TypeAlias = dict[str, object]
CONFIG = {"displayModeBar": False, "displaylogo": False}


def chart(figure: Figure, rows: Sequence[Row], *, key: str, alt: str, csv_name: str = "") -> None:
    """Draws a chart, its numbers as a table under it, and the table as a file."""
    st.plotly_chart(figure, key=key, alt=alt, config=dict(CONFIG))
    with st.expander(t("usage.as_table"), key=f"{key}_numbers", on_change="rerun") as numbers:
        if not numbers.open:
            return
        plain_table(rows, alt=alt)
        if csv_name:
            csv_button(rows, key=f"{key}_csv", name=csv_name)


def show_damage(damage: Sequence[Reason], key: str) -> None:
    """Warns that parts of sessions cannot be read, in the words of the text `key`."""
    if damage:
        first = "; ".join(reason_text(reason) for reason in damage[:SHOWN_DAMAGE])
        text = t(key, count=f"{len(damage):,}", first=first)
        st.warning(plain_label(text, max_chars=500), icon=":material/healing:")


def csv_button(rows: Sequence[Row] | Callable[[], Sequence[Row]], *, key: str, name: str) -> None:
    """Offers `rows` as a CSV file, made on download."""
    st.download_button(
        t("usage.csv"),
        data=lambda: to_csv(rows() if callable(rows) else rows),
        file_name=name,
        mime="text/csv",
        key=key,
        icon=":material/download:",
        on_click="ignore",
    )


def plain_table(rows: Sequence[Row], *, alt: str) -> None:
    """Draws a table without selection."""
    st.dataframe(
        _columns(rows),
        hide_index=True,
        column_config=_config(rows),
        placeholder=t("common.unknown"),
        alt=alt,
    )


def table_with_choice(
    rows: Sequence[Row], options: Sequence[str], *, key: str, alt: str, newest: int = 0
) -> str:
    """Draws a table in which one row is open; returns the option of that row.

    `options` are language-neutral, one per row; `choice_key(key)` holds the one of the open row. A
    click anywhere in a row opens it, and so do the arrow keys.
    """
    pick = choice_key(key)
    known = st.session_state.get(pick)
    place = options.index(known) if known in options else newest
    st.session_state[pick] = options[place]
    table = f"{key}_table"
    # Set on every run: rows come and go, and an address may open another one. The cell is set too,
    # since the grid would open its first row when it gets the focus without one.
    st.session_state[table] = _selection(place, _open_column(table, rows))

    def opened() -> None:
        chosen = cast("TableState", st.session_state[table])["selection"]
        st.session_state[pick] = options[opened_row(chosen, place)]

    st.dataframe(
        _columns(rows),
        hide_index=True,
        key=table,
        on_select=opened,
        selection_mode=["single-row-required", "single-cell"],
        column_config=_config(rows),
        placeholder=t("common.unknown"),
        height=min(36 * (len(rows) + 1) + 2, 400),
        alt=f"{alt}. {t('common.table.keys')}",
    )
    return options[place]


def choice_key(key: str) -> str:
    """Where the session state has the option of the open row of the table with this key."""
    return f"{key}_pick"


def opened_row(selection: Selection, place: int) -> int:
    """The row that a selection opens while the one at `place` is open.

    The row's own mark wins if it changed; else it is the row of the selected cell.
    """
    row = selection["rows"][0] if selection["rows"] else place
    if row != place or not selection["cells"]:
        return row
    return selection["cells"][0][0]


def _selection(place: int, column: str) -> TableState:
    return {"selection": {"rows": [place], "columns": [], "cells": [(place, column)]}}


def _open_column(table: str, rows: Sequence[Row]) -> str:
    """The column of the selected cell, so that the arrow keys stay in it; the first at first."""
    names = list(rows[0])
    known = cast("TableState | None", st.session_state.get(table))
    cells = known["selection"]["cells"] if known else []
    return cells[0][1] if cells and cells[0][1] in names else names[0]


def empty_state(text: str, icon: str = ":material/inbox:") -> None:
    """Says that there is nothing here yet, and what to do."""
    st.info(text, icon=icon)


def _columns(rows: Sequence[Row]) -> dict[str, list[object]]:
    """`rows` by column; a list of dictionaries would lose the columns of an empty table."""
    names = list(rows[0]) if rows else []
    return {name: [row[name] for row in rows] for name in names}


def _config(rows: Sequence[Row]) -> dict[str, ColumnConfig]:
    """Whole numbers get separators; in a table of many columns long text gets a fixed width."""
    found: dict[str, ColumnConfig] = {}
    names = list(rows[0]) if rows else []
    for name in names:
        if any(isinstance(row[name], int) for row in rows):
            found[name] = st.column_config.NumberColumn(format="localized")
        elif len(names) >= MANY_COLUMNS and _is_long(row[name] for row in rows):
            found[name] = st.column_config.TextColumn(width=LONG_TEXT_PIXELS)
    return found


def _is_long(values: Iterable[object]) -> bool:
    return any(isinstance(value, str) and len(value) > LONG_TEXT_CHARS for value in values)


def choosable_table(rows: Sequence[Row], *, key: str, alt: str) -> int | None:
    """Draws a table; returns the place of the selected row, None where none is."""
    event = st.dataframe(
        _columns(rows),
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="single-row",
        column_config=_config(rows),
        placeholder=t("common.unknown"),
        alt=alt,
    )
    selected = event.selection.rows
    return min(selected[0], len(rows) - 1) if selected else None


def verdict_table(session_id: str, runs: Sequence[Run], *, key: str, alt: str) -> None:
    """Draws the newest of `runs`, one row each, and the number of all if there are more.

    Under a selected row stands a link to its first message.
    """
    shown = runs[-SHOWN_RUNS:]
    rows: list[Row] = [
        {
            t("usage.messages"): f"{run.first + 1}–{run.last + 1}"
            if run.last > run.first
            else f"{run.first + 1}",
            t("usage.verdict"): t(f"usage.verdict.{run.verdict}"),
            t("usage.reason"): reason_text(run.reason),
            t("common.segment.before"): run.before_tokens,
            t("common.segment.after"): run.after_tokens,
        }
        for run in shown
    ]
    chosen = choosable_table(rows, key=key, alt=alt)
    if chosen is not None:
        seq = shown[chosen].first + 1
        label = t("common.open_message", seq=f"{seq:,}")
        place_link(session_id, "m", seq, label=label, icon=":material/chat:")
    else:
        st.caption(t("usage.verdicts.select"))
    if len(runs) > SHOWN_RUNS:
        st.caption(t("usage.verdicts.newest", shown=f"{SHOWN_RUNS:,}", count=f"{len(runs):,}"))


def show_summary(text: str, unsupported: Sequence[str] = (), *, key: str) -> None:
    """Draws a summary with its unsupported words marked, or says that there is none.

    `key` is for the switch that shows the rest of a long one.
    """
    if not text:
        st.markdown(t("compact.truncated"))
        return
    form = partial(marked_text, words=unsupported) if unsupported else with_line_breaks
    show_text(text, key=key, form=form)
    if unsupported:
        named = plain_label(", ".join(unsupported), max_chars=MOST_UNSUPPORTED_CHARS)
        count = f"{len(unsupported):,}"
        st.caption(f":material/help: {t('compact.unsupported', count=count, items=named)}")


def show_value(key: str, value: object) -> None:
    """Sets what the widget under `key` shows before it is drawn.

    Only a value that changes is sent: another would take the place of what is being typed.
    """
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def draw_nothing() -> None:
    """Takes the place of an element that is not drawn this time.

    The browser keeps what an earlier run drew until a run ends, which lasts as long as an answer
    streams: without this everything below would move up, and its last part stand there twice.
    `st.empty` keeps the earlier element too.
    """
    st.container()


@contextmanager
def report_errors(key: str) -> Iterator[None]:
    """Keeps the text of a ContextError under `key`; `show_problem` shows it on the next run."""
    try:
        yield
    except ContextError as error:
        st.session_state[key] = error_text(error)


def show_problem(key: str, *, max_chars: int = 400, is_notice: bool = False) -> None:
    """Shows the text kept under `key` once."""
    if (text := st.session_state.pop(key, None)) is None:
        draw_nothing()
        return
    text = plain_label(text, max_chars=max_chars)
    if is_notice:
        st.warning(text, icon=":material/info:")
    else:
        st.error(text, icon=":material/error:")


def is_typed(word: str, *, key: str) -> bool:
    """Draws an input for a word that confirms what cannot be taken back; whether it is typed."""
    typed = st.text_input(t("common.type_word", word=word), key=key, live=True)
    return (typed or "").strip().casefold() == word.casefold()
