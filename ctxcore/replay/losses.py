"""Checks which literals and facts a request still holds, and which lost facts are needed later.

Each text is searched once: of a request that begins as the one before, only the new messages are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Literal, cast, get_args

from ctxcore.assembly.items import Merged
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.loss_report import (
    RANKS,
    LossRank,
    LostFact,
    call_text,
    loss_code,
    loss_rank,
    message_text,
    sort_by_salience,
)
from ctxcore.facts.ledger import Entry, Ledger, live
from ctxcore.facts.presence import SearchedText, word_runs
from ctxcore.facts.values import Fact, Kind
from ctxcore.messages.values import JsonObject, Message
from ctxcore.reasons.codes import LossVerdictCode
from ctxcore.reasons.values import Reason, document
from ctxcore.replay.references import says_literal
from ctxcore.replay.requests import Request

Fate = Literal["verbatim", "carried", "summarized", "dropped"]

FATES: Final[tuple[Fate, ...]] = get_args(Fate)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactFates:
    """How many facts of each kind had each fate; each fact counts once for every call."""

    counts: tuple[tuple[Kind, Fate, int], ...] = ()
    """Sorted by kind and fate."""

    @classmethod
    def of(cls, counted: Mapping[tuple[Kind, Fate], int]) -> FactFates:
        """Returns the counts that are not 0, sorted."""
        ordered = sorted(counted.items())
        return cls(counts=tuple((kind, fate, count) for (kind, fate), count in ordered if count))

    @classmethod
    def total(cls, fates: Iterable[FactFates]) -> FactFates:
        """Returns the counts of several calls added up."""
        counted: Counter[tuple[Kind, Fate]] = Counter()
        for kind, fate, count in chain.from_iterable(of_call.counts for of_call in fates):
            counted[kind, fate] += count
        return cls.of(counted)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that occur."""
        return tuple(dict.fromkeys(kind for kind, _, _ in self.counts))

    def count(self, *, kind: Kind | None = None, fate: Fate | None = None) -> int:
        """Returns how many facts of a kind had a fate; None stands for all of them."""
        return sum(
            count
            for its_kind, its_fate, count in self.counts
            if kind in (None, its_kind) and fate in (None, its_fate)
        )

    def share(self, kind: Kind | None = None) -> float | None:
        """Returns the share of facts that the requests held; None where there were none."""
        every = self.count(kind=kind)
        return 1 - self.count(kind=kind, fate="dropped") / every if every else None

    @property
    def standing_share(self) -> float | None:
        """The share of standing instructions that the requests held."""
        return self.share("instruction")


class Presence:
    """Follows requests in order and tells which literals and facts the last one holds."""

    def __init__(
        self,
        texts: Sequence[str],
        places: Mapping[str, Sequence[int]],
        parts: Collection[str] = (),
    ) -> None:
        """Takes the `texts` of the history and, for each literal, the `places` that hold it.

        `parts` are literals that occur only as a part of a longer word, and count as such.
        """
        self._history = texts
        self._parts = parts
        self._places = places
        self._shown: list[tuple[Merged, str]] = []
        self._whole: Counter[int] = Counter()
        self._short: dict[int, SearchedText] = {}
        self._active: Compaction | None = None
        self._known: dict[tuple[Kind, str, str], Fate] = {}
        self._facts = self._summary = SearchedText("")

    def follow(self, request: Request, shared: int) -> None:
        """Reads the next request, which begins with `shared` messages of the last."""
        for group, _ in self._shown[shared:]:
            self._mark(group, -1)
        del self._shown[shared:]
        for group in request.shown[shared:]:
            self._shown.append((group, self._text(group)))
            self._mark(group, 1)
        if request.active is not self._active:
            self._active, self._known = request.active, {}
            self._facts = SearchedText(request.active.facts if request.active else "")
            self._summary = SearchedText(request.active.summary if request.active else "")

    def says(self, literal: str) -> bool:
        """Whether the request holds `literal`."""
        if any(self._whole.get(at + 1) for at in reversed(self._places.get(literal, ()))):
            return True
        texts = (text for _, text in reversed(self._shown))
        if literal in self._parts:
            return any(literal in text for text in texts)
        return any(says_literal(text, literal) for text in texts)

    def fates(self, entries: Iterable[Entry]) -> FactFates:
        """Returns the fates of `entries` in the request."""
        return FactFates.of(Counter((entry.kind, self._fate(entry)) for entry in entries))

    def _text(self, group: Merged) -> str:
        """Returns the text of a message; that of an unchanged one is known from the history."""
        (first, *others) = group.items
        if not others and first.row is not None and first.verdict == "kept":
            return self._history[first.seq - 1]
        return message_text(group.message)

    def _mark(self, group: Merged, by: int) -> None:
        for item in group.items:
            if item.row is None:
                continue
            if item.verdict == "kept":
                self._whole[item.seq] += by
            elif by > 0:
                self._short[item.seq] = SearchedText(message_text(item.message))
            else:
                self._short.pop(item.seq, None)

    def _fate(self, entry: Entry) -> Fate:
        if any(self._whole.get(seq) for seq in entry.seqs):
            return "verbatim"
        if any(seq in self._short and self._short[seq].says(entry.fact) for seq in entry.seqs):
            return "verbatim"
        key = (entry.kind, entry.key, entry.text)
        if key not in self._known:
            self._known[key] = self._fate_in_record(entry.fact)
        return self._known[key]

    def _fate_in_record(self, fact: Fact) -> Fate:
        if self._facts.says(fact):
            return "carried"
        return "summarized" if self._summary.says(fact) else "dropped"


