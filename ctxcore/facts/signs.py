"""Scores clauses for signs that they change a rule: cues over the classes of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ctxcore.facts.cues import Classes, Cue
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
        signs: str,
        context: str,
        content: str,
    ) -> None:
        """Weighs clauses by `signs`, and by `context` in their whole sentence.

        A cue weighs for every rule, and its second weight is added for one that forbids or limits.
        Words of the classes in `content` tell what a clause is about.
        """
        self._tokens = tokens
        self._signs, self._context = classes.cues(signs), classes.cues(context)
        self._content = frozenset(classes.pattern_of(content))
        self._stop = classes.letter("stop")

    def changes(self, words: str) -> Iterator[ClauseChange]:
        """The clauses of a sentence, in lower case and masked, with their weights."""
        tokens = self._tokens(words)
        sign, freeing = _weights(self._context, tokens)
        for clause in self._clauses(tokens):
            own, own_freeing = _weights(self._signs, clause)
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


def _weights(cues: list[Cue], tokens: list[Token]) -> tuple[float, float]:
    """What the cues found in `tokens` weigh together, for any rule and for one that forbids."""
    letters = "".join(letter for _, letter in tokens)
    present, sign, freeing = frozenset(letters), 0.0, 0.0
    for weight, more, pattern, needs in cues:
        if not needs.isdisjoint(present) and pattern.search(letters):
            sign, freeing = sign + weight, freeing + weight + more
    return sign, freeing
