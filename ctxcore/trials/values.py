"""The values of a trial: figures of each session under each candidate, and their sums.

They are plain data both ways, so that a stored trial reads back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import fsum
from typing import Any, TypeAlias

from ctxcore.assembly.items import Merged, to_dictionary, total
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.messages.values import Message
from ctxcore.plain import Plain
from ctxcore.reasons.values import Reason
from ctxcore.reasons.values import from_json as reason_from_json
from ctxcore.reasons.values import to_json as reason_to_json
from ctxcore.replay.values import Replay
from ctxcore.tokens.factors import NO_FACTOR, CountFactor
from ctxcore.tokens.prices import Price
from ctxcore.trials.candidates import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSession:
    """A recorded conversation to try policies on."""

    id: str
    title: str
    messages: Sequence[Message]
    model: str | None
    tools: Sequence[JsonObject] = ()
    window_tokens: int | None = None
    """The window for all candidates; None: an input budget is given instead."""
    max_tokens: int | None = None
    """The input budget for all candidates."""
    is_window_assumed: bool = False
    """Whether nobody named the window, and that of the model is not known."""
    price: Price | None = None
    """What its model costs; None: the list price, where there is one."""
    today: JsonObject = field(default_factory=dict)
    """The policy that it has now, by field."""
    seqs: Sequence[int] | None = None
    """The stored number of each message; None: they are numbered from 1."""
    pinned: Sequence[int] = ()
    """Which messages (from 1, by their place here) every context has."""
    excluded: Sequence[int] = ()
    """Which messages no context has."""
    factor: CountFactor = NO_FACTOR
    """What calls taught of the model's counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures(Plain):
    """What came of sessions under one candidate, summed over their calls."""

    calls: int = 0
    over: int = 0
    """Calls that could not be made: what must be sent did not fit."""
    rejected: int = 0
    """Calls that at least one provider would refuse."""
    sent_tokens: int = 0
    reused_tokens: int = 0
    """The part that a prompt cache could have reused."""
    resent_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars where the prompt cache reuses what it can; None where a price is not known."""
    cost_without_cache: float | None = None
    compactions: int = 0
    summaries: int = 0
    cuts: int = 0
    """Compactions that left messages out without a summary."""
    breaks: int = 0
    """How often the prefix of the call before was lost."""
    literals: int = 0
    """Exact strings of earlier messages that calls used."""
    literals_there: int = 0
    """How many of them the context had."""
    facts: int = 0
    """Facts that held, at each call that was looked at."""
    facts_there: int = 0
    rules: int = 0
    """The standing instructions among them."""
    rules_there: int = 0
    peak_tokens: int = 0
    """The size of the largest call."""
    end_tokens: int = 0
    """The size of the next call."""
    kept: int = 0
    shortened: int = 0
    folded: int = 0
    dropped: int = 0

    @classmethod
    def of(cls, replay: Replay) -> Figures:
        """The figures of one session under one candidate."""
        fates, verdicts = replay.facts, dict(replay.verdicts)
        facts, rules = fates.count(), fates.count(kind="instruction")
        return cls(
            calls=len(replay.calls),
            over=replay.overflows,
            rejected=replay.illegal_calls,
            sent_tokens=replay.sent_tokens,
            reused_tokens=replay.reused_tokens,
            resent_tokens=replay.resent_tokens,
            output_tokens=replay.output_tokens,
            cost=replay.cost,
            cost_without_cache=replay.cost_without_cache,
            compactions=len(replay.compactions),
            summaries=replay.summaries,
            cuts=replay.truncations,
            breaks=sum(replay.breaks.values()),
            literals=replay.literals_used,
            literals_there=replay.literals_present,
            facts=facts,
            facts_there=facts - fates.count(fate="dropped"),
            rules=rules,
            rules_there=rules - fates.count(kind="instruction", fate="dropped"),
            peak_tokens=replay.peak_tokens,
            end_tokens=replay.end_tokens,
            kept=verdicts.get("kept", 0) + verdicts.get("recalled", 0),
            shortened=verdicts.get("compressed", 0),
            folded=verdicts.get("summarized", 0),
            dropped=verdicts.get("dropped", 0),
        )

    @classmethod
    def total(cls, parts: Iterable[Figures]) -> Figures:
        """The sums; a cost is known where all are, the peak is the largest."""
        every = list(parts)
        sums: dict[str, Any] = {
            known.name: sum(getattr(part, known.name) for part in every)
            for known in fields(cls)
            if known.name not in _NOT_SUMMED
        }
        return cls(
            **sums,
            cost=_sum_known([part.cost for part in every]),
            cost_without_cache=_sum_known([part.cost_without_cache for part in every]),
            peak_tokens=max((part.peak_tokens for part in every), default=0),
        )

    @property
    def refused(self) -> int:
        """Calls that could not be made, or that a provider would refuse."""
        return self.over + self.rejected

    @property
    def reuse_share(self) -> float | None:
        """The share of what was sent that a prompt cache could have reused."""
        return _share(self.reused_tokens, self.sent_tokens)

    @property
    def literals_share(self) -> float | None:
        """The share of the literals that were there when they were used."""
        return _share(self.literals_there, self.literals)

    @property
    def facts_share(self) -> float | None:
        """The share of the facts that held that calls had."""
        return _share(self.facts_there, self.facts)

    @property
    def rules_share(self) -> float | None:
        """The share of the standing instructions that calls had."""
        return _share(self.rules_there, self.rules)

    def document(self) -> JsonObject:
        """The numbers and shares as JSON, rounded for reading."""
        return {
            **self.to_dict(),
            "cost": _rounded(self.cost, 6),
            "cost_without_cache": _rounded(self.cost_without_cache, 6),
            "refused": self.refused,
            "reuse_share": _rounded(self.reuse_share),
            "literals_share": _rounded(self.literals_share),
            "facts_share": _rounded(self.facts_share),
            "rules_share": _rounded(self.rules_share),
        }


_NOT_SUMMED = ("cost", "cost_without_cache", "peak_tokens")


def _sum_known(costs: Sequence[float | None]) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return fsum(known) if known and len(known) == len(costs) else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rounded(value: float | None, places: int = 4) -> float | None:
    return None if value is None else round(value, places)


CallTrack: TypeAlias = tuple[int, int, int, int, int]
"""A call: the index of its answer, tokens, tokens reused, compactions before it, literals missed.

