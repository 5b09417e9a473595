"""Scores sentences by structural cues: patterns over the classes of their words.

A language declares its classes and its cues as text. Every word of a sentence becomes the letter
of its class, so that a cue is a short pattern on a short string; one pass over the words is enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import add, itemgetter
from typing import Final, NamedTuple

MOST_WORDS: Final = 120  # of a sentence; chosen: what a rule is told by stands before

MOST_KNOWN: Final = 20_000  # words that are looked up; chosen: people use far fewer
MOST_RUN_CHARS: Final = 40  # of a word that is remembered; chosen: longer ones do not come again

_LETTERS: Final = "".join(chr(code) for code in range(0x4E00, 0x4F00))
"""One for a class; none of them means anything in a pattern."""

_NAME: Final = re.compile(r"[a-z_]+")
_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"  # four groups deep
_ATOM: Final = re.compile(rf"{_GROUP}|\[[^\]]*\]|[^?*+{{}}]")


class Cue(NamedTuple):
    """A pattern on letters, and what it weighs: of a rule, in a prompt and in a user's turn."""

    weights: tuple[float, float]
    pattern: re.Pattern[str]
    needs: frozenset[str]
    """Every match has one of these letters."""


class Possible(NamedTuple):
    """The cues that a sentence may have, and the most that they weigh together."""

    cues: Sequence[Cue]
    most: tuple[float, float]

    def weigh(self, letters: str) -> tuple[float, float]:
        """What those found in `letters` weigh together."""
        found = [cue.weights for cue in self.cues if cue.pattern.search(letters)]
        return sum([one for one, _ in found], 0.0), sum([other for _, other in found], 0.0)


class Cues:
    """Cues, looked up by the letters of a sentence."""

    def __init__(self, cues: Sequence[Cue]) -> None:
        """Knows for each letter the cues that it makes possible, as the bits of a number."""
        self._rows = [
            (1 << place, cue, max(0.0, cue.weights[0]), max(0.0, cue.weights[1]))
            for place, cue in enumerate(cues)
        ]
        self._bits: dict[str, int] = {}
        for bit, cue, _, _ in self._rows:
            for letter in cue.needs:
                self._bits[letter] = self._bits.get(letter, 0) | bit
        self._possible = lru_cache(maxsize=MOST_KNOWN)(self._of_bits)

    def possible(self, present: Iterable[str]) -> Possible:
        """The cues that may be in a sentence of the letters `present`."""
        bits, of_letter = 0, self._bits
        for letter in present:
            if letter in of_letter:
                bits |= of_letter[letter]
        return self._possible(bits)

    def _of_bits(self, bits: int) -> Possible:
        rows = [row for row in self._rows if bits & row[0]]
        most = sum([row[2] for row in rows]), sum([row[3] for row in rows])
        return Possible([row[1] for row in rows], most)


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
        needs = _needs(on_letters) or frozenset(_LETTERS)
        return Cue((float(prompt), float(user)), re.compile(on_letters), needs)


_LETTERS_OF, _WORDS_OF = itemgetter(0), itemgetter(1)


class Reader(dict[str, tuple[str, tuple[str, ...]]]):
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
        super().__init__()
        self._find = pattern.findall
        self._of_word, self._letter, self._kind_of = classes.of_word, classes.letter, kind_of
        self._across_blanks = across_blanks

    def read(self, sentence: str) -> tuple[list[str], str]:
        """The words of a sentence in lower case, and one letter for each."""
        if self._across_blanks and self._across_blanks in sentence:
            letters, words = self._read(sentence)
            return list(words), letters
        runs = [*map(self.__getitem__, sentence.split())]
        return [*chain.from_iterable(map(_WORDS_OF, runs))], "".join(map(_LETTERS_OF, runs))

    def __missing__(self, run: str) -> tuple[str, tuple[str, ...]]:
        read = self._read(run)
        if len(self) < MOST_KNOWN and len(run) < MOST_RUN_CHARS:
            self[run] = read
        return read

    def _read(self, text: str) -> tuple[str, tuple[str, ...]]:
        words = tuple(self._find(text))
        return "".join(map(self._letter_of, words)), words

    def _letter_of(self, word: str) -> str:
        return self._of_word.get(word) or self._letter(self._kind_of(word))


class Sayings:
    """What single words, and pairs of classes that stand side by side, weigh of themselves."""

    def __init__(self, written: str, classes: Classes) -> None:
        """Reads lines of `weight: word, class class, …`; `^` and `$` are ends of a sentence."""
        self._words: dict[str, float] = {}
        self._pairs: dict[str, float] = {}
        for weight, listed in lines(written):
            for said in listed.split(","):
                names = said.split()
                if len(names) == 1:
                    self._words[names[0]] = float(weight)
                else:
                    self._pairs[classes.side_by_side(said)] = float(weight)

    def weight(self, words: Sequence[str], letters: str) -> float:
        """What the words of a sentence weigh together, each word and each pair once."""
        said = self._words.keys() & words[:MOST_WORDS]
        pairs = self._pairs.keys() & map(add, f"^{letters}", f"{letters}$")
        return sum(map(self._words.__getitem__, said)) + sum(map(self._pairs.__getitem__, pairs))


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
        self._of_letter = {cue.pattern.pattern: cue.weights for cue in cues if _is_single(cue)}
        self._patterns = Cues([cue for cue in cues if not _is_single(cue)])

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
        present = frozenset(letters)
        if self._signs.isdisjoint(present):
            return False
        place = 0 if is_prompt else 1
        score = self._start[place] - above + self._said(words, letters)
        for letter in present & self._of_letter.keys():
            score += self._of_letter[letter][place]
        if score + self._reach <= 0:
            return False
        possible = self._patterns.possible(present)
        if score + possible.most[place] <= 0:
            return False
        return score + possible.weigh(letters)[place] > 0


def _is_single(cue: Cue) -> bool:
    return cue.pattern.pattern in _LETTERS


def _needs(pattern: str) -> frozenset[str]:
    """Letters of which every match has at least one; empty where a match may do without any."""
    branches = [_needs_of_branch(branch) for branch in _split(pattern)]
    return frozenset[str]().union(*branches) if all(branches) else frozenset()


def _needs_of_branch(branch: str) -> frozenset[str]:
    """The smallest set of letters of which a pattern without alternatives needs one."""
    found: list[frozenset[str]] = []
    for atom in _ATOM.finditer(branch):
        is_optional = branch[atom.end() : atom.end() + 1] in tuple("?*{")
        is_group = atom[0][0] in "[(" and not atom[0].startswith(("(?!", "(?<!", "[^"))
        if (is_group or atom[0] in _LETTERS) and not is_optional:
            inner = atom[0].removeprefix("(?:").removesuffix(")")
            found.append(_needs(inner) if atom[0][0] == "(" else frozenset(atom[0].strip("[]")))
    return min(filter(None, found), key=len, default=frozenset())


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
