"""What policies would have made of one message: shortened, folded, and there when it was needed.

A recorded conversation is walked call by call, as `ctxcore.replay` does, and only that message and
the later uses of its facts are looked at.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ctxcore.assembly.items import Item, Merged
from ctxcore.compaction.loss_report import message_text
from ctxcore.compaction.simulation import Recording, SimulatedCall, SimulatedCompaction, Walk
from ctxcore.facts.presence import SearchedText
from ctxcore.facts.values import Fact
from ctxcore.json_types import JsonObject
from ctxcore.plain import Plain
from ctxcore.policy.values import Policy
from ctxcore.reasons.values import Reason, document, from_json

CALLS_A_STEP = 20  # chosen: a fraction of a second, so that a walk can be ended between two


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A later use of a fact of the message; `at` is the index of the message that uses it."""

    fact: Fact
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFate(Plain):
    """What became of a message under a policy; calls and compactions count from 1."""

    name: str
    """Of the policy."""
    shortened_from: int | None = None
    """The first call that had it shortened."""
    hidden_from: int | None = None
    """The first call that did not show it; None: every call did."""
    compaction: int | None = None
    """The compaction that hid it; None where its place outside the window did."""
    trigger: Reason | None = None
    """Why that compaction was made."""
    is_shown: bool = True
    """Whether the last call has something of it."""
    needed: int = 0
    """How often its facts were used later."""
    there: int = 0
    """How many of these times the context held the fact, in whatever message or summary."""
    refused: int = 0
    """Calls that could not be made, because what must be kept did not fit."""

    def to_dict(self) -> JsonObject:
        """The fate as JSON."""
        return {
            "name": self.name,
            "shortened_from": self.shortened_from,
            "hidden_from": self.hidden_from,
            "compaction": self.compaction,
            "trigger": document(self.trigger) if self.trigger else None,
            "is_shown": self.is_shown,
            "needed": self.needed,
            "there": self.there,
            "refused": self.refused,
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> MessageFate:
        """What `to_dict` gave."""
        raw = cast("dict[str, Any]", plain)  # written by `to_dict` only
        told = raw["trigger"]
        code = told and from_json({name: told[name] for name in told if name != "text"})
        return cls(**{**raw, "trigger": code})


def fate_under(
    recording: Recording,
    policy: Policy,
    seq: int,
    needs: Sequence[Need],
    *,
    name: str,
    window_tokens: int | None = None,
) -> Generator[int, None, MessageFate]:
    """Walks the recording under `policy`; gives the calls passed since the last time it gave some.

    `seq` is the message, from 1; summaries are quotes.
    """
    walk = Walk(recording, policy, window_tokens=window_tokens)
    follower, since = _Follower(seq, needs, MessageFate(name=name, needed=len(needs))), 0
    for number, call in enumerate(walk, start=1):
        follower.follow(number, call, walk.sent)
        since += 1
        if since == CALLS_A_STEP:
            yield since
            since = 0
    if since:
        yield since
    return follower.fate


class _Follower:
    """Follows one message through the calls of a walk."""

    def __init__(self, seq: int, needs: Sequence[Need], fate: MessageFate) -> None:
        self._seq = seq
        self._left = sorted(needs, key=lambda need: need.at)
        self._made: list[SimulatedCompaction] = []
        self.fate = fate

    def follow(self, number: int, call: SimulatedCall, sent: Sequence[Merged]) -> None:
        """Looks at the next call, which was sent these messages."""
        self._made += call.compactions
        if call.is_over:
            self.fate = replace(self.fate, refused=self.fate.refused + 1)
        elif call.at >= self._seq:
            self._look(number, sent)
        self._meet(call, sent)

    def _look(self, number: int, sent: Sequence[Merged]) -> None:
        item = next((item for item in _items(sent) if item.row and item.seq == self._seq), None)
        fate = replace(self.fate, is_shown=item is not None)
        if item is not None and item.verdict == "compressed" and fate.shortened_from is None:
            fate = replace(fate, shortened_from=number)
        if item is None and fate.hidden_from is None:
            fate = replace(fate, hidden_from=number, **self._cause())
        self.fate = fate

    def _cause(self) -> dict[str, Any]:
        """The newest compaction, if it covers the message."""
        record = self._made[-1].record if self._made else None
        if record is None or record.covered_until < self._seq:
            return {}
        return {"compaction": len(self._made), "trigger": self._made[-1].trigger.reason}

    def _meet(self, call: SimulatedCall, sent: Sequence[Merged]) -> None:
        """Checks what was used since the call before: what the call had of it from before then."""
        while self._left and self._left[0].at <= call.at:
            need = self._left.pop(0)
            if not call.is_over and _holds(sent, need):
                self.fate = replace(self.fate, there=self.fate.there + 1)


def _items(sent: Sequence[Merged]) -> Sequence[Item]:
    return [item for group in sent for item in group.items]


def _holds(sent: Sequence[Merged], need: Need) -> bool:
    """Whether what was sent says the fact, but for the message that uses it and those behind."""
    said = (
        message_text(item.message)
        for item in _items(sent)
        if item.row is None or item.seq <= need.at
    )
    return SearchedText("\n".join(said)).says(need.fact)
