"""Draws the table of a session's turns, and the calls and verdicts of the selected turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from ctxcore.store.values import CallInfo, SessionInfo
from dashboard import numbers
from dashboard.addresses import follow, name_choice, named
from dashboard.call_view.request import show_request
from dashboard.call_view.sizes import estimate_tokens, sent_tokens
from dashboard.reads import last_call_with_runs
from dashboard.safe_markdown import plain_label
from dashboard.texts import t
from dashboard.usage.rows import (
    TurnUsage,
    is_summary,
    known_sum,
    not_sent,
)
from dashboard.widgets import (
    Row,
    choice_key,
    csv_button,
    plain_table,
    table_with_choice,
    verdict_table,
)
from dashboard.wording import reason_text

SHOWN_TURNS = 1_000  # chosen: drawn at once; a CSV has all


def show_turns(session: SessionInfo, turns: Sequence[TurnUsage]) -> None:
    """Draws every turn, newest first, and the calls of the selected one."""
    st.subheader(t("usage.turns"))
    by_option = {str(turn.number): turn for turn in _shown(turns)}
    words = _Words.of(turns)
    rows = _turn_rows(list(by_option.values()), words)
    if not any(turn.calls for turn in turns):
        rows = [_without_calls(row, words) for row in rows]
    key = f"usage_turns_{session.id}_{len(turns)}"
    follow("turn", choice_key(key), {turn.number: str(turn.number) for turn in turns})
    chosen = table_with_choice(
        rows,
        list(by_option),
        key=key,
        alt=t("usage.turns"),
    )
    name_choice("turn", choice_key(key), int(chosen), default=len(turns))
    if len(by_option) < len(turns):
        shown, count = f"{len(by_option):,}", f"{len(turns):,}"
        st.caption(t("usage.turns.newest", shown=shown, count=count))
    csv_button(lambda: _turn_rows(turns[::-1], words), key="usage_turns_csv", name="turns.csv")
    _turn(session, by_option[chosen])


def _shown(turns: Sequence[TurnUsage]) -> list[TurnUsage]:
    """The newest turns, newest first, and the one that the address names."""
    place = named("turn")
    named_one = [turn for turn in turns[:-SHOWN_TURNS] if turn.number == place]
    return [*turns[-SHOWN_TURNS:][::-1], *named_one]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """The texts of the table, looked up once: there may be thousands of rows.

    A file is made outside of the page, which knows its language.
    """

    names: tuple[str, ...]
    of_calls: frozenset[str]
    """Those of `names` that say nothing where no call was made."""
    states: Mapping[str, str]
    unknown: str

    @classmethod
    def of(cls, turns: Sequence[TurnUsage]) -> _Words:
        kinds = {turn.state or "recorded" for turn in turns}
        of_calls = (
            t("usage.figure.calls"),
            t("usage.mode.context"),
            t("usage.figure.sent"),
            t("usage.figure.cached"),
            t("usage.figure.output"),
            t("usage.figure.cost"),
        )
        begin = (t("usage.turn"), t("usage.said"), t("usage.state"))
        return cls(
            names=(*begin, *of_calls, t("usage.compactions")),
            of_calls=frozenset(of_calls),
            states={state: t(f"usage.state.{state}") for state in kinds},
            unknown=t("common.unknown"),
        )


def _turn_rows(turns: Sequence[TurnUsage], words: _Words) -> list[Row]:
    return [
        dict(zip(words.names, _turn_cells(turn, words.states, words.unknown), strict=True))
        for turn in turns
    ]


def _without_calls(row: Row, words: _Words) -> Row:
    return {name: cell for name, cell in row.items() if name not in words.of_calls}


def _turn_cells(turn: TurnUsage, states: Mapping[str, str], unknown: str) -> Sequence[object]:
    calls = turn.calls
    cost = known_sum(calls, lambda call: call.cost)
    return (
        turn.number,
        turn.title,
        states[turn.state or "recorded"],
        len(calls),
        turn.context_tokens,
        turn.sent_tokens.value,
        known_sum(calls, lambda call: call.cached_tokens).value,
        known_sum(calls, lambda call: call.output_tokens).value,
        unknown if cost.value is None else numbers.money(cost.value),
        len(turn.compactions),
    )


def _turn(session: SessionInfo, turn: TurnUsage) -> None:
    """Draws the calls of one turn, and the verdicts of its last call."""
    st.markdown(f"**{t('usage.turn')} {turn.number}** · {plain_label(turn.title)}")
    if not turn.calls:
        st.caption(t("usage.turn.no_calls", number=turn.number))
        return
    plain_table(
        [call_row(number, call) for number, call in enumerate(turn.calls, start=1)],
        alt=t("usage.turn.calls", number=turn.number),
    )
    _cleared(turn.calls)
    if (call := last_call_with_runs(session, turn.calls)) is not None:
        _verdicts(session, turn, call)
    else:
        st.caption(t("usage.turn.no_verdicts"))
    show_request(session, turn.calls)


def _cleared(calls: Sequence[CallInfo]) -> None:
    """Tells what the provider left out by itself of what the calls of a turn were sent."""
    edited = [call for call in calls if call.cleared_tokens is not None]
    if edited:
        tokens = numbers.tokens(sum(call.cleared_tokens or 0 for call in edited))
        parts = f"{sum(call.cleared_parts or 0 for call in edited):,}"
        st.caption(t("usage.cleared", calls=f"{len(edited):,}", tokens=tokens, parts=parts))


def call_row(number: int, call: CallInfo) -> Row:
    """A row of a table of calls."""
    return {
        t("usage.call"): number,
        t("usage.purpose"): t(f"usage.purpose.{'summary' if is_summary(call) else 'answer'}"),
        t("usage.model"): call.model or t("common.unknown"),
        t("usage.ours"): estimate_tokens(call),
        t("usage.theirs"): call.input_tokens,
        t("usage.factor"): call.count_factor,
        t("usage.figure.cached"): call.cached_tokens,
        t("usage.figure.output"): call.output_tokens,
        t("usage.figure.cost"): numbers.money(call.cost),
        t("usage.seconds"): None
        if call.latency_seconds is None
        else round(call.latency_seconds, 2),
        t("usage.error"): reason_text(call.error),  # stopped, or what failed
    }


def _verdicts(session: SessionInfo, turn: TurnUsage, call: CallInfo) -> None:
    """Draws the verdict on each message in the last call of the turn."""
    st.markdown(f"**{t('usage.verdicts', number=turn.number)}**")
    before = sum(run.before_tokens for run in call.runs)
    gone = not_sent(call.runs)
    st.caption(_left_out(before, gone, sent_tokens(call)))
    alt = t("usage.verdicts", number=turn.number)
    verdict_table(session.id, call.runs, key=f"usage_verdicts_{call.id}", alt=alt)


def _left_out(before: int, gone: dict[str, int], sent: int | None) -> str:
    left_out = sum(gone.values())
    if not left_out:
        return t("usage.all_sent", history=numbers.tokens(before), sent=numbers.tokens(sent))
    parts = ", ".join(
        f"{t(f'usage.verdict.{verdict}')} {numbers.tokens(tokens)}"
        for verdict, tokens in gone.items()
    )
    return t(
        "usage.not_sent",
        tokens=numbers.tokens(left_out),
        history=numbers.tokens(before),
        share=numbers.percent(left_out, before),
        parts=parts,
    )
