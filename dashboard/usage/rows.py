"""Rows of the usage page: one per turn, made from its calls, with sums and shares.

A number that no provider reported is None, and a sum of nothing else is None too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Literal, TypeAlias

from ctxcore.assembly.verdicts import INPUT_SEGMENTS, Run
from ctxcore.formats.report import TokenReport
from ctxcore.store.values import CallInfo, CompactionInfo, TurnInfo
from ctxcore.tokens.factors import CountFactor, learn_factor
from dashboard.call_view.sizes import estimate_tokens, sent_tokens

Mode: TypeAlias = Literal["turn", "context", "total"]
Source: TypeAlias = Literal["estimate", "provider"]

MODES: tuple[Mode, ...] = ("turn", "context", "total")
SOURCES: tuple[Source, ...] = ("estimate", "provider")
PROVIDER_PARTS = ("fresh", "cache_write", "cached")
SUMMARIES = "summaries"
"""The part of a bar for requests for summaries, as the provider counted them."""

OTHER_TOOLS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSum:
    """A sum of reported values; `missing` calls reported none."""

    value: float | None
    missing: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsage:
    """One turn with its calls; sequence numbers from 1."""

    number: int
    first_seq: int
    last_seq: int
    title: str
    state: str | None
    """None if the turn was imported or appended, not run here."""
    calls: tuple[CallInfo, ...]
    compactions: tuple[CompactionInfo, ...] = ()
    """Made after this turn began and before the next one did."""

    @property
    def sent_tokens(self) -> KnownSum:
        """The input of all its calls: our count, or the provider's for imported calls."""
        return known_sum(self.calls, sent_tokens)

    @property
    def context_tokens(self) -> int | None:
        """The input of its last call for an answer."""
        answers = [call for call in self.calls if not is_summary(call)]
        return next((size for size in map(sent_tokens, reversed(answers)) if size), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a stacked chart."""

    turn: int
    parts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Our count of a call and the provider's."""

    turn: int
    call: int
    estimate_tokens: int
    provider_tokens: int

    @property
    def difference(self) -> int:
        """The provider's count minus ours."""
        return self.provider_tokens - self.estimate_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Sums over calls."""

    calls: int
    sent: KnownSum
    cached: KnownSum
    output: KnownSum
    cost: KnownSum


def is_summary(call: CallInfo) -> bool:
    """Whether the call was for a summary rather than for an answer."""
    return call.purpose == "summary"


def totals_of(calls: Sequence[CallInfo]) -> Totals:
    """The sums over `calls`."""
    return Totals(
        calls=len(calls),
        sent=known_sum(calls, sent_tokens),
        cached=known_sum(calls, lambda call: call.cached_tokens),
        output=known_sum(calls, lambda call: call.output_tokens),
        cost=known_sum(calls, lambda call: call.cost),
    )


def known_sum(calls: Iterable[CallInfo], value: Callable[[CallInfo], float | None]) -> KnownSum:
    """The sum of the known values, and the number of unknown ones."""
    values = [value(call) for call in calls]
    known = [number for number in values if number is not None]
    return KnownSum(value=sum(known) if known else None, missing=len(values) - len(known))


def turn_rows(
    starts: Sequence[tuple[int, str]],
    length: int,
    turns: Iterable[TurnInfo],
    calls: Sequence[CallInfo],
    compactions: Iterable[CompactionInfo] = (),
) -> list[TurnUsage]:
    """The turns of a session; `starts` are its user messages: number and beginning."""
    if not starts:
        return []
    states = {turn.first_seq: turn for turn in turns}
    firsts = [seq for seq, _ in starts]
    ends = [*(seq - 1 for seq in firsts[1:]), length]
    by_turn = _calls_by_turn(calls, firsts, states)
    made = _compactions_by_turn(compactions, by_turn)
    return [
        TurnUsage(
            number=number,
            first_seq=first,
            last_seq=last,
            title=title,
            state=states[first].state if first in states else None,
            calls=tuple(by_turn.get(number, ())),
            compactions=tuple(made.get(number, ())),
        )
        for number, ((first, title), last) in enumerate(zip(starts, ends, strict=True), start=1)
    ]


def bars(turns: Sequence[TurnUsage], mode: Mode, source: Source) -> list[Bar]:
    """The input per turn, of the last call of each turn, or of all turns so far."""
    if mode == "context":
        known = [(turn.number, _call_parts(turn, source, summaries=False)) for turn in turns]
        return [Bar(turn=number, parts=parts[-1]) for number, parts in known if parts]
    filled = [(turn.number, _call_parts(turn, source)) for turn in turns]
    sums = [(number, _added(parts)) for number, parts in filled if parts]
    if mode == "turn":
        return [Bar(turn=number, parts=parts) for number, parts in sums]
    totals = accumulate((parts for _, parts in sums), lambda total, other: _added([total, other]))
    return [Bar(turn=number, parts=parts) for (number, _), parts in zip(sums, totals, strict=True)]


def compared(turns: Iterable[TurnUsage]) -> list[Compared]:
    """Every call that both sides counted, and of which the provider left nothing out."""
    return [
        Compared(
            turn=turn.number,
            call=number,
            estimate_tokens=ours,
            provider_tokens=call.input_tokens,
        )
        for turn in turns
        for number, call in enumerate(turn.calls, start=1)
        if (ours := estimate_tokens(call)) is not None and call.input_tokens is not None
        if call.cleared_tokens is None
    ]


def error_band(rows: Sequence[Compared]) -> CountFactor:
    """What the provider counted for one of our tokens, and how far nine of ten calls differ."""
    return learn_factor([(row.estimate_tokens, row.provider_tokens) for row in reversed(rows)])


def not_sent(runs: Iterable[Run]) -> dict[str, int]:
    """Tokens of the history that a call was not sent, by verdict."""
    gone: dict[str, int] = {}
    for run in runs:
        less = run.before_tokens - run.after_tokens
        if less > 0:
            gone[run.verdict] = gone.get(run.verdict, 0) + less
    return gone


def _calls_by_turn(
    calls: Sequence[CallInfo], firsts: Sequence[int], states: Mapping[int, TurnInfo]
) -> dict[int, list[CallInfo]]:
    """The calls of each turn: by the turn that made them, else by the message that answered."""
    begun = [(number, states[first]) for number, first in enumerate(firsts, 1) if first in states]
    numbers = {turn.id: number for number, turn in begun}
    starts = [(turn.started_at, number) for number, turn in begun]
    found: dict[int, list[CallInfo]] = defaultdict(list)
    last = 1
    for call in calls:
        if is_summary(call) and call.turn_id is None:
            found[_turn_then(call.created_at, starts) or last].append(call)
            continue
        last = numbers.get(call.turn_id or "") or _turn_at(call.seq, firsts) or last
        found[last].append(call)
    return found


def _turn_then(at: datetime, starts: Sequence[tuple[datetime, int]]) -> int | None:
    """The newest turn that had started at a time, if any."""
    return max((number for begun, number in starts if begun <= at), default=None)


def _turn_at(seq: int | None, firsts: Sequence[int]) -> int | None:
    if seq is None:
        return None
    return max(bisect_right(firsts, seq), 1)


def _compactions_by_turn(
    compactions: Iterable[CompactionInfo], by_turn: Mapping[int, Sequence[CallInfo]]
) -> dict[int, list[CompactionInfo]]:
    """Compactions by the newest turn that had called a model before them."""
    begins = [(calls[0].created_at, number) for number, calls in by_turn.items() if calls]
    found: dict[int, list[CompactionInfo]] = {}
    for info in compactions:
        before = [number for at, number in begins if at <= info.created_at]
        if before:
            found.setdefault(max(before), []).append(info)
    return found


def _call_parts(turn: TurnUsage, source: Source, *, summaries: bool = True) -> list[dict[str, int]]:
    """The parts of each call; a request for a summary is one part, or left out."""
    found: list[dict[str, int]] = []
    for call in turn.calls:
        if not is_summary(call):
            parts = call_parts(call, source)
        else:
            parts = {SUMMARIES: call.input_tokens} if summaries and call.input_tokens else {}
        if parts:
            found.append(parts)
    return found


def call_parts(call: CallInfo, source: Source) -> dict[str, int]:
    """The parts of a call's input, by our segments or as the provider counted them."""
    return _estimate_parts(call) if source == "estimate" else _provider_parts(call)


def _estimate_parts(call: CallInfo) -> dict[str, int]:
    return {name: call.estimate.get(name, 0) for name in INPUT_SEGMENTS} if call.estimate else {}


def _provider_parts(call: CallInfo) -> dict[str, int]:
    if call.input_tokens is None:
        return {}
    cached, written = call.cached_tokens or 0, call.cache_write_tokens or 0
    return {
        "fresh": max(call.input_tokens - cached - written, 0),
        "cache_write": written,
        "cached": cached,
    }


def _added(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for counts in parts:
        for name, tokens in counts.items():
            total[name] = total.get(name, 0) + tokens
    return total


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One share of the tokens."""

    kind: str
    name: str
    """The tool; empty for messages."""
    tokens: int


def shares(report: TokenReport) -> list[Share]:
    """The shares of the tokens, largest first; they add up to the total of the report."""
    messages = [
        Share(kind="system", name="", tokens=report.system_tokens),
        Share(kind="user", name="", tokens=report.user_tokens),
        Share(kind="assistant", name="", tokens=report.assistant_tokens),
        Share(kind="thinking", name="", tokens=report.thinking_tokens),
        Share(kind="summary", name="", tokens=report.summary_tokens),
        Share(kind="orphan", name="", tokens=report.orphan_tokens),
    ]
    calls = [Share(kind="call", name=tool.name, tokens=tool.call_tokens) for tool in report.tools]
    results = [
        Share(kind="result", name=tool.name, tokens=tool.result_tokens) for tool in report.tools
    ]
    found = [share for share in (*messages, *calls, *results) if share.tokens]
    return sorted(found, key=lambda share: (-share.tokens, share.kind, share.name))


def largest(parts: Sequence[Share], limit: int) -> list[Share]:
    """The largest shares; the other tools become one share of each kind."""
    if len(parts) <= limit:
        return list(parts)
    kept, rest = list(parts[:limit]), parts[limit:]
    for kind in dict.fromkeys(share.kind for share in rest):
        group = [share for share in rest if share.kind == kind]
        tokens = sum(share.tokens for share in group)
        kept.append(
            group[0] if len(group) == 1 else Share(kind=kind, name=OTHER_TOOLS, tokens=tokens)
        )
    return kept
