"""Scores sentences by structural cues: patterns over the classes of their words.

A language declares its classes and its cues as text. Every word of a sentence becomes the letter
of its class, so that a cue is a short pattern on a short string; one pass over the words is enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import chain, compress
from operator import add, or_
from typing import Final, NamedTuple

from ctxcore.text.known_words import KnownWords

MOST_WORDS: Final = 120  # of a sentence; chosen: what a rule is told by stands before

MOST_KNOWN: Final = 20_000  # sets of cues that are remembered; chosen: people use far fewer

_LETTERS: Final = "".join(sign for sign in map(chr, range(0x80, 0x100)) if not sign.isspace())
"""One for a class; none of them means anything in a pattern, and in a text each takes one byte."""

_NAME: Final = re.compile(r"[a-z_]+")
_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"  # four groups deep
_ATOM: Final = re.compile(rf"{_GROUP}|\[[^\]]*\]|[^?*+{{}}]")


TOO_LITTLE: Final = (-math.inf, -math.inf)


class Cue(NamedTuple):
    """A pattern on letters, and what it weighs: of a rule, in a prompt and in a user's turn."""

    weights: tuple[float, float]
    pattern: re.Pattern[str]
    needs: Sequence[frozenset[str]]
    """Every match has a letter of each."""


class _Row(NamedTuple):
    """A cue by what a sum that counts all gains, none of the losses changes by its search."""

    search: Callable[[str], object]
    found: tuple[float, float]
    missing: tuple[float, float]


class Cues:
    """Cues, looked up by the letters of a sentence."""

    def __init__(self, cues: Iterable[Cue]) -> None:
        """Knows for each letter which needs of which cues it meets, as the bits of a number."""
        ordered = sorted(cues, key=lambda cue: -max(map(abs, cue.weights)))
        self._rows, count = [_row(cue) for cue in ordered], len(ordered)
        self._bits = dict.fromkeys(_LETTERS, 0)
        for place, cue in enumerate(ordered):
            one, other = [*cue.needs, _LETTERS, _LETTERS][:2]
            for letter in _LETTERS:
                self._bits[letter] |= (letter in one) << place | (letter in other) << place + count
        self._possible = lru_cache(maxsize=MOST_KNOWN)(self._of_bits)

    def weigh(
        self, letters: str, start: tuple[float, float], *, least: float = -math.inf
    ) -> tuple[float, float]:
        """`start` with what the cues in `letters` weigh; `TOO_LITTLE` where less than `least`."""
        met = reduce(or_, map(self._bits.__getitem__, frozenset(letters)), 0)
        (one, other), rows = self._possible(met & met >> len(self._rows))
        one, other = start[0] + one, start[1] + other
        for search, found, missing in rows:
            if one < least and other < least:
                return TOO_LITTLE
            less = found if search(letters) else missing
            one, other = one + less[0], other + less[1]
        return one, other

    def _of_bits(self, bits: int) -> tuple[tuple[float, float], Sequence[_Row]]:
        """The cues that may be found, and the most that they weigh together."""
        rows = [*compress(self._rows, map("1".__eq__, reversed(f"{bits:b}")))]
        one, other = -sum([row.missing[0] for row in rows]), -sum([row.missing[1] for row in rows])
        return (one, other), rows


def _row(cue: Cue) -> _Row:
    one, other = cue.weights
    losses, gains = (min(0.0, one), min(0.0, other)), (-max(0.0, one), -max(0.0, other))
    return _Row(cue.pattern.search, found=losses, missing=gains)


class Classes:
    """The classes of the words of a language, each a letter, and names for several of them."""

    def __init__(self, words: str, groups: str) -> None:
        """Reads lines of `name: word word …` and of `name: class class …`."""
        self._names: dict[str, str] = {}
        self.of_word: dict[str, str] = {}
        for name, listed in lines(words):
            letter = self._names.setdefault(name, _LETTERS[len(self._names)])
            self.of_word.update(dict.fromkeys(listed.split(), letter))
        for name, listed in lines(groups):
            self._names[name] = self.pattern_of(listed)

    def letter(self, name: str) -> str:
        """The letter of a class."""
        return self._names[name]

    def pattern_of(self, written: str) -> str:
        """A regular expression on letters, of one in which classes go by their names."""
        return "".join(_NAME.sub(lambda name: self._names[name[0]], written).split())

    def side_by_side(self, written: str) -> str:
        """The letters of classes that stand side by side; `^` and `$` are ends of a sentence."""
        return "".join(name if name in "^$" else self._names[name] for name in written.split())

    def cues(self, written: str) -> list[Cue]:
        """Reads lines of `name: weight in a prompt, weight for a user, pattern`."""
        return [self._cue(*row.split(maxsplit=2)) for _, row in lines(written)]

    def _cue(self, prompt: str, user: str, pattern: str) -> Cue:
        on_letters = self.pattern_of(pattern)
        return Cue((float(prompt), float(user)), re.compile(on_letters), _needs(on_letters))


class Letters:
    """The letters of words; of a word of no list that of the class that `kind_of` tells."""

    def __init__(self, classes: Classes, kind_of: Callable[[str], str]) -> None:
        listed, letter = classes.of_word, classes.letter
        self._known = KnownWords(lambda word: listed.get(word) or letter(kind_of(word)))

    def of(self, words: Iterable[str]) -> str:
        """One letter for each of `words`."""
        return "".join(map(self._known.__getitem__, words))


