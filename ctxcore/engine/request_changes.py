"""Compares the requests of two calls: how far they begin alike, why they part, what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal, TypeAlias

from ctxcore.engine.requests import RebuiltMessage, RebuiltRequest
from ctxcore.messages.canonical import to_canonical, to_ordered
from ctxcore.plain import Plain
from ctxcore.reasons.codes import BreakCode, VerdictCode
from ctxcore.reasons.values import Reason

ChangeKind: TypeAlias = Literal["same", "changed", "gone", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Plain):
    """One message that differs between two requests, or neighbours that are the same in both."""

    kind: ChangeKind
    before: int | None
    """The place in the earlier request, from 0, of the first of them; None: it is `new`."""
    after: int | None
    """The place in the later request; None: it is `gone`."""
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChanges(Plain):
    """What changed from the request of one call to that of another."""

    shared: int
    """How many messages both begin with."""
    shared_tokens: int | None
    """The size of those; None where one is unknown."""
    cause: Reason | None
    """Why they part there, a `BreakCode`; None: the later begins with all of the earlier."""
    verdict: Reason | None
    """The later call's verdict on the first message that it has no longer, where one is known."""
    changes: tuple[Change, ...]


def compare_requests(before: RebuiltRequest, after: RebuiltRequest) -> RequestChanges | None:
    """What changed from `before` to `after`; None where one of them cannot be made again."""
    if not (before.messages and after.messages):
        return None
    pairs = zip(before.messages, after.messages, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: _are_same(*pair), pairs))
    sizes = [made.tokens for made in before.messages[:shared]]
    known = [size for size in sizes if size is not None]
    return RequestChanges(
        shared=shared,
        shared_tokens=sum(known) if len(known) == shared else None,
        cause=_cause(before, after, shared),
        verdict=_verdict_now(before, after, shared),
        changes=tuple(_changes(before.messages, after.messages, shared)),
    )


def _are_same(one: RebuiltMessage, other: RebuiltMessage) -> bool:
    return to_canonical(one.message) == to_canonical(other.message)


def _sources(made: RebuiltMessage) -> list[int | str]:
    """What a message is made of: places in the history, and segments of other texts."""
    return [part.segment if part.at is None else part.at for part in made.parts]


def _changes(
    before: Sequence[RebuiltMessage], after: Sequence[RebuiltMessage], shared: int
) -> Iterator[Change]:
    """The same neighbours together, every other message by itself, in order.

    Messages are the same one where the first message of the history in them is the same, or else
    the first other text.
    """
    if shared:
        yield Change(kind="same", before=0, after=0, count=shared)
    old, new = before[shared:], after[shared:]
    matcher = SequenceMatcher(
        None, [_source(made) for made in old], [_source(made) for made in new], autojunk=False
    )
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            yield from _matched(before, after, shared + start, shared + new_start, end - start)
            continue
        for at in range(start, end):
            yield Change(kind="gone", before=shared + at, after=None)
        for at in range(new_start, new_end):
            yield Change(kind="new", before=None, after=shared + at)


def _source(made: RebuiltMessage) -> int | str:
    if made.message.get("role") == "system":
        return "system"  # a new prompt takes the place of the one before
    places = [part.at for part in made.parts if part.at is not None]
    return next(iter(places or _sources(made)), "")


def _matched(
    before: Sequence[RebuiltMessage],
    after: Sequence[RebuiltMessage],
    start: int,
    new_start: int,
    count: int,
) -> Iterator[Change]:
    """Messages with the same source: what is the same in a row, and each that changed."""
    first = 0
    for at in range(count + 1):
        is_same = at < count and _are_same(before[start + at], after[new_start + at])
        if is_same:
            continue
        if at > first:
            yield Change(
                kind="same", before=start + first, after=new_start + first, count=at - first
            )
        if at < count:
            yield Change(kind="changed", before=start + at, after=new_start + at)
        first = at + 1


def _cause(before: RebuiltRequest, after: RebuiltRequest, shared: int) -> Reason | None:
    """Why the two part behind `shared` messages."""
    if before.model != after.model:
        return BreakCode.MODEL()
    if to_ordered(list(before.tools)) != to_ordered(list(after.tools)):
        return BreakCode.TOOLS()
    if shared >= len(before.messages):
        return None
    if before.call.compaction_id != after.call.compaction_id:
        is_undone = _folded(after) < _folded(before)
        return BreakCode.UNDO() if is_undone else BreakCode.COMPACTION()
    verdict = _verdict_now(before, after, shared)
    if verdict is not None and verdict.mentions(VerdictCode.EXCLUDED):
        return BreakCode.EXCLUSION()
    old = before.messages[shared]
    new = after.messages[shared] if shared < len(after.messages) else None
    found = _cause_in_message(old, new, is_last=shared == len(before.messages) - 1)
    if found is None and verdict is not None and verdict.mentions(VerdictCode.OUTSIDE):
        return BreakCode.WINDOW_MOVED()
    return found or BreakCode.OTHER()


def _folded(request: RebuiltRequest) -> int:
    """How many messages its compaction stands for."""
    return sum(run.last - run.first + 1 for run in request.call.runs if run.verdict == "summarized")


def _cause_in_message(
    old: RebuiltMessage, new: RebuiltMessage | None, *, is_last: bool
) -> Reason | None:
    """The cause that shows in the first two messages that differ; None for none."""
    both = [old] if new is None else [old, new]
    if any(made.message.get("role") == "system" for made in both):
        return BreakCode.SYSTEM()
    if any(part.segment == "knowledge" for made in both for part in made.parts):
        return BreakCode.KNOWLEDGE()
    if any(part.verdict == "recalled" for part in old.parts):
        return BreakCode.RECALL_ENDED() if is_last else BreakCode.RECALLED()
    if new is None:
        return None
    was, now = _sources(old), _sources(new)
    if was == now[: len(was)] and len(was) < len(now):
        return BreakCode.JOINED()
    if was == now and any(part.verdict == "compressed" for made in both for part in made.parts):
        return BreakCode.OUTPUT_SHORTENED()
    return None


def _verdict_now(before: RebuiltRequest, after: RebuiltRequest, shared: int) -> Reason | None:
    """What became, in `after`, of the first message of the history that it lacks from there on."""
    parts = (part for made in before.messages[shared:] for part in made.parts)
    sent = {part.at for made in after.messages for part in made.parts}
    gone = next((part.at for part in parts if part.at is not None and part.at not in sent), None)
    if gone is None:
        return None
    runs = (run for run in after.call.runs if run.first <= gone <= run.last)
    return next((run.reason for run in runs), None)
