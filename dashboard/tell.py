"""Tells reasons and errors: the text of a code in the page's language, filled with its facts.

A text of the page stands under `reason.` and the code; where there is none the library's own
English is told. A word that a fact can be, e.g. a role, may have one under `fact.`, the name of the
fact and the word.
"""

from __future__ import annotations

from collections.abc import Iterable

from ctxcore.errors import ContextError
from ctxcore.reasons.places import PlaceCode
from ctxcore.reasons.values import Fact, Reason, fill, shown
from dashboard.texts import about, language, text_of
from dashboard.wording import words_for


class _Words(str):
    """What was told already; a text that quotes its facts does not quote it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def tell(reason: Reason) -> str:
    """What a reason says, in the page's language."""
    facts = {name: _told(name, fact) for name, fact in reason.facts.items()}
    text = text_of(f"reason.{reason.code}", language())
    return str(Reason(reason.code, facts)) if text is None else fill(text, facts)


def tell_recorded(reason: Reason | None) -> str:
    """The same of a reason that may not have been recorded; nothing then."""
    return "" if reason is None else tell(reason)


def tell_sentence(reason: Reason) -> str:
    """The same as a sentence of its own; the name of a file at its beginning stays as it is."""
    told = tell(reason)
    return told if reason.code == PlaceCode.AT else told[:1].upper() + told[1:]


def tell_error(error: ContextError) -> str:
    """Where it is, what went wrong and what to do."""
    return tell_sentence(error.reason)


def _told(name: str, fact: Fact) -> Fact:
    """A fact in words, or as it is where its text says how it is written."""
    if isinstance(fact, Reason):
        return _Words(tell(fact))
    if isinstance(fact, str):
        return words_for(f"fact.{name}", fact)
    if isinstance(fact, tuple):
        return _joined(_written(name, one) for one in fact)
    return fact


def _written(name: str, fact: Fact) -> str:
    return shown(_told(name, fact))


def _joined(words: Iterable[str]) -> Fact:
    return _Words(about(language()).between_words.join(words))
