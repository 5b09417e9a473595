"""Scores what is said where many speak: by the words that nothing kept has yet.

Between two, what one tells the other is asked for later. A meeting is asked for its topics: a
choice that says most of its words says something of each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from ctxcore.facts.speakers import is_person, label_of, names_model
from ctxcore.messages.lazy import texts_of
from ctxcore.messages.values import Message
from ctxcore.salience.units import Unit
from ctxcore.text.words import STOP_WORDS, terms_of, words_of

MOST_OF_TALK: Final = 2  # speakers besides the model; chosen
SAMPLED: Final = 128  # messages whose beginnings are read; chosen: texts are read from the store
LEAST_SAID: Final = 2  # of these by one speaker without a field; chosen: few titles come twice
NAMED_SHARE: Final = 0.8  # of the messages; chosen: somebody may say a word or two a meeting
LEAST_CHARS: Final = 3  # of a Latin word; chosen: shorter ones are grammar
AVERAGE: Final = 0.3  # of an utterance; chosen: as much as one between two
TOLD_SHARE: Final = 0.005
"""Of what it is worth as an utterance: where no new words are left, the better one is kept. With
more, words of QMSum's answers go: at 2,000 tokens .005 of them with .02."""

TURN_TOKENS: Final = 60
"""A turn up to this stays whole. Chosen: with less, whole turns that answers rest on go."""
SENTENCE_CHARS: Final = 60
"""Of longer turns sentences stay by themselves, up to so many characters at a time. So QMSum keeps
.75, .89 and .97 of the answers' words at 2,000, 4,000 and 8,000 tokens; .01 less with 80."""


def many_speak(messages: Iterable[Message]) -> bool:
    """Whether more than two people take part, by the names of users.

    Without names, by what stands before a colon, where nearly all messages begin with what others
    begin with as well, and some of it reads like names.
    """
    said = [message for message in messages if message.role == "user"]
    names = {message.name for message in said if message.name}
    if len(names) > MOST_OF_TALK:
        return True
    sample = said[:: -(-len(said) // SAMPLED) or 1]
    labels = Counter(filter(None, map(label_of, texts_of(sample))))
    again = {label: count for label, count in labels.items() if count >= LEAST_SAID}
    is_of_people = sum(map(is_person, again)) >= MOST_OF_TALK < len(again)
    is_of_people = is_of_people and not any(map(names_model, again))
    return is_of_people and sum(again.values()) >= NAMED_SHARE * len(sample)


def word_saliences(units: Sequence[Unit]) -> list[dict[str, float]]:
    """The words of each unit, each with its salience; none for calls and outputs.

    A word weighs by its rarity, and by the logarithm of how often it is said: what is said a
    hundred times needs one place in what is kept, as all others do.
    """
    said = [_words_in(unit.text) if unit.kind == "talk" else () for unit in units]
    counts = Counter(chain.from_iterable(said))
    total = max(1, sum(map(bool, said)))
    weights = {
        word: (1 + math.log(count)) * math.log(total / count) for word, count in counts.items()
    }
    whole = sum(weights[word] * count for word, count in counts.items())
    scale = AVERAGE * total / whole if whole else 0.0
    return [{word: scale * weights[word] for word in words} for words in said]


def _words_in(text: str) -> Sequence[str]:
    words = words_of(text)
    latin = [word for word in words if word.isascii() and _says(word)]
    return tuple(dict.fromkeys((*latin, *terms_of(word for word in words if not word.isascii()))))


def _says(word: str) -> bool:
    return len(word) >= LEAST_CHARS and word not in STOP_WORDS
