"""Scores the units of a conversation and ranks them for keeping within a token budget.

The salience of a unit has two parts: what it says as an utterance, and the literals in it (ids,
paths, dates, numbers, addresses) that a later tool call may need. A literal counts once, wherever
it is kept; role, repetition and age tell how likely it is to be needed again.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ctxcore.policy.values import Policy
from ctxcore.salience.meetings import TOLD_SHARE, word_saliences
from ctxcore.salience.traits import noted_literals
from ctxcore.salience.units import Unit, relevance, units_relevance
from ctxcore.salience.utterances import utterance_saliences
from ctxcore.text.identifiers import exact_strings, is_bare_number

# Fitted on what was needed again in 18 points of 16 Claude Code sessions, Codex and pi, then
# rounded; on tau-bench, which they were not fitted on, better than a fit to tau-bench.
MENTIONS = 0.5  # per doubling of e in messages that hold it
SAID_BY_USER = 1.0
SAID_BY_ASSISTANT = 0.5
AGE = 0.2
AGE_TOKENS = 500
PATH = 1.5
FEW = 20  # literals in a message; of a log's hundreds each is less likely to be needed
CROWDED = 0.5
NUMBER = -1.2  # a bare number: an amount, a line, a size; a day is what later calls ask for
_DAY = re.compile(r"\d{4}-\d\d-\d\d")

LITERAL_WORTH = 1.0  # chosen: a literal where tools are called weighs as 0.3 answered questions
FULL_CALL_SHARE = 0.1
"""Share of calls and outputs among the units from which on literals count in full. Without any,
literals do not count: a number is then one fact of many, and already a sign of the utterance."""
TALK_SHARE = 0.1  # chosen: of that share; with less it is mere talk

ASKED_WORTH, SAID_WORTH = 5.0, 1.0
"""Added to an utterance that has all words of the request, in multiples of the average salience of
its length; the second number is for a request without a question. With the question as the last
message LoCoMo keeps .69 of the evidence at 2,000 tokens and .90 at 4,000 so, .21 and .47 without;
of that for all other questions it loses .01. So it does with small talk as the last message, .03 if
that were as much."""
FOCUS_WORTH = 5.0
"""Added to any unit, calls and outputs too, that says what a person wants the compaction to keep,
in the same multiples of the average. Of 50 lost facts, each asked for by three words beside it, 33
stay so (0 without) and 1 % more of the others goes; with 10 no more stay, and 5 % go."""
REPEAT_CHARS = 60
"""Shorter texts say something else each time: "No, it is free." answers many questions."""
_QUESTION = re.compile(r"[^.!?。！？\n]*[?？]")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What people want kept: the focus of one compaction, and the instructions for every one."""

    focus: str = ""
    instructions: str = ""

    @classmethod
    def of(cls, focus: str, policy: Policy) -> Wishes:
        """A focus beside the instructions of a policy."""
        return cls(focus, policy.summary_instructions or "")

    def __bool__(self) -> bool:
        return bool(self.focus or self.instructions)

    def shares(self, texts: Sequence[str]) -> list[float]:
        """How much of the wishes each text says, in [0, 1].

        A focus names topics, each of which counts; instructions have many words that name none.
        """
        focus = relevance(texts, self.focus)
        others = relevance(texts, self.instructions, least_share=1.0)
        return [max(pair) for pair in zip(focus, others, strict=True)]

    def units_shares(self, units: Sequence[Unit]) -> list[float]:
        """How much of the wishes each unit says, in [0, 1]."""
        focus = units_relevance(units, self.focus)
        others = units_relevance(units, self.instructions, least_share=1.0)
        return [max(pair) for pair in zip(focus, others, strict=True)]


NO_WISHES = Wishes()


