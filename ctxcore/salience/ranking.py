"""Owns literals: the exact strings a later tool call may need, and what each is worth.

Ids, paths, dates, numbers, addresses. One is worth keeping once, wherever it stands; who said it,
how often and how long ago tell how likely it is to be needed again.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import dataclass

from ctxcore.salience.units import Unit, relevance
from ctxcore.salience.utterances import talk_worths

# What was needed again in 18 points of 16 Claude Code sessions, Codex and pi, rounded by hand;
# on tau-bench, which they were not fitted on, better than what was fitted on tau-bench.
MENTIONS = 0.5  # per doubling of e in messages that hold it
SAID_BY_USER = 1.0
SAID_BY_ASSISTANT = 0.5
AGE = 0.2
AGE_TOKENS = 500
PATH = 1.5
FEW = 20  # literals in a message; of a log's hundreds each is less likely to be needed
CROWDED = 0.5
NUMBER = -1.2  # a bare number: an amount, a line, a size

_RUN = re.compile(r"[A-Za-z0-9_~./@#+-][A-Za-z0-9_./@:#+~-]*")
_EDGES = ".:,#+-~"
_NUMBER = re.compile(r"[\d.:+-]+")
_CAMEL = re.compile(r"[a-z][A-Z]")
_CODE_CHARS = 3  # JFK, EUR: fewer capitals are mostly words


@dataclass(slots=True)
class _Use:
    """Where one literal was seen so far."""

    messages: int = 0
    last_seq: int = -1
    last_end: int = 0
    by_user: bool = False
    by_assistant: bool = False
    share: float = 0.0
    """Of the attention of the message that names it among the fewest others."""


def read_literals(units: Sequence[Unit]) -> list[tuple[str, ...]]:
    """The literals of each unit, each once, in order of appearance."""
    known: dict[str, str | None] = {}
    found = []
    for unit in units:
        runs = dict.fromkeys(_RUN.findall(unit.text))
        for run in runs:
            if run not in known:
                known[run] = _literal(run)
        found.append(tuple(dict.fromkeys([lit for run in runs if (lit := known[run])])))
    return found


def _literal(run: str) -> str | None:
    """The literal in a run of characters; None for a plain word."""
    word = run.strip(_EDGES) if run[0] != "." else run.rstrip(_EDGES)
    if len(word) < 2:
        return word if word.isdigit() else None
    if any(char in "0123456789_/@" for char in word):
        return word
    is_code = word.isupper() and len(word) >= _CODE_CHARS
    return word if is_code or "." in word or _CAMEL.search(word) else None


def weigh_literals(units: Sequence[Unit], literals: Sequence[Collection[str]]) -> dict[str, float]:
    """What each literal is worth: 1 for one seen once, just now, in a tool's output."""
    uses: dict[str, _Use] = {}
    end = 0
    shares = _literal_shares(units, literals)
    for unit, found in zip(units, literals, strict=True):
        end += unit.tokens
        for literal in found:
            use = uses.setdefault(literal, _Use())
            _note(use, unit, end)
            use.share = max(use.share, shares[unit.seq])
    return {literal: _value(literal, use, end) for literal, use in uses.items()}


def _literal_shares(units: Sequence[Unit], literals: Sequence[Collection[str]]) -> dict[int, float]:
    """By message: how much one of its literals is worth beside the only one of a message."""
    counts: Counter[int] = Counter()
    for unit, found in zip(units, literals, strict=True):
        counts[unit.seq] += len(found)
    return {seq: min(1.0, FEW / max(1, count)) ** CROWDED for seq, count in counts.items()}


def _note(use: _Use, unit: Unit, end: int) -> None:
    use.messages += use.last_seq != unit.seq
    use.last_seq, use.last_end = unit.seq, end
    if unit.kind == "talk":
        use.by_user |= unit.role == "user"
        use.by_assistant |= unit.role == "assistant"


def _value(literal: str, use: _Use, end: int) -> float:
    signs = (
        MENTIONS * math.log(use.messages)
        + SAID_BY_USER * use.by_user
        + SAID_BY_ASSISTANT * use.by_assistant
        - AGE * math.log1p((end - use.last_end) / AGE_TOKENS)
    )
    if "/" in literal or ("." in literal and not literal[0].isdigit()):
        signs += PATH
    if _NUMBER.fullmatch(literal):
        signs += NUMBER
    return use.share * math.exp(signs)


