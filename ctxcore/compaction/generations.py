"""Follows the sentences of summaries through the compactions that continue each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxcore.assembly.records import SummarySentence
from ctxcore.facts.topics import likeness, topic_of
from ctxcore.plain import Plain

SAME_LIKENESS: Final = 0.6  # of the words; chosen: a sentence that was reworded, not another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """The summary of one compaction, by sentences; `doubts` are those its source does not say."""

    number: int
    sentences: Sequence[SummarySentence]
    doubts: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLife(Plain):
    """A sentence from the first summary that said it to the last one."""

    text: str
    """As the last summary says it."""
    first: int
    """The number of the first compaction whose summary says it."""
    last: int
    """That of the last one."""
    is_kept: bool
    """Whether the newest summary says it."""
    seqs: tuple[int, ...]
    """The messages that any of its forms comes from, by sequence number."""
    is_doubted: bool
    """Whether its last form comes from no message, or its source does not say it."""


def sentence_lives(chain: Sequence[Generation]) -> tuple[SentenceLife, ...]:
    """The lives of all sentences of a chain, oldest compaction first, in the order they appeared.

    A sentence goes on in the next summary as the same words, else as the most alike of those left
    that shares most of its words.
    """
    ended: list[SentenceLife] = []
    living: list[SentenceLife] = []
    for generation in chain:
        continued = _continued(living, generation.sentences)
        ended += [life for at, life in enumerate(living) if at not in continued.values()]
        living = [
            _lived(living[continued[place]] if place in continued else None, sentence, generation)
            for place, sentence in enumerate(generation.sentences)
        ]
    last = [replace(life, is_kept=True) for life in living]
    return tuple(sorted((*ended, *last), key=lambda life: (life.first, life.seqs[:1])))


def _lived(
    before: SentenceLife | None, sentence: SummarySentence, generation: Generation
) -> SentenceLife:
    known = before.seqs if before else ()
    return SentenceLife(
        text=sentence.text,
        first=before.first if before else generation.number,
        last=generation.number,
        is_kept=False,
        seqs=tuple(sorted({*known, *sentence.seqs})),
        is_doubted=not sentence.seqs or sentence.text in generation.doubts,
    )


def _continued(
    living: Sequence[SentenceLife], sentences: Sequence[SummarySentence]
) -> dict[int, int]:
    """For places of `sentences` the place in `living` that each continues."""
    found: dict[int, int] = {}
    free = dict(enumerate(living))
    for place, sentence in enumerate(sentences):
        same = next(
            (at for at, life in free.items() if _plain(life.text) == _plain(sentence.text)), None
        )
        if same is not None:
            found[place] = same
            del free[same]
    for place, sentence in enumerate(sentences):
        if place in found or not free:
            continue
        topic = topic_of(sentence.text)
        best = max(free, key=lambda at: likeness(topic, topic_of(free[at].text)))
        if likeness(topic, topic_of(free[best].text)) >= SAME_LIKENESS:
            found[place] = best
            del free[best]
    return found


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
