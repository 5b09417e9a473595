"""Owns the ledger: what holds of all facts said so far, a pure fold over them in order.

Facts of one kind and key are one entry. The newer value of the same named thing replaces the older,
a rule is gone once it is taken back, an answered question closes, an error gets its fix.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Final

from ctxcore.facts.superseding import taken_back
from ctxcore.facts.topics import overlap
from ctxcore.facts.values import KINDS, ROLE_WORTH, Fact, Kind
from ctxcore.messages.values import Role

MOST_OF_A_KIND: Final = 400
SLACK: Final = 100  # entries over the most before the least worth are let go, all at once
MOST_SEQS: Final = 12
MOST_REVOKED: Final = 200
FIX_WITHIN: Final = 60  # messages in which a fix is of an error that it names
JUST_WITHIN: Final = 12  # and of one that it does not name
PASSES: Final = "passes now"
FIXED_FACTOR: Final = 0.5
MENTION_FACTOR: Final = 0.35
OLD_FACTOR: Final = 0.5  # what the first of very many messages said, against the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What holds: a fact, where it was said as it now stands (`seqs`), and what became of it."""

    fact: Fact
    seqs: tuple[int, ...]
    worth: float
    mentions: int = 1
    note: str = ""
    """A fix, the value before, the lines changed, the progress; for people and models alike."""

    @property
    def kind(self) -> Kind:
        """The kind of its fact."""
        return self.fact.kind

    @property
    def text(self) -> str:
        """The literal of its fact."""
        return self.fact.text

    @property
    def key(self) -> str:
        """The key of its fact."""
        return self.fact.key


@dataclass(slots=True)
class _Held:
    fact: Fact
    seqs: list[int]
    mentions: int = 1
    note: str = ""
    is_fixed: bool = False
    edits: int = 0
    lines: tuple[int, int] = (0, 0)

    def said_again(self, seq: int, fact: Fact) -> None:
        self.mentions += 1
        if self.seqs[-1] != seq:
            self.seqs.append(seq)
            del self.seqs[1 : max(1, len(self.seqs) - MOST_SEQS + 1)]
        if ROLE_WORTH[fact.role] > ROLE_WORTH[self.fact.role]:
            self.fact = fact


