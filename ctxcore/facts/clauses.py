"""Owns taking sentences apart into clauses: only what somebody says for themselves, for now and
of more than one case changes a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clauses:
    """Where a language ends its clauses, and how one speaks of others, former times or one case."""

    ends: re.Pattern[str]
    others: re.Pattern[str]

    def of(self, words: str) -> list[str]:
        """The clauses of `words`."""
        return [clause for clause in map(str.strip, self.ends.split(words)) if clause]

    def own(self, words: str) -> list[str]:
        """Those that do not speak of somebody else, of former times, or of one case."""
        return [clause for clause in self.of(words) if not self.others.search(clause)]

    def speak_of_others(self, words: str) -> bool:
        """Whether some clause of `words` is none of its own."""
        return any(map(self.others.search, self.of(words)))
