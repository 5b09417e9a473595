"""Stored sessions and exports as recorded conversations, to look at, and to try policies on.

System prompts that are out of force are left out, since a recording has one prompt throughout.
Pins, exclusions and the count factor are those of today, at every call.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ctxcore.assembly.prompts import PromptChange, Prompts
from ctxcore.budget import ASSUMED_WINDOW_TOKENS
from ctxcore.engine.core import ContextEngine
from ctxcore.engine.factors import factor_of
from ctxcore.engine.native import NativeFile, parse_native
from ctxcore.formats.reading import FORMATS
from ctxcore.formats.values import RecordedCompaction, RecordedUsage, Transcript
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.canonical import to_canonical
from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.policy.layers import set_values
from ctxcore.policy.values import Policy
from ctxcore.store.values import JobInfo, SessionInfo
from ctxcore.tokens.count import counter_for
from ctxcore.tokens.factors import CountFactor
from ctxcore.tokens.prices import Price
from ctxcore.trials.candidates import Candidate
from ctxcore.trials.running import LoadedLater, Progress, call_under, run_trial
from ctxcore.trials.values import TrialSession

TRIAL = "trial"
TRIAL_CALL = "trial_call"
"""The kinds of jobs."""
NATIVE = "ctxcore"
"""The format of exports, as `Transcript` names it."""


def read_export(text: str, *, name: str) -> Transcript:
    """An export of this library as a recorded conversation; `name` is used as its path.

    Raises:
        ImportRefusedError: it is damaged, or of a later version.
    """
    return _to_transcript(parse_native(text, name=name), name)


def trial_session(
    engine: ContextEngine,
    session_id: str,
    *,
    model: str | None = None,
    window_tokens: int | None = None,
    max_tokens: int | None = None,
) -> TrialSession:
    """A stored session with its own model, window, price and policy.

    Args:
        engine: Checks that its user may read the session.
        session_id: The session.
        model: Another model to count, price and size by.
        window_tokens: Another window.
        max_tokens: An input budget in place of a window.

    Raises:
        SessionNotFoundError, NotAllowedError: there is none, or it is another user's.
    """
    session, infos = engine.session(session_id, action="replay"), engine.store.messages(session_id)
    settings = _settings(engine, session, model=model, window_tokens=window_tokens)
    places = _in_force([info.message for info in infos], session.system_changes)
    is_budget = max_tokens is not None
    return TrialSession(
        id=session.id,
        title=session.title,
        messages=[infos[at].message for at in places],
        model=settings.model,
        tools=session.tools,
        window_tokens=None if is_budget else settings.window_tokens,
        max_tokens=max_tokens,
        is_window_assumed=settings.is_window_assumed and not is_budget,
        price=settings.price,
        today=settings.today,
        seqs=(seqs := [infos[at].seq for at in places]),
        pinned=_places(seqs, settings.pinned),
        excluded=_places(seqs, settings.excluded),
        factor=settings.factor,
    )


def _places(seqs: Sequence[int], marked: Collection[int]) -> list[int]:
    """The places (from 1) of the marked messages among those with these numbers."""
    return [place for place, seq in enumerate(seqs, start=1) if seq in marked]


def load_later(
    engine: ContextEngine, sessions: Iterable[SessionInfo], **given: Any
) -> list[LoadedLater]:
    """Stored sessions that a trial reads one after the other; `given` as in `trial_session`."""

    def later(session: SessionInfo) -> LoadedLater:
        return LoadedLater(
            id=session.id,
            title=session.title,
            messages=session.length,
            load=lambda: trial_session(engine, session.id, **given),
        )

    return list(map(later, sessions))


def start_trial(
    engine: ContextEngine,
    session_ids: Sequence[str],
    candidates: Sequence[Candidate],
    *,
    window_tokens: int | None = None,
    anew: bool = False,
) -> JobInfo:
    """Starts a trial as a job of the user, or returns the one that has the same result.

    Raises:
        SessionNotFoundError, NotAllowedError: of one of the sessions.
        PolicyError: a candidate has no policy in one of them.
    """
    sessions = [engine.session(session_id, action="replay") for session_id in session_ids]
    settings = [_settings(engine, one, window_tokens=window_tokens) for one in sessions]
    for candidate in candidates:
        for one in settings:
            candidate.policy_for(one.today)
    spec: JsonObject = {
        "sessions": [*session_ids],
        "titles": [one.title for one in sessions],
        "candidates": [candidate.to_dict() for candidate in candidates],
        "window_tokens": window_tokens,
    }
    later = load_later(engine, sessions, window_tokens=window_tokens)

    def work() -> Generator[Progress, None, JsonObject]:
        trial = yield from run_trial(later, candidates)
        return trial.to_dict()

    reads: list[JsonValue] = [one.to_dict() for one in settings]
    return engine.jobs.start(TRIAL, spec, work, session_ids=session_ids, reads=reads, anew=anew)


def start_call(
    engine: ContextEngine,
    session_id: str,
    candidate: Candidate,
    at: int,
    *,
    window_tokens: int | None = None,
) -> JobInfo:
    """Starts working out what a call of a session would have been sent under a candidate.

    Raises:
        SessionNotFoundError, NotAllowedError: there is none, or it is another user's.
    """
    settings = _settings(
        engine, engine.session(session_id, action="replay"), window_tokens=window_tokens
    )
    spec: JsonObject = {
        "session": session_id,
        "candidate": candidate.to_dict(),
        "at": at,
        "window_tokens": window_tokens,
    }

    def work() -> Generator[Progress, None, JsonObject]:
        session = trial_session(engine, session_id, window_tokens=window_tokens)
        sent = yield from call_under(session, candidate, at)
        return sent.to_dict()

    return engine.jobs.start(
        TRIAL_CALL, spec, work, session_ids=[session_id], reads=settings.to_dict()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings(Plain):
    """What a session is tried with, beside its messages."""

    model: str | None
    window_tokens: int
    is_window_assumed: bool
    price: Price | None
    today: JsonObject
    pinned: tuple[int, ...]
    excluded: tuple[int, ...]
    factor: CountFactor


def _settings(
    engine: ContextEngine,
    session: SessionInfo,
    *,
    model: str | None = None,
    window_tokens: int | None = None,
) -> _Settings:
    name = model or session.model or engine.default_model
    catalog, policy = engine.models(), engine.policy(session.id)
    known = catalog.info(name)
    window = window_tokens or known.window_tokens
    is_imported = session.origin in FORMATS
    marks = engine.store.marks(session.id)
    return _Settings(
        model=name,
        window_tokens=window or ASSUMED_WINDOW_TOKENS,
        is_window_assumed=window is None or (window_tokens is None and known.is_assumed),
        price=catalog.price(name, is_imported=is_imported) if name else None,
        today=set_values(policy.policy, policy.sources),
        pinned=tuple(mark.seq for mark in marks if mark.kind == "pin"),
        excluded=tuple(mark.seq for mark in marks if mark.kind != "pin"),
        factor=factor_of(engine.store, session, name, counter_for(name), Policy()),
    )


def _in_force(messages: Sequence[Message], changes: Sequence[PromptChange]) -> list[int]:
    """The places of all messages but the system prompts that are out of force."""
    system = [at + 1 for at, message in enumerate(messages) if message.is_system]
    replaced: Collection[int] = {*Prompts.of(system, tuple(changes), len(messages), ()).replaced}
    return [at for at in range(len(messages)) if at + 1 not in replaced]


def _to_transcript(file: NativeFile, name: str) -> Transcript:
    model, tools = file.head.get("model"), file.head.get("tools")
    places = _in_force(file.messages, file.changes)
    at_of = {place + 1: at for at, place in enumerate(places)}
    return Transcript(
        id=name.rpartition("/")[2].partition(".")[0] or name,
        title=str(file.head.get("title") or name),
        format=NATIVE,
        path=name,
        messages=tuple(file.messages[at] for at in places),
        times=tuple(file.times[at] for at in places),
        model=model if isinstance(model, str) else None,
        raw_tools=tuple(map(to_canonical, tools)) if isinstance(tools, list) else (),
        compactions=tuple(
            RecordedCompaction(
                at=at_of[made.before_seq],
                summary=made.summary,
                before_tokens=made.before_tokens,
                trigger=made.trigger,
                recorded_at=made.recorded_at,
            )
            for made in file.imported
            if made.before_seq in at_of
        ),
        usage=tuple(_usage(file.calls, at_of)),
    )


def _usage(calls: Iterable[dict[str, Any]], at_of: dict[int, int]) -> Iterable[RecordedUsage]:
    """What providers reported for the answers among the `calls` of an export."""
    for number, call in enumerate(calls, start=1):
        after = at_of.get(call.get("seq") or 0)
        if call.get("purpose") != "answer" or after is None or call.get("input_tokens") is None:
            continue
        cached, written = call.get("cached_tokens") or 0, call.get("cache_write_tokens") or 0
        yield RecordedUsage(
            call_id=f"call-{number}",
            after=after,
            input_tokens=max(0, call["input_tokens"] - cached - written),
            cache_read_tokens=cached,
            cache_write_tokens=written,
            cache_hour_tokens=call.get("cache_hour_tokens") or 0,
            output_tokens=call.get("output_tokens") or 0,
            model=call.get("model"),
        )
