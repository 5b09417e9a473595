"""Owns taking sentences apart into clauses: only what somebody says for themselves and for now
changes a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clauses:
    """Where a language ends its clauses, and how one speaks of others or of former times."""

    ends: re.Pattern[str]
    others: re.Pattern[str]

    def of(self, words: str) -> list[str]:
        """The clauses of `words`."""
        return [clause for clause in map(str.strip, self.ends.split(words)) if clause]

    def own(self, words: str) -> list[str]:
        """Those that do not speak of somebody else, or of former times."""
        return [clause for clause in self.of(words) if not self.others.search(clause)]

    def speak_of_others(self, words: str) -> bool:
        """Whether some clause of `words` speaks of somebody else, or of former times."""
        return bool(self.others.search(words))