@dataclass(slots=True)
class _Use:
    """The uses of one literal so far."""

    messages: int = 0
    last_seq: int = -1
    last_end: int = 0
    by_user: bool = False
    by_assistant: bool = False
    share: float = 0.0
    """The largest weight of one literal among those of a message that holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Salience:
    """The salience of one unit."""

    talk: float
    """As an utterance, and for what people want kept; without such wishes 0 for calls and
    outputs."""
    literals: tuple[tuple[str, float], ...] = ()
    """The literals in the unit, each with its salience."""

    @property
    def total(self) -> float:
        """The salience of the unit as long as nothing else is kept."""
        return self.talk + sum(value for _, value in self.literals)


def score_groups(
    groups: Sequence[Group],
    *,
    request: str = "",
    wishes: Wishes = NO_WISHES,
    is_meeting: bool = False,
) -> list[list[Salience]]:
    """The salience of each unit of each group, in a conversation of these groups, oldest first."""
    units = [unit for group in groups for unit in group.units]
    scores = iter(score_units(units, request=request, wishes=wishes, is_meeting=is_meeting))
    return [[next(scores) for _ in group.units] for group in groups]


def score_units(
    units: Sequence[Unit],
    *,
    request: str = "",
    wishes: Wishes = NO_WISHES,
    is_meeting: bool = False,
) -> list[Salience]:
    """The salience of each unit of a conversation, oldest first; more of what the `request` asks
    and of what people have `wishes` for.

    Units kept by an earlier compaction keep their salience best when they are scored in their old
    place, among those that were left out. With `Unit.answers` set, what is left may be scored
    alone: LoCoMo folded 20 messages at a time loses .01 of its evidence, without it .02.
    """
    return _with_wishes(_score_units(units, request, is_meeting), units, wishes)


def _score_units(units: Sequence[Unit], request: str, is_meeting: bool) -> list[Salience]:
    said = _meeting(units, request) if is_meeting else _talk(units, request)
    factor = LITERAL_WORTH * full_share(not is_prose(unit) for unit in units)
    if not factor:
        return said
    literals = [
        noted_literals(unit.note) if unit.note else exact_strings(unit.text) for unit in units
    ]
    saliences = weigh_literals(units, literals)
    return [
        Salience(
            talk=one.talk,
            literals=(
                *one.literals,
                *((literal, factor * saliences[literal]) for literal in found),
            ),
        )
        for one, found in zip(said, literals, strict=True)
    ]


def _talk(units: Sequence[Unit], request: str) -> list[Salience]:
    saliences = _with_relevance(utterance_saliences(units), units, request)
    return [Salience(talk=salience) for salience in saliences]


def _meeting(units: Sequence[Unit], request: str) -> list[Salience]:
    """The saliences in a meeting; what is said last there is no request unless it asks."""
    words = word_saliences(units)
    sums = [sum(found.values()) for found in words]
    asked = _with_relevance(sums, units, request if _QUESTION.search(request) else "")
    told = utterance_saliences(units)
    return [
        Salience(talk=raised - one + TOLD_SHARE * salience, literals=tuple(found.items()))
        for found, one, raised, salience in zip(words, sums, asked, told, strict=True)
    ]


def _with_wishes(
    saliences: list[Salience], units: Sequence[Unit], wishes: Wishes
) -> list[Salience]:
    """The saliences, raised for what people want kept; without wishes they are as they were."""
    if not (wishes and units):
        return saliences
    shares = wishes.units_shares(units)
    average = sum(one.total for one in saliences) / sum(max(1, unit.tokens) for unit in units)
    return [
        replace(one, talk=one.talk + FOCUS_WORTH * average * share * unit.tokens)
        for one, unit, share in zip(saliences, units, shares, strict=True)
    ]


def _with_relevance(saliences: list[float], units: Sequence[Unit], request: str) -> list[float]:
    """The saliences of utterances, raised by their relevance to the request."""
    spoken = [at for at, salience in enumerate(saliences) if salience > 0]
    if not (request and spoken):
        return saliences
    questions = " ".join(_QUESTION.findall(request))
    said = (units[at] for at in spoken)
    shares = units_relevance(said, questions or request, least_share=1.0)
    average = sum(saliences) / sum(units[at].tokens for at in spoken)
    most = average * (ASKED_WORTH if questions else SAID_WORTH)
    raised = list(saliences)
    for at, share in zip(spoken, shares, strict=True):
        raised[at] += most * share * units[at].tokens
    return raised


def full_share(are_calls: Iterable[bool]) -> float:
    """How far calls and outputs among units or messages make it no mere talk, in [0, 1]."""
    found = list(are_calls)
    return min(1.0, sum(found) / max(1, len(found)) / FULL_CALL_SHARE)


def is_prose(unit: Unit) -> bool:
    """Whether a person or a model wrote it: no tool call and no tool output."""
    return unit.kind == "talk"


def weigh_literals(units: Sequence[Unit], literals: Sequence[Collection[str]]) -> dict[str, float]:
    """The salience of each literal: 1 for one seen once, just now, in a tool's output."""
    counts: Counter[int] = Counter()
    for unit, found in zip(units, literals, strict=True):
        counts[unit.seq] += len(found)
    uses: dict[str, _Use] = {}
    end = 0
    for unit, found in zip(units, literals, strict=True):
        end += unit.tokens
        share = min(1.0, FEW / max(1, counts[unit.seq])) ** CROWDED
        for literal in found:
            use = uses.setdefault(literal, _Use())
            use.share = max(use.share, share)
            use.messages += use.last_seq != unit.seq
            use.last_seq, use.last_end = unit.seq, end
            use.by_user |= is_prose(unit) and unit.role == "user"
            use.by_assistant |= is_prose(unit) and unit.role == "assistant"
    return {literal: _literal_salience(literal, use, end) for literal, use in uses.items()}


