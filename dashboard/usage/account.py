"""Draws where the tokens of a session went: by role, tool and file, and what was billed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from ctxcore.engine.costs import input_rate
from ctxcore.formats.report import ProviderTotals, TokenReport
from ctxcore.store.values import CallInfo, SessionInfo
from ctxcore.tokens.prices import PER_MILLION
from dashboard import numbers
from dashboard.excerpts import short_fact
from dashboard.reads import AccountView, calls_of, sent_report, token_report
from dashboard.services import engine
from dashboard.slow_reads import SlowRead, read_slowly
from dashboard.texts import about, language, t
from dashboard.usage.charts import where_tokens_went
from dashboard.usage.rows import OTHER_TOOLS, Share, largest, shares
from dashboard.widgets import Row, chart, csv_button, plain_table

VIEWS: tuple[AccountView, ...] = get_args(AccountView)
SHOWN_PARTS = 14  # chosen: bars that fit a screen
SHOWN_FILES = 200  # chosen: the CSV has all of them
PATH_CHARS = 40  # chosen: fits a column; the end of a path is shown, the CSV has all of it


def share_name(share: Share) -> str:
    """The label of a share."""
    kind = t(f"usage.share.{share.kind}")
    tool = t("usage.share.other_tools") if share.name == OTHER_TOOLS else share.name
    return t("usage.share.of_tool", tool=tool, kind=kind) if tool else kind


def show_account(session: SessionInfo) -> None:
    """Draws where the tokens are by kind, tool and file, and what was billed.

    Each message counts once, as the next call sends it, or for every call that sent it.
    """
    st.subheader(t("usage.account"))
    calls = calls_of(session)
    view = _view(calls)
    report = _read(sent_report(session, view), "usage_account")
    if report is None:
        return
    rate = input_rate(calls, engine().models()) if view == "sent" else None
    st.caption(_told(report, view, rate))
    _parts(report, rate)
    _tools(report, rate)
    _files(report, rate)
    whole = report if view == "once" else _read(token_report(session), "usage_account_whole")
    if whole is not None:
        _provider(whole, tells_cache=any(call.cached_tokens is not None for call in calls))


def _read(report: SlowRead[TokenReport], place: str) -> TokenReport | None:
    return read_slowly(report, place=place, text=t("usage.counting"))


def _view(calls: Sequence[CallInfo]) -> AccountView:
    """The choice of what is counted; without calls nothing was sent."""
    views = VIEWS if calls else VIEWS[:2]
    return st.segmented_control(
        t("usage.account.view"),
        views,
        default="once",
        required=True,
        format_func=lambda name: t(f"usage.account.view.{name}"),
        label_visibility="collapsed",
        key=f"usage_account_view_{len(views)}",
    )


def _told(report: TokenReport, view: AccountView, rate: float | None) -> str:
    """What is counted, how exactly, and what it cost on average."""
    text = t(
        f"usage.account.{view}.told",
        total=numbers.tokens(report.total_tokens, is_exact=report.is_exact),
        exactness=numbers.exactness(report.is_exact),
        counter=report.counter_id,
    )
    sentences = [text]
    counted = _provider_input(report) if view == "sent" else 0
    if counted > report.total_tokens:
        rest = numbers.tokens(counted - report.total_tokens, is_exact=report.is_exact)
        sentences.append(t("usage.account.rest", counted=numbers.tokens(counted), rest=rest))
    if rate is not None:
        sentences.append(t("usage.account.rate", price=numbers.money(rate * PER_MILLION)))
    return about(language()).between_sentences.join(sentences)


def _provider_input(report: TokenReport) -> int:
    """The input of all calls as the provider counted it; 0 where it did not."""
    billed = report.provider
    if billed is None:
        return 0
    return billed.input_tokens + billed.cache_read_tokens + billed.cache_write_tokens


def _money(tokens: int, rate: float | None) -> Row:
    """The cell with the cost of `tokens`, where an average price is known."""
    return {} if rate is None else {t("usage.figure.cost"): numbers.money(tokens * rate)}


def _parts(report: TokenReport, rate: float | None) -> None:
    parts = largest(shares(report), SHOWN_PARTS)
    labels = [share_name(share) for share in parts]
    figure = where_tokens_went(
        parts, labels=labels, total=report.total_tokens, axis=t("common.tokens")
    )
    rows: list[Row] = [
        {
            t("usage.part"): label,
            t("common.segment.tokens"): share.tokens,
            t("usage.share"): numbers.percent(share.tokens, report.total_tokens),
            **_money(share.tokens, rate),
        }
        for share, label in zip(parts, labels, strict=True)
    ]
    chart(figure, rows, key="usage_account", alt=t("usage.account"), csv_name="account.csv")


def _tools(report: TokenReport, rate: float | None) -> None:
    if not report.tools:
        return
    st.markdown(f"**{t('usage.tools')}**")
    rows: list[Row] = [
        {
            t("usage.tool"): tool.name,
            t("usage.figure.calls"): tool.calls,
            t("usage.call_tokens"): tool.call_tokens,
            t("usage.result_tokens"): tool.result_tokens,
            t("usage.sum"): tool.total_tokens,
            t("usage.share"): numbers.percent(tool.total_tokens, report.total_tokens),
            **_money(tool.total_tokens, rate),
        }
        for tool in report.tools
    ]
    plain_table(rows, alt=t("usage.tools"))


def _files(report: TokenReport, rate: float | None) -> None:
    if not report.files:
        return
    again = sum(file.reread_tokens for file in report.files)
    st.markdown(f"**{t('usage.files')}**")
    if again:
        st.caption(t("usage.files.again", tokens=numbers.tokens(again)))
    rows: list[Row] = [
        {
            t("usage.file"): file.path,
            t("usage.reads"): file.reads,
            t("usage.read_tokens"): file.read_tokens,
            t("usage.rereads"): file.rereads,
            t("usage.reread_tokens"): file.reread_tokens,
            t("usage.other_calls"): file.other_calls,
            t("usage.other_tokens"): file.other_tokens,
            t("usage.sum"): file.total_tokens,
            **_money(file.total_tokens, rate),
        }
        for file in report.files
    ]
    name = t("usage.file")
    shown = [{**row, name: short_fact(str(row[name]), "path", PATH_CHARS)} for row in rows]
    plain_table(shown[:SHOWN_FILES], alt=t("usage.files"))
    csv_button(rows, key="usage_files_csv", name="files.csv")


def _provider(report: TokenReport, *, tells_cache: bool) -> None:
    """Draws the provider's counts; they are never mixed with ours."""
    billed = report.provider
    if billed is None:
        st.caption(t("usage.no_provider"))
        return
    unattributed = numbers.tokens(report.unattributed_tokens)
    st.markdown(f"**{t('usage.provider')}**")
    st.caption(t("usage.provider.told", tokens=unattributed))
    rows: list[Row] = [
        {t("usage.part"): t(f"usage.provider.{name}"), t("common.segment.tokens"): value}
        for name, value in (
            *_billed_input(billed, tells_cache=tells_cache),
            ("output", billed.output_tokens),
            ("largest", billed.largest_context_tokens),
            ("unattributed", report.unattributed_tokens),
        )
    ]
    plain_table(rows, alt=t("usage.provider"))


def _billed_input(billed: ProviderTotals, *, tells_cache: bool) -> list[tuple[str, int | None]]:
    """The parts of the input; None for the cache if the provider reported nothing about it."""
    if not tells_cache:
        return [("all_input", billed.input_tokens), ("cache_read", None), ("cache_write", None)]
    return [
        ("input", billed.input_tokens),
        ("cache_read", billed.cache_read_tokens),
        ("cache_write", billed.cache_write_tokens),
    ]
