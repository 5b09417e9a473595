"""Owns what a request says of what was said before: literals at use, and live facts.

Texts are read once: of a request that begins as the one before, only what is new is looked at.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.loss_report import LostFact, by_worth, call_text, loss_code, said_text
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import SearchedText, word_runs
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import JsonObject, Message
from ctxcore.replay.references import says_literal
from ctxcore.replay.requests import Request

Fate = Literal["verbatim", "carried", "summarized", "dropped"]

FATES: Final[tuple[Fate, ...]] = get_args(Fate)
STANDING: Final[Kind] = "instruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFates:
    """How many facts had which fate, by kind; of several calls together, each fact once a call."""

    counts: tuple[tuple[Kind, Fate, int], ...] = ()

    @classmethod
    def of(cls, counted: Mapping[tuple[Kind, Fate], int]) -> FactFates:
        """Counts in the order of kinds and fates as their names sort."""
        ordered = sorted(counted.items())
        return cls(counts=tuple((kind, fate, count) for (kind, fate), count in ordered if count))

    @classmethod
    def total(cls, several: Iterable[FactFates]) -> FactFates:
        """The counts of several calls added up."""
        counted: Counter[tuple[Kind, Fate]] = Counter()
        for one in several:
            for kind, fate, count in one.counts:
                counted[kind, fate] += count
        return cls.of(counted)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that were counted."""
        return tuple(dict.fromkeys(kind for kind, _, _ in self.counts))

    def count(self, *, kind: Kind | None = None, fate: Fate | None = None) -> int:
        """How many facts of a kind had a fate; all kinds, all fates without them."""
        return sum(
            count
            for one, other, count in self.counts
            if kind in (None, one) and fate in (None, other)
        )

    def share(self, kind: Kind | None = None) -> float | None:
        """The share of facts that the requests said; None where there were none."""
        every = self.count(kind=kind)
        return 1 - self.count(kind=kind, fate="dropped") / every if every else None

    @property
    def standing_share(self) -> float | None:
        """The share of standing instructions that the requests said."""
        return self.share(STANDING)


class Presence:
    """Follows requests in order; each is asked for literals and facts while it is the last."""

    def __init__(
        self,
        texts: Sequence[str],
        places: Mapping[str, Sequence[int]],
        parts: Collection[str] = (),
    ) -> None:
        """`texts` are the messages of the history, `places` those that say a literal.

        `parts` are literals that are only ever a part of a longer word, and count as that.
        """
        self._history = texts
        self._parts = parts
        self._places = places
        self._shown: list[tuple[Merged, str]] = []
        self._whole: Counter[int] = Counter()
        self._short: dict[int, SearchedText] = {}
        self._active: Compaction | None = None
        self._told: dict[tuple[Kind, str, str], Fate] = {}
        self._facts = self._summary = SearchedText("")

    def follow(self, request: Request, shared: int) -> None:
        """Takes in the next request, which begins with `shared` messages of the last."""
        for group, _ in self._shown[shared:]:
            self._mark(group, -1)
        del self._shown[shared:]
        for group in request.shown[shared:]:
            self._shown.append((group, self._text(group)))
            self._mark(group, 1)
        if request.active is not self._active:
            self._take_record(request.active)

    def says(self, literal: str) -> bool:
        """Whether the request says `literal`."""
        seen = self._places.get(literal, ())
        if any(self._whole[at + 1] for at in reversed(seen) if at + 1 in self._whole):
            return True
        texts = (text for _, text in reversed(self._shown))
        if literal in self._parts:
            return any(literal in text for text in texts)
        return any(says_literal(text, literal) for text in texts)

    def fates(self, entries: Iterable[Entry]) -> FactFates:
        """What became of each of `entries` in the request."""
        counted: Counter[tuple[Kind, Fate]] = Counter()
        for entry in entries:
            counted[entry.kind, self._fate(entry)] += 1
        return FactFates.of(counted)

    def _text(self, group: Merged) -> str:
        """All that a message says; one of the history as it was is known."""
        (first, *others) = group.items
        if not others and first.row is not None and first.verdict == "kept":
            return self._history[first.seq - 1]
        return said_text(group.message)

    def _mark(self, group: Merged, by: int) -> None:
        for item in group.items:
            if item.row is None:
                continue
            if item.verdict == "kept":
                self._whole[item.seq] += by
            elif by > 0:
                self._short[item.seq] = _short_text(item)
            else:
                self._short.pop(item.seq, None)

    def _take_record(self, record: Compaction | None) -> None:
        self._active = record
        self._told = {}
        self._facts = SearchedText(record.facts if record else "")
        self._summary = SearchedText(record.summary if record else "")

    def _fate(self, entry: Entry) -> Fate:
        if any(self._whole.get(seq) for seq in entry.seqs):
            return "verbatim"
        if any(seq in self._short and self._short[seq].says(entry.fact) for seq in entry.seqs):
            return "verbatim"
        key = (entry.kind, entry.key, entry.text)
        if key not in self._told:
            self._told[key] = self._in_record(entry.fact)
        return self._told[key]

    def _in_record(self, fact: Fact) -> Fate:
        if self._facts.says(fact):
            return "carried"
        return "summarized" if self._summary.says(fact) else "dropped"


def _short_text(item: Item) -> SearchedText:
    return SearchedText(said_text(item.message))


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
        self._said = [(at, by, SearchedText(text)) for at, by, text in _all_said(messages, start)]
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


def seen_by(record: Compaction) -> int:
    """The newest message that `record` knew of; what lies behind came later."""
    return max(record.seen_until, record.last_seq)


def recorded_losses(
    record: Compaction, facts: Iterable[tuple[int, Sequence[Fact]]]
) -> list[LostFact]:
    """The lost facts of `record` that are found among `facts` of its history, most worth first."""
    texts = frozenset(record.facts_lost or ())
    if not texts:
        return []
    ledger, until = Ledger(), seen_by(record)
    for seq, found in facts:
        if seq > until:
            break
        ledger.add(seq, found)
    return by_worth(LostFact.of(entry) for entry in live(ledger) if entry.text in texts)


def by_need(lost: Iterable[NeededFact]) -> tuple[NeededFact, ...]:
    """`lost` with what was needed later first; otherwise in the order given."""
    return tuple(sorted(lost, key=lambda one: one.needed_at is None))