class Reader:
    """Reads sentences of a language that has blanks between its words.

    What stands between two blanks is read once and remembered, as its letters and its words.
    """

    def __init__(
        self,
        pattern: re.Pattern[str],
        classes: Classes,
        kind_of: Callable[[str], str],
        *,
        across_blanks: str | None = None,
    ) -> None:
        """Finds words by `pattern`, and asks `kind_of` for the class of a word of no list.

        A word that has a blank begins with the sign `across_blanks`.
        """
        self._find = pattern.findall
        self._letters = Letters(classes, kind_of)
        self._across_blanks = across_blanks
        self._known = KnownWords(self._read)

    def read(self, sentence: str) -> tuple[list[str], str]:
        """The words of a sentence in lower case, and one letter for each."""
        is_whole = self._across_blanks is not None and self._across_blanks in sentence
        runs = (
            [self._read(sentence)] if is_whole else map(self._known.__getitem__, sentence.split())
        )
        words: list[str] = []
        letters: list[str] = []
        for run_letters, run_words in runs:
            letters.append(run_letters)
            words += run_words
        return words, "".join(letters)

    def _read(self, text: str) -> tuple[str, tuple[str, ...]]:
        words = tuple(self._find(text))
        return self._letters.of(words), words


class Sayings:
    """What single words, and pairs of classes that stand side by side, weigh of themselves."""

    def __init__(self, written: str, classes: Classes) -> None:
        """Reads lines of `weight: word, class class, …`; `^` and `$` are ends of a sentence."""
        self._weights = {
            classes.side_by_side(said) if " " in said else said: float(weight)
            for weight, listed in lines(written)
            for said in listed.split(", ")
        }
        self._known = frozenset(self._weights)

    def weight(self, words: Sequence[str], letters: str) -> float:
        """What the words of a sentence weigh together, each word and each pair once."""
        pairs = map(add, f"^{letters}", f"{letters}$")
        said = self._known.intersection(chain(words[:MOST_WORDS], pairs))
        return sum(map(self._weights.__getitem__, said))


class Language:
    """How a language is read for standing instructions."""

    def __init__(
        self,
        read: Callable[[str], tuple[Sequence[str], str]],
        *,
        said: Callable[[Sequence[str], str], float],
        cues: list[Cue],
        signs: str,
        forbids: str,
        prompt: float,
        user: float,
        reach: float = math.inf,
    ) -> None:
        """Reads sentences by `read`, which gives their words and the letters of their classes.

        `said` weighs the words themselves, and their letters; `reach` is the most that patterns
        are asked to add. Only sentences with one of `signs` are scored, from `prompt` or `user` on.
        """
        self._read = read
        self._said = said
        self.cues = cues
        self._signs, self._forbids = frozenset(signs), frozenset(forbids)
        self._start = (prompt, user)
        self._reach = reach
        self._single = [(cue.pattern.pattern, cue.weights) for cue in cues if _is_single(cue)]
        self._patterns = Cues(cue for cue in cues if not _is_single(cue))

    def letters(self, sentence: str) -> str:
        """The classes of the words of a sentence in lower case."""
        return self._read(sentence)[1]

    def is_negative(self, sentence: str) -> bool:
        """Whether a sentence, in lower case and masked, forbids something."""
        return not self._forbids.isdisjoint(self.letters(sentence))

    def is_rule(self, sentence: str, *, is_prompt: bool, above: float = 0.0) -> bool:
        """Whether a sentence, in lower case and masked, weighs more than `above`."""
        words, every = self._read(sentence)
        letters = every[:MOST_WORDS]
        if self._signs.isdisjoint(letters):
            return False
        place = 0 if is_prompt else 1
        score = self._start[place] - above + self._said(words, letters)
        score += sum([weights[place] for letter, weights in self._single if letter in letters])
        if score + self._reach <= 0:
            return False
        start = (score, -math.inf) if is_prompt else (-math.inf, score)
        return self._patterns.weigh(letters, start, least=0.0)[place] > 0


def _is_single(cue: Cue) -> bool:
    return cue.pattern.pattern in _LETTERS


def _needs(pattern: str) -> list[frozenset[str]]:
    """Sets of letters, smallest first; every match has a letter of each."""
    branches = [sorted(_needs_of_branch(branch), key=len) for branch in _split(pattern)]
    return [frozenset[str]().union(*needs) for needs in zip(*branches, strict=False)]


def _needs_of_branch(branch: str) -> Iterator[frozenset[str]]:
    """The needs of a pattern without alternatives."""
    for atom in _ATOM.finditer(branch):
        is_optional = branch[atom.end() : atom.end() + 1] in tuple("?*{")
        is_group = atom[0][0] in "[(" and not atom[0].startswith(("(?!", "(?<!", "[^"))
        if (is_group or atom[0] in _LETTERS) and not is_optional:
            if atom[0][0] == "(":
                yield from _needs(atom[0].removeprefix("(?:").removesuffix(")"))
            else:
                yield frozenset(atom[0].strip("[]"))


def _split(pattern: str) -> list[str]:
    """The alternatives of a pattern, outside its groups."""
    parts, depth = [""], 0
    for letter in pattern:
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def lines(written: str) -> Iterator[tuple[str, str]]:
    """The entries of a text, whose lines go on where they are indented."""
    for entry in re.split(r"\n(?=\S)", written.strip()):
        name, _, rest = entry.partition(":")
        yield name, " ".join(rest.split())
