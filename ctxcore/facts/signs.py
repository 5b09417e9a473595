"""Scores clauses for signs that they change a rule: cues over the classes of their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ctxcore.facts.cues import Classes, Cues
from ctxcore.facts.values import ClauseChange

_BEFORE_HAN: Final = "\u3000"
"""Every Chinese character comes after it."""
_HALF: Final = 0.05  # weights are rounded to one decimal place


class Signs:
    """How a language tells that something said earlier changes."""

    def __init__(
        self,
        read: Callable[[str], tuple[Sequence[str], str]],
        classes: Classes,
        *,
        signs: str,
        context: str,
        content: str,
    ) -> None:
        """Weighs clauses by `signs`, and by `context` in their whole sentence.

        `read` gives the words of a sentence and the letters of their classes. A cue weighs for
        every rule, and its second weight is added for one that forbids or limits. Words of the
        classes in `content` tell what a clause is about.
        """
        self._read = read
        self._signs, self._context = _cues(signs, classes), _cues(context, classes)
        self._content = frozenset(classes.pattern_of(content))
        self._stop = classes.letter("stop")

    def changes(self, sentence: str, *, least: float = -math.inf) -> Iterator[ClauseChange]:
        """The clauses of a sentence, in lower case and masked, that weigh at least `least`."""
        words, letters = self._read(sentence)
        present = frozenset(letters)
        signs, context = self._signs.possible(present), self._context.possible(present)
        most = max(signs.most)
        if most + max(context.most) < least - _HALF:
            return
        around = context.weigh(letters)
        if max(around) + most < least - _HALF:
            return
        for start, end in self._clauses(letters):
            own = signs.weigh(letters[start:end])
            sign, freeing = (round(one + other, 1) for one, other in zip(around, own, strict=True))
            if max(sign, freeing) >= least:
                said = self._said(words[start:end], letters[start:end])
                yield ClauseChange(said, sign, freeing)

    def _clauses(self, letters: str) -> Iterator[tuple[int, int]]:
        """The places of the clauses, which stand between stops."""
        start = 0
        for clause in letters.split(self._stop):
            if clause:
                yield start, start + len(clause)
            start += len(clause) + 1

    def _said(self, words: Sequence[str], letters: str) -> str:
        """The words that tell what a clause is about; Chinese ones stay together."""
        told = (
            word if letter in self._content else " "
            for word, letter in zip(words, letters, strict=True)
        )
        return " ".join(
            "".join(word if word > _BEFORE_HAN else f" {word} " for word in told).split()
        )


def _cues(written: str, classes: Classes) -> Cues:
    """Cues with what they weigh for any rule, and together for one that forbids."""
    cues = classes.cues(written)
    return Cues([cue._replace(weights=(cue.weights[0], sum(cue.weights))) for cue in cues])