LITERAL_WORTH = 1.0
"""Of a literal where tools are called, beside an utterance that answers 0.3 questions."""
FULL_CALL_SHARE = 0.1
"""From this share of calls and outputs among the units on, literals have their whole worth. Where
there are none they have none: a number is one fact of many, and already a sign of the utterance."""

ASKED_WORTH, SAID_WORTH = 5.0, 2.0
"""Of talk that says all that is asked now, beside what average talk of its length tells; and that
says what is said now, without a question. With the question as the last message LoCoMo keeps .69 of
the evidence at 2,000 tokens and .90 at 4,000 so, .21 and .47 without; of that for all other
questions it loses .01. So it does with small talk as the last message, .03 if that were as much."""
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What one unit is worth keeping."""

    talk: float
    """What it tells, as an utterance; 0 for calls and outputs."""
    literals: tuple[tuple[str, float], ...] = ()
    """Each literal in it with what it is worth, wherever it is kept."""

    @property
    def total(self) -> float:
        """The worth of the unit as long as nothing else is kept."""
        return self.talk + sum(value for _, value in self.literals)


def score_units(units: Sequence[Unit], *, request: str = "") -> list[Worth]:
    """The worth of each unit of a conversation, oldest first; more of what the `request` asks for.

    Units kept by an earlier fold keep their worth best when they are scored in their old place,
    among those that were left out. With `Unit.answers` set, what is left may be scored alone:
    LoCoMo folded 20 messages at a time loses .01 of its evidence, without it .02.
    """
    talk = _asked_for(talk_worths(units), units, request)
    factor = LITERAL_WORTH * _call_share(units)
    if not factor:
        return [Worth(talk=worth) for worth in talk]
    literals = read_literals(units)
    values = weigh_literals(units, literals)
    return [
        Worth(talk=worth, literals=tuple((literal, factor * values[literal]) for literal in found))
        for worth, found in zip(talk, literals, strict=True)
    ]


def _asked_for(talk: list[float], units: Sequence[Unit], request: str) -> list[float]:
    """The worth of `talk` with what its relevance to the request adds; calls and outputs hold
    literals, and those are weighed by their uses.
    """
    said = [at for at, worth in enumerate(talk) if worth > 0]
    if not (request and said):
        return talk
    questions = " ".join(_QUESTION.findall(request))
    texts = [units[at].text for at in said]
    shares = relevance(texts, questions or request, least_share=1.0)
    average = sum(talk) / sum(units[at].tokens for at in said)
    most = average * (ASKED_WORTH if questions else SAID_WORTH)
    made = list(talk)
    for at, share in zip(said, shares, strict=True):
        made[at] += most * share * units[at].tokens
    return made


def _call_share(units: Sequence[Unit]) -> float:
    calls = sum(unit.kind != "talk" for unit in units)
    return min(1.0, calls / max(1, len(units)) / FULL_CALL_SHARE)


REPEAT_CHARS = 60
"""Shorter texts say something else each time: "No, it is free." answers many questions."""

Entry = tuple[float, int, int]  # minus the rate, minus the group, the loose unit or -1 to open


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Units that can only be kept together with what surrounds them, e.g. those of a message."""

    units: tuple[Unit, ...]
    loose: frozenset[int] = frozenset()
    """Which of them may be left out while the others are kept."""
    tokens: int
    """What it takes without any loose unit."""
    gap_tokens: int = 0
    """What each loose unit takes besides its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to keep: a group with some of its loose units, or one more of an open group."""

    group: int
    loose: tuple[int, ...]