NeededBy = Literal["call", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededFact:
    """A lost fact, and where it was used again; `at` and `needed_at` are indexes of messages."""

    text: str
    kind: Kind
    at: int
    """The index of the message that said it last."""
    salience: float
    needed_at: int | None = None
    """The first message that uses it after it was lost; None: none does."""
    needed_by: NeededBy | None = None

    @property
    def rank(self) -> LossRank:
        """How much its loss matters."""
        return loss_rank(self.kind, is_needed=self.needed_at is not None)

    def to_dict(self) -> JsonObject:
        """Returns the fact as JSON."""
        return {
            "text": self.text,
            "kind": self.kind,
            "code": loss_code(self.kind),
            "at": self.at,
            "rank": self.rank,
            "worth": round(self.salience, 3),
            "needed_at": self.needed_at,
            "needed_by": self.needed_by,
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> NeededFact:
        """What `to_dict` gave."""
        raw = cast("dict[str, Any]", plain)  # written by `to_dict` only
        names = ("text", "kind", "at", "needed_at", "needed_by")
        return cls(**{name: raw[name] for name in names}, salience=raw["worth"])


class LaterUses:
    """Finds lost facts in what users, the model and its calls say later in a recording."""

    def __init__(self, messages: Sequence[Message], *, start: int = 0) -> None:
        """Takes the `messages` of the recording from index `start` on."""
        used = _used_texts(messages, start)
        self._texts = [(at, by, SearchedText(text)) for at, by, text in used]
        self._known: dict[tuple[str, Fact, int], tuple[int, NeededBy] | None] = {}
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, (_, _, text) in enumerate(self._texts):
            for run in set(word_runs(text.text)):
                self._places[run].append(place)

    def needed(self, lost: Iterable[LostFact], after: int) -> tuple[NeededFact, ...]:
        """Returns `lost` with the first use of each fact from the message `after` on."""
        first = self._first(after)
        return tuple(self._needed(fact, first) for fact in lost)

    def used(self, folded: Iterable[Fact], after: int) -> dict[str, Fact]:
        """Returns those of the facts that are used from the message `after` on, by their texts."""
        first, facts = self._first(after), {fact.text: fact for fact in folded}
        return {text: fact for text, fact in facts.items() if self._use(text, fact, first)}

    def places(self, fact: Fact, after: int) -> list[int]:
        """Returns the indexes of all messages from `after` on that use the fact."""
        texts = (self._texts[place] for place in self._candidates(fact.text, self._first(after)))
        return [*dict.fromkeys(at for at, _, said in texts if said.says(fact))]

    def verdict(
        self, folded: Iterable[Fact], lost: Iterable[NeededFact], after: int
    ) -> LossVerdict:
        """Returns what losing `lost` comes to, of all the facts that were `folded`.

        Each text counts once; uses count from the message `after` on.
        """
        gone = {fact.text for fact in lost if fact.needed_at is not None}
        return LossVerdict(
            needed=len(gone | self.used(folded, after).keys()),
            gone=len(gone),
            has_later=self._first(after) < len(self._texts),
        )

    def _first(self, after: int) -> int:
        return bisect_left(self._texts, after, key=lambda text: text[0])

    def _use(self, text: str, fact: Fact, first: int) -> tuple[int, NeededBy] | None:
        """The first use of a fact among the texts from place `first` on."""
        key = (text, fact, first)  # lost facts are asked for as such and among those folded
        if key not in self._known:
            texts = (self._texts[place] for place in self._candidates(text, first))
            found = ((at, by) for at, by, said in texts if said.says(fact))
            self._known[key] = next(found, None)
        return self._known[key]

    def _needed(self, lost: LostFact, first: int) -> NeededFact:
        needed_at, needed_by = self._use(lost.text, lost.fact, first) or (None, None)
        return NeededFact(
            text=lost.text,
            kind=lost.kind,
            at=lost.seq - 1,
            salience=lost.salience,
            needed_at=needed_at,
            needed_by=needed_by,
        )

    def _candidates(self, text: str, first: int) -> Iterable[int]:
        """Returns the places from `first` on that have the rarest words of `text`."""
        runs = word_runs(text)
        if not runs:
            return range(first, len(self._texts))
        postings = sorted((self._places.get(run, []) for run in runs), key=len)
        rarest, others = postings[0], [set(places) for places in postings[1:4]]
        start = bisect_left(rarest, first)
        return (place for place in rarest[start:] if all(place in places for places in others))


def _used_texts(messages: Sequence[Message], start: int) -> Iterator[tuple[int, NeededBy, str]]:
    """Yields the words of messages and the values in calls; a tool output uses nothing."""
    for at, message in enumerate(messages, start):
        if message.calls:
            yield at, "call", "\n".join(map(call_text, message.calls))
        if message.text and message.role in ("user", "assistant"):
            yield at, "user" if message.role == "user" else "assistant", message.text


def newest_seen(record: Compaction) -> int:
    """Returns the newest message that `record` knew of, by sequence number."""
    return max(record.seen_until, record.last_seq)


def ledger_of(record: Compaction, facts: Iterable[tuple[int, Sequence[Fact]]]) -> Ledger:
    """Returns the ledger of the messages that `record` knew of."""
    ledger, until = Ledger(), newest_seen(record)
    for seq, found in facts:
        if seq > until:
            break
        ledger.add(seq, found)
    return ledger


def recorded_losses(record: Compaction, ledger: Ledger) -> list[LostFact]:
    """Returns the lost facts of `record` in the `ledger` of its messages, highest score first."""
    texts = frozenset(record.facts_lost or ())
    if not texts:
        return []
    return sort_by_salience(LostFact.of(entry) for entry in live(ledger) if entry.text in texts)


def folded_facts(record: Compaction, before: Compaction | None, ledger: Ledger) -> list[Fact]:
    """Returns the facts that were last said in messages that `record` folded and `before` had not.

    `ledger` is that of the messages that `record` knew of.
    """
    start = before.covered_until if before else 0
    entries = live(ledger)
    return [entry.fact for entry in entries if start < entry.seqs[-1] <= record.covered_until]


def rank_losses(lost: Iterable[NeededFact]) -> tuple[NeededFact, ...]:
    """Returns `lost` by what matters: by rank, of one rank what was needed later, then by score."""

    def order(fact: NeededFact) -> tuple[int, bool, float]:
        return RANKS.index(fact.rank), fact.needed_at is None, -fact.salience

    return tuple(sorted(lost, key=order))


@dataclass(frozen=True, slots=True, kw_only=True)
class LossVerdict:
    """What the losses of a compaction come to."""

    needed: int
    """How many facts of what it folded were used later, lost or not."""
    gone: int
    """How many of those its context no longer held."""
    has_later: bool = True
    """Whether anything was said after it."""

    @property
    def reason(self) -> Reason:
        """The verdict in one sentence."""
        if not self.has_later:
            return LossVerdictCode.NONE_LATER()
        if not self.needed:
            return LossVerdictCode.NOT_NEEDED()
        if not self.gone:
            return LossVerdictCode.ALL_THERE(needed=self.needed)
        return LossVerdictCode.GONE(gone=self.gone, needed=self.needed)

    def to_dict(self) -> JsonObject:
        """Returns the counts and the sentence as JSON."""
        return {"needed": self.needed, "gone": self.gone, "verdict": document(self.reason)}
