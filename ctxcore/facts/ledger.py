"""The ledger of facts: it takes the facts of messages in order and keeps those that still hold.

Facts of one kind and key are one entry. The newer value of the same named thing replaces the older,
a rule is gone once it is taken back, an answered question closes, an error gets its fix.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from ctxcore.facts.bindings import replaced
from ctxcore.facts.superseding import RuleIndex, is_about, taken_back
from ctxcore.facts.topics import overlap
from ctxcore.facts.values import KINDS, ROLE_SALIENCE, STATEMENTS, Fact, Kind
from ctxcore.messages.values import Role

# Chosen: bounds on memory and on the time of an update; usual sessions stay below.
MOST_OF_A_KIND: Final = 400
SLACK: Final = 100  # entries over the most before the least salient are dropped, all at once
MOST_SEQS: Final = 12
MOST_REVOKED: Final = 200
# Chosen: messages after an error in which a fix may be of it.
FIX_WITHIN: Final = 60  # where the fix names the error
JUST_WITHIN: Final = 12  # where it does not
PASSES: Final = "passes now"
# Chosen: factors of salience.
FIXED_FACTOR: Final = 0.5
MENTION_FACTOR: Final = 0.35  # added per doubling of the mentions
OLD_FACTOR: Final = 0.5  # taken off for the first of very many messages, against the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A fact that holds, the messages that have it as it now stands, and its state."""

    fact: Fact
    seqs: tuple[int, ...]
    salience: float
    mentions: int = 1
    note: str = ""
    """A fix, the value before, the changed lines, the progress; shown to people and models."""

    @property
    def kind(self) -> Kind:
        """The kind of the fact."""
        return self.fact.kind

    @property
    def text(self) -> str:
        """The words of the fact."""
        return self.fact.text

    @property
    def key(self) -> str:
        """The key of the fact."""
        return self.fact.key


RulesTaken: TypeAlias = Sequence[tuple[str, ...]]
"""The keys of the rules that each rule of one message took back; empty where none took any."""


class TakenBack(NamedTuple):
    """What the rules of the first messages took back."""

    by_seq: Mapping[int, RulesTaken] = MappingProxyType({})
    """That of each message whose rules took back some."""
    until: int = -1
    """The last message that was looked at."""

    def by(self, seq: int, facts: Sequence[Fact]) -> RulesTaken | None:
        """What those rules took back that are among the `facts` of a message; None if not known.

        Another version of the finder may have found other rules in it.
        """
        if seq > self.until:
            return None
        taken = self.by_seq.get(seq, ())
        return taken if not taken or len(taken) == len(rules_among(facts)) else None


_BOUND: Final[tuple[Kind, ...]] = ("decision", "setting")
_OF_PROMPTS: Final = frozenset[Role](("system", "developer"))


@dataclass(slots=True)
class _Held:
    fact: Fact
    seqs: list[int]
    mentions: int = 1
    note: str = ""
    is_fixed: bool = False
    added: int = 0
    removed: int = 0

    def repeat(self, seq: int, fact: Fact) -> None:
        self.mentions += 1
        if self.seqs[-1] != seq:
            self.seqs.append(seq)
            del self.seqs[1 : max(1, len(self.seqs) - MOST_SEQS + 1)]
        if ROLE_SALIENCE[fact.role] > ROLE_SALIENCE[self.fact.role]:
            self.fact = fact


