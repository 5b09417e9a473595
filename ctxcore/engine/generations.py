"""What each generation of a chain of compactions lost, and how long each sentence lived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, cast

from ctxcore.compaction.generations import Generation, SentenceLife, sentence_lives
from ctxcore.compaction.loss_report import LossRank
from ctxcore.engine.compactions import loss_report
from ctxcore.engine.jobs import Progress, Work
from ctxcore.engine.services import EngineServices
from ctxcore.json_types import JsonObject, JsonValue
from ctxcore.plain import Plain
from ctxcore.replay.losses import LossVerdict, NeededFact
from ctxcore.store.values import CompactionInfo

JOB_KIND = "generation_losses"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationLosses(Plain):
    """What one compaction of a chain lost."""

    number: int
    lost: tuple[NeededFact, ...] | None
    """By what matters; None: not looked for."""
    verdict: LossVerdict | None

    def count(self, rank: LossRank) -> int:
        """How many of the lost facts have this rank."""
        return Counter(fact.rank for fact in self.lost or ())[rank]

    def to_dict(self) -> JsonObject:
        """The losses as JSON."""
        judged: JsonObject | None = None
        if self.verdict is not None:
            judged = {**self.verdict.to_dict(), "has_later": self.verdict.has_later}
        return {
            "number": self.number,
            "lost": None if self.lost is None else [fact.to_dict() for fact in self.lost],
            "verdict": judged,
        }

    @classmethod
    def from_dict(cls, plain: JsonObject) -> GenerationLosses:
        """What `to_dict` gave."""
        raw = cast("dict[str, Any]", plain)  # written by `to_dict` only
        lost, verdict = raw["lost"], raw["verdict"]
        return cls(
            number=raw["number"],
            lost=None if lost is None else tuple(map(NeededFact.from_dict, lost)),
            verdict=verdict
            and LossVerdict(**{name: verdict[name] for name in ("needed", "gone", "has_later")}),
        )


def chain_of(services: EngineServices, session_id: str) -> list[CompactionInfo]:
    """The compactions in force, oldest first."""
    known = {info.id: info for info in services.store.compactions(session_id)}
    info = known.get(services.session(session_id).active_compaction_id or "")
    chain = list[CompactionInfo]()
    while info is not None:
        chain.append(info)
        info = known.get(info.parent_id or "")
    return chain[::-1]


def losses_by_generation(
    services: EngineServices, session_id: str
) -> Generator[Progress, None, list[GenerationLosses]]:
    """What each compaction in force lost, oldest first; gives its progress after each."""
    chain, found = chain_of(services, session_id), list[GenerationLosses]()
    for done, info in enumerate(chain, start=1):
        report = loss_report(services, session_id, info.id)
        made = GenerationLosses(number=info.number, lost=report.lost, verdict=report.verdict)
        found.append(made)
        yield done, len(chain)
    return found


def losses_work(services: EngineServices, session_id: str) -> Work:
    """The same as the work of a job; its result has the generations as JSON."""

    def work() -> Generator[Progress, None, JsonObject]:
        found = yield from losses_by_generation(services, session_id)
        generations: list[JsonValue] = [one.to_dict() for one in found]
        return {"generations": generations}

    return work


def lives_of(chain: Iterable[CompactionInfo]) -> tuple[SentenceLife, ...]:
    """How long each sentence of the summaries of a chain lived."""
    return sentence_lives(
        [
            Generation(
                number=info.number,
                sentences=info.compaction.sentences,
                doubts=info.doubts,
            )
            for info in chain
        ]
    )
