"""Measure 2: the exact strings that a later tool call needed, are they still in the context?

At a program's own compaction what precedes is folded to as many tokens as its summary took; a
literal counts that was said before and used after. The summary itself is a row of its own, and
`again` says how many of the literals that it lost came back in a later tool result. Where no
compaction was recorded, a long session is folded in its middle to SHARE of its tokens. Last, whole
sessions are replayed call by call under the size at which the program compacted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.fidelity.methods import Method, is_over
from benchmarks.fidelity.progress import sampled, tell
from benchmarks.fidelity.replaying import Sent, of_method, of_policy
from benchmarks.fidelity.said import Said, level
from benchmarks.fidelity.tables import OVER, Column, Table
from benchmarks.fidelity.talks import Talk, Use, talk_of, words_of
from benchmarks.policies import preset_for_input

SHARE = 0.05  # what the summaries of recorded programs took of what they stood for: 3 and 6 %
FEWEST, FEWEST_USES = 16_000, 5  # tokens and uses of a session that is long enough
REPLAY_SHARE = 0.25  # of a session without a recorded compaction
REPLAYED = ("last N messages", "head + tail", "langchain-core trim_messages")
PROGRAM = Method(name="the program's own summary", fold=lambda talk, budget: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A place where a session is folded, and to how many tokens."""

    talk: Talk
    at: int
    tokens: int


def measure(talks: Sequence[Talk], methods: Sequence[Method], limit: int) -> Iterator[Table]:
    """Two tables of single folds, one of replays."""
    own = [
        Point(talk=talk, at=made.at, tokens=talk.tokens[made.at])
        for talk in talks
        for made in talk.compactions
    ]
    if own:
        yield _folds("at the program's own compactions", own, methods, has_own=True)
    long = [talk for talk in talks if _is_long(talk)]
    middles = [_middle(talk) for talk in sampled(long, 2 * limit)]
    yield _folds(f"in the middle, to {SHARE:.0%}", middles, methods, has_own=False)
    yield _replays(sampled(long, limit), methods)


def _is_long(talk: Talk) -> bool:
    return talk.total_tokens >= FEWEST and len(talk.uses) >= FEWEST_USES


def _middle(talk: Talk) -> Point:
    """The last user message of the first half, else just the half: a legal place to fold."""
    at = len(talk.messages) // 2
    while at > 1 and talk.messages[at]["role"] == "tool":
        at -= 1
    tokens = sum(talk.tokens[:at]) - talk.until(at).system_tokens
    return Point(talk=talk, at=at, tokens=talk.until(at).system_tokens + round(SHARE * tokens))


def _folds(
    title: str, points: Sequence[Point], methods: Sequence[Method], *, has_own: bool
) -> Table:
    columns = [
        Column(name="kept"),
        Column(name="again", best="none"),
        Column(name=OVER, best="none"),
    ]
    table = Table(title=f"2 · Literals used later, {title}", columns=columns, harms=[OVER])
    uses = {point: _later(point) for point in points}
    table.notes.append(
        f"{len(points)} folds in {len({p.talk.id for p in points})} sessions, "
        f"{sum(p.tokens for p in points) / max(1, len(points)):,.0f} tokens left on average, "
        f"{sum(map(len, uses.values()))} uses"
    )
    for point, found in uses.items():
        tell(f"literals: {point.talk.id} at {point.at}")
        if has_own:
            _add(table, PROGRAM, point, found, Said([point.talk.messages[point.at]]))
        for method in methods:
            folded = method.fold(point.talk.until(point.at), point.tokens)
            _add(table, method, point, found, Said(folded or ()))
            table.add(method, OVER, [float(is_over(folded, point.tokens))])
    return table


def _later(point: Point) -> list[Use]:
    """Uses behind the fold of what was said before it."""
    before = Said(point.talk.messages[: point.at])
    later = [use for use in point.talk.uses if use.used_at > point.at]
    return [use for use in later if before.has(use.literal)]


def _add(table: Table, method: Method, point: Point, uses: Sequence[Use], said: Said) -> None:
    kept = [said.has(use.literal) for use in uses]
    table.add(method, "kept", map(float, kept))
    if method is PROGRAM:
        back = [not has and _is_read_again(point, use) for use, has in zip(uses, kept, strict=True)]
        table.add(method, "again", map(float, back))


def _is_read_again(point: Point, use: Use) -> bool:
    between = point.talk.messages[point.at + 1 : use.used_at]
    return any(level(use.literal) in level(words_of(message)) for message in between)


def _replays(talks: Sequence[Talk], methods: Sequence[Method]) -> Table:
    columns = [Column(name="all uses"), Column(name="far"), Column(name="sent", best="none")]
    table = Table(title="2 · Literals at each use, replayed call by call", columns=columns)
    talks = [_without_summaries(talk) for talk in talks]
    far = sum(len(_far(talk, _window(talk))) for talk in talks)
    table.notes += [
        f"{len(talks)} sessions, {sum(len(talk.uses) for talk in talks)} uses, {far} of them far: "
        "last said more than half a budget before; sent: share of calls that could be made",
        "budget: the size at which the program compacted, else "
        f"{REPLAY_SHARE:.0%} of the session; its own summary is left out",
    ]
    for talk in talks:
        for method in methods:
            if method.is_ours or method.name in REPLAYED:
                tell(f"replay: {talk.id} {method.name}")
                _replay(table, talk, method)
    return table


def _window(talk: Talk) -> int:
    made = [sum(talk.tokens[: own.at]) for own in talk.compactions]
    return min(made, default=round(REPLAY_SHARE * talk.total_tokens) + talk.system_tokens)


def _without_summaries(talk: Talk) -> Talk:
    """The session with an empty reply where the program put its summary; places stay."""
    summaries = {own.at for own in talk.compactions}
    messages = [
        {**m, "content": "Go on."} if at in summaries else m for at, m in enumerate(talk.messages)
    ]
    known = {"uses": talk.uses, "compactions": talk.compactions}
    return talk_of(messages, id=talk.id, file=talk.file, **known)


def _replay(table: Table, talk: Talk, method: Method) -> None:
    window = _window(talk)
    far = set(_far(talk, window))
    wanted: dict[int, list[Use]] = {}
    for use in talk.uses:
        wanted.setdefault(use.used_at, []).append(use)
    for at, sent in _sent(talk, method, window):
        table.add(method, "sent", [float(sent is not None)])
        if at in wanted:
            said = Said(sent or ())
            for use in wanted[at]:
                kept = float(said.has(use.literal))
                table.add(method, "all uses", [kept])
                table.add(method, "far", [kept] if use in far else [])


def _sent(talk: Talk, method: Method, window: int) -> Iterator[Sent]:
    if method.is_ours:
        return of_policy(talk, preset_for_input(method.name), window)
    return of_method(talk, method, window)


def _far(talk: Talk, window: int) -> list[Use]:
    """Uses of what was last said so long before that a window may have lost it."""
    words = [level(words_of(message)) for message in talk.messages]
    found = []
    for use in talk.uses:
        literal, tokens = level(use.literal), 0
        for at in range(use.used_at - 1, -1, -1):
            if literal in words[at]:
                break
            tokens += talk.tokens[at]
        if tokens > window / 2:
            found.append(use)
    return found