The tokens are 0 where it could not be made.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One session under one candidate."""

    candidate: str
    figures: Figures
    calls: tuple[CallTrack, ...] = ()

    @classmethod
    def of(cls, candidate: Candidate, replay: Replay) -> Tried:
        """What is stored of a replay."""
        return cls(
            candidate=candidate.name,
            figures=Figures.of(replay),
            calls=tuple(
                (
                    call.at,
                    call.tokens,
                    call.reused_tokens,
                    call.compactions,
                    len(call.literals_missed),
                )
                for call in replay.calls
            ),
        )

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {
            "candidate": self.candidate,
            "figures": self.figures.to_dict(),
            "calls": [list(call) for call in self.calls],
        }

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Tried:
        """What `to_dict` gave."""
        calls = tuple(tuple(call) for call in plain["calls"])
        figures = Figures(**plain["figures"])
        return cls(candidate=plain["candidate"], figures=figures, calls=calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSession:
    """One session under every candidate, in their order."""

    id: str
    title: str
    model: str | None
    messages: int
    window_tokens: int | None
    max_tokens: int | None
    is_window_assumed: bool
    is_exact: bool
    """Whether tokens are counted exactly."""
    tried: tuple[Tried, ...]

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        about: JsonObject = {
            known.name: getattr(self, known.name) for known in fields(self) if known.name != "tried"
        }
        return {**about, "tried": [one.to_dict() for one in self.tried]}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> TriedSession:
        """What `to_dict` gave."""
        return cls(**{**plain, "tried": tuple(map(Tried.from_dict, plain["tried"]))})


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedSession:
    """A session that no candidate could be tried on."""

    id: str
    title: str
    reason: Reason

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {"id": self.id, "title": self.title, "reason": reason_to_json(self.reason)}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> FailedSession:
        """What `to_dict` gave."""
        return cls(id=plain["id"], title=plain["title"], reason=reason_from_json(plain["reason"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Sessions under candidates: what each would have sent, cost and kept."""

    candidates: tuple[Candidate, ...]
    sessions: tuple[TriedSession, ...]
    failed: tuple[FailedSession, ...] = ()

    @property
    def totals(self) -> tuple[Figures, ...]:
        """The figures of each candidate over all sessions."""
        return tuple(
            Figures.total(session.tried[at].figures for session in self.sessions)
            for at in range(len(self.candidates))
        )

    @property
    def is_exact(self) -> bool:
        """Whether the tokens of all sessions are counted exactly."""
        return all(session.is_exact for session in self.sessions)

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        return {
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "sessions": [session.to_dict() for session in self.sessions],
            "failed": [one.to_dict() for one in self.failed],
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> Trial:
        """What `to_dict` gave."""
        raw: dict[str, Any] = plain
        return cls(
            candidates=tuple(map(Candidate.from_dict, raw["candidates"])),
            sessions=tuple(map(TriedSession.from_dict, raw["sessions"])),
            failed=tuple(map(FailedSession.from_dict, raw["failed"])),
        )


def text_of(message: Mapping[str, object]) -> str:
    """The words of a message as it is sent, or all of it as JSON where it has more than words."""
    content = message.get("content")
    if isinstance(content, str) and not message.get("tool_calls"):
        return content
    return json.dumps(message, ensure_ascii=False, indent=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """One message of a call, with the messages of the history that it is made of."""

    role: str
    text: str
    """Its words; where it has more than words, all of it as JSON."""
    tokens: int
    places: tuple[int, ...]
    """Indexes of messages; none for a text of this library."""
    verdicts: tuple[str, ...]

    @classmethod
    def of(cls, group: Merged) -> SentMessage:
        """A message as it would have been sent."""
        message = to_dictionary(group)
        items = [item for item in group.items if item.row is not None]
        return cls(
            role=str(message["role"]),
            text=text_of(message),
            tokens=total(group.items),
            places=tuple(item.seq - 1 for item in items),
            verdicts=tuple(dict.fromkeys(item.verdict for item in items)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCall:
    """What one call would have been sent; no messages where it could not be made."""

    at: int
    """The index of the recorded answer."""
    tokens: int
    messages: tuple[SentMessage, ...]

    def to_dict(self) -> JsonObject:
        """The same as JSON."""
        messages: list[JsonValue] = [
            {
                "role": one.role,
                "text": one.text,
                "tokens": one.tokens,
                "places": list(one.places),
                "verdicts": list(one.verdicts),
            }
            for one in self.messages
        ]
        return {"at": self.at, "tokens": self.tokens, "messages": messages}

    @classmethod
    def from_dict(cls, plain: JsonObject) -> SentCall:
        """What `to_dict` gave."""
        raw: dict[str, Any] = plain
        messages = tuple(
            SentMessage(
                role=one["role"],
                text=one["text"],
                tokens=one["tokens"],
                places=tuple(one["places"]),
                verdicts=tuple(one["verdicts"]),
            )
            for one in raw["messages"]
        )
        return cls(at=raw["at"], tokens=raw["tokens"], messages=messages)
