"""Tells reasons to people: the text of their code in the page's language, filled with their facts.

A text of the page stands under `reason.` and the code; where there is none the library's own
English is told. A word that a fact can be, e.g. a role, may have one under `fact.`, the name of the
fact and the word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ctxcore.reasons.values import Fact, Reason, fill, shown
from dashboard.texts import about, language, text_of
from dashboard.wording import words_for


def tell(reason: Reason) -> str:
    """What a reason says, in the page's language."""
    facts = {name: _told(name, fact) for name, fact in reason.facts.items()}
    text = text_of(f"reason.{reason.code}", language())
    return str(Reason(reason.code, facts)) if text is None else fill(text, facts)


def _told(name: str, fact: Fact) -> Fact:
    """A fact in words, or as it is where its text says how it is written."""
    if isinstance(fact, Reason):
        return tell(fact)
    if isinstance(fact, str):
        return words_for(f"fact.{name}", fact)
    if isinstance(fact, Mapping):
        return _joined(f"{_told(name, key)} {_written(name, one)}" for key, one in fact.items())
    if isinstance(fact, tuple):
        return _joined(_written(name, one) for one in fact)
    return fact


def _written(name: str, fact: Fact) -> str:
    return shown(_told(name, fact))


def _joined(words: Iterable[str]) -> str:
    return about(language()).between_words.join(words)
