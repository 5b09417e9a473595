"""Finds the forgetting signals that a recorded conversation would have had under a policy.

The recorded turns are those of another context: what a user repeats there, somebody else forgot.
What is counted is how often the policy's context would not have shown it either.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxcore.assembly.verdicts import Run
from ctxcore.compaction.simulation import Recording, Walk
from ctxcore.policy.values import Policy
from ctxcore.signals.finding import find_in_reply, find_in_request
from ctxcore.signals.seen import Seen
from ctxcore.signals.values import FoundSignal


def signals_under(
    recording: Recording,
    policy: Policy,
    *,
    window_tokens: int | None = None,
    max_tokens: int | None = None,
) -> Iterator[FoundSignal]:
    """The signals in the messages of `recording`, in order; the bounds are those of `Walk`."""
    walk = Walk(
        recording, policy, window_tokens=window_tokens, max_tokens=max_tokens, builds_all=True
    )
    view, read = recording.history, 0
    runs: tuple[Run, ...] = ()
    for call in walk:
        for row in view.get(range(read + 1, call.at + 1)):
            if row.message.role == "user" and runs:
                yield from find_in_request(
                    view, row.seq, row.message, Seen(runs, before_recall=True)
                )
        read, runs = call.at + 1, walk.context.runs if walk.context else ()
        [answer] = view.get([call.at + 1])
        yield from find_in_reply(view, answer.seq, answer.message, Seen(runs))
