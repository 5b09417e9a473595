"""Elements that several pages draw: charts with their numbers, tables, problems, summaries.

A row is selected in the table by mouse or in the list beside it by keyboard; both set one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias, cast

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from ctxcore.assembly.verdicts import Run
from ctxcore.errors import ContextError
from ctxcore.trials.tables import to_csv
from dashboard.addresses import place_link
from dashboard.safe_markdown import marked_text, plain_label, with_line_breaks
from dashboard.texts import t
from dashboard.wording import error_text, reason_text

Row = Mapping[str, object]

MANY_COLUMNS = 6  # chosen: more leave no room for long text
LONG_TEXT_CHARS = 32  # chosen: longer text gets a fixed width
LONG_TEXT_PIXELS = 260  # chosen; the list beside the table shows all of it

MOST_UNSUPPORTED_CHARS = 300  # chosen: about three lines; all of it is marked in the text
SHOWN_RUNS = 5_000  # chosen: drawn without delay, since browsers draw only visible rows
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


def csv_button(rows: Sequence[Row], *, key: str, name: str) -> None:
    """Offers `rows` as a CSV file, made on download."""
    st.download_button(
        t("usage.csv"),
        data=lambda: to_csv(rows),
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
    rows: Sequence[Row],
    options: Sequence[str],
    *,
    key: str,
    label: str,
    name: Callable[[str], str],
    alt: str,
    newest: int = 0,
) -> str:
    """Draws a table and a list; returns the option of the selected row.

    `options` are language-neutral, one per row.
    """
    table, pick = f"{key}_table", f"{key}_pick"
    known = st.session_state.get(pick)
    # Set on every run: the browser keeps the label, which changes with the language.
    st.session_state[pick] = known if known in options else options[newest]

    def picked() -> None:
        chosen = cast("dict[str, dict[str, list[int]]]", st.session_state[table])
        if chosen["selection"]["rows"]:
            st.session_state[pick] = options[chosen["selection"]["rows"][0]]

    st.dataframe(
        _columns(rows),
        hide_index=True,
        key=table,
        on_select=picked,
        selection_mode="single-row",
        column_config=_config(rows),
        placeholder=t("common.unknown"),
        height=min(36 * (len(rows) + 1) + 2, 400),
        alt=alt,
    )
    return str(st.selectbox(label, options, format_func=name, key=pick))


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


def show_summary(text: str, unsupported: Sequence[str] = ()) -> None:
    """Draws a summary with its unsupported words marked, or says that there is none."""
    if not text:
        st.markdown(t("compact.truncated"))
        return
    st.markdown(marked_text(text, unsupported) if unsupported else with_line_breaks(text))
    if unsupported:
        named = plain_label(", ".join(unsupported), max_chars=MOST_UNSUPPORTED_CHARS)
        count = f"{len(unsupported):,}"
        st.caption(f":material/help: {t('compact.unsupported', count=count, items=named)}")


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