class Ranking:
    """What of the groups is kept so far, and what comes next."""

    def __init__(
        self,
        groups: Sequence[Group],
        worths: Sequence[Sequence[Worth]] | None = None,
        *,
        most_tokens: int | None = None,
    ) -> None:
        """`worths` are of each group's units; with `most_tokens`, no group is opened with more."""
        self._groups = groups
        self._worths = score_groups(groups) if worths is None else worths
        self._most = most_tokens
        self._covered: set[str] = set()
        self._said: set[str] = set()
        self._counts: Callable[[Unit], bool] | None = None
        self.chosen: list[set[int] | None] = [None] * len(groups)
        """The loose units kept of each group; None where it is not open."""

    def steps(self, counts: Callable[[Unit], bool] | None = None) -> Iterator[Step]:
        """What to keep, best first; each is passed over unless it is taken before the next.

        What is worth nothing never comes. With `counts`, only such units are worth anything.
        """
        self._counts = counts
        heap: list[Entry] = []
        for at in range(len(self._groups)):
            heap += self._entries(at)
        heapq.heapify(heap)
        while heap:
            rate, back, unit = heapq.heappop(heap)
            loose, now = self._value(-back, unit)
            if heap and -now > rate and (-now, back, unit) > heap[0]:
                heapq.heappush(heap, (-now, back, unit))
            elif now > 0:
                yield Step(group=-back, loose=loose)
                if unit < 0 and self.chosen[-back] is not None:
                    for entry in self._entries(-back):
                        heapq.heappush(heap, entry)

    def take(self, step: Step) -> None:
        """Keeps it: its literals and utterances are worth nothing elsewhere from now on."""
        group, chosen = self._groups[step.group], self.chosen[step.group]
        taken = list(step.loose)
        if chosen is None:
            chosen = self.chosen[step.group] = set()
            taken += self._fixed(group)
        chosen.update(step.loose)
        for unit in taken:
            self._said.add(group.units[unit].text)
            self._covered.update(lit for lit, _ in self._worths[step.group][unit].literals)

    def _entries(self, at: int) -> Iterator[Entry]:
        """The ways to keep more of a group, with their rates."""
        group, chosen = self._groups[at], self.chosen[at]
        if chosen is None and self._most is not None and group.tokens > self._most:
            return
        for unit in [-1] if chosen is None else sorted(group.loose - chosen):
            rate = self._value(at, unit)[1]
            if rate > 0:
                yield -rate, -at, unit

    def _value(self, at: int, unit: int) -> tuple[tuple[int, ...], float]:
        """The loose units that an entry adds, and what it adds per token."""
        if unit < 0:
            return self._opening(at)
        return (unit,), self._worth(at, unit, set()) / self._cost(at, unit)

    def _opening(self, at: int) -> tuple[tuple[int, ...], float]:
        """The loose units with which a group is worth most per token, and how much that is."""
        group, seen = self._groups[at], set[str]()
        worth = sum([self._worth(at, unit, seen) for unit in self._fixed(group)])
        tokens, loose = max(1, group.tokens), list[int]()
        best, count = worth / tokens, 0
        if not group.loose:
            return (), best
        for unit in self._by_rate(at, seen):
            tokens += self._cost(at, unit)
            if self._most is not None and tokens > self._most:
                break
            worth += self._worth(at, unit, seen)
            loose.append(unit)
            if worth / tokens >= best:
                best, count = worth / tokens, len(loose)
        return tuple(loose[:count]), best

    def _by_rate(self, at: int, seen: set[str]) -> list[int]:
        """The loose units of a group, the most worth per token first, each as if taken alone."""
        rates = {
            unit: self._worth_alone(at, unit, seen) / self._cost(at, unit)
            for unit in self._groups[at].loose
        }
        return sorted(rates, key=lambda unit: (-rates[unit], unit))

    def _fixed(self, group: Group) -> list[int]:
        return [unit for unit in range(len(group.units)) if unit not in group.loose]

    def _worth(self, at: int, place: int, seen: set[str]) -> float:
        """What a unit adds to what is kept and to the literals `seen`, to which its own go."""
        total = self._worth_alone(at, place, seen)
        if self._counts is None or self._counts(self._groups[at].units[place]):
            seen.update(literal for literal, _ in self._worths[at][place].literals)
        return total

    def _worth_alone(self, at: int, place: int, seen: Set[str]) -> float:
        """The same with `seen` left as it is."""
        unit, worth = self._groups[at].units[place], self._worths[at][place]
        if self._counts is not None and not self._counts(unit):
            return 0.0
        is_repeated = len(unit.text) >= REPEAT_CHARS and unit.text in self._said
        total = 0.0 if is_repeated else worth.talk
        for literal, value in worth.literals:
            if literal not in self._covered and literal not in seen:
                total += value
        return total

    def _cost(self, at: int, unit: int) -> int:
        group = self._groups[at]
        return max(1, group.units[unit].tokens + group.gap_tokens)


def score_groups(groups: Sequence[Group], *, request: str = "") -> list[list[Worth]]:
    """What the units of each group are worth, in a conversation of those groups, oldest first, to
    somebody with that `request`.
    """
    units = [unit for group in groups for unit in group.units]
    worths = iter(score_units(units, request=request))
    return [[next(worths) for _ in group.units] for group in groups]


def is_talk(unit: Unit) -> bool:
    """Whether it was said by a person or a model, not by a machine."""
    return unit.kind == "talk"
