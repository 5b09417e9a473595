"""Draws what a compaction lost, made by this library or recorded from another product."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.engine.compactions import LossReport, PresetLosses
from ctxcore.engine.services import CallTarget
from ctxcore.replay.recorded import FoldAccount, Saved
from dashboard import numbers
from dashboard.compactions_page.rows import CompactionRow
from dashboard.excerpts import short_fact
from dashboard.lost_facts import (
    FACT_CHARS,
    PIN_PROBLEM,
    LostRow,
    Pinning,
    show_kinds,
    show_lost_facts,
    unpin_block,
)
from dashboard.reads import loss_report, losses_under
from dashboard.safe_markdown import plain_label
from dashboard.services import engine
from dashboard.slow_reads import read_slowly
from dashboard.texts import about, language, t
from dashboard.widgets import Row, plain_table, report_errors
from dashboard.wording import name_text, reason_sentence, reason_text


def show_losses(target: CallTarget, row: CompactionRow) -> None:
    """Draws what the compaction lost; for another product's it is computed on request."""
    st.markdown(f"**{t('compact.lost')}**")
    if row.is_imported:
        _on_request(target, row)
    elif row.info.compaction.facts_lost is None:
        st.caption(t("compaction.lost.not_looked_for"))
    elif not row.info.compaction.facts_lost:
        _nothing()
    else:
        report = _report(target, row)
        if report is not None:
            _verdict(target, report)
            _facts(target, report)


def _report(target: CallTarget, row: CompactionRow) -> LossReport | None:
    return read_slowly(
        loss_report(target.session, row.info.id),
        place="compaction_losses",
        text=t("compaction.lost.working"),
    )


def _on_request(target: CallTarget, row: CompactionRow) -> None:
    key = f"compaction_account_{row.info.id}"
    with st.expander(t("compaction.lost.account"), key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        report = _report(target, row)
        if report is None:
            return
        _verdict(target, report)
        if report.account is not None:
            _draw_account(report.account, reason_text(row.trigger), report.policy)
        if report.lost:
            _facts(target, report)
        else:
            _nothing()


def _nothing() -> None:
    st.caption(f":material/check: {t('compaction.lost.nothing')}")


def _facts(target: CallTarget, report: LossReport) -> None:
    rows = [LostRow.of(fact) for fact in report.lost or ()]
    count = len(rows) + len(report.unplaced)
    st.caption(t("compaction.lost.count", count=f"{count:,}"))
    if rows:
        show_kinds(rows)
        show_lost_facts(
            rows,
            _pinning(target),
            key=f"compaction_lost_{report.compaction_id}",
            kept_elsewhere=_kept_by_ours(report),
        )
    if report.unplaced:
        st.caption(t("compaction.lost.unplaced"))
        st.code("\n".join(report.unplaced), language=None, wrap_lines=True)


def _verdict(target: CallTarget, report: LossReport) -> None:
    """Draws what the losses come to, and on request what each preset would have lost."""
    verdict = report.verdict
    if verdict is None:
        return
    key = f"compaction_presets_{report.compaction_id}"
    sentence = plain_label(reason_sentence(verdict.reason), max_chars=300)
    if not st.session_state.get(key):
        st.markdown(f"**{sentence}**")
        if verdict.needed:
            st.button(
                t("compaction.verdict.compare"),
                key=f"{key}_ask",
                icon=":material/compare_arrows:",
                help=t("compaction.verdict.compare.help", tokens=numbers.tokens(report.tokens)),
                on_click=partial(_ask, key),
            )
        return
    with st.spinner(t("compaction.verdict.working")):
        others = losses_under(target.session, report.compaction_id)
    st.markdown(f"**{sentence}**")
    named = about(language()).between_words.join(map(_under, others))
    st.caption(t("compaction.verdict.others", tokens=numbers.tokens(report.tokens), others=named))


def _ask(key: str) -> None:
    st.session_state[key] = True


def _under(one: PresetLosses) -> str:
    """How many of the needed things a preset would have lost."""
    gone = t("compaction.verdict.no_room") if one.gone is None else f"{one.gone:,}"
    return t("compaction.verdict.under", preset=name_text("settings.preset", one.preset), gone=gone)


def _pinning(target: CallTarget) -> Pinning:
    session_id = target.session.id
    with st.spinner(t("context.working")):
        context = build_context(target.view, target.call, target.record)
    return Pinning(
        session_id=session_id,
        view=target.view,
        context=context,
        help=t("compact.lost.pin_help"),
        on_pin=partial(_pin, session_id),
        on_unpin=partial(_unpin, session_id),
    )


@report_errors(PIN_PROBLEM)
def _pin(session_id: str, seq: int) -> None:
    engine().pin(session_id, seq - 1)
    st.toast(t("compact.lost.pinned", seq=seq), icon=":material/keep:")


@report_errors(PIN_PROBLEM)
def _unpin(session_id: str, seq: int) -> None:
    unpin_block(session_id, seq)
    st.toast(t("context.unpinned", seq=seq), icon=":material/keep_off:")


def _kept_by_ours(report: LossReport) -> frozenset[str] | None:
    """The texts another product lost that our policy would keep; None for our own compactions."""
    account = report.account
    if account is None or account.ours is None:
        return None
    lost = {fact.text for fact in account.ours.lost}
    return frozenset(fact.text for fact in report.lost or () if fact.text not in lost)


def _draw_account(account: FoldAccount, theirs: str, policy: str) -> None:
    """Draws both compactions at the same size, and what was read or requested again."""
    rows = [_side(theirs, account, account.theirs)]
    ours = t("compaction.lost.ours", preset=name_text("settings.preset", policy))
    if account.ours is not None:
        rows.append(_side(ours, account, account.ours))
    st.caption(t("compaction.lost.told", tokens=numbers.tokens(account.shown_tokens)))
    plain_table(rows, alt=t("compaction.lost.account"))
    if account.ours is None:
        st.caption(t("compaction.lost.no_room", tokens=numbers.tokens(account.shown_tokens)))
    _repeats(account)


def _side(name: str, account: FoldAccount, saved: Saved) -> Row:
    return {
        t("compaction.origin"): name,
        t("common.segment.tokens"): saved.tokens,
        t("compaction.lost.said"): f"{saved.facts_said:,} / {account.facts:,}",
        t("compact.lost"): len(saved.lost),
        t("compaction.lost.needed_later"): len(saved.needed_later),
        t("compaction.lost.literals"): f"{saved.literals_said:,} / {len(account.literals):,}",
    }


def _repeats(account: FoldAccount) -> None:
    if not account.repeats:
        st.caption(t("compaction.lost.no_repeats"))
        return
    tokens = numbers.tokens(account.repeated_tokens)
    title = t("compaction.lost.repeats", count=f"{len(account.repeats):,}", tokens=tokens)
    st.caption(title)
    rows: list[Row] = [
        {
            t("compaction.lost.again"): short_fact(repeat.what, "path", FACT_CHARS),
            t("compaction.lost.tool"): repeat.function_name,
            t("compaction.lost.first_in"): repeat.first_at + 1,
            t("compaction.lost.again_in"): repeat.at + 1,
            t("common.segment.tokens"): repeat.tokens,
        }
        for repeat in account.repeats
    ]
    plain_table(rows, alt=title)
