"""Draws the list of lost facts: counts, table, the selected fact, and its pin.

Facts are quotes of messages: they stand in tables and code blocks, never in markdown. A pin keeps
a whole block (a call with its results), so unpinning removes the pins of all its messages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import streamlit as st

from ctxcore.assembly.context import Context
from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.compaction.loss_report import LossRank, loss_code
from ctxcore.facts.values import KINDS, Kind
from ctxcore.replay.losses import NeededBy, NeededFact
from dashboard import numbers
from dashboard.addresses import place_link, why_link
from dashboard.excerpts import passage, short_fact
from dashboard.services import engine
from dashboard.texts import t
from dashboard.widgets import Row, show_problem, table_with_choice
from dashboard.wording import reason_text

FACT_CHARS = 56  # chosen: fits a column; the selected fact is shown in full below

Pinnable: TypeAlias = Literal["free", "pinned", "excluded", "shown"]
PIN_PROBLEM = "pinning_problem"
_AHEAD = 32  # chosen: messages read at a time; blocks are rarely longer


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRow:
    """One lost fact as it is listed; message numbers from 1."""

    text: str
    kind: Kind
    seq: int
    rank: LossRank
    needed_seq: int | None = None
    needed_by: NeededBy | None = None

    @classmethod
    def of(cls, fact: NeededFact) -> LostRow:
        """A row for a fact whose later use is known."""
        needed = None if fact.needed_at is None else fact.needed_at + 1
        return cls(
            text=fact.text,
            kind=fact.kind,
            seq=fact.at + 1,
            rank=fact.rank,
            needed_seq=needed,
            needed_by=fact.needed_by,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinning:
    """Where and how a lost fact can be pinned; the callbacks get a message number."""

    session_id: str
    view: HistoryView
    context: Context | None
    help: str
    on_pin: Callable[[int], None]
    on_unpin: Callable[[int], None]


def kind_counts(kinds: Sequence[Kind]) -> list[tuple[Kind, int]]:
    """The number of facts of each kind, in the order of `KINDS`."""
    counted = Counter(kinds)
    return [(kind, counted[kind]) for kind in KINDS if counted[kind]]


def show_kinds(rows: Sequence[LostRow]) -> None:
    """Draws the number of facts of each kind on one line."""
    counts = kind_counts([row.kind for row in rows])
    st.caption(" · ".join(f"{_kind(kind)}: {count:,}" for kind, count in counts))


def show_lost_facts(
    rows: Sequence[LostRow],
    pinning: Pinning,
    *,
    key: str,
    kept_elsewhere: Collection[str] | None = None,
) -> None:
    """Draws the table, the selected fact in its messages, and the button that pins it.

    Dates and bare numbers that nobody used again are folded away behind a switch.
    `kept_elsewhere`: of what another product lost, the texts that our policy would have kept.
    """
    rows = _matter(rows, key)
    if not rows:
        return
    options = [str(at) for at in range(len(rows))]
    chosen = table_with_choice(
        [_cells(row, kept_elsewhere) for row in rows],
        options,
        key=key,
        alt=t("compact.lost"),
    )
    _chosen(rows[int(chosen)], pinning, key)


def _matter(rows: Sequence[LostRow], key: str) -> Sequence[LostRow]:
    """Draws the switch that shows the minor rows too; returns those to show."""
    others = [row for row in rows if row.rank != "minor"]
    minor = len(rows) - len(others)
    if not minor:
        return rows
    if others:
        label = t("compact.lost.minor", count=f"{minor:,}")
    else:
        label = t("compact.lost.only_minor", count=f"{minor:,}")
    return rows if st.toggle(label, key=f"{key}_minor", persist_state="session") else others


def _kind(kind: Kind) -> str:
    """The name of a kind of fact."""
    return reason_text(loss_code(kind)())


def _cells(row: LostRow, kept_elsewhere: Collection[str] | None) -> Row:
    cells: dict[str, object] = {
        t("compact.lost.fact"): short_fact(row.text, row.kind, FACT_CHARS),
        t("compact.lost.kind"): _kind(row.kind),
        t("compact.lost.said_in"): row.seq,
    }
    cells[t("compact.lost.needed_later")] = _needed(row)
    if kept_elsewhere is not None:
        is_kept = row.text in kept_elsewhere
        cells[t("compact.lost.ours_keeps")] = t("compaction.yes" if is_kept else "compaction.no")
    return cells


def _needed(row: LostRow) -> str:
    """Who used the fact again, and where."""
    if row.needed_seq is None:
        return t("compaction.no")
    by = t(f"compact.lost.by.{row.needed_by}")
    return f"#{row.needed_seq} · {by}"


def _chosen(row: LostRow, pinning: Pinning, key: str) -> None:
    _pin_button(row.seq, pinning, key)
    _said(pinning.session_id, row, pinning.view, row.seq, t("compact.lost.said", seq=row.seq))
    if pinning.context is not None:  # once it is made, not in a proposal
        why_link(pinning.session_id, row.seq)
    if row.needed_seq is not None:
        by = t(f"compact.lost.by.{row.needed_by}")
        _said(
            pinning.session_id,
            row,
            pinning.view,
            row.needed_seq,
            t("compact.lost.needed", seq=row.needed_seq, by=by),
        )


def _pin_button(seq: int, pinning: Pinning, key: str) -> None:
    state = pinnable(seq, pinning.view, pinning.context)
    tokens = numbers.tokens(block_tokens(seq, pinning.view))
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}_pinning"):
        if state == "pinned":
            unpin_button(seq, key=f"{key}_unpin", on_unpin=pinning.on_unpin)
        else:
            st.button(
                t("compact.lost.pin", seq=seq),
                key=f"{key}_pin",
                icon=":material/keep:",
                help=pinning.help,
                disabled=state != "free",
                on_click=pinning.on_pin,
                args=(seq,),
            )
        st.caption(t(f"compact.lost.state.{state}", tokens=tokens), width="stretch")
    show_problem(PIN_PROBLEM)


def unpin_button(seq: int, *, key: str, on_unpin: Callable[[int], None]) -> None:
    """Draws a button that unpins message `seq`."""
    label = t("compact.lost.unpin", seq=seq)
    st.button(label, key=key, icon=":material/keep_off:", on_click=on_unpin, args=(seq,))


def _said(session_id: str, row: LostRow, view: HistoryView, seq: int, title: str) -> None:
    (counted,) = view.get([seq])
    st.caption(f"{title} · {t(f'fact.role.{counted.message.role}')}")
    st.code(passage(counted.message, row.text), language=None, wrap_lines=True)
    label = t("common.open_message", seq=f"{seq:,}")
    place_link(session_id, "m", seq, label=label, icon=":material/chat:")


def pinnable(seq: int, view: HistoryView, context: Context | None) -> Pinnable:
    """Whether pinning message `seq` would change anything, and if not, why."""
    anchors = view.anchors()
    if seq in anchors.pinned:
        return "pinned"
    if seq in anchors.excluded:
        return "excluded"
    is_shown = context is not None and context.verdict(seq - 1).verdict == "kept"
    return "shown" if is_shown else "free"


def block_tokens(seq: int, view: HistoryView) -> int:
    """What a pin of message `seq` keeps: its whole block, a call with its results."""
    return sum(row.tokens for row in _block(seq, view))


def _block(seq: int, view: HistoryView) -> list[Counted]:
    head, length = view.get([seq])[0].block, view.count()
    found: list[Counted] = []
    for first in range(head, length + 1, _AHEAD):
        rows = view.get(range(first, min(first + _AHEAD, length + 1)))
        found += [row for row in rows if row.block == head]
        if rows[-1].block != head:
            break
    return found


def unpin_block(session_id: str, seq: int) -> None:
    """Unpins every message of the block of message `seq`."""
    for row in _block(seq, engine().call_target(session_id).view):
        engine().unpin(session_id, row.seq - 1)
