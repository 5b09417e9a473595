"""Reads stored sessions for the pages: cached reads, and values out of stored records.

Caches are bounded and keyed by what their content depends on. The engine checks the owner of a
session before anything cached is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import streamlit as st

from ctxcore.assembly.building import build_context
from ctxcore.assembly.verdicts import Run
from ctxcore.engine.compactions import LossReport, PresetLosses
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.costs import cost_of_calls, with_cost
from ctxcore.engine.foreseeing import Foreseen
from ctxcore.engine.requests import RebuiltRequest
from ctxcore.engine.stories import MessageStory
from ctxcore.engine.transcripts import transcript_of
from ctxcore.facts.rule_edits import RuleEdits
from ctxcore.formats.hints import Hint
from ctxcore.formats.report import TokenReport, usage_report
from ctxcore.formats.stays import Stays, stays_in, stays_of_runs
from ctxcore.formats.values import Transcript
from ctxcore.messages.values import JsonObject
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason, from_json
from ctxcore.store.protocol import SessionStore
from ctxcore.store.values import (
    CallInfo,
    CompactionInfo,
    ImportedCompaction,
    MessageInfo,
    SessionInfo,
    TurnInfo,
)
from ctxcore.tokens.costs import Cost
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.families import TokenCounter
from dashboard.excerpts import excerpt
from dashboard.login import user_id
from dashboard.services import database_url, default_model, engine
from dashboard.slow_reads import SlowRead

Stamp: TypeAlias = tuple[str, str, str, int, str]
"""Database, session, time of the last change, length, active compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The compactions of a session: made here, and recorded by the program it came from."""

    compactions: tuple[CompactionInfo, ...]
    imported: tuple[ImportedCompaction, ...]


def stamp_of(session: SessionInfo) -> Stamp:
    """The cache key of a session; it changes with every message, compaction and turn."""
    active = session.active_compaction_id or ""
    return (database_url(), session.id, session.updated_at.isoformat(), session.length, active)


def recorded(session: SessionInfo) -> Recorded:
    """The compactions of a session."""
    return _recorded(stamp_of(engine().session(session.id)))


def turns_of(session: SessionInfo) -> list[TurnInfo]:
    """The turns of a session, uncached: the last one may be running."""
    return engine().store.turns(engine().session(session.id).id)


def calls_of(session: SessionInfo) -> tuple[CallInfo, ...]:
    """The calls of a session without their runs; read again when there are more, or new prices."""
    found = engine().session(session.id)
    count, models = engine().store.count_calls(found.id), repr(engine().models())
    return _calls(database_url(), found.id, count, models)


def last_call_with_runs(session: SessionInfo, calls: Sequence[CallInfo]) -> CallInfo | None:
    """The last of `calls` that recorded a verdict on each message, with its runs."""
    runs = runs_of(session, [call.id for call in calls])
    with_runs = [replace(call, runs=runs[call.id]) for call in calls if runs.get(call.id)]
    return with_runs[-1] if with_runs else None


def runs_of(session: SessionInfo, call_ids: Sequence[str]) -> Mapping[str, tuple[Run, ...]]:
    """The verdicts on the messages of these calls, by call id."""
    found = engine().session(session.id)
    return _runs(database_url(), found.id, tuple(call_ids))


def call_request(session: SessionInfo, call_id: str) -> RebuiltRequest:
    """What a past call was sent, made again from the store."""
    found = engine().session(session.id)
    return _call_request(database_url(), found.id, call_id)


def loss_report(session: SessionInfo, compaction_id: str) -> SlowRead[LossReport]:
    """What a compaction lost; computed again if the session or its policy changes."""
    found, work = engine().session(session.id), engine()
    policy = repr((work.policy(found.id).policy, _edits_of(found)))
    key = (database_url(), user_id(), found.id, found.length, compaction_id, policy)
    return SlowRead(key=key, read=lambda: _loss_report(*key, work))


def losses_under(session: SessionInfo, compaction_id: str) -> tuple[PresetLosses, ...]:
    """What each preset would have lost in place of a compaction."""
    found = engine().session(session.id)
    edits = _edits_of(found)
    return _losses_under(database_url(), user_id(), found.id, found.length, compaction_id, edits)


def message_story(session: SessionInfo, seq: int) -> MessageStory:
    """What became of a message; read again when there are more calls or messages."""
    found = engine().session(session.id)
    active = f"{found.active_compaction_id or ''} {_edits_of(found)}"
    count = engine().store.count_calls(found.id)
    return _message_story(database_url(), user_id(), found.id, found.length, count, active, seq)


def _edits_of(session: SessionInfo) -> str:
    """A text that changes with the edits of rules, which change what counts as lost."""
    edits = engine().store.rule_edits(session.id)
    return RuleEdits.of(known.edit for known in edits).digest if edits else ""


def turn_beginnings(session: SessionInfo) -> Sequence[tuple[int, str]]:
    """The user messages of a session: number and beginning of the text."""
    found = engine().session(session.id)
    return _turn_beginnings(database_url(), found.id, found.length)


def token_report(session: SessionInfo) -> SlowRead[TokenReport]:
    """Where the tokens of a session went, each message once; all of them are read."""
    found, store = engine().session(session.id), engine().store
    model = found.model or default_model()
    calls = calls_of(found)
    key = (database_url(), found.id, found.length, model, len(calls))
    return SlowRead(key=key, read=lambda: _token_report(*key, calls, store))


def foreseen(
    session: SessionInfo, policy: Policy, model: str, *, plans: bool = True
) -> SlowRead[Foreseen]:
    """What a policy would make of a session; computed again if either changes.

    Without `plans` it is there at once, and does not say what a compaction would do.
    """
    found, work = engine().session(session.id), engine()
    state = f"{stamp_of(found)} {work.models()!r}"
    key = (state, user_id(), found.id, repr(policy), model, plans)
    return SlowRead(key=key, read=lambda: _foreseen(*key, policy, work))


AccountView: TypeAlias = Literal["once", "now", "sent"]


def sent_report(session: SessionInfo, view: AccountView) -> SlowRead[TokenReport]:
    """The same of the next call (`now`), or with each message counted for every call (`sent`)."""
    found = engine().session(session.id)
    if view == "once":
        return token_report(found)
    model, calls, work = found.model or default_model(), calls_of(found), engine()
    state = f"{len(calls)} {found.active_compaction_id or ''}"
    key = (database_url(), found.id, found.length, model, view, state)
    return SlowRead(key=key, read=lambda: _sent_report(*key, calls, work))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What the calls of a session took together; None stands for not reported."""

    calls: int
    cost: Cost
    input_tokens: int | None
    """The input of the calls that reported cached tokens."""
    cached_tokens: int | None


