"""Contexts of a conversation replayed call by call, under a policy or a plain window.

`of_policy` is the one place that knows how a policy is replayed here.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.fidelity.methods import Folded, Method
from benchmarks.fidelity.talks import MODEL, Talk
from ctxcore import Policy
from ctxcore.assembly.context import Context
from ctxcore.compaction.simulation import Recording, Walk

Sent = tuple[int, Folded]
"""The place of a recorded answer, and what would have been sent for it."""


def of_policy(talk: Talk, policy: Policy, max_tokens: int) -> Iterator[Sent]:
    """Each call's context, compactions made when the policy says."""
    walk = _Watched(Recording(talk.messages, model=MODEL), policy, max_tokens=max_tokens)
    for call in walk:
        yield call.at, walk.built.messages if walk.built else None


def of_method(talk: Talk, method: Method, max_tokens: int) -> Iterator[Sent]:
    """Each call's context, the conversation so far folded anew where it exceeds `max_tokens`."""
    before = 0
    for at, message in enumerate(talk.messages):
        if message["role"] == "assistant" and before:
            whole = before <= max_tokens
            yield at, list(talk.messages[:at]) if whole else method.fold(talk.until(at), max_tokens)
        before += talk.tokens[at]


class _Watched(Walk):
    """A walk that lets its contexts be seen."""

    built: Context | None = None

    def __init__(self, recording: Recording, policy: Policy, *, max_tokens: int) -> None:
        super().__init__(recording, policy, max_tokens=max_tokens, builds_all=True)

    def _build(self) -> Context | None:
        self.built = super()._build()
        return self.built