@dataclass(slots=True)
class Ledger:
    """Folds facts; `add` each message's once, in the order of the history. `live` reads it."""

    last_seq: int = 0
    _held: dict[Kind, dict[str, _Held]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    _revoked: list[Entry] = field(default_factory=list)
    _askers: set[Role] = field(default_factory=set)
    """Whoever has asked something."""

    def add(self, seq: int, facts: Iterable[Fact]) -> None:
        """Takes in the facts of message `seq`."""
        self.last_seq = max(self.last_seq, seq)
        for fact in facts:
            self._take(seq, fact)
            held = self._held[fact.kind]
            if len(held) > MOST_OF_A_KIND + SLACK:
                self._held[fact.kind] = self._worth_keeping(held)

    def copy(self) -> Ledger:
        """A ledger that further facts can be added to without changing this one."""
        return deepcopy(self)

    def held(self) -> Iterator[Entry]:
        """Every entry, by kind and then in the order first said."""
        for kind in KINDS:
            for held in self._held[kind].values():
                yield self._entry(held)

    def revoked(self) -> list[Entry]:
        """Rules and decisions taken back, the newest last: what no summary should say again."""
        return list(self._revoked)

    def _take(self, seq: int, fact: Fact) -> None:
        match fact.kind:
            case "instruction" | "decision":
                self._take_rule(seq, fact)
            case "question":
                self._take_question(seq, fact)
            case "error":
                self._take_error(seq, fact)
            case "file_changed":
                self._take_edit(seq, fact)
            case "todo" | "change":
                self._held[fact.kind].pop(fact.key, None)
                self._put(seq, fact, note=fact.value)
            case "number" | "date" if fact.value:
                self._take_value(seq, fact)
            case "file_read" if fact.key in self._held["file_changed"]:
                return
            case _:
                self._put(seq, fact)

    def _put(self, seq: int, fact: Fact, *, note: str = "") -> _Held:
        held = self._held[fact.kind].get(fact.key)
        if held is None:
            held = self._held[fact.kind][fact.key] = _Held(fact, [seq], note=note)
        else:
            held.said_again(seq, fact)
        return held

    def _take_rule(self, seq: int, fact: Fact) -> None:
        rules = self._held[fact.kind]
        earlier = [(held.seqs[-1], held.fact) for held in rules.values()]
        gone = [list(rules)[at] for at in taken_back(fact, seq, earlier)]
        for key in gone:
            held = rules.pop(key)
            self._revoked.append(replace(self._entry(held), note=fact.text))
        del self._revoked[:-MOST_REVOKED]
        if fact.effect != "revokes" or gone or self._meets_system_rule(fact):
            self._put(seq, fact)

    def _meets_system_rule(self, fact: Fact) -> bool:
        """Whether it is about what the system prompt lays down; it stands beside it then."""
        if fact.value == "aimed":  # people say so of many things
            return False
        rules = (held.fact for held in self._held["instruction"].values())
        return any(
            rule.role in ("system", "developer") and overlap(fact.matter, rule.matter) >= 0.5
            for rule in rules
            if rule.effect != "revokes"
        )

    def _take_value(self, seq: int, fact: Fact) -> None:
        """A newer value of the same thing; what a tool prints does not overrule people."""
        held = self._held[fact.kind].get(fact.key)
        if held is None or held.fact.value == fact.value:
            self._put(seq, fact)
        elif fact.role != "tool" or held.fact.role == "tool":
            before = held.fact.text if fact.role != "tool" else ""
            self._held[fact.kind].pop(fact.key)
            self._put(seq, fact, note=before)

    def _take_question(self, seq: int, fact: Fact) -> None:
        if fact.effect != "answers":
            self._askers.add(fact.role)
            self._put(seq, fact)
            return
        if self._askers <= {fact.role}:  # nobody answers a question of their own
            return
        asked = self._held["question"]
        others = [key for key, held in asked.items() if held.fact.role != fact.role]
        latest = max((asked[key].seqs[-1] for key in others), default=-1)
        just = [key for key in others if asked[key].seqs[-1] == latest]
        for key in others:
            is_next = key in just and seq - latest <= 2
            alone = is_next and (len(just) == 1 or fact.role == "user")
            if alone or not asked[key].fact.matter or _answers(fact, asked[key].fact):
                del asked[key]

    def _take_error(self, seq: int, fact: Fact) -> None:
        if fact.effect != "fixes":
            held = self._put(seq, fact)
            held.is_fixed = False
            return
        for held in self._fixed_by(seq, fact):
            held.note = fact.text or self._changed_since(held.seqs[-1]) or PASSES
            held.is_fixed = True

    def _fixed_by(self, seq: int, fact: Fact) -> list[_Held]:
        """The errors that a passing command, or the words of a fix, put right."""
        errors = [held for held in self._held["error"].values() if not held.is_fixed]
        if fact.subject:
            return [held for held in errors if held.fact.subject == fact.subject]
        recent = [held for held in errors if seq - held.seqs[-1] <= FIX_WITHIN]
        named = [held for held in recent if overlap(fact.matter, held.fact.matter) >= 0.25]
        just = [held for held in recent if seq - held.seqs[-1] <= JUST_WITHIN]
        return named or just[-1:]

    def _changed_since(self, seq: int) -> str:
        files = [key for key, held in self._held["file_changed"].items() if held.seqs[-1] > seq]
        return f"changed {', '.join(files[-3:])}" if files else ""

    def _take_edit(self, seq: int, fact: Fact) -> None:
        self._held["file_read"].pop(fact.key, None)
        held = self._held["file_changed"].pop(fact.key, None)
        if held is None:
            held = _Held(fact, [seq])
        else:
            held.said_again(seq, fact)
        self._held["file_changed"][fact.key] = held  # the last changed stands last
        added, taken = _lines(fact.value)
        held.lines = (held.lines[0] + added, held.lines[1] + taken)
        held.edits += 1
        held.note = f"+{held.lines[0]} −{held.lines[1]}" if any(held.lines) else ""

    def _worth_keeping(self, held: dict[str, _Held]) -> dict[str, _Held]:
        def rank(key: str) -> tuple[float, int]:
            return self._worth(held[key]), held[key].seqs[-1]

        best = set(sorted(held, key=rank, reverse=True)[:MOST_OF_A_KIND])
        return {key: one for key, one in held.items() if key in best}

    def _entry(self, held: _Held) -> Entry:
        return Entry(
            fact=held.fact,
            seqs=tuple(held.seqs),
            worth=self._worth(held),
            mentions=held.mentions,
            note=held.note,
        )

    def _worth(self, held: _Held) -> float:
        worth = held.fact.worth * (1 + MENTION_FACTOR * math.log2(held.mentions))
        if held.fact.kind == "instruction":
            return worth
        age = 1.0 - held.seqs[-1] / self.last_seq if self.last_seq else 0.0
        return worth * (1.0 - OLD_FACTOR * age) * (FIXED_FACTOR if held.is_fixed else 1.0)


def live(ledger: Ledger) -> list[Entry]:
    """What holds now, by kind and then in the order first said; taken back and answered is gone."""
    return list(ledger.held())


def _answers(said: Fact, asked: Fact) -> bool:
    shared = set(said.matter) & set(asked.matter)
    return len(shared) >= max(1, len(asked.matter) // 4)


def _lines(value: str) -> tuple[int, int]:
    """The added and taken lines of a value such as `+12 −3`."""
    added, _, taken = value.removeprefix("+").partition(" −")
    return (int(added or 0), int(taken or 0)) if added.isdigit() and taken.isdigit() else (0, 0)


_MOST_KNOWN: Final = 8  # places whose answer is kept: the end, and where compactions were made


def rules_among(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Those of `facts` that lay down standing instructions or take them back."""
    return tuple(fact for fact in facts if fact.kind == "instruction")


class RuleBook:
    """The rules said in a history; `add` each message's once, in order."""

    def __init__(self) -> None:
        self.read_until = 0
        """The last message that was looked at."""
        self._seqs: list[int] = []
        self._said: list[tuple[Fact, ...]] = []
        self._ledger = Ledger()
        self._folded = 0
        self._known: dict[int, tuple[Entry, ...]] = {}

    def add(self, seq: int, facts: Iterable[Fact]) -> None:
        """Takes in what message `seq` says; the messages before it are looked at then too."""
        if rules := rules_among(facts):
            self._seqs.append(seq)
            self._said.append(rules)
        self.read_until = seq

    def said_at(self, seq: int) -> tuple[Fact, ...] | None:
        """What message `seq` says of rules; None where it was not looked at."""
        if seq > self.read_until:
            return None
        at = bisect_left(self._seqs, seq)
        return self._said[at] if self._seqs[at : at + 1] == [seq] else ()

    def standing(self, until: int) -> tuple[Entry, ...]:
        """The instructions that held when message `until` was the last, as first said."""
        count = bisect_right(self._seqs, until)
        found = self._known.pop(count, None)
        if found is None:
            found = self._fold(count)
        self._known[count] = found  # the newest asked last
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return found

    def _fold(self, count: int) -> tuple[Entry, ...]:
        ledger = self._ledger
        if count < self._folded:  # an earlier place than before: seldom, and not gone on from
            ledger, first = Ledger(), 0
        else:
            first, self._folded = self._folded, count
        for seq, facts in zip(self._seqs[first:count], self._said[first:count], strict=True):
            ledger.add(seq, facts)
        return tuple(live(ledger))
