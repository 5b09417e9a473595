"""Owns which lost facts were needed later: the first message behind that uses the literal again."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ctxcore.compaction.losing import LostFact, call_text, loss_code
from ctxcore.facts.said_text import SaidText, word_runs
from ctxcore.facts.values import Kind
from ctxcore.messages.values import JsonObject, Message

NeededBy = Literal["call", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededFact:
    """A lost fact, and where it was used again; places are indexes into the messages."""

    text: str
    kind: Kind
    at: int
    """The message that said it last."""
    worth: float
    needed_at: int | None = None
    """The first message that uses it after it was lost; None: none does."""
    needed_by: NeededBy | None = None

    def to_dict(self) -> JsonObject:
        """The fact as JSON."""
        return {
            "text": self.text,
            "kind": self.kind,
            "code": loss_code(self.kind),
            "at": self.at,
            "worth": round(self.worth, 3),
            "needed_at": self.needed_at,
            "needed_by": self.needed_by,
        }


class LaterUses:
    """What people, the model and its calls say in a recording, asked for lost facts."""

    def __init__(self, messages: Sequence[Message], *, start: int = 0) -> None:
        """`messages` are those from the place `start` on."""
        self._said = [(at, by, SaidText(text)) for at, by, text in _all_said(messages, start)]
        self._ats = [at for at, _, _ in self._said]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, (_, _, said) in enumerate(self._said):
            for run in set(word_runs(said.text)):
                self._places[run].append(place)

    def needed(self, lost: Iterable[LostFact], after: int) -> tuple[NeededFact, ...]:
        """`lost` with the first use of each from the message `after` on."""
        first = bisect_left(self._ats, after)
        return tuple(self._needed(one, first) for one in lost)

    def _needed(self, lost: LostFact, first: int) -> NeededFact:
        uses = (self._said[place] for place in self._candidates(lost.text, first))
        found = next(((at, by) for at, by, said in uses if said.says(lost.fact)), None)
        needed_at, needed_by = found or (None, None)
        return NeededFact(
            text=lost.text,
            kind=lost.kind,
            at=lost.seq - 1,
            worth=lost.worth,
            needed_at=needed_at,
            needed_by=needed_by,
        )

    def _candidates(self, text: str, first: int) -> Iterable[int]:
        """Places from `first` on that have all words of `text`."""
        runs = word_runs(text)
        if not runs:
            return range(first, len(self._said))
        postings = sorted((self._places.get(run, []) for run in runs), key=len)
        rarest, others = postings[0], [set(one) for one in postings[1:4]]
        start = bisect_left(rarest, first)
        return (place for place in rarest[start:] if all(place in one for one in others))


def _all_said(messages: Sequence[Message], start: int) -> Iterator[tuple[int, NeededBy, str]]:
    """What is used: words and the values in calls; what tools print is not used but found."""
    for at, message in enumerate(messages, start):
        if message.calls:
            yield at, "call", "\n".join(map(call_text, message.calls))
        if message.text and message.role in ("user", "assistant"):
            yield at, "user" if message.role == "user" else "assistant", message.text
