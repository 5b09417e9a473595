"""Scores clauses for signs that they change a rule: cues over the classes of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from ctxcore.facts.cues import Classes, Cue, lines
from ctxcore.facts.values import ClauseChange

Token = tuple[str, str]
"""A word and the letter of its class."""
_BEFORE_HAN: Final = "\u3000"
"""Every Chinese character comes after it."""


class Signs:
    """How a language tells that something said earlier changes."""

    def __init__(
        self,
        tokens: Callable[[str], list[Token]],
        classes: Classes,
        *,
        signs: tuple[str, str],
        context: tuple[str, str],
        content: str,
        start: float,
    ) -> None:
        """Weighs clauses from `start` on by `signs`, and by `context` in their whole sentence.

        Both are cues, and classes that weigh alone or side by side. A cue weighs for every rule,
        and its second weight is added for one that forbids or limits. Words of the classes in
        `content` tell what a clause is about.
        """
        self._tokens, self._start = tokens, start
        self._signs, self._context = (
            (classes.cues(cues), Sides(sides, classes)) for cues, sides in (signs, context)
        )
        self._content = frozenset(classes.pattern_of(content))
        self._stop = classes.letter("stop")

    def changes(self, words: str) -> Iterator[ClauseChange]:
        """The clauses of a sentence, in lower case and masked, with their weights."""
        tokens = self._tokens(words)
        sign, freeing = _weights(*self._context, tokens)
        for clause in self._clauses(tokens):
            own, own_freeing = (self._start + weight for weight in _weights(*self._signs, clause))
            yield ClauseChange(
                self._said(clause), round(sign + own, 1), round(freeing + own_freeing, 1)
            )

    def _clauses(self, tokens: list[Token]) -> Iterator[list[Token]]:
        clause: list[Token] = []
        for token in tokens:
            if token[1] != self._stop:
                clause.append(token)
            elif clause:
                yield clause
                clause = []
        if clause:
            yield clause

    def _said(self, clause: list[Token]) -> str:
        """The words of `clause` that tell what it is about; Chinese ones stay together."""
        words = (word if letter in self._content else " " for word, letter in clause)
        return " ".join(
            "".join(word if word > _BEFORE_HAN else f" {word} " for word in words).split()
        )


class Sides:
    """What classes of words weigh, alone and side by side."""

    def __init__(self, written: str, classes: Classes) -> None:
        """Reads lines of `weight: class, class class, …`; `^` and `$` are ends."""
        self._weights = {
            "".join(name if name in "^$" else classes.letter(name) for name in said.split()): weight
            for weight, listed in ((float(first), rest) for first, rest in lines(written))
            for said in listed.split(",")
        }

    def weight(self, letters: str) -> float:
        """What the classes of `letters` weigh together, each and each pair once."""
        found = {*letters, *map("".join, pairwise(f"^{letters}$"))} & self._weights.keys()
        return sum(map(self._weights.__getitem__, found))


def _weights(cues: list[Cue], sides: Sides, tokens: list[Token]) -> tuple[float, float]:
    """What is found in `tokens` weighs together, for any rule and for one that forbids."""
    letters = "".join(letter for _, letter in tokens)
    present = frozenset(letters)
    sign = freeing = sides.weight(letters)
    for weight, more, pattern, needs in cues:
        if not needs.isdisjoint(present) and pattern.search(letters):
            sign, freeing = sign + weight, freeing + weight + more
    return sign, freeing