def spent_by(session: SessionInfo) -> Spent:
    """What the calls of a session took; read again when it changed, or the prices did."""
    found = engine().session(session.id)
    return _spent_by(stamp_of(found), repr(engine().models()))


def session_hints(session: SessionInfo) -> list[Hint]:
    """The hints of a session; found again when there are more calls or messages, or new prices."""
    found = engine().session(session.id)
    count, models = engine().store.count_calls(found.id), repr(engine().models())
    active = found.active_compaction_id or ""
    return _session_hints(
        database_url(), user_id(), found.id, found.length, f"{count} {active}", models
    )


def session_tokens(session: SessionInfo) -> int | None:
    """The tokens of the whole history by its own counter; None if it was not counted."""
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


@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _session_hints(
    url: str, user: str, session_id: str, length: int, state: str, models: str
) -> list[Hint]:
    del url, user, length, state, models  # part of the key only
    return engine().reports.hints(session_id)


# cache_resource, not cache_data: copying thousands of calls would take a second each time.
@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _calls(url: str, session_id: str, count: int, models: str) -> tuple[CallInfo, ...]:
    del url, count, models  # part of the key only
    return tuple(engine().calls(session_id))


@st.cache_resource(ttl="1h", max_entries=64, show_spinner=False)
def _runs(url: str, session_id: str, call_ids: tuple[str, ...]) -> dict[str, tuple[Run, ...]]:
    del url
    return engine().store.runs(session_id, call_ids)


@st.cache_data(ttl="1h", max_entries=64, show_spinner=False)
def _spent_by(stamp: Stamp, models: str) -> Spent:
    del models  # part of the key only
    groups = with_cost(engine().store.billed_calls([stamp[1]]), engine().models())
    counted = [group for group in groups if group.cached_tokens is not None]
    return Spent(
        calls=sum(group.calls for group in groups),
        cost=cost_of_calls(groups),
        input_tokens=sum(group.input_tokens or 0 for group in counted) if counted else None,
        cached_tokens=sum(group.cached_tokens or 0 for group in counted) if counted else None,
    )


@st.cache_resource(ttl="5m", max_entries=16, show_spinner=False)
def _call_request(url: str, session_id: str, call_id: str) -> RebuiltRequest:
    del url
    return engine().call_request(session_id, call_id)


@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _loss_report(
    url: str,
    user: str,
    session_id: str,
    length: int,
    compaction_id: str,
    policy: str,
    _work: ContextEngine,
) -> LossReport:
    del url, user, length, policy  # part of the key only
    return _work.losses(session_id, compaction_id)


@st.cache_resource(ttl="1h", max_entries=64, show_spinner=False)
def _message_story(
    url: str, user: str, session_id: str, length: int, calls: int, active: str, seq: int
) -> MessageStory:
    del url, user, length, calls, active  # part of the key only
    return engine().story(session_id, seq)


@st.cache_resource(ttl="1h", max_entries=32, show_spinner=False)
def _losses_under(
    url: str, user: str, session_id: str, length: int, compaction_id: str, edits: str
) -> tuple[PresetLosses, ...]:
    del url, user, length, edits  # part of the key only
    return engine().losses_under(session_id, compaction_id, Policy.presets())


