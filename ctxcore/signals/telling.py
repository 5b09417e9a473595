"""What a sentence tells, as terms with their rarity, and how much of it a message holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ctxcore.facts.reading import MASK
from ctxcore.messages.values import text_message
from ctxcore.recalling.index_words import message_words
from ctxcore.recalling.ranking import rarity_of
from ctxcore.recalling.requests import Term, terms_in
from ctxcore.text.patterns import late
from ctxcore.text.words import PRIOR_UNITS

# Characters that say little, at which runs of Han are split: pairs across them are no words.
_WEAK_HAN: Final = late(
    "[的了是在我你您它这那有和与及也都就还很吗呢吧啊呀嗯把给对们个不没用只请问]|什么|怎么|多少"
)


@dataclass(frozen=True, slots=True)
class Telling:
    """The terms of a text, and how rare each is in the conversation."""

    terms: tuple[Term, ...]
    rarities: tuple[float, ...]

    @property
    def rarity(self) -> float:
        """That of all terms together."""
        return sum(self.rarities)

    def names(self, least: int) -> bool:
        """Whether it has `least` terms that are no common words."""
        return sum(term.proof == 1.0 for term in self.terms) >= least

    def shared(self, words: str) -> float:
        """The rarity of the terms that are among the `index_words` of a text."""
        return sum(
            rarity
            for term, rarity in zip(self.terms, self.rarities, strict=True)
            if _has(words, term)
        )

    def share(self, words: str) -> float:
        """The share of it that a text holds, in [0, 1]."""
        return self.shared(words) / self.rarity if self.rarities else 0.0

    def lacks_literal(self, words: str) -> bool:
        """Whether a text with these `index_words` lacks a number of it."""
        return any(_is_number(term) and not _has(words, term) for term in self.terms)


def index_words(text: str) -> str:
    """The words of a text as the index has them, with blanks around each."""
    return f" {_index_words(text)} "


@lru_cache(maxsize=1_024)
def _index_words(text: str) -> str:
    return message_words(text_message("user", text)) if text else ""


def telling_terms(text: str) -> tuple[Term, ...]:
    """The terms of a text, those that say nothing left out."""
    plain = _WEAK_HAN.sub(" ", text.replace(MASK, " "))
    return tuple(
        term for term in terms_in(plain) if len(term.forms[0]) > 1 or term.forms[0].isdigit()
    )


def told(terms: Sequence[Term], counts: Mapping[str, int], messages: int) -> Telling:
    """`terms` with their rarity, where `counts` says in how many of `messages` each is."""
    units = max(messages, PRIOR_UNITS)  # a term is rare in a short conversation too
    rarities = (rarity_of(term, counts.get(term.forms[0], 0), units) * term.proof for term in terms)
    return Telling(tuple(terms), tuple(rarities))


def _has(words: str, term: Term) -> bool:
    return any(f" {form.lower()} " in words for form in term.forms)


def _is_number(term: Term) -> bool:
    return term.forms[0].isdigit()
