"""Owns asking one text for many facts: most are told absent by a look at its words.

What it answers is what `facts.presence` defines.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxcore.facts.presence import folded, is_present
from ctxcore.facts.values import Fact

_RUN = re.compile(r"[a-z0-9]+")
_LINE = re.compile(r"[\n。]")
_BLANK = re.compile(r"[\s。]")
_SENTENCE_ENDS = frozenset({"request", "instruction", "todo", "decision", "question", "error"})


class SaidText:
    """A text that is asked for many facts: what it says is indexed once, by words and lines."""

    def __init__(self, text: str) -> None:
        self.text = text

    def says(self, fact: Fact) -> bool:
        """Whether `is_present(fact, text)`."""
        if not self.text:
            return is_present(fact, "")
        if fact.kind == "todo":
            return is_present(fact, self.text)
        runs = word_runs(fact.text)
        if not all(run in self._lines_of for run in runs):
            return False
        if runs and is_on_a_line(fact):
            return any(is_present(fact, line) for line in self._lines_with(runs))
        return is_present(fact, self.text)

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE.split(self.text)

    @cached_property
    def _lines_of(self) -> dict[str, list[int]]:
        """The lines that hold each run of letters and digits."""
        places: dict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(self._lines):
            for run in set(word_runs(line)):
                places[run].append(at)
        return dict(places)

    def _lines_with(self, runs: Sequence[str]) -> Iterator[str]:
        """The lines that hold all of `runs`: what is said without a blank stands on one line."""
        rarest, *others = sorted((self._lines_of[run] for run in set(runs)), key=len)
        sets = [set(one) for one in others]
        return (self._lines[at] for at in rarest if all(at in one for one in sets))


def word_runs(text: str) -> list[str]:
    """The runs of letters and digits in `text`: a text that says a literal has all of its runs."""
    return _RUN.findall(folded(text))


def is_on_a_line(fact: Fact) -> bool:
    """Whether a text that says `fact` says it on one line."""
    if fact.kind == "number" and fact.subject:
        return True
    return fact.kind not in _SENTENCE_ENDS and not _BLANK.search(fact.text)
