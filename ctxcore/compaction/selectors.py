"""Owns which reads of files say nothing new any more: the file was read again, or changed later.

A second read stands for the first only where it brought the same part, or the whole, and not just
a word that nothing changed.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.compaction.drafting import newest_within
from ctxcore.facts.agent_records import arguments_of, file_uses
from ctxcore.facts.ledger import Ledger
from ctxcore.facts.values import Fact
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import ToolCall
from ctxcore.policy.values import Policy
from ctxcore.salience.units import Unit, relevance

LEAST_RATIO = 0.5  # of the first read's size; less is a message such as "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """Tool outputs that a later call made old, by sequence number."""

    read_again: frozenset[int] = frozenset()
    changed: frozenset[int] = frozenset()
    """Of whose files one was changed later; most of their lines still hold."""


@dataclass(slots=True)
class _Reads:
    """What was read so far, by file, and which files of each read are not superseded yet."""

    by_file: dict[str, list[tuple[Counted, str]]] = field(default_factory=lambda: defaultdict(list))
    open_files: dict[int, set[str]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)

    def add(self, row: Counted, files: set[str], arguments: str, *, is_whole: bool) -> None:
        self.open_files[row.seq] = set(files)
        for file in files:
            for earlier, asked in self.by_file[file]:
                is_same_part = is_whole or asked == arguments
                if is_same_part and row.sent_tokens >= earlier.sent_tokens * LEAST_RATIO:
                    self.open_files[earlier.seq].discard(file)
            self.by_file[file].append((row, arguments))

    def change(self, files: set[str]) -> None:
        self.changed |= {row.seq for file in files for row, _ in self.by_file[file]}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """The files that one call reads and changes."""

    read: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    is_whole: bool = False
    """Whether it names one file and nothing else, so that all of it is read."""


@lru_cache(maxsize=4_096)  # a plan is made before every call, of the same messages
def _uses(name: str, text: str) -> _Uses:
    arguments = arguments_of(text)
    uses = list(file_uses(name, arguments, "assistant"))
    read = frozenset(use.key for use in uses if use.kind == "file_read")
    changed = frozenset(use.key for use in uses if use.kind == "file_changed")
    return _Uses(read=read, changed=changed, is_whole=list(arguments.values()) == list(read))


def find_superseded(blocks: Sequence[Sequence[Counted]]) -> Superseded:
    """What later calls in `blocks` made old of the reads in them."""
    reads = _Reads()
    for call, row in _answered(blocks):
        uses = _uses(call.name, call.arguments)
        if uses.changed:
            reads.change({*uses.changed})
        if uses.read:
            reads.add(row, {*uses.read}, call.arguments, is_whole=uses.is_whole)
    return Superseded(
        read_again=frozenset(seq for seq, files in reads.open_files.items() if not files),
        changed=frozenset(reads.changed),
    )


def _answered(blocks: Sequence[Sequence[Counted]]) -> Iterator[tuple[ToolCall, Counted]]:
    for head, *results in blocks:
        calls = head.message.calls
        if len(calls) == len(results) == 1 and results[0].message.answers == calls[0].id:
            yield calls[0], results[0]
        elif calls and results:
            places, _ = pair_results(calls, [row.message for row in results])
            for call, place in zip(calls, places, strict=True):
                if place is not None:
                    yield call, results[place]


Outdated = Mapping[int, tuple[str, ...]]
"""By sequence number: the sentences of a message that no longer hold."""

NONE_OUTDATED: Outdated = {}

_CUT = "…"  # what a fact's text ends with where it is cut


def outdated_of(ledger: Ledger) -> Outdated:
    """The sentences that no longer hold, and were not said again since."""
    holds = {entry.key for entry in ledger.held() if entry.kind in ("instruction", "decision")}
    found: dict[int, tuple[str, ...]] = {}
    for entry in ledger.revoked():
        if entry.key not in holds:
            for seq in entry.seqs:
                found[seq] = (*found.get(seq, ()), entry.text)
    return found


def outdated_units(units: Sequence[Unit], sentences: Sequence[str]) -> set[int]:
    """The places of the pieces of one message that say any part of `sentences`."""
    text = "".join(unit.text for unit in units)
    spans = [span for sentence in sentences for span in _spans(text, sentence)]
    places, start = set[int](), 0
    for place, unit in enumerate(units):
        end = start + len(unit.text)
        if any(first < end and start < last for first, last in spans):
            places.add(place)
        start = end
    return places


def _spans(text: str, sentence: str) -> Iterator[tuple[int, int]]:
    """Where `sentence`, in which white space is collapsed and the end may be cut, stands."""
    words = sentence.removesuffix(_CUT).split()
    if words:
        pattern = r"\s+".join(map(re.escape, words))
        yield from (found.span() for found in re.finditer(pattern, text))


Rows: TypeAlias = Sequence[Counted]
Facts: TypeAlias = Mapping[int, Sequence[Fact]]

RELEVANT: Final = 2.0  # of the 5 that a message may score; ours, see `importances`
RECENT: Final = 1.0
FACTUAL: Final = 2.0
MUCH_WORTH: Final = 6.0
"""Worth of facts that is nearly two thirds of all a message may score for them: a decision, and a
number beside it."""

_FINISHED = re.compile(
    r"\b(?:(?:task|work|implementation|migration|refactor(?:ing)?|everything|all (?:tests|tasks"
    r"|steps|checks|items)|that)(?: is| are| has been| have been| now)* (?:done|complete[d]?"
    r"|finished|pass(?:ed|es|ing)?|green)|(?:successfully|now) (?:completed|finished|deployed"
    r"|merged|released)|(?:i(?:'ve| have)|we(?:'ve| have)) (?:completed|finished|deployed|merged"
    r"|released)|task complete)\b"
    "|(?:任务|工作|全部|所有[^，。]{0,8}|已经?)(?:都|均|已经?)?(?:完成|做完|搞定|通过|上线)",
    re.IGNORECASE,
)
_CHANGING = re.compile(
    r"^(?!(?:get|list|search|find|read|view|fetch|check|show|look|count|think|is|has)(?:_|$))"
    r"(?:.*_)?(?:add|apply|assign|book|cancel|change|close|commit|create|delete|deploy|disable"
    r"|edit|enable|exchange|execute|insert|install|merge|modify|move|open|order|pay|post|publish"
    r"|push|put|refund|remove|rename|replace|reserve|return|save|schedule|send|set|submit|transfer"
    r"|update|upload|write)(?:_|$)"
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def important(blocks: Sequence[Rows], view: HistoryView, policy: Policy) -> list[Rows]:
    """Those of `blocks` whose importance reaches the policy's threshold, and some newest others."""
    facts = _facts_in(view, blocks)
    scores = importances(
        blocks, text_at(view, view.anchors().last_user), facts, last_seq=view.count()
    )
    return _with_others(
        blocks,
        {at for at, score in enumerate(scores) if score >= policy.importance_threshold},
        policy,
    )


