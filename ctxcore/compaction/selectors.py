"""Finds superseded reads, outdated sentences, important blocks and key events."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.assembly.rules.words import words_of_speaker
from ctxcore.compaction.drafting import newest_within
from ctxcore.facts.agent_records import arguments_of, file_uses
from ctxcore.facts.ledger import Ledger
from ctxcore.facts.values import STATEMENTS, Fact, Kind
from ctxcore.messages.blocks import pair_results
from ctxcore.messages.values import ToolCall
from ctxcore.policy.values import Policy
from ctxcore.salience.ranking import NO_WISHES, Wishes
from ctxcore.salience.units import Unit, relevance
from ctxcore.text.identifiers import snake_case

LEAST_RATIO = 0.5  # chosen: of the first read's size; less is a message such as "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """Tool outputs that a later call made old, by sequence number."""

    read_again: frozenset[int] = frozenset()
    changed: frozenset[int] = frozenset()
    """Reads of files of which one was changed later; most of their lines still hold."""


class _FileUses(NamedTuple):
    """The files that one call reads and changes."""

    read: frozenset[str]
    changed: frozenset[str]
    is_whole: bool
    """Whether the call names one file and nothing else, so that it reads all of it."""


@lru_cache(maxsize=4_096)  # a plan is made before every call, of the same messages
def _file_uses(name: str, text: str) -> _FileUses:
    arguments = arguments_of(text)
    uses = list(file_uses(name, arguments, "assistant"))
    read = frozenset(use.key for use in uses if use.kind == "file_read")
    changed = frozenset(use.key for use in uses if use.kind == "file_changed")
    return _FileUses(read, changed, is_whole=list(arguments.values()) == list(read))


def find_superseded(blocks: Sequence[Sequence[Counted]]) -> Superseded:
    """Returns the reads in `blocks` that a later read repeats, or whose files changed later.

    A read repeats another only if it returned the same part, or the whole file, and not just a
    message that nothing changed.
    """
    reads: dict[str, list[tuple[Counted, str]]] = defaultdict(list)
    not_repeated: dict[int, set[str]] = {}
    changed: set[int] = set()
    for call, row in _answered(blocks):
        uses = _file_uses(call.name, call.arguments)
        changed |= {earlier.seq for file in uses.changed for earlier, _ in reads[file]}
        if uses.read:
            not_repeated[row.seq] = {*uses.read}
        for file in uses.read:
            for earlier, arguments in reads[file]:
                is_same_part = uses.is_whole or arguments == call.arguments
                if is_same_part and row.sent_tokens >= earlier.sent_tokens * LEAST_RATIO:
                    not_repeated[earlier.seq].discard(file)
            reads[file].append((row, call.arguments))
    return Superseded(
        read_again=frozenset(seq for seq, files in not_repeated.items() if not files),
        changed=frozenset(changed),
    )


def _answered(blocks: Sequence[Sequence[Counted]]) -> Iterator[tuple[ToolCall, Counted]]:
    """Yields each call that has a result, with it."""
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
"""The sentences of messages that no longer hold, by sequence number."""

NONE_OUTDATED: Outdated = {}

_CUT = "…"  # the end of a fact's text that was cut


def outdated_of(ledger: Ledger) -> Outdated:
    """Returns the sentences that no longer hold and were not repeated since."""
    holds = {entry.key for entry in ledger.held() if entry.kind in STATEMENTS}
    found: dict[int, tuple[str, ...]] = {}
    for entry in ledger.revoked():
        if entry.key not in holds:
            for seq in entry.seqs:
                found[seq] = (*found.get(seq, ()), entry.text)
    return found


def stated_in(ledger: Ledger, kinds: Collection[Kind]) -> frozenset[int]:
    """Returns the last message of each statement of `kinds` that holds.

    Instructions are shown in any case, but in the smallest windows; of decisions it is not
    measured elsewhere whether they earn it.
    """
    return frozenset(entry.seqs[-1] for entry in ledger.held() if entry.kind in kinds)


def outdated_units(units: Sequence[Unit], sentences: Sequence[str]) -> set[int]:
    """Returns the indexes of the units of one message that hold any part of `sentences`."""
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
    """Yields where `sentence` is, whose white space is collapsed and whose end may be cut."""
    words = sentence.removesuffix(_CUT).split()
    if not words:
        return
    if text.isprintable() and "  " not in text:  # single blanks: no pattern has to be compiled
        yield from _places(text, " ".join(words))
    else:
        pattern = r"\s+".join(map(re.escape, words))
        yield from (found.span() for found in re.finditer(pattern, text))


def _places(text: str, words: str) -> Iterator[tuple[int, int]]:
    start = text.find(words)
    while start >= 0:
        end = start + len(words)
        yield start, end
        start = text.find(words, end)


Rows: TypeAlias = Sequence[Counted]
Facts: TypeAlias = Mapping[int, Sequence[Fact]]

RELEVANT: Final = 2.0  # of the 5 that a message may score; chosen, see `importances`
RECENT: Final = 1.0  # chosen: half of the others, since the tail stays anyway
FACTUAL: Final = 2.0  # chosen: as much as relevance
MUCH_WORTH: Final = 6.0
"""Salience of facts that gives two thirds of their score; chosen: a decision and a number."""

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


def important(
    blocks: Sequence[Rows], view: HistoryView, policy: Policy, wishes: Wishes = NO_WISHES
) -> list[Rows]:
    """Returns the blocks whose importance reaches the threshold, and some newest others."""
    scores = importances(
        blocks,
        request_at(view, view.anchors().last_user),
        _facts_in(view, blocks),
        last_seq=view.count(),
        wishes=wishes,
    )
    return _with_others(
        blocks,
        {at for at, score in enumerate(scores) if score >= policy.importance_threshold},
        policy,
    )


def importances(
    blocks: Sequence[Rows],
    request: str,
    facts: Facts,
    *,
    last_seq: int,
    wishes: Wishes = NO_WISHES,
) -> list[float]:
    """Returns the importance of each block, in 0 … 5: 2 x relevance + recency + 2 x facts.

    The `ladder` design scores by keywords. Such rules keep less of what is asked for later than
    plain truncation does, so relevance to the last request, recency and facts are scored instead;
    3.0 of 5 takes two of the three. What people have `wishes` for is as relevant as a request.
    """
    texts = [_text(block) for block in blocks]
    relevant = relevance(texts, request)
    if wishes:
        relevant = list(map(max, relevant, wishes.shares(texts)))
    return [
        RELEVANT * share
        + RECENT * block[-1].seq / max(1, last_seq)
        + FACTUAL * factual(fact for row in block for fact in facts.get(row.seq, ()))
        for block, share in zip(blocks, relevant, strict=True)
    ]


def factual(facts: Iterable[Fact]) -> float:
    """Returns a score of facts in 0 … 1; each further fact adds less."""
    return 1.0 - math.exp(-sum(fact.salience for fact in facts) / MUCH_WORTH)


def eventful(
    blocks: Sequence[Rows], view: HistoryView, policy: Policy, wishes: Wishes = NO_WISHES
) -> list[Rows]:
    """Returns the blocks with key events, which no wish changes, and some newest others."""
    return _with_others(blocks, events(blocks, _facts_in(view, blocks)), policy)


def events(blocks: Sequence[Rows], facts: Facts) -> set[int]:
    """Returns the indexes of the blocks with key events.

    Key events are a finished task, an error and its fix, a tool call that changed something, and a
    decision.
    """
    found, failed = set[int](), dict[str, int]()
    for at, block in enumerate(blocks):
        block_facts = [fact for row in block for fact in facts.get(row.seq, ())]
        if _changes(block, block_facts) or _finishes(block, block_facts):
            found.add(at)
        for fact in block_facts:
            if fact.kind == "error" and fact.effect != "fixes":
                failed[fact.subject] = at
            elif fact.kind == "error":
                found |= _fixed(fact, at, failed)
    return found | {*failed.values()}


def _fixed(fix: Fact, at: int, failed: dict[str, int]) -> set[int]:
    """Removes from `failed` the error that `fix` fixes; returns the blocks of both."""
    subject = fix.subject or next(reversed(failed), "")
    return {failed.pop(subject), at} if subject in failed else set()


def _changes(block: Rows, facts: Sequence[Fact]) -> bool:
    """Whether a tool call of the block changed something, or something was decided."""
    if any(fact.kind in ("decision", "file_changed") for fact in facts):
        return True
    names = (call.name for row in block for call in row.message.calls)
    return any(_CHANGING.search(snake_case(name)) for name in names)


def _finishes(block: Rows, facts: Sequence[Fact]) -> bool:
    """Whether the assistant says that a task is finished, or the task list shows it."""
    lists = (fact.value.partition("/") for fact in facts if fact.kind == "todo")
    if any(done == total != "0" for done, _, total in lists):
        return True
    words = (row.message.text for row in block if row.message.role == "assistant")
    return any(_FINISHED.search(text) for text in words if text)


def _with_others(blocks: Sequence[Rows], chosen: set[int], policy: Policy) -> list[Rows]:
    """Returns the `chosen` of `blocks`, and of the others the newest few messages."""
    others = [at for at in range(len(blocks)) if at not in chosen]
    first = newest_within([len(blocks[at]) for at in others], policy.keep_others)
    chosen = chosen | set(others[first:])
    return [block for at, block in enumerate(blocks) if at in chosen]


def _facts_in(view: HistoryView, blocks: Sequence[Rows]) -> Facts:
    seqs = {row.seq for block in blocks for row in block}
    return {seq: facts for seq, facts in view.facts() if seq in seqs}


def text_at(view: HistoryView, seq: int | None) -> str:
    """Returns the words of one message; empty without a number."""
    return "" if seq is None else view.get([seq])[0].message.text


def request_at(view: HistoryView, seq: int | None) -> str:
    """Returns the same as `text_at` without the name of the speaker, which asks for nothing."""
    return "" if seq is None else words_of_speaker(view.get([seq])[0].message)


def _text(block: Rows) -> str:
    """Returns the words and the calls of a block."""
    calls = (f"{call.name} {call.arguments}" for row in block for call in row.message.calls)
    return "\n".join([*(row.message.text for row in block), *calls])


CHOOSERS: Mapping[
    Literal["importance", "key_events"],
    Callable[[Sequence[Rows], HistoryView, Policy, Wishes], list[Rows]],
] = {"importance": important, "key_events": eventful}