@dataclass(slots=True)
class Ledger:
    """Keeps the facts that hold; `add` those of each message once, in the order of the history."""

    last_seq: int = 0
    _held: dict[Kind, dict[str, _Held]] = field(
        default_factory=lambda: {kind: {} for kind in KINDS}
    )
    _revoked: list[Entry] = field(default_factory=list)
    _askers: set[Role] = field(default_factory=set)
    """The roles that have asked something."""
    _rulers: set[Role] = field(default_factory=set)
    """The roles that have given rules."""
    _indexes: dict[Kind, RuleIndex] = field(default_factory=dict, compare=False, repr=False)
    """Of the rules and the decisions; made of what is held where it is first asked for."""

    def add(
        self, seq: int, facts: Iterable[Fact], taken: RulesTaken | None = None
    ) -> list[tuple[str, ...]]:
        """Adds the facts of message `seq`; returns the keys that each of its rules took back.

        `taken` has them where another ledger of the same rules found them before.
        """
        self.last_seq = max(self.last_seq, seq)
        found: list[tuple[str, ...]] = []
        for fact in facts:
            if fact.kind in STATEMENTS:
                self._rebind(seq, fact)
            if fact.kind == "instruction":
                gone = self._gone(seq, fact) if taken is None else _at(taken, len(found))
                found.append(gone)
                self._take_rule(seq, fact, gone)
            else:
                self._take(seq, fact)
            held = self._held[fact.kind]
            if len(held) > MOST_OF_A_KIND + SLACK:
                order = sorted(
                    held, key=lambda key: (self._worth(held[key]), held[key].seqs[-1]), reverse=True
                )
                best = frozenset(order[:MOST_OF_A_KIND])
                self._held[fact.kind] = {key: held[key] for key in held if key in best}
                self._indexes.pop(fact.kind, None)
        return found

    @classmethod
    def of_rules(cls, standing: Iterable[Entry]) -> Ledger:
        """A ledger in which these rules stand, and nothing else."""
        made = cls()
        made._held["instruction"] = {
            entry.key: _Held(entry.fact, list(entry.seqs), mentions=entry.mentions)
            for entry in standing
        }
        made._rulers = {entry.fact.role for entry in made.held()}
        return made

    def copy(self) -> Ledger:
        """A copy that further facts can be added to without changing this one."""
        return deepcopy(self)

    def count(self, kind: Kind) -> int:
        """How many entries of a kind there are."""
        return len(self._held[kind])

    def held(self) -> Iterator[Entry]:
        """The entries, by kind and then in the order of their first message."""
        for kind in KINDS:
            for held in self._held[kind].values():
                yield self._entry(held)

    def revoked(self) -> list[Entry]:
        """Rules and decisions that were taken back, the newest last; for no summary to repeat."""
        return list(self._revoked)

    def _take(self, seq: int, fact: Fact) -> None:
        match fact.kind:
            case "decision":
                self._take_rule(seq, fact, self._gone(seq, fact))
            case "setting":
                self._take_setting(seq, fact)
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

    def _take_setting(self, seq: int, fact: Fact) -> None:
        """Takes what a thing is now; not again where it became a rule, in place of one."""
        if fact.key not in self._held["instruction"]:
            self._put(seq, fact)

    def _rebind(self, seq: int, fact: Fact) -> None:
        """Removes the settings and decisions that bound what `fact` binds to another value."""
        if not fact.subject:
            return
        for kind in _BOUND:
            held = self._held[kind]
            for key in replaced(fact, [one.fact for one in held.values() if one.seqs[-1] <= seq]):
                if kind == fact.kind and key == fact.key:
                    continue
                self._revoked.append(replace(self._entry(held.pop(key)), note=fact.text))
                if kind in self._indexes:
                    self._indexes[kind].remove(key)
        del self._revoked[:-MOST_REVOKED]

    def _put(self, seq: int, fact: Fact, *, note: str = "") -> _Held:
        held = self._held[fact.kind].get(fact.key)
        if held is None:
            held = self._held[fact.kind][fact.key] = _Held(fact, [seq], note=note)
        else:
            held.repeat(seq, fact)
        if held.fact is fact and fact.kind in self._indexes:
            self._indexes[fact.kind].add(fact)
        return held

    def _gone(self, seq: int, fact: Fact) -> tuple[str, ...]:
        """The keys of what a rule or a decision takes back."""
        newest_first = (
            (held.seqs[-1], held.fact) for held in reversed(self._held[fact.kind].values())
        )
        near = [(held.seqs[-1], held.fact) for held in self._near(fact, fact.kind)]
        return taken_back(fact, seq, near, newest_first)

    def _near(self, fact: Fact, kind: Kind) -> list[_Held]:
        """What is held of `kind` and shares something with `fact`, oldest first."""
        rules = self._held[kind]
        if kind not in self._indexes:
            self._indexes[kind] = RuleIndex(held.fact for held in rules.values())
        return [rules[key] for key in self._indexes[kind].near(fact)]

    def _take_rule(self, seq: int, fact: Fact, gone: Sequence[str]) -> None:
        rules = self._held[fact.kind]
        self._revoked += [replace(self._entry(rules.pop(key)), note=fact.text) for key in gone]
        del self._revoked[:-MOST_REVOKED]
        for key in gone:
            if fact.kind in self._indexes:
                self._indexes[fact.kind].remove(key)
        if fact.effect != "revokes" or gone or self._meets_system_rule(fact):
            if fact.kind == "instruction":
                self._rulers.add(fact.role)
            self._put(seq, fact)

    def _meets_system_rule(self, fact: Fact) -> bool:
        """Whether `fact` is about a rule of the system prompt; it is kept beside that rule then."""
        return not self._rulers.isdisjoint(_OF_PROMPTS) and any(
            rule.role in _OF_PROMPTS and rule.effect != "revokes" and is_about(fact, rule)
            for rule in (held.fact for held in self._near(fact, "instruction"))
        )

    def _take_value(self, seq: int, fact: Fact) -> None:
        """Takes a newer value of the same thing; a tool's output does not overrule people."""
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
        questions = self._held["question"]
        latest, newest, answered = -1, list[str](), list[str]()
        said = frozenset(fact.topic)
        for key, held in questions.items():
            if held.fact.role == fact.role:
                continue
            if held.seqs[-1] > latest:
                latest, newest = held.seqs[-1], []
            if held.seqs[-1] == latest:
                newest.append(key)
            topic = held.fact.topic
            if not topic or (not said.isdisjoint(topic) and _is_answered(topic, said)):
                answered.append(key)
        is_reply = seq - latest <= 2 and (len(newest) == 1 or fact.role == "user")
        for key in {*answered, *newest} if is_reply else answered:
            del questions[key]

    def _take_error(self, seq: int, fact: Fact) -> None:
        if fact.effect != "fixes":
            self._put(seq, fact).is_fixed = False
            return
        for held in self._fixed_by(seq, fact):
            held.note = fact.text or self._changed_since(held.seqs[-1]) or PASSES
            held.is_fixed = True

    def _fixed_by(self, seq: int, fact: Fact) -> list[_Held]:
        """The errors that a passing command, or a sentence about a fix, puts right."""
        errors = [held for held in self._held["error"].values() if not held.is_fixed]
        if fact.subject:
            return [held for held in errors if held.fact.subject == fact.subject]
        recent = [held for held in errors if seq - held.seqs[-1] <= FIX_WITHIN]
        named = [held for held in recent if overlap(fact.topic, held.fact.topic) >= 0.25]
        just = [held for held in recent if seq - held.seqs[-1] <= JUST_WITHIN]
        return named or just[-1:]

    def _changed_since(self, seq: int) -> str:
        files = [key for key, held in self._held["file_changed"].items() if held.seqs[-1] > seq]
        return f"changed {', '.join(files[-3:])}" if files else ""

    def _take_edit(self, seq: int, fact: Fact) -> None:
        self._held["file_read"].pop(fact.key, None)
        held = self._put(seq, fact)
        changed = self._held["file_changed"]
        changed[fact.key] = changed.pop(fact.key)  # the last changed stands last
        added, removed = _lines(fact.value)
        held.added, held.removed = held.added + added, held.removed + removed
        held.note = f"+{held.added} −{held.removed}" if held.added or held.removed else ""

    def _entry(self, held: _Held) -> Entry:
        return Entry(
            fact=held.fact,
            seqs=tuple(held.seqs),
            salience=self._worth(held),
            mentions=held.mentions,
            note=held.note,
        )

    def _worth(self, held: _Held) -> float:
        salience = held.fact.salience * (1 + MENTION_FACTOR * math.log2(held.mentions))
        if held.fact.kind == "instruction":
            return salience
        age = 1.0 - held.seqs[-1] / self.last_seq if self.last_seq else 0.0
        return salience * (1.0 - OLD_FACTOR * age) * (FIXED_FACTOR if held.is_fixed else 1.0)


