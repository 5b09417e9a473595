"""Owns taking sentences apart into clauses: only what somebody says for themselves, for now and
of more than one case changes a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Clauses:
    """Where a language ends its clauses, and how one speaks of others, former times or one case."""

    ends: re.Pattern[str]
    others: re.Pattern[str]
    """In a clause that speaks of somebody else, or of former times."""
    case: re.Pattern[str]
    """In a clause of a sentence that speaks of one thing: what is said of it is no rule."""
    anew: re.Pattern[str]
    """In a sentence that speaks of all of them after all."""

    def of(self, words: str) -> list[str]:
        """The clauses of `words`."""
        return [clause for clause in map(str.strip, self.ends.split(words)) if clause]

    def own(self, words: str) -> list[str]:
        """Those that may change a rule."""
        clauses = self.of(words)
        if any(map(self.case.search, clauses)) and not self.anew.search(words):
            return []
        return [clause for clause in clauses if not self.others.search(clause)]