def importances(
    blocks: Sequence[Rows], request: str, facts: Facts, *, last_seq: int
) -> list[float]:
    """The importance of each block, in 0 … 5: 2 x relevance + recency + 2 x facts, each 0 … 1.

    The `ladder` document scores by words that sound important. Such rules keep less of what is
    asked for later than plain truncation does, so that relevance to the live request, recency and
    what a message tells are scored instead; 3.0 of 5 takes two of the three.
    """
    relevant = relevance([_text(block) for block in blocks], request)
    return [
        RELEVANT * share
        + RECENT * block[-1].seq / max(1, last_seq)
        + FACTUAL * factual(fact for row in block for fact in facts.get(row.seq, ()))
        for block, share in zip(blocks, relevant, strict=True)
    ]


def factual(facts: Iterable[Fact]) -> float:
    """How much facts tell, in 0 … 1: each further one adds less."""
    return 1.0 - math.exp(-sum(fact.worth for fact in facts) / MUCH_WORTH)


def eventful(blocks: Sequence[Rows], view: HistoryView, policy: Policy) -> list[Rows]:
    """Those of `blocks` in which something happened that counts, and some newest others."""
    return _with_others(blocks, events(blocks, _facts_in(view, blocks)), policy)


def events(blocks: Sequence[Rows], facts: Facts) -> set[int]:
    """The places of the blocks with key events.

    They are: a finished task, an error and what fixed it, a tool call that changed something, a
    decision.
    """
    found, failed = set[int](), dict[str, int]()
    for at, block in enumerate(blocks):
        said = [fact for row in block for fact in facts.get(row.seq, ())]
        if _changes(block, said) or _finishes(block, said):
            found.add(at)
        for fact in said:
            if fact.kind == "error" and fact.effect != "fixes":
                failed[fact.subject] = at
            elif fact.kind == "error":
                found |= _fixed(fact, at, failed)
    return found | {*failed.values()}


def _fixed(fix: Fact, at: int, failed: dict[str, int]) -> set[int]:
    """The blocks of an error that `fix` puts right and of the fix; it is open no longer."""
    if fix.subject:
        broken = failed.pop(fix.subject, None)
    else:
        broken = failed.pop(next(reversed(failed)), None) if failed else None
    return set() if broken is None else {broken, at}


def _changes(block: Rows, said: Sequence[Fact]) -> bool:
    """Whether a tool call of the block changed something, or something was decided."""
    if any(fact.kind in ("decision", "file_changed") for fact in said):
        return True
    names = (call.name for row in block for call in row.message.calls)
    return any(
        _CHANGING.search(_CAMEL.sub("_", name.rpartition("__")[2]).lower()) for name in names
    )


def _finishes(block: Rows, said: Sequence[Fact]) -> bool:
    """Whether somebody says that a task is finished, or the task list shows it."""
    lists = (fact.value.partition("/") for fact in said if fact.kind == "todo")
    if any(done == total != "0" for done, _, total in lists):
        return True
    words = (row.message.text for row in block if row.message.role == "assistant")
    return any(_FINISHED.search(text) for text in words if text)


def _with_others(blocks: Sequence[Rows], chosen: set[int], policy: Policy) -> list[Rows]:
    """The `chosen` of `blocks`, and of the others the newest few messages."""
    others = [at for at in range(len(blocks)) if at not in chosen]
    first = newest_within([tuple(blocks[at]) for at in others], policy.keep_others)
    chosen = chosen | set(others[first:])
    return [block for at, block in enumerate(blocks) if at in chosen]


def _facts_in(view: HistoryView, blocks: Sequence[Rows]) -> Facts:
    seqs = {row.seq for block in blocks for row in block}
    return {seq: facts for seq, facts in view.facts() if seq in seqs}


def text_at(view: HistoryView, seq: int | None) -> str:
    """The words of one message; none where there is none."""
    return "" if seq is None else view.get([seq])[0].message.text


def _text(block: Rows) -> str:
    """All that the messages of a block say, calls included."""
    calls = (f"{call.name} {call.arguments}" for row in block for call in row.message.calls)
    return "\n".join([*(row.message.text for row in block), *calls])


CHOOSERS: Mapping[
    Literal["importance", "key_events"],
    Callable[[Sequence[Rows], HistoryView, Policy], list[Rows]],
] = {"importance": important, "key_events": eventful}