def _is_answered(topic: Sequence[str], said: frozenset[str]) -> bool:
    """Whether what was said has a quarter of the words of a question, one of them at least."""
    return len(said.intersection(topic)) >= max(1, len(topic) // 4)


def _at(taken: RulesTaken, place: int) -> tuple[str, ...]:
    return taken[place] if taken else ()


def live(ledger: Ledger) -> list[Entry]:
    """The entries of the ledger, by kind and then in the order of their first message."""
    return list(ledger.held())


def _lines(value: str) -> tuple[int, int]:
    """The added and removed lines of a value such as `+12 −3`."""
    added, _, removed = value.removeprefix("+").partition(" −")
    return (int(added), int(removed)) if added.isdigit() and removed.isdigit() else (0, 0)


_MOST_KNOWN: Final = 8  # cached places; chosen: the end and those of the compactions


def rules_among(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts that are standing instructions or take some back."""
    return tuple(fact for fact in facts if fact.kind == "instruction")


class RuleBook:
    """The rules of a history; `add` those of each message once, in order.

    It begins behind message `begins`, when the rules of `begun` held.
    """

    def __init__(self, begins: int = 0, begun: Sequence[Entry] = ()) -> None:
        self.begins = self.read_until = begins
        """`read_until` is the last message that was added."""
        self._begun = begun
        self._seqs: list[int] = []
        self._said: list[tuple[Fact, ...]] = []
        self._ledger = Ledger.of_rules(begun)
        self._folded = 0
        self._known: dict[int, tuple[Entry, ...]] = {}
        self._taken: dict[int, RulesTaken] = {}

    @property
    def taken(self) -> TakenBack:
        """What the rules took back, as far as that was asked for."""
        return TakenBack(self._taken, self.folded_until)

    @property
    def folded_until(self) -> int:
        """The last message up to which it is known what holds."""
        is_all = self._folded == len(self._seqs)
        return self.read_until if is_all else self._seqs[self._folded] - 1

    @property
    def folded(self) -> int:
        """Of how many messages the rules were looked at for that."""
        return self._folded

    def held(self) -> tuple[Entry, ...]:
        """The instructions that held at `folded_until`."""
        return tuple(live(self._ledger))

    @property
    def held_count(self) -> int:
        """How many instructions that are."""
        return self._ledger.count("instruction")

    def rules_until(self, seq: int) -> int:
        """How many messages up to `seq` have rules."""
        return bisect_right(self._seqs, seq)

    def add(self, seq: int, facts: Iterable[Fact]) -> None:
        """Adds the rules of message `seq`; the messages before it count as added then too."""
        if rules := rules_among(facts):
            self._seqs.append(seq)
            self._said.append(rules)
        self.read_until = seq

    def said_at(self, seq: int) -> tuple[Fact, ...] | None:
        """The rules of message `seq`; None where it was not added yet."""
        if seq > self.read_until:
            return None
        at = bisect_left(self._seqs, seq)
        return self._said[at] if self._seqs[at : at + 1] == [seq] else ()

    def standing(self, until: int) -> tuple[Entry, ...]:
        """The instructions that held when message `until`, not before `begins`, was the last."""
        count = bisect_right(self._seqs, until)
        found = self._known.pop(count, None)
        if found is None:
            found = self._fold(count)
        self._known[count] = found  # the last used stands last
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return found

    def advance(self, most_compared: int) -> int:
        """Looks at further rules, until about so many pairs were compared; returns their number."""
        compared = 0
        while self._folded < len(self._seqs) and compared < most_compared:
            compared += len(self._said[self._folded]) * (1 + self._ledger.count("instruction"))
            self._take_next()
        return compared

    def _fold(self, count: int) -> tuple[Entry, ...]:
        while self._folded < count:
            self._take_next()
        if count == self._folded:
            return self.held()
        ledger = Ledger.of_rules(self._begun)  # an earlier place than before is rare: start anew
        for seq, facts in zip(self._seqs[:count], self._said[:count], strict=True):
            ledger.add(seq, facts, self._taken.get(seq, ()))
        return tuple(live(ledger))

    def _take_next(self) -> None:
        seq, facts = self._seqs[self._folded], self._said[self._folded]
        taken = self._ledger.add(seq, facts)
        if any(taken):
            self._taken[seq] = taken
        self._folded += 1