def _literal_salience(literal: str, use: _Use, end: int) -> float:
    signs = (
        MENTIONS * math.log(use.messages)
        + SAID_BY_USER * use.by_user
        + SAID_BY_ASSISTANT * use.by_assistant
        - AGE * math.log1p((end - use.last_end) / AGE_TOKENS)
    )
    if "/" in literal or ("." in literal and not literal[0].isdigit()):
        signs += PATH
    if is_bare_number(literal) and not _DAY.fullmatch(literal):
        signs += NUMBER
    return use.share * math.exp(signs)


_Entry = tuple[float, int, int]  # minus the rate, minus the group, the loose unit or -1 to open


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Units that are kept together, such as those of a message."""

    units: tuple[Unit, ...]
    loose: frozenset[int] = frozenset()
    """The places of units that may be left out while the others are kept."""
    tokens: int
    """The cost of the group without any loose unit."""
    gap_tokens: int = 0
    """The cost of each loose unit besides its own tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A choice to keep: a group with some of its loose units, or one more of an open group."""

    group: int
    loose: tuple[int, ...]


class Ranking:
    """Ranks what to keep of the groups, by salience per token given what is kept so far."""

    def __init__(
        self,
        groups: Sequence[Group],
        saliences: Sequence[Sequence[Salience]] | None = None,
        *,
        most_tokens: int | None = None,
    ) -> None:
        """`saliences` are those of each group's units; no group over `most_tokens` is opened."""
        self._groups = groups
        self._saliences = score_groups(groups) if saliences is None else saliences
        self._most = most_tokens
        self._covered: set[str] = set()
        self._kept_keys: set[str] = set()
        self._counts: Callable[[Unit], bool] | None = None
        self._openings: list[_Entry] | None = None
        """How to open each group that is one unit, or of which no unit is loose: what is kept only
        lowers its rate, so one that was found before is never too low."""
        self.chosen: list[set[int] | None] = [None] * len(groups)
        """The loose units kept of each group; None for a group of which nothing is kept."""

    def steps(self, counts: Callable[[Unit], bool] | None = None) -> Iterator[Step]:
        """What to keep, best first; a step counts as kept if `take` is called before the next.

        Steps of no salience are left out. With `counts`, only such units have any.
        """
        if self._openings is None:
            self._counts = None
            self._openings = [
                entry
                for at, group in enumerate(self._groups)
                if _is_simple(group) and self.chosen[at] is None
                for entry in self._entries(at)
            ]
        self._counts = counts
        heap = [entry for entry in self._openings if self._may_open(-entry[1])]
        for at, group in enumerate(self._groups):
            if self.chosen[at] is not None or not _is_simple(group):
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
        """Keeps a step: its literals and utterances have no salience elsewhere from now on."""
        group, chosen = self._groups[step.group], self.chosen[step.group]
        taken = list(step.loose)
        if chosen is None:
            chosen = self.chosen[step.group] = set()
            taken += _fixed_places(group)
        chosen.update(step.loose)
        for place in taken:
            self._kept_keys.add(group.units[place].key)
            self._covered.update(
                literal for literal, _ in self._saliences[step.group][place].literals
            )

    def _may_open(self, at: int) -> bool:
        """Whether nothing of a group is kept and any of its units has salience."""
        if self.chosen[at] is not None:
            return False
        return self._counts is None or any(map(self._counts, self._groups[at].units))

    def _entries(self, at: int) -> Iterator[_Entry]:
        """The ways to keep more of a group, with their rates."""
        group, chosen = self._groups[at], self.chosen[at]
        if chosen is None and self._most is not None and group.tokens > self._most:
            return
        for unit in [-1] if chosen is None else sorted(group.loose - chosen):
            rate = self._value(at, unit)[1]
            if rate > 0:
                yield -rate, -at, unit

    def _value(self, at: int, unit: int) -> tuple[tuple[int, ...], float]:
        """The loose units that an entry adds, and the salience it adds per token."""
        if unit < 0:
            return self._opening(at)
        return (unit,), self._salience(at, unit, set()) / self._cost(at, unit)

    def _opening(self, at: int) -> tuple[tuple[int, ...], float]:
        """The loose units with which a group has the most salience per token, and that rate."""
        if len(self._groups[at].units) == 1:
            return self._opening_one(at)
        group, seen = self._groups[at], set[str]()
        salience = sum([self._salience(at, unit, seen, adds=True) for unit in _fixed_places(group)])
        tokens, loose = max(1, group.tokens), list[int]()
        best, count = salience / tokens, 0
        alone = {unit: self._salience(at, unit, seen) for unit in group.loose}
        for unit in sorted(alone, key=lambda unit: (-alone[unit] / self._cost(at, unit), unit)):
            tokens += self._cost(at, unit)
            if self._most is not None and tokens > self._most:
                break
            salience += self._salience(at, unit, seen, adds=True)
            loose.append(unit)
            if salience / tokens >= best:
                best, count = salience / tokens, len(loose)
        return tuple(loose[:count]), best

    def _opening_one(self, at: int) -> tuple[tuple[int, ...], float]:
        """The same of a group of one unit."""
        group, salience = self._groups[at], self._salience(at, 0, set())
        tokens = max(1, group.tokens)
        if not group.loose:
            return (), salience / tokens
        tokens += self._cost(at, 0)
        if self._most is not None and tokens > self._most:
            return (), 0.0
        return (0,), salience / tokens

    def _salience(self, at: int, place: int, seen: set[str], *, adds: bool = False) -> float:
        """What a unit adds to what is kept and to `seen`, which gets its literals with `adds`."""
        unit, salience = self._groups[at].units[place], self._saliences[at][place]
        if self._counts is not None and not self._counts(unit):
            return 0.0
        total = 0.0 if self._is_repeated(unit) else salience.talk
        if not salience.literals:
            return total
        covered = self._covered
        for literal, score in salience.literals:
            if literal not in covered and literal not in seen:
                total += score
        if adds:
            seen.update(literal for literal, _ in salience.literals)
        return total

    def _is_repeated(self, unit: Unit) -> bool:
        keys = self._kept_keys
        return bool(keys) and unit.key in keys and unit.chars >= REPEAT_CHARS

    def _cost(self, at: int, unit: int) -> int:
        group = self._groups[at]
        return max(1, group.units[unit].tokens + group.gap_tokens)


def _is_simple(group: Group) -> bool:
    return len(group.units) == 1 or not group.loose


def _fixed_places(group: Group) -> list[int]:
    return [place for place in range(len(group.units)) if place not in group.loose]
