"""Runs trials: each session call by call under each candidate. No model is called.

The same sessions and candidates give the same figures in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.errors import ContextError
from ctxcore.replay.replaying import Replaying
from ctxcore.replay.values import Replay
from ctxcore.summarizers.calling import SummarizerLike
from ctxcore.tokens.count import counter_for
from ctxcore.trials.candidates import Candidate
from ctxcore.trials.values import (
    FailedSession,
    SentCall,
    SentMessage,
    Trial,
    TrialSession,
    Tried,
    TriedSession,
)

Progress: TypeAlias = tuple[int, int]
"""How many messages are done, and of how many."""
UNIT_MESSAGES = 50  # chosen: some milliseconds, so that cancelling is quick


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedLater:
    """A session that is read when its turn comes, so that a trial holds one at a time."""

    id: str
    title: str
    messages: int
    load: Callable[[], TrialSession]


class Trying:
    """One session under any number of candidates; what they share is read once."""

    def __init__(self, session: TrialSession) -> None:
        self.session = session
        self._recording = Recording(
            session.messages,
            model=session.model,
            tools=session.tools,
            pinned=session.pinned,
            excluded=session.excluded,
            factor=session.factor,
        )
        self._replaying = Replaying(self._recording, price=session.price)

    def under(
        self, candidate: Candidate, *, summarizer: SummarizerLike | None = None
    ) -> Generator[int, None, Replay]:
        """Replays the session; yields how many messages each call passed.

        Raises (from the generator):
            PolicyError: the candidate has no policy in this session.
            BudgetError: its window cannot work.
        """
        replay = yield from self._replaying.along(self.walk(candidate, summarizer=summarizer))
        return replace(replay, policy=candidate.name)

    def walk(self, candidate: Candidate, *, summarizer: SummarizerLike | None = None) -> Walk:
        """The walk through the session under a candidate."""
        return Walk(
            self._recording,
            candidate.policy_for(self.session.today),
            window_tokens=self.session.window_tokens,
            max_tokens=self.session.max_tokens,
            summarizer=summarizer,
            refuses=candidate.is_refusing,
        )


def _replays(
    session: TrialSession, candidates: Sequence[Candidate]
) -> Generator[int, None, list[Replay]]:
    """The replays under all candidates; yields how many messages were passed."""
    trying, replays = Trying(session), []
    for candidate in candidates:
        replays.append((yield from trying.under(candidate)))
    return replays


def tried_session(
    session: TrialSession, candidates: Sequence[Candidate], replays: Sequence[Replay]
) -> TriedSession:
    """What is stored of the replays of a session."""
    return TriedSession(
        id=session.id,
        title=session.title,
        model=session.model,
        messages=len(session.messages),
        window_tokens=session.window_tokens,
        max_tokens=session.max_tokens,
        is_window_assumed=session.is_window_assumed,
        is_exact=counter_for(session.model).is_exact,
        tried=tuple(map(Tried.of, candidates, replays)),
    )


def run_trial(
    sessions: Sequence[LoadedLater], candidates: Sequence[Candidate]
) -> Generator[Progress, None, Trial]:
    """Tries `candidates` on `sessions`; yields the progress, at least every 50 messages.

    A session that cannot be tried is listed with the reason.
    """
    total, before = sum(one.messages for one in sessions) * len(candidates), 0
    tried: list[TriedSession] = []
    failed: list[FailedSession] = []
    for one in sessions:
        try:
            session = one.load()
            replays = yield from _summed(_replays(session, candidates), before, total)
            tried.append(tried_session(session, candidates, replays))
        except ContextError as error:
            failed.append(FailedSession(id=one.id, title=one.title, reason=error.reason))
        before += one.messages * len(candidates)
        yield before, total
    return Trial(candidates=tuple(candidates), sessions=tuple(tried), failed=tuple(failed))


def _summed(
    steps: Generator[int, None, list[Replay]], before: int, total: int
) -> Generator[Progress, None, list[Replay]]:
    """`steps` with their sums as progress of the whole trial, a unit at a time."""
    done, told = before, before
    while True:
        try:
            done += next(steps)
        except StopIteration as ended:
            replays: list[Replay] = ended.value
            return replays
        if done - told >= UNIT_MESSAGES:
            told = done
            yield min(done, total), total


def call_under(
    session: TrialSession, candidate: Candidate, at: int
) -> Generator[Progress, None, SentCall]:
    """What the call that message `at` answers would have been sent; yields progress in messages.

    Raises (from the generator):
        PolicyError, BudgetError: as in a trial.
    """
    walk, told = Trying(session).walk(candidate), 0
    for call in walk:
        if call.at >= at:
            return SentCall(
                at=call.at,
                tokens=call.tokens,
                messages=tuple(map(SentMessage.of, walk.sent)),
            )
        if call.at - told >= UNIT_MESSAGES:
            told = call.at
            yield told, at
    return SentCall(at=at, tokens=0, messages=())