@st.cache_resource(ttl="5m", max_entries=64, show_spinner=False)
def _foreseen(
    state: str,
    user: str,
    session_id: str,
    policy: str,
    model: str,
    plans: bool,
    _policy: Policy,
    _work: ContextEngine,
) -> Foreseen:
    del state, user, policy  # part of the key only
    return _work.foresee(session_id, _policy, model=model, plans=plans)


@st.cache_resource(ttl="1h", max_entries=64, show_spinner=False)  # as it is: copying costs
def _turn_beginnings(url: str, session_id: str, length: int) -> tuple[tuple[int, str], ...]:
    del url
    if not length:
        return ()
    return tuple(turn_starts(engine().store.messages(session_id, 1, length, role="user")))


@st.cache_data(ttl="1h", max_entries=32, show_spinner=False)
def _token_report(
    url: str,
    session_id: str,
    length: int,
    model: str,
    count: int,
    _calls: Sequence[CallInfo],
    _store: SessionStore,
) -> TokenReport:
    del url, count  # part of the key only
    counter = counter_for(model)
    transcript, counts = _counted(_store, session_id, length, counter, _calls)
    return usage_report(transcript, counter, counts=counts)


@st.cache_resource(ttl="1h", max_entries=16, show_spinner=False)
def _sent_report(
    url: str,
    session_id: str,
    length: int,
    model: str,
    view: AccountView,
    state: str,
    _calls: Sequence[CallInfo],
    _work: ContextEngine,
) -> TokenReport:
    del url, state  # part of the key only
    counter = counter_for(model)
    transcript, counts = _counted(_work.store, session_id, length, counter, _calls)
    is_now = view == "now"
    stays = _stays_now(_work, session_id) if is_now else _stays(_work, transcript, _calls, counter)
    return usage_report(transcript, counter, counts=counts, stays=stays)


def _stays_now(work: ContextEngine, session_id: str) -> Stays:
    """What the next call sends."""
    target = work.call_target(session_id)
    context = build_context(target.view, target.call, target.record)
    summary = context.breakdown.summary
    return stays_of_runs([context.runs], target.session.length, summary_tokens=summary)


def _stays(
    work: ContextEngine, transcript: Transcript, calls: Sequence[CallInfo], counter: TokenCounter
) -> Stays:
    """What all calls sent: by their verdicts, or of imported ones by the compactions between."""
    answers = [call for call in calls if call.purpose == "answer" and not call.is_imported]
    if not answers:
        return stays_in(transcript, counter)
    runs = work.store.runs(transcript.id, [call.id for call in answers])
    summaries = sum(call.estimate.get("summary", 0) for call in answers)
    return stays_of_runs(runs.values(), len(transcript.messages), summary_tokens=summaries)


def _counted(
    store: SessionStore,
    session_id: str,
    length: int,
    counter: TokenCounter,
    calls: Sequence[CallInfo],
) -> tuple[Transcript, Sequence[int] | None]:
    """The session as a transcript, and the tokens of its messages where they are counted."""
    messages = store.messages(session_id, 1, length) if length else []
    imported = store.imported_compactions(session_id)
    transcript = transcript_of(store.session(session_id), messages, calls, imported)
    if messages and store.has_counts(session_id, counter.id):
        return transcript, store.view(session_id, counter.id).sizes(1, length)
    return transcript, None


@st.cache_data(ttl="1h", max_entries=2_000, show_spinner=False)
def _session_tokens(url: str, session_id: str, length: int, counter_id: str) -> int:
    del url
    view = engine().store.view(session_id, counter_id)
    return view.spans_tokens([(1, length)])[0] if length else 0


def turn_starts(messages: Iterable[MessageInfo]) -> list[tuple[int, str]]:
    """The user messages: number and beginning of the text."""
    return [
        (info.seq, excerpt(info.message.text)) for info in messages if info.message.role == "user"
    ]


def active_chain(
    compactions: Sequence[CompactionInfo], active_id: str | None
) -> list[CompactionInfo]:
    """The active compaction and its ancestors, oldest first."""
    by_id = {info.id: info for info in compactions}
    chain: list[CompactionInfo] = []
    while active_id is not None and active_id in by_id:
        chain.append(by_id[active_id])
        active_id = by_id[active_id].parent_id
    return chain[::-1]


def can_redo(compactions: Iterable[CompactionInfo], active_id: str | None) -> bool:
    """Whether an undo can be redone: a compaction was made from the active one."""
    return any(info.parent_id == active_id for info in compactions)


def number_in(body: JsonObject, name: str) -> float | None:
    """The number recorded under a name, if any."""
    value = body.get(name)
    return float(value) if isinstance(value, (int, float)) else None


def names_in(body: JsonObject, name: str) -> tuple[str, ...]:
    """The names recorded under a name; empty if there are none."""
    value = body.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def text_in(body: JsonObject, name: str) -> str:
    """The text recorded under a name; empty if there is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def reason_in(body: JsonObject, name: str) -> Reason | None:
    """The reason recorded under a name, if any."""
    value = body.get(name)
    try:
        return from_json(value) if isinstance(value, dict) else None
    except ValueError:  # details of an import are unchecked
        return None
