"""Scores clauses for signs that they change a rule: cues over the classes of their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ctxcore.facts.cues import Classes, Cues, lines
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
        signs: tuple[str, str],
        context: tuple[str, str],
        content: str,
        start: float,
    ) -> None:
        """Weighs clauses from `start` on by `signs`, and by `context` in their whole sentence.

        `read` gives the words of a sentence and the letters of their classes. Signs and context
        are cues, and classes that weigh alone or side by side. A cue weighs for every rule, and
        its second weight is added for one that forbids or limits. Words of the classes in
        `content` tell what a clause is about.
        """
        self._read, self._start = read, start
        self._signs, self._context = _Weights(*signs, classes), _Weights(*context, classes)
        self._content = frozenset(classes.pattern_of(content))
        self._stop = classes.letter("stop")

    def changes(self, sentence: str, *, least: float = -math.inf) -> Iterator[ClauseChange]:
        """The clauses of a sentence, in lower case and masked, that weigh at least `least`."""
        words, letters = self._read(sentence)
        around = self._context.weigh(letters, (self._start, self._start))
        for start, end in self._clauses(letters):
            weighed = self._signs.weigh(letters[start:end], around, least=least - _HALF)
            sign, freeing = (round(weight, 1) for weight in weighed)
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


class _Weights:
    """What cues weigh, and classes of words, alone and side by side."""

    def __init__(self, cues: str, sides: str, classes: Classes) -> None:
        """Reads cues, and lines of `weight: class, class class, …`; `^` and `$` are ends."""
        self._cues = Cues(
            cue._replace(weights=(cue.weights[0], sum(cue.weights))) for cue in classes.cues(cues)
        )
        self._sides = [
            (classes.side_by_side(said), float(weight))
            for weight, listed in lines(sides)
            for said in listed.split(",")
        ]

    def weigh(
        self, letters: str, start: tuple[float, float], *, least: float = -math.inf
    ) -> tuple[float, float]:
        """`start` with what is found in `letters`, for any rule and for one that forbids.

        `TOO_LITTLE` where neither comes to `least`.
        """
        ends = f"^{letters}$"
        beside = sum([weight for side, weight in self._sides if side in ends])
        return self._cues.weigh(letters, (start[0] + beside, start[1] + beside), least=least)
