"""Owns the reads worth keeping for a moment: each is bounded and keyed by what it depends on.

A session's stamp changes with every message, compaction and turn, so what is kept is never stale
for longer than its few seconds; the owner is checked before anything kept is given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import streamlit as st

from ctxcore.assembly.verdicts import Run
from ctxcore.engine.compactions import LossReport
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    ImportedCompaction,
    MessageInfo,
    SessionInfo,
    TurnInfo,
)
from ctxcore.tokens.count import counter_for
from dashboard.services import database_url, default_model, engine, user_id
from dashboard.usage.account import transcript_of, turn_starts

Stamp: TypeAlias = tuple[str, str, str, int, str]
"""Database, session, time of the last change, length, active compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The compactions of a session: those made here, and those of the program it came from."""

    compactions: tuple[CompactionInfo, ...]
    imported: tuple[ImportedCompaction, ...]


def stamp_of(session: SessionInfo) -> Stamp:
    """What a kept read depends on."""
    active = session.active_compaction_id or ""
    return (database_url(), session.id, session.updated_at.isoformat(), session.length, active)


def recorded(session: SessionInfo) -> Recorded:
    """The compactions of a session that whoever asks may see."""
    return _recorded(stamp_of(engine().session(session.id)))


def turns_of(session: SessionInfo) -> list[TurnInfo]:
    """The turns of a session as they are now: the last one may be running."""
    return engine().store.turns(engine().session(session.id).id)


def calls_of(session: SessionInfo) -> tuple[CallInfo, ...]:
    """The calls of a session without their runs, read again when there are more of them."""
    found = engine().session(session.id)
    return _calls(database_url(), found.id, engine().store.count_calls(found.id))


def last_told(session: SessionInfo, calls: Sequence[CallInfo]) -> CallInfo | None:
    """The last of `calls` that tells what became of each message, with its runs."""
    found = engine().session(session.id)
    runs = _runs(database_url(), found.id, tuple(call.id for call in calls))
    told = [replace(call, runs=runs[call.id]) for call in calls if runs.get(call.id)]
    return told[-1] if told else None


def loss_report(session: SessionInfo, compaction_id: str) -> LossReport:
    """What a compaction lost; worked out once as long as session and policy stay as they are."""
    found = engine().session(session.id)
    policy = repr(engine().policy(found.id).policy)
    return _loss_report(database_url(), user_id(), found.id, found.length, compaction_id, policy)


def turn_beginnings(session: SessionInfo) -> list[tuple[int, str]]:
    """The user messages of a session, each with the begin of its text."""
    found = engine().session(session.id)
    return _turn_beginnings(database_url(), found.id, found.length)


def token_report(session: SessionInfo) -> TokenReport:
    """Where the tokens of a session went, each message once; reads them all the first time."""
    found = engine().session(session.id)
    model = found.model or default_model()
    calls = calls_of(found)
    return _token_report(database_url(), found.id, found.length, model, len(calls), calls)


def message_page(session: SessionInfo, first: int, last: int) -> list[MessageInfo]:
    """The messages first … last."""
    engine().session(session.id)
    return engine().store.messages(session.id, max(first, 1), last)


def session_tokens(session: SessionInfo) -> int | None:
    """What the whole history takes by its own counter; None while nothing is counted."""
    if session.counter_id is None:
        return None
    return _session_tokens(database_url(), session.id, session.length, session.counter_id)


@st.cache_resource(ttl="5s", max_entries=32, show_spinner=False)
def _recorded(stamp: Stamp) -> Recorded:
    session_id, store = stamp[1], engine().store
    return Recorded(
        compactions=tuple(store.compactions(session_id)),
        imported=tuple(store.imported_compactions(session_id)),
    )


# Resources, because they are shared as they are: copying thousands of calls takes a second a time.
@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _calls(url: str, session_id: str, count: int) -> tuple[CallInfo, ...]:
    del url, count  # part of the key only
    return tuple(engine().store.calls(session_id, with_runs=False))


@st.cache_resource(ttl="1h", max_entries=64, show_spinner=False)
def _runs(url: str, session_id: str, call_ids: tuple[str, ...]) -> dict[str, tuple[Run, ...]]:
    del url
    return engine().store.runs(session_id, call_ids)


@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _loss_report(
    url: str, user: str, session_id: str, length: int, compaction_id: str, policy: str
) -> LossReport:
    del url, user, length, policy  # part of the key only
    return engine().losses(session_id, compaction_id)


@st.cache_data(ttl="1h", max_entries=64, show_spinner=False)
def _turn_beginnings(url: str, session_id: str, length: int) -> list[tuple[int, str]]:
    del url
    if not length:
        return []
    return turn_starts(engine().store.messages(session_id, 1, length, role="user"))


@st.cache_data(ttl="1h", max_entries=32, show_spinner=False)
def _token_report(
    url: str, session_id: str, length: int, model: str, count: int, _calls: Sequence[CallInfo]
) -> TokenReport:
    del url, count  # part of the key only
    store, counter = engine().store, counter_for(model)
    messages = store.messages(session_id, 1, length) if length else []
    imported = store.imported_compactions(session_id)
    transcript = transcript_of(store.session(session_id), messages, _calls, imported)
    counts = None
    if messages and store.has_counts(session_id, counter.id):
        counts = store.view(session_id, counter.id).sizes(1, length)
    return usage_report(transcript, counter, counts=counts)


@st.cache_data(ttl="1h", max_entries=2_000, show_spinner=False)
def _session_tokens(url: str, session_id: str, length: int, counter_id: str) -> int:
    del url
    view = engine().store.view(session_id, counter_id)
    return view.span_tokens(1, length) if length else 0
