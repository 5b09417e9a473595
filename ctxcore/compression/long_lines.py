"""Owns lines that may be too long for the budget: what they are judged by, what stays of them.

Each is looked through once, however often it is shortened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from ctxcore.compression.line_worth import LINE_CHARS
from ctxcore.compression.passages import Passages
from ctxcore.compression.target import estimate_tokens

WHOLE_LINE_TOKENS: Final = 32  # a line this short stays whole or goes
LONGEST_SHARE: Final = 3  # of many lines, one takes at most a third of the room
SAMPLE_CHARS: Final = 1_000
MARKER_TOKENS: Final = 20  # of a cut line, for what says how much is gone


@dataclass(frozen=True, slots=True)
class LongLines:
    """The lines of an output, with what is known of those that were looked through."""

    lines: Sequence[str]
    terms: frozenset[str]
    known: dict[int, Passages] = field(default_factory=dict)
    sizes: dict[int, float] = field(default_factory=dict)

    def gist(self, at: int) -> str:
        """What a line is judged by: its head, and the passages that matter behind it."""
        line, best = self.lines[at], self._passages(at).best
        behind = (line[passage.start : passage.stop] for passage in best)
        return " ".join([line[:LINE_CHARS], *behind])

    def shorten(self, at: int, room: float) -> str:
        """The line, without what matters least if it takes more than its share of the room."""
        most_tokens = max(2.0, room - MARKER_TOKENS) / min(LONGEST_SHARE, len(self.lines))
        most_tokens = max(most_tokens, min(WHOLE_LINE_TOKENS, room / 2))
        line, tokens = self.lines[at], self._tokens(at)
        if tokens <= most_tokens:
            return line
        return self._passages(at).shorten(max(8, int(most_tokens * len(line) / tokens)))

    def _tokens(self, at: int) -> float:
        """About how many tokens a line takes; of a long one only the head is looked at."""
        if at not in self.sizes:
            line = self.lines[at]
            sample = line[:SAMPLE_CHARS]
            self.sizes[at] = estimate_tokens(sample) * len(line) / max(1, len(sample))
        return self.sizes[at]

    def _passages(self, at: int) -> Passages:
        if at not in self.known:
            self.known[at] = Passages.of(self.lines[at], self.terms)
        return self.known[at]
