"""Owns which covered blocks stay by what they say: the important ones, or those of key events.

Some of the newest others stay besides, so that what was said last can still be followed. Source:
the `ladder` design.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from ctxcore.assembly.history import Counted, HistoryView
from ctxcore.compaction.drafting import newest_within
from ctxcore.facts.values import Fact
from ctxcore.policy.values import Policy
from ctxcore.worth.relevance import relevance

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
