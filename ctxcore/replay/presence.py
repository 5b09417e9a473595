"""Owns what a request says of what was said before: literals at use, and live facts.

Texts are read once: of a request that begins as the one before, only what is new is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ctxcore.assembly.items import Item, Merged
from ctxcore.assembly.records import Compaction
from ctxcore.compaction.losing import said_text
from ctxcore.facts.ledger import Entry
from ctxcore.facts.said_text import SaidText
from ctxcore.facts.values import Fact, Kind
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
        self._short: dict[int, SaidText] = {}
        self._active: Compaction | None = None
        self._told: dict[tuple[Kind, str, str], Fate] = {}
        self._facts = self._summary = SaidText("")

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
        self._facts = SaidText(record.facts if record else "")
        self._summary = SaidText(record.summary if record else "")

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


def _short_text(item: Item) -> SaidText:
    return SaidText(said_text(item.message))
