"""Scores sentences by structural cues: patterns over the classes of their words.

A language declares its classes and its cues as text. Every word of a sentence becomes the letter
of its class, so that a cue is a short pattern on a short string; one pass over the words is enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

MOST_WORDS: Final = 120  # of a sentence; chosen: what a rule is told by stands before

MOST_KNOWN: Final = 20_000  # words that are looked up; chosen: people use far fewer

_LETTERS: Final = "".join(chr(code) for code in range(0x4E00, 0x4F00))
"""One for a class; none of them means anything in a pattern."""

_NAME: Final = re.compile(r"[a-z_]+")
_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)"  # four groups deep
_ATOM: Final = re.compile(rf"{_GROUP}|\[[^\]]*\]|[^?*+{{}}]")


class Cue(NamedTuple):
    """What a cue says for or against a standing instruction, in a prompt and in a user's turn."""

    prompt: float
    user: float
    pattern: re.Pattern[str]
    needs: frozenset[str]
    """Every match has one of these letters."""


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

    def cues(self, written: str) -> list[Cue]:
        """Reads lines of `name: weight in a prompt, weight for a user, pattern`."""
        return [self._cue(*row.split(maxsplit=2)) for _, row in lines(written)]

    def _cue(self, prompt: str, user: str, pattern: str) -> Cue:
        on_letters = self.pattern_of(pattern)
        needs = _needs(on_letters) or frozenset(_LETTERS)
        return Cue(float(prompt), float(user), re.compile(on_letters), needs)


class Letters(dict[str, str]):
    """The letters of words; a word of no list has that of its kind."""

    def __init__(self, classes: Classes, kind_of: Callable[[str], str]) -> None:
        """Knows the words of `classes`, and asks `kind_of` for the class of another."""
        super().__init__(classes.of_word)
        self._letter, self._kind_of = classes.letter, kind_of

    def __missing__(self, word: str) -> str:
        letter = self._letter(self._kind_of(word))
        if len(self) < MOST_KNOWN:
            self[word] = letter
        return letter


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
                    pair = "".join(name if name in "^$" else classes.letter(name) for name in names)
                    self._pairs[pair] = float(weight)

    def weight(self, words: Sequence[str], letters: str) -> float:
        """What the words of a sentence weigh together, each word and each pair once."""
        said = self._words.keys() & words
        pairs = self._pairs.keys() & map("".join, pairwise(f"^{letters}$"))
        return sum(map(self._words.__getitem__, said)) + sum(map(self._pairs.__getitem__, pairs))


class Language:
    """How a language is read for standing instructions."""

    def __init__(
        self,
        letters: Callable[[str], str],
        *,
        said: Callable[[str, str], float] = lambda _words, _letters: 0.0,
        cues: list[Cue],
        signs: str,
        forbids: str,
        prompt: float,
        user: float,
        reach: float = math.inf,
    ) -> None:
        """Reads sentences by `letters`, which gives the classes of their words.

        `said` weighs the words themselves, and their letters; `reach` is the most that patterns
        are asked to add. Only sentences with one of `signs` are scored, from `prompt` or `user` on.
        """
        self.letters = letters
        self._said = said
        self.cues = cues
        self._signs, self._forbids = frozenset(signs), frozenset(forbids)
        self._start = (prompt, user)
        self._reach = reach
        singles = filter(_is_single, cues)
        self._of_letter = {cue.pattern.pattern: (cue.prompt, cue.user) for cue in singles}
        self._patterns = [cue for cue in cues if not _is_single(cue) and len(cue.needs) > 1]
        self._needing: dict[str, list[Cue]] = {}
        for cue in cues:
            if len(cue.needs) == 1 and not _is_single(cue):
                self._needing.setdefault(min(cue.needs), []).append(cue)

    def is_negative(self, words: str) -> bool:
        """Whether a sentence, in lower case and masked, forbids something."""
        return not self._forbids.isdisjoint(self.letters(words))

    def is_rule(self, words: str, *, is_prompt: bool) -> bool:
        """Whether a sentence, in lower case and masked, is a standing instruction."""
        letters = self.letters(words)[:MOST_WORDS]
        present = frozenset(letters)
        if self._signs.isdisjoint(present):
            return False
        place = 0 if is_prompt else 1
        score = self._start[place] + self._said(words, letters)
        for letter in present & self._of_letter.keys():
            score += self._of_letter[letter][place]
        if score + self._reach <= 0:
            return False
        cues = [cue for cue in self._patterns if not cue.needs.isdisjoint(present)]
        for letter in present & self._needing.keys():
            cues += self._needing[letter]
        for cue in cues:
            if cue.pattern.search(letters):
                score += cue.prompt if is_prompt else cue.user
        return score > 0


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
